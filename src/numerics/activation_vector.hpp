// The activation formulas of rule A8 on vectors. Included by translation units compiled per instruction set.
#pragma once

#include "numerics/activation.hpp"
#include "numerics/elementary/vector_functions.hpp"

namespace lastbit::numerics {
namespace activation_formulas {

using namespace activation_constants;

template <class V>
[[gnu::always_inline]] inline typename V::F32 negate(typename V::F32 x) {
  return V::as_float(V::bit_xor(V::as_integer(x), V::broadcast_integer(-0x7FFFFFFF - 1)));
}

/// (0.5 * x) * (1 + tanh(c * (x + k * ((x * x) * x))))
template <class V>
[[gnu::always_inline]] inline typename V::F32 gelu_tanh(typename V::F32 x) {
  const typename V::F32 cube = V::multiply(V::multiply(x, x), x);
  const typename V::F32 inner = V::add(x, V::multiply(V::broadcast(kGeluTanhCubic), cube));
  const typename V::F32 hyperbolic = numerics::tanh<V>(V::multiply(V::broadcast(kRootTwoOverPi), inner));
  return V::multiply(V::multiply(V::broadcast(0.5F), x), V::add(V::broadcast(1.0F), hyperbolic));
}

/// (0.5 * x) * (1 + erf(x * r))
template <class V>
[[gnu::always_inline]] inline typename V::F32 gelu_erf(typename V::F32 x) {
  const typename V::F32 error = numerics::erf<V>(V::multiply(x, V::broadcast(kRootHalf)));
  return V::multiply(V::multiply(V::broadcast(0.5F), x), V::add(V::broadcast(1.0F), error));
}

/// x * (1 / (1 + exp(-(1.702 * x))))
template <class V>
[[gnu::always_inline]] inline typename V::F32 gelu_quick(typename V::F32 x) {
  const typename V::F32 one = V::broadcast(1.0F);
  const typename V::F32 exponential = numerics::exp<V>(negate<V>(V::multiply(V::broadcast(kGeluQuickSlope), x)));
  return V::multiply(x, V::divide(one, V::add(one, exponential)));
}

/// gelu_erf clamped to [-10, 10], NaN kept
template <class V>
[[gnu::always_inline]] inline typename V::F32 gelu_10(typename V::F32 x) {
  const typename V::F32 limit = V::broadcast(10.0F);
  const typename V::F32 value = gelu_erf<V>(x);
  const typename V::F32 bounded = V::select(V::less(limit, value), limit, value);
  return V::select(V::less(bounded, negate<V>(limit)), negate<V>(limit), bounded);
}

/// x / (1 + exp(-x))
template <class V>
[[gnu::always_inline]] inline typename V::F32 silu(typename V::F32 x) {
  return V::divide(x, V::add(V::broadcast(1.0F), numerics::exp<V>(negate<V>(x))));
}

/// x > 0 ? x : +0, NaN kept
template <class V>
[[gnu::always_inline]] inline typename V::F32 relu(typename V::F32 x) {
  return V::select(V::is_nan(x), x, V::select(V::less(V::zero(), x), x, V::zero()));
}

template <class V, Activation formula>
[[gnu::always_inline]] inline typename V::F32 evaluate(typename V::F32 x) {
  if constexpr (formula == Activation::gelu_erf) {
    return gelu_erf<V>(x);
  } else if constexpr (formula == Activation::gelu_tanh) {
    return gelu_tanh<V>(x);
  } else if constexpr (formula == Activation::gelu_quick) {
    return gelu_quick<V>(x);
  } else if constexpr (formula == Activation::gelu_10) {
    return gelu_10<V>(x);
  } else if constexpr (formula == Activation::silu) {
    return silu<V>(x);
  } else if constexpr (formula == Activation::relu) {
    return relu<V>(x);
  } else if constexpr (formula == Activation::relu2) {
    const typename V::F32 rectified = relu<V>(x);
    return V::multiply(rectified, rectified);
  } else {
    static_assert(formula == Activation::identity);
    return x;
  }
}

}  // namespace activation_formulas

/// The formula in binary32, each operation rounded; a NaN result is the canonical 0x7FC00000.
template <class V, Activation formula>
[[gnu::always_inline]] inline typename V::F32 activate(typename V::F32 x) {
  return rounding::canonical_nan<V>(activation_formulas::evaluate<V, formula>(x));
}

}  // namespace lastbit::numerics
