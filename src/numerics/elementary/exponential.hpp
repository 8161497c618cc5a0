// e^x by rule A1. Reduction: n = nearest integer of x / ln 2, r = x - n ln 2, e^x = 2^n e^r.
#pragma once

#include "numerics/elementary/coefficients.hpp"
#include "numerics/elementary/rounding.hpp"

namespace lastbit::numerics {
namespace rounding {

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kMinusLn2 = -0x1.62e42fefa39efp-1;

/// e^x = scale * (1 + q), scale = 2^n as the exponent bits `shifted_n` = n << 52, |r| <= 0.3466.
///
/// |x| <= 150 is a binary32 number (or the binary64 number -u of the error function). n * ln2 with fl(ln 2) = ln 2 -
/// 2^-55.3: r is off by |n| 2^-55.3; for binary32 x the fma is exact (n = 0, or both terms are multiples of 2^-53 and
/// |r| < 1). q = r P(r) has the relative error of kExponentialMinusOne, 2^-43.55, plus under 2^-51 of rounding.
template <class V>
struct ReducedExponential {
  typename V::I64 shifted_n;
  typename V::F64 q;
};

template <class V>
[[gnu::always_inline]] inline ReducedExponential<V> reduced_exponential(typename V::F64 x) {
  const typename V::F64 magic = V::broadcast_double(kIntegerMagic);
  const typename V::F64 shifted = V::fma(x, V::broadcast_double(kLog2E), magic);
  const typename V::F64 n = V::subtract(shifted, magic);
  const typename V::F64 r = V::fma(n, V::broadcast_double(kMinusLn2), x);
  return {V::template shift_left64<52>(V::as_integer(shifted)),
          V::multiply(r, polynomial<V>(coefficients::kExponentialMinusOne, r))};
}

/// e^x for -104 <= x <= 89. Error, relative: |q| / (1 + q) <= 0.415, so 2^-44.82 of approximation, 2^-48 from n ln 2
/// (|n| <= 150), 2^-51 of rounding: together 2^-44.6 < 2^-kExpBits.
template <class V>
[[gnu::always_inline]] inline typename V::F64 exp_in_binary64(typename V::F64 x) {
  const auto reduced = reduced_exponential<V>(x);
  const typename V::F64 mantissa = V::add(reduced.q, V::broadcast_double(1.0));
  return V::as_double(V::add_integer64(V::as_integer(mantissa), reduced.shifted_n));
}

}  // namespace rounding

/// Below -87.3 the result is subnormal and the lane is left to resolve_exp, but not at -104 and less, where the clamp
/// gives e^-104 < 2^-150, which rounds to +0; from 89 on e^89 > 2^128 rounds to +Inf.
template <class V>
[[gnu::always_inline]] inline typename V::F32 exp(typename V::F32 x) {
  const typename V::F32 lowest = V::broadcast(-104.0F);
  const typename V::F32 highest = V::broadcast(89.0F);
  typename V::F32 clamped = V::select(V::less(x, lowest), lowest, x);
  clamped = V::select(V::less(highest, clamped), highest, clamped);
  const typename V::Mask subnormal =
      V::mask_and(V::less(lowest, clamped), V::less(clamped, V::broadcast(-87.3125F)));  // > ln 2^-126 = -87.3365
  const typename V::F32 result = rounding::round_correctly<V, kExpBits>(
      clamped, subnormal, resolve_exp, [](typename V::F64 argument) { return rounding::exp_in_binary64<V>(argument); });
  return rounding::canonical_nan<V>(result);
}

}  // namespace lastbit::numerics
