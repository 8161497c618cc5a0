// tanh(x) by rule A1: with E = e^(2|x|) - 1, tanh |x| = E / (E + 2). No breakpoint: E keeps its relative precision near
// 0.
#pragma once

#include "numerics/elementary/exponential.hpp"

namespace lastbit::numerics {
namespace rounding {

/// tanh(x) for 0 <= x <= 9.5. E = 2^n q + (2^n - 1), the second term exact; n = 0 for x < 0.17 and E = q.
/// Error of E, relative: 2^-43.55 times |2^n q / E| <= 1.415 (largest at n = 1, q = 2^-1/2 - 1), 2^-49 from n ln 2 (n
/// <= 28), and 2^-51 of rounding. dlog(tanh) / dlog(E) = 2 / (E + 2), which is 0.83 there: together 2^-43.2 <
/// 2^-kTanhBits.
template <class V>
[[gnu::always_inline]] inline typename V::F64 tanh_in_binary64(typename V::F64 x) {
  const auto reduced = reduced_exponential<V>(V::add(x, x));
  const typename V::F64 one = V::broadcast_double(1.0);
  const typename V::F64 scale = V::as_double(V::add_integer64(reduced.shifted_n, V::as_integer(one)));
  const typename V::F64 e = V::fma(scale, reduced.q, V::subtract(scale, one));
  return V::divide(e, V::add(e, V::broadcast_double(2.0)));
}

}  // namespace rounding

/// From |x| = 9.5 on the clamp stands for the result: 1 - tanh(9.5) = 1.1e-8 < 2^-25 rounds to 1. Subnormal results are
/// x itself (tanh(x) lies by x^3 / 3 < 2^-370 below x, and y within 2^-42 of it rounds to x), so no lane needs another
/// test.
template <class V>
[[gnu::always_inline]] inline typename V::F32 tanh(typename V::F32 x) {
  const typename V::F32 magnitude = rounding::absolute<V>(x);
  const typename V::F32 highest = V::broadcast(9.5F);
  const typename V::F32 clamped = V::select(V::less(highest, magnitude), highest, magnitude);
  const typename V::F32 result = rounding::round_correctly<V, kTanhBits>(
      clamped, rounding::NoLane{}, resolve_tanh,
      [](typename V::F64 argument) { return rounding::tanh_in_binary64<V>(argument); });
  return rounding::canonical_nan<V>(rounding::with_sign_of<V>(result, x));
}

}  // namespace lastbit::numerics
