// Every encoding of every format, and rounding against an independent method: the nearest of all encodings by exact
// comparison in binary64, on all values, midpoints and their neighbours, and random numbers.
#include "numerics/number_formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace lastbit::numerics {
namespace {

std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float from_bits(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct Format {
  std::string name;
  int exponent_bits;
  int fraction_bits;
  int bias;
  bool has_infinity;
  bool saturates;
  unsigned canonical_nan;
  float (*widen)(unsigned);
  unsigned (*narrow)(float);

  unsigned sign_bit() const { return 1U << (exponent_bits + fraction_bits); }
  /// The first code (without sign) that is no finite number.
  unsigned finite_codes() const {
    const unsigned infinity = ((1U << exponent_bits) - 1U) << fraction_bits;
    return has_infinity ? infinity : sign_bit() - 1U;
  }
  /// Textbook value of a finite code without sign.
  double value(unsigned code) const {
    const unsigned exponent = code >> fraction_bits;
    const double fraction = static_cast<double>(code & ((1U << fraction_bits) - 1U)) / (1 << fraction_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
  }
};

const std::vector<Format>& formats() {
  static const std::vector<Format> list = {
      {"f16", 5, 10, 15, true, false, 0x7E00, [](unsigned c) { return f16_to_f32(static_cast<std::uint16_t>(c)); },
       [](float x) { return static_cast<unsigned>(f32_to_f16(x)); }},
      {"bf16", 8, 7, 127, true, false, 0x7FC0, [](unsigned c) { return bf16_to_f32(static_cast<std::uint16_t>(c)); },
       [](float x) { return static_cast<unsigned>(f32_to_bf16(x)); }},
      {"e4m3fn", 4, 3, 7, false, true, 0x7F, [](unsigned c) { return e4m3fn_to_f32(static_cast<std::uint8_t>(c)); },
       [](float x) { return static_cast<unsigned>(f32_to_e4m3fn(x)); }},
      {"e5m2", 5, 2, 15, true, true, 0x7F, [](unsigned c) { return e5m2_to_f32(static_cast<std::uint8_t>(c)); },
       [](float x) { return static_cast<unsigned>(f32_to_e5m2(x)); }},
  };
  return list;
}

/// Nearest of all encodings of the finite number x, ties to the even code; values[i] is the value of code i, and one
/// more entry stands for the number after the largest, so that overflow begins where its midpoint says.
unsigned nearest_code(const Format& format, const std::vector<double>& values, float x) {
  const double magnitude = std::fabs(static_cast<double>(x));
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  unsigned code = static_cast<unsigned>(above - values.begin()) - 1U;
  if (above != values.end()) {
    const double midpoint = (values[code] + values[code + 1]) / 2;  // exact: neighbours have few bits
    if (magnitude > midpoint || (magnitude == midpoint && (code & 1U) != 0)) ++code;
  }
  const unsigned largest = format.finite_codes() - 1U;
  if (code > largest) code = format.saturates ? largest : largest + 1U;
  return code | (std::signbit(x) ? format.sign_bit() : 0U);
}

std::vector<double> values_and_the_next(const Format& format) {
  std::vector<double> values;
  for (unsigned code = 0; code < format.finite_codes(); ++code) values.push_back(format.value(code));
  values.push_back(2 * values.back() - values[values.size() - 2]);
  return values;
}

std::vector<float> inputs_for(const std::vector<double>& values) {
  std::vector<float> inputs;
  const auto with_neighbours = [&](double value) {
    const auto x = static_cast<float>(value);
    for (const float neighbour :
         {std::nextafterf(x, 0.0F), x, std::nextafterf(x, std::numeric_limits<float>::infinity())}) {
      inputs.push_back(neighbour);
      inputs.push_back(-neighbour);
    }
  };
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    with_neighbours(values[i]);
    with_neighbours((values[i] + values[i + 1]) / 2);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i) inputs.push_back(from_bits(random()));
  for (int i = 0; i < 200000; ++i) {  // numbers inside the format's range
    const double top = std::log2(values.back()) + 1;
    const double bottom = std::log2(values[1]) - 2;
    const double exponent = bottom + (top - bottom) * static_cast<double>(random()) / 4294967296.0;
    inputs.push_back(static_cast<float>(std::exp2(exponent)));
  }
  std::erase_if(inputs, [](float x) { return !std::isfinite(x); });
  return inputs;
}

TEST(NumberFormats, EveryFiniteCodeWidensToItsValueAndNarrowsBack) {
  for (const Format& format : formats()) {
    for (unsigned code = 0; code < format.finite_codes(); ++code) {
      const auto value = static_cast<float>(format.value(code));
      ASSERT_EQ(static_cast<double>(value), format.value(code)) << format.name << " " << code;
      for (const unsigned sign : {0U, format.sign_bit()}) {
        const float expected = sign != 0 ? -value : value;
        ASSERT_EQ(bits_of(format.widen(code | sign)), bits_of(expected)) << format.name << " " << code;
        ASSERT_EQ(format.narrow(expected), code | sign) << format.name << " " << code;
      }
    }
  }
}

TEST(NumberFormats, EveryOtherCodeIsInfinityOrNaN) {
  for (const Format& format : formats()) {
    for (unsigned code = format.finite_codes(); code < format.sign_bit(); ++code) {
      for (const unsigned sign : {0U, format.sign_bit()}) {
        const float value = format.widen(code | sign);
        if (format.has_infinity && code == format.finite_codes()) {
          ASSERT_TRUE(std::isinf(value) && std::signbit(value) == (sign != 0)) << format.name << " " << code;
        } else {
          ASSERT_TRUE(std::isnan(value)) << format.name << " " << code;
          ASSERT_EQ(format.narrow(value), format.canonical_nan) << format.name << " " << code;
        }
      }
    }
  }
}

TEST(NumberFormats, NarrowingIsNearestEvenAmongAllEncodings) {
  for (const Format& format : formats()) {
    const std::vector<double> values = values_and_the_next(format);
    for (const float x : inputs_for(values)) {
      ASSERT_EQ(format.narrow(x), nearest_code(format, values, x))
          << format.name << " of " << std::hexfloat << x << " (" << std::hex << bits_of(x) << ")";
    }
  }
}

TEST(NumberFormats, InfinityOverflowsOrSaturates) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Format& format : formats()) {
    const unsigned expected = format.saturates ? format.finite_codes() - 1U : format.finite_codes();
    EXPECT_EQ(format.narrow(infinity), expected) << format.name;
    EXPECT_EQ(format.narrow(-infinity), expected | format.sign_bit()) << format.name;
  }
  EXPECT_EQ(f32_to_f16(65519.996F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7C00);
  EXPECT_EQ(f32_to_e4m3fn(1e30F), 0x7E);
  EXPECT_EQ(f32_to_e4m3fn(-464.0F), 0xFE);
}

TEST(NumberFormats, EveryNaNNarrowsToTheCanonicalOne) {
  for (const std::uint32_t bits :
       {0x7F800001U, 0x7FBFFFFFU, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFC00000U, 0xFFFFFFFFU}) {
    for (const Format& format : formats())
      EXPECT_EQ(format.narrow(from_bits(bits)), format.canonical_nan) << format.name;
    EXPECT_EQ(f32_to_e8m0(from_bits(bits)), 0xFF);
    EXPECT_EQ(bits_of(canonical_nan(from_bits(bits))), kCanonicalNanF32);
  }
  EXPECT_EQ(bits_of(canonical_nan(-0.0F)), 0x80000000U);
}

TEST(NumberFormats, WideningF16KeepsThePayloadOfANaNAndMakesItQuiet) {
  EXPECT_EQ(bits_of(f16_to_f32(0x7C01)), 0x7FC02000U);
  EXPECT_EQ(bits_of(f16_to_f32(0xFFFF)), 0xFFFFE000U);
  EXPECT_EQ(bits_of(bf16_to_f32(0x7F81)), 0x7F810000U);
}

TEST(NumberFormats, EveryE8m0CodeIsItsPowerOfTwo) {
  for (unsigned code = 0; code < 255; ++code) {
    const auto value = e8m0_to_f32(static_cast<std::uint8_t>(code));
    ASSERT_EQ(static_cast<double>(value), std::ldexp(1.0, static_cast<int>(code) - 127));
    ASSERT_EQ(f32_to_e8m0(value), code);
  }
  EXPECT_EQ(bits_of(e8m0_to_f32(0xFF)), kCanonicalNanF32);
}

TEST(NumberFormats, E8m0NarrowsToTheNearestPowerOfTwoWithTiesToTheEvenCode) {
  for (unsigned code = 0; code < 254; ++code) {
    const auto midpoint = static_cast<float>(std::ldexp(1.5, static_cast<int>(code) - 127));
    EXPECT_EQ(f32_to_e8m0(std::nextafterf(midpoint, 0.0F)), code);
    EXPECT_EQ(f32_to_e8m0(midpoint), (code & 1U) != 0 ? code + 1 : code);
    EXPECT_EQ(f32_to_e8m0(std::nextafterf(midpoint, std::numeric_limits<float>::infinity())), code + 1);
  }
  EXPECT_EQ(f32_to_e8m0(std::numeric_limits<float>::max()), 254);
  EXPECT_EQ(f32_to_e8m0(0.0F), 0);
  EXPECT_EQ(f32_to_e8m0(-0.0F), 0);
  EXPECT_EQ(f32_to_e8m0(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(f32_to_e8m0(-1.0F), 0xFF);
  EXPECT_EQ(f32_to_e8m0(std::numeric_limits<float>::infinity()), 0xFF);
}

}  // namespace
}  // namespace lastbit::numerics
