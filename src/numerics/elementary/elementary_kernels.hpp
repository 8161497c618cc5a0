// The elementary functions of rule A1 on arrays, one table per instruction set; every table gives the same bits.
#pragma once

#include <cstddef>

#include "cpu/isa.hpp"

namespace lastbit::numerics {

struct ElementaryKernels {
  /// y[i] = f(x[i]) for i < size; y may be x.
  using Function = void(const float* x, std::size_t size, float* y);
  Function* exp;
  Function* log;
  Function* tanh;
  Function* erf;
  Function* sin;
  Function* cos;
  Function* sqrt;
  Function* reciprocal;
};

const ElementaryKernels& elementary_kernels(cpu::Isa isa);

}  // namespace lastbit::numerics
