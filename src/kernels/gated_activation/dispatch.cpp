#include "kernels/gated_activation/gated_activation.hpp"

namespace lastbit::kernels {

namespace scalar {
extern const GatedActivationKernels gated_activation_kernels;
}
#define LASTBIT_VECTOR_ISA(name, features, flags)               \
  namespace name {                                              \
  extern const GatedActivationKernels gated_activation_kernels; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

const GatedActivationKernels& gated_activation_kernels(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::scalar:
      return scalar::gated_activation_kernels;
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  case cpu::Isa::name:                            \
    return name::gated_activation_kernels;
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  }
  __builtin_unreachable();
}

}  // namespace lastbit::kernels
