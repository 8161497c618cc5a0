#include "numerics/number_formats.hpp"

namespace lastbit::numerics {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000;

std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

float from_bits(std::uint32_t bits) {
  float x = 0.0F;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// significand / 2^shift to the nearest integer, ties to even; shift >= 1.
std::uint32_t shift_right_to_even(std::uint32_t significand, int shift) {
  if (shift > 25) return 0;  // the significand has 24 bits: less than one half
  const std::uint32_t quotient = significand >> shift;
  const std::uint32_t rest = significand & ((1U << shift) - 1U);
  const std::uint32_t half = 1U << (shift - 1);
  return quotient + (rest > half || (rest == half && (quotient & 1U) != 0) ? 1U : 0U);
}

/// The code, without sign, of the finite binary32 magnitude in a format of `fraction_bits` and `bias`, as if its
/// exponent range had no upper end. A carry out of the fraction runs into the exponent, which is the next binade's
/// first code.
template <int fraction_bits, int bias>
std::uint32_t encode_magnitude(std::uint32_t magnitude) {
  const int biased = static_cast<int>(magnitude >> 23);
  const std::uint32_t fraction = magnitude & 0x7FFFFFU;
  const std::uint32_t significand = biased == 0 ? fraction : fraction | 0x800000U;
  const int exponent = (biased == 0 ? 1 : biased) - 127;         // magnitude = significand * 2^(exponent - 23)
  const int target = exponent > 1 - bias ? exponent : 1 - bias;  // subnormal codes share the smallest normal exponent
  const std::uint32_t rounded = shift_right_to_even(significand, (target - fraction_bits) - (exponent - 23));
  return rounded + (static_cast<std::uint32_t>(target + bias - 1) << fraction_bits);
}

/// The value of a finite code without sign; every value of the formats decoded with it is a normal binary32 number or
/// 0.
template <int fraction_bits, int bias>
float decode_magnitude(std::uint32_t code) {
  const std::uint32_t biased = code >> fraction_bits;
  const std::uint32_t fraction = code & ((1U << fraction_bits) - 1U);
  const std::uint32_t significand = biased == 0 ? fraction : fraction | (1U << fraction_bits);
  const int exponent = static_cast<int>(biased == 0 ? 1U : biased) - bias - fraction_bits;
  return static_cast<float>(significand) * from_bits(static_cast<std::uint32_t>(exponent + 127) << 23);
}

template <int fraction_bits, int bias>
std::uint8_t encode_saturating(float x, std::uint32_t largest_code, std::uint8_t nan) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > kInfinity) return nan;
  const std::uint32_t code = magnitude == kInfinity ? largest_code : encode_magnitude<fraction_bits, bias>(magnitude);
  return static_cast<std::uint8_t>((code < largest_code ? code : largest_code) | ((bits >> 24) & 0x80U));
}

}  // namespace

float canonical_nan(float x) { return x == x ? x : from_bits(kCanonicalNanF32); }

float f16_to_f32(std::uint16_t code) {
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x8000U) << 16;
  const std::uint32_t magnitude = code & 0x7FFFU;
  if (magnitude == 0x7C00U) return from_bits(sign | kInfinity);
  if (magnitude > 0x7C00U) return from_bits(sign | kCanonicalNanF32 | ((magnitude & 0x3FFU) << 13));
  return from_bits(sign | bits_of(decode_magnitude<10, 15>(magnitude)));
}

std::uint16_t f32_to_f16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > kInfinity) return kCanonicalNanF16;
  std::uint32_t code = magnitude == kInfinity ? 0x7C00U : encode_magnitude<10, 15>(magnitude);
  if (code > 0x7C00U) code = 0x7C00U;
  return static_cast<std::uint16_t>(code | ((bits >> 16) & 0x8000U));
}

float bf16_to_f32(std::uint16_t code) { return from_bits(static_cast<std::uint32_t>(code) << 16); }

std::uint16_t f32_to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  if ((bits & 0x7FFFFFFFU) > kInfinity) return kCanonicalNanBf16;
  // The upper half of the encoding, rounded: a carry runs into the exponent and, at the top, gives Inf.
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

float e4m3fn_to_f32(std::uint8_t code) {
  const std::uint32_t magnitude = code & 0x7FU;
  if (magnitude == 0x7FU) return from_bits(kCanonicalNanF32);
  return from_bits((static_cast<std::uint32_t>(code & 0x80U) << 24) | bits_of(decode_magnitude<3, 7>(magnitude)));
}

std::uint8_t f32_to_e4m3fn(float x) { return encode_saturating<3, 7>(x, 0x7E, kCanonicalNanE4m3fn); }

float e5m2_to_f32(std::uint8_t code) {
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x80U) << 24;
  const std::uint32_t magnitude = code & 0x7FU;
  if (magnitude == 0x7CU) return from_bits(sign | kInfinity);
  if (magnitude > 0x7CU) return from_bits(kCanonicalNanF32);
  return from_bits(sign | bits_of(decode_magnitude<2, 15>(magnitude)));
}

std::uint8_t f32_to_e5m2(float x) { return encode_saturating<2, 15>(x, 0x7B, kCanonicalNanE5m2); }

float e8m0_to_f32(std::uint8_t code) {
  if (code == kNanE8m0) return from_bits(kCanonicalNanF32);
  return code == 0 ? 0x1p-127F : from_bits(static_cast<std::uint32_t>(code) << 23);
}

std::uint8_t f32_to_e8m0(float x) {
  const std::uint32_t bits = bits_of(x);
  if (bits == 0x80000000U) return 0;
  if (bits >= kInfinity) return kNanE8m0;  // Inf and NaN, and by their sign bit all negative numbers
  const std::uint32_t biased = bits >> 23;
  const std::uint32_t fraction = bits & 0x7FFFFFU;
  // Below 2^-126 the candidates are 2^-127 (fraction 0x400000) and 2^-126; their midpoint 1.5 * 2^-127 goes to the even
  // code 0.
  if (biased == 0) return fraction > 0x600000U ? 1 : 0;
  const std::uint32_t code = biased + (fraction > 0x400000U || (fraction == 0x400000U && (biased & 1U) != 0) ? 1U : 0U);
  return static_cast<std::uint8_t>(code < 254U ? code : 254U);
}

}  // namespace lastbit::numerics
