#include "kernels/rotary_embedding/rotary_embedding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/compare.hpp"

#define LASTBIT_KERNELS RotaryEmbeddingKernels
#define LASTBIT_KERNELS_TABLE rotary_embedding_table
#define LASTBIT_KERNELS_OF rotary_embedding_kernels
#include "tests/support/kernel_sets.hpp"

namespace lastbit::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Normal values, one in `rarity` replaced by an extreme one (0: none).
std::vector<float> values(std::size_t size, unsigned seed, unsigned rarity) {
  static constexpr float kExtremes[] = {0x1p-149F, -0x1.8p-130F, kInfinity, -kInfinity, kNaN,
                                        -kNaN,     -0.0F,        0.0F,      3e38F,      -1e-30F};
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> result(size);
  for (float& value : result) {
    value = normal(generator);
    const unsigned pick = static_cast<unsigned>(generator());
    if (rarity != 0 && pick % rarity == 0) value = kExtremes[pick / rarity % std::size(kExtremes)];
  }
  return result;
}

::testing::AssertionResult same_bits(const std::vector<float>& expected, const std::vector<float>& actual) {
  return test::same_bits(expected.data(), actual.data(), expected.size());
}

TEST(RotaryEmbedding, EverySetGivesTheBitsOfTheReference) {
  for (const std::size_t half : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 40, 63, 64, 65, 128}) {
    for (const unsigned rarity : {0U, 4U, 60U}) {
      const std::vector<float> x = values(2 * half, static_cast<unsigned>(half), rarity);
      const std::vector<float> cosine = values(half, 1, rarity);
      const std::vector<float> sine = values(half, 2, rarity);
      std::vector<float> expected = x;
      rotary_embedding_reference(expected.data(), cosine.data(), sine.data(), half);
      for (const auto& set : test::kernel_sets()) {
        std::vector<float> actual = x;
        set.table->head(actual.data(), cosine.data(), sine.data(), half);
        EXPECT_TRUE(same_bits(expected, actual)) << set.name << ", half " << half << ", rarity " << rarity;
      }
    }
  }
}

TEST(RotaryEmbedding, TheHalvesArePairedAndEveryProductIsRounded) {
  const std::vector<float> x = values(128, 3, 0);
  const std::vector<float> angles = values(64, 4, 0);
  std::vector<float> expected(128);
  std::vector<float> fused(128);
  std::vector<float> neighbours(128);
  std::vector<float> cosine(64);
  std::vector<float> sine(64);
  for (std::size_t i = 0; i < 64; ++i) {
    cosine[i] = std::cos(angles[i]);
    sine[i] = std::sin(angles[i]);
    const float products[] = {x[i] * cosine[i], x[64 + i] * sine[i], x[64 + i] * cosine[i], x[i] * sine[i]};
    expected[i] = products[0] - products[1];
    expected[64 + i] = products[2] + products[3];
    fused[i] = std::fma(x[i], cosine[i], -products[1]);
    fused[64 + i] = std::fma(x[64 + i], cosine[i], products[3]);
    neighbours[2 * i] = x[2 * i] * cosine[i] - x[2 * i + 1] * sine[i];
    neighbours[2 * i + 1] = x[2 * i + 1] * cosine[i] + x[2 * i] * sine[i];
  }
  std::vector<float> actual = x;
  rotary_embedding_reference(actual.data(), cosine.data(), sine.data(), 64);
  EXPECT_TRUE(same_bits(expected, actual));
  EXPECT_FALSE(same_bits(fused, actual));
  EXPECT_FALSE(same_bits(neighbours, actual));
}

TEST(RotaryEmbedding, InverseFrequenciesAreTheRealPowerRoundedOnce) {
  for (const float base : {10000.0F, 1000000.0F, 500000.0F}) {
    for (const std::size_t dimensions : {64, 256}) {
      const std::vector<float> frequencies = rotary_inverse_frequencies(base, dimensions);
      ASSERT_EQ(frequencies.size(), dimensions / 2);
      bool power_in_binary32_differs = false;
      for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const long double exponent = -2.0L * static_cast<long double>(i) / static_cast<long double>(dimensions);
        const long double exact = std::pow(static_cast<long double>(base), exponent);
        EXPECT_EQ(frequencies[i], static_cast<float>(exact)) << base << ", " << i << " of " << dimensions;
        power_in_binary32_differs =
            power_in_binary32_differs || frequencies[i] != 1.0F / std::pow(base, static_cast<float>(-exponent));
      }
      EXPECT_TRUE(power_in_binary32_differs) << "the comparison must see a power computed in binary32";
    }
  }
}

TEST(RotaryEmbedding, AnglesAreRoundedToBinary32BeforeCosineAndSine) {
  const std::vector<float> frequencies = rotary_inverse_frequencies(10000.0F, 256);
  bool unrounded_angle_differs = false;
  for (const std::uint64_t position : {0U, 1U, 2U, 127U, 1001U, 8191U, 131071U}) {
    std::vector<float> cosine(128);
    std::vector<float> sine(128);
    rotary_angles(frequencies.data(), 128, position, 1.0F, cosine.data(), sine.data());
    for (std::size_t i = 0; i < 128; ++i) {
      const float angle = static_cast<float>(position) * frequencies[i];
      EXPECT_EQ(cosine[i], static_cast<float>(std::cos(static_cast<long double>(angle)))) << position << ", " << i;
      EXPECT_EQ(sine[i], static_cast<float>(std::sin(static_cast<long double>(angle)))) << position << ", " << i;
      const double unrounded = static_cast<double>(position) * static_cast<double>(frequencies[i]);
      unrounded_angle_differs = unrounded_angle_differs || cosine[i] != static_cast<float>(std::cos(unrounded));
    }
  }
  EXPECT_TRUE(unrounded_angle_differs) << "the comparison must see an angle that was not rounded";
}

TEST(RotaryEmbedding, TheAttentionFactorIsOneMoreRoundedProduct) {
  const std::vector<float> frequencies = rotary_inverse_frequencies(10000.0F, 64);
  std::vector<float> cosine(32);
  std::vector<float> sine(32);
  std::vector<float> scaled_cosine(32);
  std::vector<float> scaled_sine(32);
  rotary_angles(frequencies.data(), 32, 77, 1.0F, cosine.data(), sine.data());
  rotary_angles(frequencies.data(), 32, 77, 1.2079441F, scaled_cosine.data(), scaled_sine.data());
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(scaled_cosine[i], cosine[i] * 1.2079441F);
    EXPECT_EQ(scaled_sine[i], sine[i] * 1.2079441F);
  }
}

}  // namespace
}  // namespace lastbit::kernels
