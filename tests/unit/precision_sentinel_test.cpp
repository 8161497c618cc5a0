// The precision sentinel: a 16 x 512 x 16 product against float64 tells a true float32 product (error under 1e-5) from
// one whose inputs were rounded to TF32 (about 6e-3) or bf16, so that nobody can lose the policy without noticing.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/thread_pool.hpp"
#include "cpu/isa.hpp"
#include "kernels/matmul/matmul.hpp"

namespace lastbit::kernels {
namespace {

constexpr std::size_t kRows = 16;
constexpr std::size_t kInputs = 512;
constexpr std::size_t kOutputs = 16;

/// Keeps `bits` bits of the fraction, as a unit with short inputs would.
float shorten(float value, int bits) {
  const float scale = std::ldexp(1.0F, bits + 1);
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(fraction * scale) / scale, exponent);
}

class PrecisionSentinel : public ::testing::Test {
 protected:
  PrecisionSentinel() : weight_(kOutputs * kInputs), input_(kRows * kInputs) {
    std::mt19937 generator(7);
    std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
    for (float& value : weight_) value = distribution(generator);
    for (float& value : input_) value = distribution(generator);
  }

  /// The largest difference from the float64 product of the unrounded inputs.
  double error(cpu::Isa isa, const std::vector<float>& weight, const std::vector<float>& input) const {
    ThreadPool pool(1);
    const auto workspace = make_matmul_workspace();
    const PackedMatrix packed(numerics::ElementType::f32, weight.data(), kOutputs, kInputs, "sentinel", pool);
    std::vector<float> output(kRows * kOutputs);
    matmul(matmul_kernels(isa), packed, input.data(), kInputs, kRows, output.data(), kOutputs, nullptr, *workspace,
           pool);
    double worst = 0.0;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t out = 0; out < kOutputs; ++out) {
        double exact = 0.0;
        for (std::size_t k = 0; k < kInputs; ++k)
          exact += static_cast<double>(weight_[out * kInputs + k]) * static_cast<double>(input_[row * kInputs + k]);
        worst = std::fmax(worst, std::abs(static_cast<double>(output[row * kOutputs + out]) - exact));
      }
    }
    return worst;
  }

  static std::vector<float> shortened(std::vector<float> values, int bits) {
    for (float& value : values) value = shorten(value, bits);
    return values;
  }

  std::vector<float> weight_;
  std::vector<float> input_;
};

TEST_F(PrecisionSentinel, EveryInstructionSetComputesATrueFloat32Product) {
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (!cpu::isa_supported(isa)) continue;
    EXPECT_LT(error(isa, weight_, input_), 1e-5) << cpu::isa_name(isa);
  }
}

TEST_F(PrecisionSentinel, SeesTf32AndBf16) {
  EXPECT_GT(error(cpu::Isa::scalar, shortened(weight_, 10), shortened(input_, 10)), 1e-3);
  EXPECT_GT(error(cpu::Isa::scalar, shortened(weight_, 7), shortened(input_, 7)), 1e-2);
}

}  // namespace
}  // namespace lastbit::kernels
