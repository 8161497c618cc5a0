// What the tests and elementary_exhaustive share: an oracle that is independent of the code (MPFR, and the C library's
// binary64 functions where their error leaves no doubt), and every table of array functions, emulated ones included.
#pragma once

#include <string>
#include <vector>

#include "numerics/elementary/elementary_kernels.hpp"

namespace lastbit::numerics::oracle {

struct FunctionUnderTest {
  const char* name;
  ElementaryKernels::Function* ElementaryKernels::*member;
  float (*scalar)(float);
  float (*mpfr)(float);        // correctly rounded to binary32, subnormals and overflow included; NaN canonical
  double (*binary64)(double);  // of the C library
};

/// exp, log, tanh, erf, sin, cos, sqrt, reciprocal.
const std::vector<FunctionUnderTest>& functions();

/// MPFR's exponent range for binary32, for the calling thread. Every thread that asks the oracle calls it once.
void prepare_thread();

/// The correctly rounded f(x). The C library's binary64 result is taken when the whole interval of relative radius
/// 2^-49 around it (8 units in the last place; its manual states at most 2 for these functions) rounds to one binary32
/// number; MPFR decides the rest and is counted in `asked_mpfr`.
float correctly_rounded(const FunctionUnderTest& function, float x, unsigned long long& asked_mpfr);

/// Whether f(x), by the C library's binary64 result, may lie within 2^-45 (relative) of a midpoint of two binary32
/// numbers: an input for which the functions' own binary64 evaluation does not decide. The list in tests/data was found
/// with it.
bool hard_to_round(const FunctionUnderTest& function, float x);

struct KernelSet {
  std::string name;  // "avx2", "emulated_avx512", ...
  const ElementaryKernels* kernels;
};

/// The tables that can run here: scalar, the supported instruction sets, and the emulated twin of every set.
std::vector<KernelSet> runnable_sets();

}  // namespace lastbit::numerics::oracle
