// log(x) by rule A1: x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), log x = e ln 2 + f P(f). A degree-16 polynomial
// costs less than the division that the atanh series needs (16 cycles per 8 binary64 elements on current AVX-512
// processors).
#pragma once

#include "numerics/elementary/coefficients.hpp"
#include "numerics/elementary/rounding.hpp"

namespace lastbit::numerics {
namespace rounding {

/// log(x) for a positive, finite binary32 number, which is normal in binary64; f is exact. Error, relative: e = 0:
/// 2^-46.38 of kLogarithm and under 2^-51 of rounding. e != 0: |f P(f)| <= 0.3466 <= |log x|, so the same, and e fl(ln
/// 2) is within 2^-54 of e ln 2, relative: together 2^-46.2 < 2^-kLogBits.
template <class V>
[[gnu::always_inline]] inline typename V::F64 log_in_binary64(typename V::F64 x) {
  constexpr std::int64_t root_half = 0x3FE6A09E00000000;        // sqrt(1/2), its upper 32 bits
  constexpr std::int64_t exponent_field = -0x0010000000000000;  // sign and exponent bits
  constexpr std::int64_t two_to_52 = 0x4330000000000000;
  constexpr std::int64_t top_bit = -0x7FFFFFFFFFFFFFFF - 1;
  // Less the bits of sqrt(1/2), the upper 12 bits are e in two's complement.
  const typename V::I64 offset = V::subtract_integer64(V::as_integer(x), V::broadcast_integer64(root_half));
  const typename V::I64 e_bits = V::bit_and(offset, V::broadcast_integer64(exponent_field));
  const typename V::F64 mantissa = V::as_double(V::subtract_integer64(V::as_integer(x), e_bits));
  // e + 2^11 as the last bits of 2^52, then less both: e as a binary64 number.
  const typename V::I64 biased =
      V::template shift_right64<52>(V::add_integer64(offset, V::broadcast_integer64(top_bit)));
  const typename V::F64 e = V::subtract(V::as_double(V::bit_or(biased, V::broadcast_integer64(two_to_52))),
                                        V::broadcast_double(0x1p52 + 2048.0));
  const typename V::F64 f = V::subtract(mantissa, V::broadcast_double(1.0));
  const typename V::F64 series = V::multiply(f, polynomial<V>(coefficients::kLogarithm, f));
  return V::fma(e, V::broadcast_double(0x1.62e42fefa39efp-1), series);
}

}  // namespace rounding

/// No result is subnormal: the smallest, of 1 - 2^-24, is about -2^-24. Arguments that are not positive and finite are
/// set apart at the end.
template <class V>
[[gnu::always_inline]] inline typename V::F32 log(typename V::F32 x) {
  const typename V::F32 result = rounding::round_correctly<V, kLogBits>(
      x, rounding::NoLane{}, resolve_log,
      [](typename V::F64 argument) { return rounding::log_in_binary64<V>(argument); });
  const typename V::F32 infinity = V::broadcast(__builtin_inff());
  const typename V::F32 nan = V::as_float(V::broadcast_integer(0x7FC00000));
  typename V::F32 special = V::select(V::equal(x, infinity), infinity, result);
  special = V::select(V::equal(x, V::zero()), V::broadcast(-__builtin_inff()), special);
  special = V::select(V::less(x, V::zero()), nan, special);
  return V::select(V::is_nan(x), nan, special);
}

}  // namespace lastbit::numerics
