// Gated activation in binary32 by rule A8: y = fl(act(gate) * up), every operation of act rounded to binary32,
// functions correctly rounded. A NaN result is the canonical 0x7FC00000.
#pragma once

#include <cstddef>

#include "cpu/isa.hpp"
#include "numerics/activation.hpp"

namespace lastbit::kernels {

struct GatedActivationKernels {
  /// gate, up, y: [size]; y may be gate or up.
  void (*apply)(numerics::Activation activation, const float* gate, const float* up, std::size_t size, float* y);
};

const GatedActivationKernels& gated_activation_kernels(cpu::Isa isa);

}  // namespace lastbit::kernels
