#include "kernels/gated_activation/gated_activation.hpp"

namespace lastbit::kernels::scalar {

extern const GatedActivationKernels gated_activation_kernels;

namespace {

/// y[i] = fl(act(gate[i]) * up[i])
void apply(numerics::Activation activation, const float* gate, const float* up, std::size_t size, float* y) {
  for (std::size_t i = 0; i < size; ++i) {
    const float product = numerics::activate(activation, gate[i]) * up[i];
    y[i] = product == product ? product : __builtin_nanf("");  // the canonical NaN, 0x7FC00000
  }
}

}  // namespace

const GatedActivationKernels gated_activation_kernels = {apply};

}  // namespace lastbit::kernels::scalar
