// erf(x) by rule A1: erf |x| = 1 - e^-u with u = |x| Q(|x|) = -log erfc |x|. No breakpoint, no table: an error of u
// counts only by erfc(x) / erf(x), so Q may be as coarse as it likes where erf is near 1, and near 0 relative precision
// is kept.
#pragma once

#include "numerics/elementary/exponential.hpp"

namespace lastbit::numerics {
namespace rounding {

/// erf(x) for 0 <= x <= 4 as (1 - 2^n) - 2^n q. Error, relative: 2^-45.26 from Q (its weight is that of erf); 2^n q is
/// at most 1.0 of the sum, so 2^-43.55 from q; rounding under 2^-50 (Horner's terms at x = 4 reach 300, weighted by
/// 6e-8): together 2^-43.1 < 2^-kErfBits.
template <class V>
[[gnu::always_inline]] inline typename V::F64 erf_in_binary64(typename V::F64 x) {
  const typename V::F64 zero = V::broadcast_double(0.0);
  const typename V::F64 one = V::broadcast_double(1.0);
  const typename V::F64 exponent = polynomial<V>(coefficients::kErrorFunctionExponent, x);
  const auto reduced = reduced_exponential<V>(V::multiply(V::subtract(zero, x), exponent));
  const typename V::F64 scale = V::as_double(V::add_integer64(reduced.shifted_n, V::as_integer(one)));
  return V::fma(scale, V::subtract(zero, reduced.q), V::subtract(one, scale));
}

}  // namespace rounding

/// From |x| = 4 on the clamp stands for the result: erfc(4) = 1.5e-8 < 2^-25 rounds to 1. Below 2^-125 the result may
/// be subnormal, where midpoints stand elsewhere: resolve_erf.
template <class V>
[[gnu::always_inline]] inline typename V::F32 erf(typename V::F32 x) {
  const typename V::F32 magnitude = rounding::absolute<V>(x);
  const typename V::F32 highest = V::broadcast(4.0F);
  const typename V::F32 clamped = V::select(V::less(highest, magnitude), highest, magnitude);
  const typename V::Mask subnormal =
      V::mask_and(V::less(V::zero(), clamped), V::less(clamped, V::broadcast(0x1p-125F)));
  const typename V::F32 result = rounding::round_correctly<V, kErfBits>(
      clamped, subnormal, resolve_erf, [](typename V::F64 argument) { return rounding::erf_in_binary64<V>(argument); });
  return rounding::canonical_nan<V>(rounding::with_sign_of<V>(result, x));
}

}  // namespace lastbit::numerics
