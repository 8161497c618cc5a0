// The elementary functions of rule A1: correctly rounded to binary32 for every input.
//
// "Correctly rounded" is a mathematical definition: the real number f(x), rounded once to nearest even, subnormals
// kept, overflow to infinity. No library version is part of it. Special values as IEEE 754 and C say (exp(-Inf) = +0,
// log(-0) = -Inf, log of a negative number NaN, sin(+-Inf) NaN, sqrt(-0) = -0, ...); every NaN result is the canonical
// 0x7FC00000. None of them sets errno; all expect the floating-point state of base/floating_point_state.hpp.
//
// Way there: the function is evaluated in binary64 with a proven relative error bound; where the interval that the
// bound leaves contains a midpoint of two binary32 numbers (Ziv's test, about one input in 2^17), binary128 decides.
// The scalar functions are the vector templates of vector_functions.hpp at one lane, so scalar and vector bits are
// equal.
#pragma once

#include <cstdint>

namespace lastbit::numerics {

float exp(float x);
float log(float x);
float tanh(float x);
float erf(float x);
float sin(float x);
float cos(float x);
float sqrt(float x);
float reciprocal(float x);

/// The real number base^(-2i / d), exact exponent, rounded once to binary32: the inverse frequency of rule A7.
/// Refuses (ErrorKind::input) a base that is not finite and positive, and d = 0. For load time: some microseconds a
/// call.
float inverse_frequency(float base, std::uint64_t i, std::uint64_t d);

}  // namespace lastbit::numerics
