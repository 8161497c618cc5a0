// Correct rounding from binary64: Ziv's test on vectors. Included by translation units compiled per instruction set.
//
// An evaluation gives y with |y - f(x)| <= 2^-bits |f(x)|. Rounding y to binary32 equals rounding f(x) unless a
// midpoint of two neighbouring binary32 numbers lies between them. For a normal result the midpoints are the binary64
// numbers whose low 29 bits are 2^28, and the distance is less than 2^(53 - bits) units in y's last place, so the test
// is two integer instructions. Lanes in doubt (and whole vectors that hold one: they are rare) go to `resolve`, scalar
// code that repeats the test by rounding both ends of the interval, which is right for subnormal results too, and asks
// binary128 if need be.
#pragma once

#include <cstdint>

#include "numerics/elementary/resolve.hpp"

namespace lastbit::numerics::rounding {

/// Lanes of y whose low 29 bits are within 2^(53 - bits) of a midpoint.
template <class V, int bits>
[[gnu::always_inline]] inline typename V::Mask64 near_midpoint(typename V::F64 y) {
  constexpr std::int64_t reach = std::int64_t{1} << (53 - bits);
  constexpr std::int64_t midpoint = std::int64_t{1} << 28;
  constexpr std::int64_t low_bits = (std::int64_t{1} << 29) - 1;
  // low bits in [midpoint - reach, midpoint + reach)  <=>  (low bits - midpoint + reach) mod 2^29 in [0, 2 reach)
  const typename V::I64 shifted = V::add_integer64(V::as_integer(y), V::broadcast_integer64(reach - midpoint));
  return V::disjoint(shifted, V::broadcast_integer64(low_bits & ~(2 * reach - 1)));
}

/// For functions none of whose lanes need the scalar code from the start.
struct NoLane {};

template <class V>
bool any_lane(NoLane) {
  return false;
}

template <class V>
bool any_lane(typename V::Mask mask) {
  return V::any(mask);
}

template <class V>
[[gnu::noinline, gnu::cold]] typename V::F32 resolve_lanes(Resolve* resolve, typename V::F32 x, typename V::F64 low,
                                                           typename V::F64 high) {
  constexpr int lanes = V::lanes;
  float inputs[lanes];
  float results[lanes];
  double values[2 * V::double_lanes];
  V::store(inputs, x);
  V::store(values, low);
  V::store(values + V::double_lanes, high);
  resolve(inputs, values, lanes, results);
  return V::load(results);
}

/// The correctly rounded f(x), given evaluate: F64 x -> F64 y with relative error at most 2^-bits wherever `doubtful`
/// (lanes that need the scalar code whatever their bits say: subnormal results, arguments outside the evaluation's
/// range) is not set.
template <class V, int bits, class Doubtful, class Evaluate>
[[gnu::always_inline]] inline typename V::F32 round_correctly(typename V::F32 x, Doubtful doubtful, Resolve* resolve,
                                                              const Evaluate& evaluate) {
  const typename V::F64 low = evaluate(V::widen_low(x));
  typename V::F64 high = low;
  typename V::Mask64 doubt = near_midpoint<V, bits>(low);
  if constexpr (V::lanes > V::double_lanes) {
    high = evaluate(V::widen_high(x));
    doubt = V::mask_or(doubt, near_midpoint<V, bits>(high));
  }
  const typename V::F32 rounded = V::narrow(low, high);
  if (__builtin_expect(V::any(doubt) || any_lane<V>(doubtful), 0)) return resolve_lanes<V>(resolve, x, low, high);
  return rounded;
}

// ---- small shared pieces -----------------------------------------------------------------------------------------

template <class V>
[[gnu::always_inline]] inline typename V::F32 absolute(typename V::F32 x) {
  return V::as_float(V::bit_and(V::as_integer(x), V::broadcast_integer(0x7FFFFFFF)));
}

/// magnitude >= +0 with the sign of `sign`.
template <class V>
[[gnu::always_inline]] inline typename V::F32 with_sign_of(typename V::F32 magnitude, typename V::F32 sign) {
  const typename V::I32 sign_bit = V::bit_and(V::as_integer(sign), V::broadcast_integer(-0x7FFFFFFF - 1));
  return V::as_float(V::bit_or(V::as_integer(magnitude), sign_bit));
}

/// The canonical quiet NaN 0x7FC00000 where `x` is any NaN (rule A11).
template <class V>
[[gnu::always_inline]] inline typename V::F32 canonical_nan(typename V::F32 x) {
  return V::select(V::is_nan(x), V::as_float(V::broadcast_integer(0x7FC00000)), x);
}

/// Horner by fma; coefficients are constant term first.
template <class V, int size>
[[gnu::always_inline]] inline typename V::F64 polynomial(const double (&coefficients)[size], typename V::F64 x) {
  typename V::F64 result = V::broadcast_double(coefficients[size - 1]);
  for (int i = size - 2; i >= 0; --i) result = V::fma(result, x, V::broadcast_double(coefficients[i]));
  return result;
}

/// Adding it to |v| < 2^51 leaves the nearest integer of v in the low bits (two's complement modulo 2^51).
constexpr double kIntegerMagic = 0x1.8p52;

}  // namespace lastbit::numerics::rounding
