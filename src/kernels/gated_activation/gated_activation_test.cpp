// Every set of gated activation kernels, emulated ones included, against the reference, byte for byte.
#include "kernels/gated_activation/gated_activation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "numerics/number_formats.hpp"
#include "tests/support/compare.hpp"

namespace lastbit::kernels {

#define LASTBIT_VECTOR_ISA(name, features, flags)                 \
  namespace emulated_##name {                                     \
    extern const GatedActivationKernels gated_activation_kernels; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace {

using numerics::Activation;

constexpr Activation kAll[] = {Activation::gelu_erf, Activation::gelu_tanh, Activation::gelu_quick,
                               Activation::gelu_10,  Activation::silu,      Activation::relu,
                               Activation::relu2,    Activation::identity};

struct KernelSet {
  std::string name;
  const GatedActivationKernels* kernels;
};

std::vector<KernelSet> vector_sets() {
  std::vector<KernelSet> sets;
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (isa != cpu::Isa::scalar && cpu::isa_supported(isa)) {
      sets.push_back({std::string(cpu::isa_name(isa)), &gated_activation_kernels(isa)});
    }
  }
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  sets.push_back({"emulated_" #name, &emulated_##name::gated_activation_kernels});
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  return sets;
}

std::vector<float> reference(Activation activation, const std::vector<float>& gate, const std::vector<float>& up) {
  std::vector<float> y(gate.size());
  gated_activation_kernels(cpu::Isa::scalar).apply(activation, gate.data(), up.data(), gate.size(), y.data());
  return y;
}

void expect_equal(const std::vector<float>& gate, const std::vector<float>& up) {
  for (const Activation activation : kAll) {
    const std::vector<float> expected = reference(activation, gate, up);
    for (const KernelSet& set : vector_sets()) {
      // One element more than is written: the tail must leave it alone.
      std::vector<float> actual(gate.size() + 1, 12345.0F);
      set.kernels->apply(activation, gate.data(), up.data(), gate.size(), actual.data());
      EXPECT_TRUE(test::same_bits(expected.data(), actual.data(), gate.size()))
          << set.name << ", " << numerics::activation_name(activation) << ", " << gate.size() << " elements";
      EXPECT_EQ(actual.back(), 12345.0F) << set.name << " wrote behind " << gate.size() << " elements";
    }
  }
}

float from_bits(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

TEST(GatedActivation, EveryOddSizeEqualsTheReference) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  for (const std::size_t size : {0, 1, 5, 7, 8, 9, 15, 16, 17, 127, 128, 129, 255, 257, 1001, 4095}) {
    std::vector<float> gate(size);
    std::vector<float> up(size);
    for (float& x : gate) x = normal(random);
    for (float& x : up) x = normal(random);
    expect_equal(gate, up);
  }
}

TEST(GatedActivation, AnyEncodingEqualsTheReference) {
  std::mt19937 random(6);
  std::vector<float> gate;
  std::vector<float> up;
  for (int i = 0; i < 20001; ++i) {
    gate.push_back(from_bits(random()));
    up.push_back(from_bits(random()));
  }
  expect_equal(gate, up);
}

TEST(GatedActivation, ExtremeValuesEqualTheReference) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> extremes = {0.0F,
                                 0x1p-149F,
                                 0x1p-130F,
                                 0x1p-126F,
                                 0x1.fffffep-127F,
                                 1.0F,
                                 5.5F,
                                 9.02F,
                                 10.0F,
                                 10.000001F,
                                 87.0F,
                                 88.72284F,
                                 88.8F,
                                 103.9F,
                                 104.0F,
                                 200.0F,
                                 0x1p63F,
                                 0x1p64F,
                                 std::numeric_limits<float>::max(),
                                 infinity,
                                 from_bits(0x7F800001),
                                 from_bits(0x7FFFFFFF)};
  for (std::size_t i = 0, count = extremes.size(); i < count; ++i) extremes.push_back(-extremes[i]);
  std::vector<float> gate;
  std::vector<float> up;
  for (const float g : extremes) {
    for (const float u : extremes) {
      gate.push_back(g);
      up.push_back(u);
    }
  }
  expect_equal(gate, up);
}

TEST(GatedActivation, EverySixteenBitGateEqualsTheReference) {
  std::vector<float> bf16;
  std::vector<float> f16;
  for (std::uint32_t code = 0; code < 65536; ++code) {
    bf16.push_back(numerics::bf16_to_f32(static_cast<std::uint16_t>(code)));
    f16.push_back(numerics::f16_to_f32(static_cast<std::uint16_t>(code)));
  }
  const std::vector<float> ones(65536, 1.0F);
  expect_equal(bf16, ones);
  expect_equal(f16, ones);
}

TEST(GatedActivation, ANaNResultIsCanonical) {
  const std::vector<float> gate = {from_bits(0xFF800001), 1.0F, -std::numeric_limits<float>::infinity(), 0.0F};
  const std::vector<float> up = {1.0F, from_bits(0xFFFFFFFF), 1.0F, std::numeric_limits<float>::infinity()};
  for (const Activation activation : {Activation::gelu_tanh, Activation::gelu_erf, Activation::silu}) {
    for (const float y : reference(activation, gate, up)) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &y, sizeof bits);
      EXPECT_EQ(bits, 0x7FC00000U) << numerics::activation_name(activation);
    }
  }
}

TEST(GatedActivation, TheResultMayReplaceEitherInput) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  std::vector<float> gate(1001);
  std::vector<float> up(1001);
  for (float& x : gate) x = normal(random);
  for (float& x : up) x = normal(random);
  const std::vector<float> expected = reference(Activation::gelu_tanh, gate, up);
  for (const KernelSet& set : vector_sets()) {
    std::vector<float> in_gate = gate;
    std::vector<float> in_up = up;
    set.kernels->apply(Activation::gelu_tanh, in_gate.data(), up.data(), gate.size(), in_gate.data());
    set.kernels->apply(Activation::gelu_tanh, gate.data(), in_up.data(), gate.size(), in_up.data());
    EXPECT_TRUE(test::same_bits(expected.data(), in_gate.data(), gate.size())) << set.name;
    EXPECT_TRUE(test::same_bits(expected.data(), in_up.data(), gate.size())) << set.name;
  }
}

}  // namespace
}  // namespace lastbit::kernels
