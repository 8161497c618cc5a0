// sin(x) and cos(x) by rule A1. Reduction: n = nearest integer of x / (pi/2), r = x - n pi/2, then sin(r) or cos(r) by
// the quadrant n mod 4. Below 2^22 the reduction is two fma in binary64; beyond, resolve_sin and resolve_cos reduce
// exactly.
#pragma once

#include "numerics/elementary/coefficients.hpp"
#include "numerics/elementary/rounding.hpp"

namespace lastbit::numerics {
namespace rounding {

/// From here on the lanes are left to the scalar code.
constexpr float kSineVectorLimit = 0x1p22F;

/// sin(r + quadrant pi/2) for |r| <= 0.7854 and the quadrant in the low two bits.
/// Error, relative: 2^-47.5 of kSine (2^-53.2 of kCosine) and under 2^-51 of rounding.
template <class V>
[[gnu::always_inline]] inline typename V::F64 sine_of_reduced(typename V::F64 r, typename V::I64 quadrant) {
  const typename V::F64 z = V::multiply(r, r);
  const typename V::F64 one = V::broadcast_double(1.0);
  // r times the whole, not r + r^3 S: so -0 stays -0.
  const typename V::F64 sine = V::multiply(r, V::fma(z, polynomial<V>(coefficients::kSine, z), one));
  const typename V::F64 base = V::fma(z, V::broadcast_double(-0.5), one);
  const typename V::F64 cosine = V::fma(V::multiply(z, z), polynomial<V>(coefficients::kCosine, z), base);
  const typename V::Mask64 even = V::disjoint(quadrant, V::broadcast_integer64(1));
  const typename V::I64 sign = V::template shift_left64<63>(V::template shift_right64<1>(quadrant));
  return V::as_double(V::bit_xor(V::as_integer(V::select(even, sine, cosine)), sign));
}

/// sin(x + quarter_turns pi/2) for binary32 |x| <= 2^22.
///
/// pi/2 = high + middle + 2^-107 or less. n high is a multiple of 2^-52, and so is x unless n = 0; |x - n high| < 1, so
/// the first fma is exact; the second rounds once. n times the rest of pi/2 is below 2^-85, and no binary32 number
/// comes closer than 2^-30 to a multiple of pi/2 (other than 0), so the error of r is 2^-53 + 2^-55, relative. Together
/// with sine_of_reduced: 2^-47.3 < 2^-kSineBits. Subnormal results of the sine are x itself.
template <class V>
[[gnu::always_inline]] inline typename V::F64 sine_in_binary64(typename V::F64 x, std::int64_t quarter_turns) {
  const typename V::F64 magic = V::broadcast_double(kIntegerMagic);
  const typename V::F64 shifted = V::fma(x, V::broadcast_double(0x1.45f306dc9c883p-1), magic);
  const typename V::F64 n = V::subtract(shifted, magic);
  const typename V::F64 high = V::fma(n, V::broadcast_double(-0x1.921fb54442d18p+0), x);
  const typename V::F64 r = V::fma(n, V::broadcast_double(-0x1.1a62633145c07p-54), high);
  return sine_of_reduced<V>(r, V::add_integer64(V::as_integer(shifted), V::broadcast_integer64(quarter_turns)));
}

template <class V>
[[gnu::always_inline]] inline typename V::F32 sine_or_cosine(typename V::F32 x, std::int64_t quarter_turns,
                                                             Resolve* resolve) {
  const typename V::F32 magnitude = absolute<V>(x);
  const typename V::Mask beyond = V::mask_and(V::less(V::broadcast(kSineVectorLimit), magnitude),
                                              V::less(magnitude, V::broadcast(__builtin_inff())));
  const typename V::F32 result = round_correctly<V, kSineBits>(
      x, beyond, resolve,
      [quarter_turns](typename V::F64 argument) { return sine_in_binary64<V>(argument, quarter_turns); });
  const typename V::Mask finite = V::less(magnitude, V::broadcast(__builtin_inff()));
  return V::select(finite, result, V::as_float(V::broadcast_integer(0x7FC00000)));
}

}  // namespace rounding

template <class V>
[[gnu::always_inline]] inline typename V::F32 sin(typename V::F32 x) {
  return rounding::sine_or_cosine<V>(x, 0, resolve_sin);
}

template <class V>
[[gnu::always_inline]] inline typename V::F32 cos(typename V::F32 x) {
  return rounding::sine_or_cosine<V>(x, 1, resolve_cos);
}

}  // namespace lastbit::numerics
