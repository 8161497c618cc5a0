// The formulas of rule A8 against values that were computed twice outside this project (mpmath with numpy, and MPFR).
#include "numerics/activation.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "numerics/number_formats.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/data.hpp"
#include "tests/support/safetensors_fixture.hpp"

namespace lastbit::numerics {
namespace {

constexpr Activation kAll[] = {Activation::gelu_erf, Activation::gelu_tanh, Activation::gelu_quick,
                               Activation::gelu_10,  Activation::silu,      Activation::relu,
                               Activation::relu2,    Activation::identity};

/// SHA-256 of the 65,536 little-endian uint16 results, indexed by the input's encoding: the formula in binary32,
/// rounded once.
struct TableHash {
  Activation activation;
  const char* dtype;
  const char* sha256;
};
constexpr TableHash kTables[] = {
    {Activation::gelu_erf, "bf16", "9e8171efd73b874b75f891ebed68b8dd3494261476f9aa5584551fc9db107fcc"},
    {Activation::gelu_erf, "f16", "d344d710d51c0818fa4f963d6cb00f1488e391d588e30848ca553d5554d22874"},
    {Activation::gelu_tanh, "bf16", "bbd19b8d372bacd98eeb75c66f5078ea44837a5e25034d1fb738c45e93f434e3"},
    {Activation::gelu_tanh, "f16", "99008d723ac50efc46e28c8312bed11ba1f112f4a0464f9d1ccd697345e49cc0"},
    {Activation::gelu_quick, "bf16", "bba09bf0d659102772f74c72606b0ad71ffc87117c6e063e6df8565e6ee73584"},
    {Activation::gelu_quick, "f16", "91b13bb43534ed2e1e89c2a6afcd3eaf9b469c85b6a0b3fe5144213169c8bad8"},
    {Activation::gelu_10, "bf16", "e1026b142e255008dd20caf94ea00000b3f5ab982ba5144c5be5049d3be8370b"},
    {Activation::gelu_10, "f16", "aad3e9208d448a1280910e99d7cbdc15a52c2aa203ca98c10edc472bfa8f21aa"},
    {Activation::silu, "bf16", "7f43c941b6e541e28e7e26fff8b8612cf2e9bb1e1d78f00bf816ac5e784552bc"},
    {Activation::silu, "f16", "009145674c8cb75cb39d81e13b8c051d62aecb1fe4f50bba83ee0c2b6c2c0607"},
    {Activation::relu, "bf16", "85fbc383aa7cdd08250e8183e105183bd33ba7d4471f3424de8df0f27bf831c3"},
    {Activation::relu, "f16", "f951a8acce7e509db4eda2034cc520d53a99bea59d2eaa1f927254c0e03f2ce0"},
    {Activation::relu2, "bf16", "c5399725f9bba21e61887d4e6e5d5ea99cd7847b8dd93a7695bf0052ed8161d4"},
    {Activation::relu2, "f16", "434beae33c8763c5ce3c432264051756fb42ce78acd440374105f2a342ed68c3"},
};

TEST(Activation, EverySixteenBitInputGivesThePublishedTable) {
  for (const TableHash& table : kTables) {
    const bool bf16 = std::string(table.dtype) == "bf16";
    std::vector<std::uint16_t> results;
    for (unsigned code = 0; code < 65536; ++code) {
      const auto encoding = static_cast<std::uint16_t>(code);
      const float y = activate(table.activation, bf16 ? bf16_to_f32(encoding) : f16_to_f32(encoding));
      results.push_back(bf16 ? f32_to_bf16(y) : f32_to_f16(y));
    }
    Sha256 hash;
    hash.update(results.data(), results.size() * sizeof(std::uint16_t));
    EXPECT_EQ(hash.finish(), table.sha256) << activation_name(table.activation) << " " << table.dtype;
  }
}

TEST(Activation, Binary32SamplesAreEqualToTheBit) {
  const auto tensors = test::read_safetensors_fixture(test::data_path("activation_samples.safetensors"));
  const std::vector<float> x = tensors.at("x_bits").values<float>();
  for (const Activation activation : kAll) {
    const std::string name(activation_name(activation));
    const std::vector<float> expected =
        activation == Activation::identity ? x : tensors.at(name + "_bits").values<float>();
    std::vector<float> actual;
    for (const float value : x) actual.push_back(activate(activation, value));
    std::vector<float> canonical = expected;
    if (activation == Activation::identity) {
      for (float& value : canonical) value = canonical_nan(value);
    }
    EXPECT_TRUE(test::same_bits(canonical.data(), actual.data(), x.size())) << name;
  }
}

/// Each formula must fail the comparison when another stands in its place (gelu_10 differs from gelu_erf beyond 10
/// only).
TEST(Activation, NoFormulaPassesForAnother) {
  const auto tensors = test::read_safetensors_fixture(test::data_path("activation_samples.safetensors"));
  const std::vector<float> x = tensors.at("x_bits").values<float>();
  for (const Activation first : kAll) {
    for (const Activation second : kAll) {
      if (first == second) continue;
      int differences = 0;
      for (const float value : x) {
        const float a = activate(first, value);
        const float b = activate(second, value);
        differences += std::memcmp(&a, &b, sizeof a) != 0;
      }
      EXPECT_GT(differences, 0) << activation_name(first) << " and " << activation_name(second);
    }
  }
}

}  // namespace
}  // namespace lastbit::numerics
