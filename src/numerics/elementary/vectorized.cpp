// The elementary functions on arrays, compiled once per instruction set of cpu/isa.def and once per emulated twin.
#include LASTBIT_VECTOR_HEADER

#include "numerics/elementary/elementary_kernels.hpp"
#include "numerics/elementary/vector_functions.hpp"

namespace lastbit::numerics::LASTBIT_VECTOR_NAMESPACE {

using lastbit::LASTBIT_VECTOR_NAMESPACE::Vector;
using F32 = Vector::F32;

extern const ElementaryKernels elementary_kernels;

namespace {

template <F32 (*function)(F32)>
void apply(const float* x, std::size_t size, float* y) {
  constexpr std::size_t lanes = Vector::lanes;
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) Vector::store(y + i, function(Vector::load(x + i)));
  if (i < size) {
    const int rest = static_cast<int>(size - i);
    Vector::store_first(y + i, function(Vector::load_first(x + i, rest)), rest);
  }
}

}  // namespace

const ElementaryKernels elementary_kernels = {
    apply<numerics::exp<Vector>>,  apply<numerics::log<Vector>>,        apply<numerics::tanh<Vector>>,
    apply<numerics::erf<Vector>>,  apply<numerics::sin<Vector>>,        apply<numerics::cos<Vector>>,
    apply<numerics::sqrt<Vector>>, apply<numerics::reciprocal<Vector>>,
};

}  // namespace lastbit::numerics::LASTBIT_VECTOR_NAMESPACE
