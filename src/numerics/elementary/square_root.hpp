// sqrt(x) and 1 / x by rule A1: IEEE 754 operations are correctly rounded already; only the NaN is made canonical.
#pragma once

#include "numerics/elementary/rounding.hpp"

namespace lastbit::numerics {

template <class V>
[[gnu::always_inline]] inline typename V::F32 sqrt(typename V::F32 x) {
  return rounding::canonical_nan<V>(V::square_root(x));
}

template <class V>
[[gnu::always_inline]] inline typename V::F32 reciprocal(typename V::F32 x) {
  return rounding::canonical_nan<V>(V::divide(V::broadcast(1.0F), x));
}

}  // namespace lastbit::numerics
