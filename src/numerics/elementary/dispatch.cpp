#include "numerics/elementary/elementary.hpp"
#include "numerics/elementary/elementary_kernels.hpp"

namespace lastbit::numerics {

#define LASTBIT_VECTOR_ISA(name, features, flags)    \
  namespace name {                                   \
  extern const ElementaryKernels elementary_kernels; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace scalar {
namespace {

template <float (*function)(float)>
void apply(const float* x, std::size_t size, float* y) {
  for (std::size_t i = 0; i < size; ++i) y[i] = function(x[i]);
}

constexpr ElementaryKernels elementary_kernels = {
    apply<numerics::exp>, apply<numerics::log>, apply<numerics::tanh>, apply<numerics::erf>,
    apply<numerics::sin>, apply<numerics::cos>, apply<numerics::sqrt>, apply<numerics::reciprocal>,
};

}  // namespace
}  // namespace scalar

const ElementaryKernels& elementary_kernels(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::scalar:
      return scalar::elementary_kernels;
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  case cpu::Isa::name:                            \
    return name::elementary_kernels;
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  }
  __builtin_unreachable();
}

}  // namespace lastbit::numerics
