// Gated activation, compiled once per instruction set of cpu/isa.def and once per emulated twin.
#include LASTBIT_VECTOR_HEADER

#include "kernels/gated_activation/gated_activation.hpp"
#include "numerics/activation_vector.hpp"

namespace lastbit::kernels::LASTBIT_VECTOR_NAMESPACE {

using lastbit::LASTBIT_VECTOR_NAMESPACE::Vector;
using numerics::Activation;

extern const GatedActivationKernels gated_activation_kernels;

namespace {

template <Activation formula>
[[gnu::always_inline]] inline Vector::F32 gated(Vector::F32 gate, Vector::F32 up) {
  return numerics::rounding::canonical_nan<Vector>(Vector::multiply(numerics::activate<Vector, formula>(gate), up));
}

template <Activation formula>
void apply_formula(const float* gate, const float* up, std::size_t size, float* y) {
  constexpr std::size_t lanes = Vector::lanes;
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    Vector::store(y + i, gated<formula>(Vector::load(gate + i), Vector::load(up + i)));
  }
  if (i < size) {
    const int rest = static_cast<int>(size - i);
    Vector::store_first(y + i, gated<formula>(Vector::load_first(gate + i, rest), Vector::load_first(up + i, rest)),
                        rest);
  }
}

void apply(Activation activation, const float* gate, const float* up, std::size_t size, float* y) {
  switch (activation) {
    case Activation::gelu_erf:
      return apply_formula<Activation::gelu_erf>(gate, up, size, y);
    case Activation::gelu_tanh:
      return apply_formula<Activation::gelu_tanh>(gate, up, size, y);
    case Activation::gelu_quick:
      return apply_formula<Activation::gelu_quick>(gate, up, size, y);
    case Activation::gelu_10:
      return apply_formula<Activation::gelu_10>(gate, up, size, y);
    case Activation::silu:
      return apply_formula<Activation::silu>(gate, up, size, y);
    case Activation::relu:
      return apply_formula<Activation::relu>(gate, up, size, y);
    case Activation::relu2:
      return apply_formula<Activation::relu2>(gate, up, size, y);
    case Activation::identity:
      return apply_formula<Activation::identity>(gate, up, size, y);
  }
}

}  // namespace

const GatedActivationKernels gated_activation_kernels = {apply};

}  // namespace lastbit::kernels::LASTBIT_VECTOR_NAMESPACE
