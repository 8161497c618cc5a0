// Scalar code behind the vector functions for lanes that binary64 cannot round with certainty. Declarations only: this
// header is included by translation units compiled per instruction set, the code is compiled once for the baseline.
#pragma once

namespace lastbit::numerics {

/// For i < count: results[i] = the correctly rounded f(x[i]). y[i] is the binary64 evaluation of the vector code,
/// within the function's bound of f(x[i]); it is ignored where the vector code does not evaluate (see each function).
using Resolve = void(const float* x, const double* y, int count, float* results);

Resolve resolve_exp;
Resolve resolve_log;
Resolve resolve_tanh;
Resolve resolve_erf;
Resolve resolve_sin;
Resolve resolve_cos;

/// Proven relative errors of the binary64 evaluations: 2^-bits (the derivation is a comment in each function's file).
constexpr int kExpBits = 44;
constexpr int kLogBits = 45;
constexpr int kTanhBits = 42;
constexpr int kErfBits = 42;
constexpr int kSineBits = 46;

}  // namespace lastbit::numerics
