#include "kernels/rms_norm/rms_norm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/compare.hpp"

#define LASTBIT_KERNELS RmsNormKernels
#define LASTBIT_KERNELS_TABLE rms_norm_table
#define LASTBIT_KERNELS_OF rms_norm_kernels
#include "tests/support/kernel_sets.hpp"

namespace lastbit::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kEpsilon = 1e-6F;
constexpr std::size_t kSizes[] = {1, 5, 7, 9, 15, 16, 17, 31, 32, 33, 63, 127, 128, 129, 255, 257, 640, 1001, 4095};

std::vector<float> normal_values(std::size_t size, unsigned seed, float spread = 1.0F) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(size);
  std::generate(values.begin(), values.end(), [&] { return spread * normal(generator); });
  return values;
}

/// Normal values, one in `rarity` replaced by an extreme one.
std::vector<float> extreme_values(std::size_t size, unsigned seed, unsigned rarity) {
  static constexpr float kExtremes[] = {0x1p-149F, -0x1.8p-130F, kInfinity, -kInfinity, kNaN,   -kNaN,  -0.0F,
                                        0.0F,      1e19F,        -1e30F,    3e38F,      -3e38F, 1e-30F, 1e-19F};
  std::vector<float> values = normal_values(size, seed);
  std::mt19937 generator(seed + 1);
  for (float& value : values) {
    const unsigned pick = static_cast<unsigned>(generator());
    if (pick % rarity == 0) value = kExtremes[pick / rarity % std::size(kExtremes)];
  }
  return values;
}

std::vector<float> reference(const std::vector<float>& x, const float* weight, float epsilon) {
  std::vector<float> y(x.size());
  rms_norm_reference(x.data(), weight, x.size(), epsilon, y.data());
  return y;
}

::testing::AssertionResult same_bits(const std::vector<float>& expected, const std::vector<float>& actual) {
  return test::same_bits(expected.data(), actual.data(), expected.size());
}

void expect_every_set_equal(const std::vector<float>& x, const std::vector<float>& weight, float epsilon) {
  SCOPED_TRACE(::testing::Message() << x.size() << " elements, epsilon " << epsilon);
  const float* const weights[] = {weight.data(), nullptr};
  for (const float* const w : weights) {
    const std::vector<float> expected = reference(x, w, epsilon);
    for (const auto& set : test::kernel_sets()) {
      std::vector<float> y(x.size());
      set.table->row(x.data(), w, x.size(), epsilon, y.data());
      EXPECT_TRUE(same_bits(expected, y)) << set.name;
      std::vector<float> in_place = x;
      set.table->row(in_place.data(), w, x.size(), epsilon, in_place.data());
      EXPECT_TRUE(same_bits(expected, in_place)) << set.name << ", in place";
    }
  }
}

TEST(RmsNorm, EverySetGivesTheBitsOfTheReference) {
  for (const std::size_t size : kSizes) {
    for (const float spread : {1.0F, 1e-3F, 300.0F}) {
      expect_every_set_equal(normal_values(size, static_cast<unsigned>(size), spread), normal_values(size, 7),
                             kEpsilon);
    }
  }
}

TEST(RmsNorm, EverySetGivesTheBitsOfTheReferenceOnExtremeValues) {
  for (const std::size_t size : kSizes) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      const unsigned rarity = seed % 3 == 0 ? 3 : 200;
      expect_every_set_equal(extreme_values(size, seed, rarity), extreme_values(size, seed + 100, rarity),
                             seed % 2 == 0 ? kEpsilon : 0.0F);
    }
  }
}

TEST(RmsNorm, EverySetGivesTheBitsOfTheReferenceOnSubnormalSumsAndZeros) {
  expect_every_set_equal(normal_values(100, 1, 1e-21F), normal_values(100, 2), 0.0F);    // squares are subnormal
  expect_every_set_equal(normal_values(100, 1, 1e-40F), normal_values(100, 2), 1e-12F);  // elements are subnormal
  expect_every_set_equal(std::vector<float>(70, -0.0F), normal_values(70, 2), kEpsilon);
  expect_every_set_equal(std::vector<float>(70, 0.0F), normal_values(70, 2), 0.0F);  // 0 * Inf
}

TEST(RmsNorm, ANaNResultIsTheCanonicalOne) {
  std::vector<float> x = normal_values(40, 1);
  x[33] = -kNaN;
  for (const auto& set : test::kernel_sets()) {
    std::vector<float> y(40);
    set.table->row(x.data(), nullptr, 40, kEpsilon, y.data());
    EXPECT_TRUE(same_bits(std::vector<float>(40, kNaN), y)) << set.name;
    set.table->row(std::vector<float>(40, 1.0F).data(), nullptr, 40, -4.0F, y.data());  // the root of a negative number
    EXPECT_TRUE(same_bits(std::vector<float>(40, kNaN), y)) << set.name;
  }
}

TEST(RmsNorm, AddAndScaleGiveOneRoundingAndTheCanonicalNaN) {
  for (const std::size_t size : kSizes) {
    const std::vector<float> x = extreme_values(size, 5, 9);
    const std::vector<float> residual = extreme_values(size, 6, 9);
    std::vector<float> sum(size);
    std::vector<float> scaled(size);
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] = std::isnan(residual[i] + x[i]) ? kNaN : residual[i] + x[i];
      scaled[i] = std::isnan(x[i] * 25.25F) ? kNaN : x[i] * 25.25F;
    }
    for (const auto& set : test::kernel_sets()) {
      std::vector<float> values = residual;
      set.table->add(values.data(), x.data(), size);
      EXPECT_TRUE(same_bits(sum, values)) << set.name << ", add, " << size;
      values = x;
      set.table->scale(values.data(), 25.25F, size);
      EXPECT_TRUE(same_bits(scaled, values)) << set.name << ", scale, " << size;
    }
  }
}

// ---- accuracy and planted mistakes
// --------------------------------------------------------------------------------------

/// The rule written apart from the reference, with the number of lanes and each step open to a mistake.
struct Variant {
  std::size_t lanes = 32;
  bool squares_by_fma = true;
  bool pairs_neighbours = false;  // the tree l += l + 1, l + 2, l + 4 ...
  bool multiplies_weight_first = false;
  bool divides_by_root = false;
};

std::vector<float> second_implementation(const std::vector<float>& x, const std::vector<float>& weight,
                                         const Variant& variant) {
  std::vector<float> lanes(variant.lanes, 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float& lane = lanes[i % variant.lanes];
    lane = variant.squares_by_fma ? std::fma(x[i], x[i], lane) : lane + x[i] * x[i];
  }
  while (lanes.size() > 1) {
    std::vector<float> half(lanes.size() / 2);
    for (std::size_t l = 0; l < half.size(); ++l) {
      half[l] = variant.pairs_neighbours ? lanes[2 * l] + lanes[2 * l + 1] : lanes[l] + lanes[l + half.size()];
    }
    lanes = half;
  }
  const float root = std::sqrt(lanes[0] / static_cast<float>(x.size()) + kEpsilon);
  const float r = 1.0F / root;
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (variant.divides_by_root) {
      y[i] = x[i] / root * weight[i];
    } else {
      y[i] = variant.multiplies_weight_first ? x[i] * weight[i] * r : x[i] * r * weight[i];
    }
  }
  return y;
}

TEST(RmsNorm, ASecondImplementationAgreesAndEveryPlantedMistakeShows) {
  bool shows[6] = {};
  for (unsigned seed = 0; seed < 300; ++seed) {  // root and mean hide most differences of the sum
    const std::vector<float> x = normal_values(1001, seed);
    const std::vector<float> weight = normal_values(1001, seed + 50);
    const std::vector<float> expected = reference(x, weight.data(), kEpsilon);
    EXPECT_TRUE(same_bits(expected, second_implementation(x, weight, Variant())));
    const Variant mistakes[] = {{.lanes = 1},
                                {.lanes = 16},
                                {.squares_by_fma = false},
                                {.pairs_neighbours = true},
                                {.multiplies_weight_first = true},
                                {.divides_by_root = true}};
    for (std::size_t i = 0; i < std::size(mistakes); ++i) {
      shows[i] = shows[i] || !same_bits(expected, second_implementation(x, weight, mistakes[i]));
    }
  }
  for (std::size_t i = 0; i < std::size(shows); ++i) EXPECT_TRUE(shows[i]) << "mistake " << i;
}

TEST(RmsNorm, TheErrorAgainstBinary64IsAtMostTwiceThatOfPlainBinary32) {
  for (const std::size_t size : {33, 640, 4095}) {
    const std::vector<float> x = normal_values(size, 11);
    const std::vector<float> weight = normal_values(size, 12);
    double exact_sum = 0.0;
    float plain_sum = 0.0F;
    for (const float value : x) {
      exact_sum += static_cast<double>(value) * static_cast<double>(value);
      plain_sum += value * value;
    }
    const double exact_r = 1.0 / std::sqrt(exact_sum / static_cast<double>(size) + static_cast<double>(kEpsilon));
    const float plain_r = 1.0F / std::sqrt(plain_sum / static_cast<float>(size) + kEpsilon);
    const std::vector<float> y = reference(x, weight.data(), kEpsilon);
    double error = 0.0;
    double error_of_plain = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      const double exact = static_cast<double>(x[i]) * exact_r * static_cast<double>(weight[i]);
      error = std::max(error, std::abs(static_cast<double>(y[i]) - exact));
      error_of_plain = std::max(error_of_plain, std::abs(static_cast<double>(x[i] * plain_r * weight[i]) - exact));
    }
    EXPECT_LE(error, 2.0 * error_of_plain) << size;
  }
}

}  // namespace
}  // namespace lastbit::kernels
