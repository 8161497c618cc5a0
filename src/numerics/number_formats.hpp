// Storage formats of floating-point numbers and their conversions from and to binary32, by the encodings of IEEE 754
// (f16), of bfloat16, and of the OCP specifications "8-bit Floating Point" (e4m3fn, e5m2) and "Microscaling Formats"
// (e8m0).
//
//   format   sign exponent fraction  bias  largest        special encodings
//   f16      1    5        10        15    65504          Inf 0x7C00, NaN above
//   bf16     1    8        7         127   0x1.fep127     Inf 0x7F80, NaN above
//   e4m3fn   1    4        3         7     448            no Inf; NaN 0x7F and 0xFF
//   e5m2     1    5        2         15    57344          Inf 0x7C, NaN 0x7D..0x7F
//   e8m0     0    8        0         127   2^127          value 2^(code - 127); NaN 0xFF; neither sign, zero nor Inf
//
// Widening is exact. Narrowing rounds to nearest, ties to the even encoding, subnormals kept, and does not depend on
// the state of the floating-point unit. A NaN becomes the canonical NaN of the format (rule A11).
#pragma once

#include <cstdint>

namespace lastbit::numerics {

/// The canonical quiet NaNs of rule A11.
inline constexpr std::uint32_t kCanonicalNanF32 = 0x7FC00000;
inline constexpr std::uint16_t kCanonicalNanF16 = 0x7E00;
inline constexpr std::uint16_t kCanonicalNanBf16 = 0x7FC0;
inline constexpr std::uint8_t kCanonicalNanE4m3fn = 0x7F;
inline constexpr std::uint8_t kCanonicalNanE5m2 = 0x7F;
inline constexpr std::uint8_t kNanE8m0 = 0xFF;

/// x, or the canonical NaN 0x7FC00000 where x is any NaN.
float canonical_nan(float x);

/// As the processor's vcvtph2ps: a NaN keeps sign and payload and becomes quiet.
float f16_to_f32(std::uint16_t code);
/// Overflow, from 65520 on, gives Inf.
std::uint16_t f32_to_f16(float x);

/// The code in the upper half of binary32: a NaN keeps every bit.
float bf16_to_f32(std::uint16_t code);
/// Overflow, from 0x1.ffp127 on, gives Inf.
std::uint16_t f32_to_bf16(float x);

/// NaN codes of either sign give the canonical NaN.
float e4m3fn_to_f32(std::uint8_t code);
/// Nearest even after the clamp to +-448, so +-Inf gives +-448; a NaN of either sign gives 0x7F; -0 gives 0x80 (rule
/// A12).
std::uint8_t f32_to_e4m3fn(float x);

/// NaN codes of either sign give the canonical NaN.
float e5m2_to_f32(std::uint8_t code);
/// Saturates as e4m3fn does: nearest even after the clamp to +-57344, +-Inf included; a NaN of either sign gives 0x7F.
std::uint8_t f32_to_e5m2(float x);

/// 2^(code - 127), of which 2^-127 is subnormal; 0xFF gives the canonical NaN.
float e8m0_to_f32(std::uint8_t code);
/// The nearest power of two after the clamp to [2^-127, 2^127], ties (1.5 * 2^k) to the even code; zero of either sign
/// gives 0x00. What has no meaning as a scale, a negative number, Inf or NaN, gives 0xFF.
std::uint8_t f32_to_e8m0(float x);

}  // namespace lastbit::numerics
