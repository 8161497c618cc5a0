// The table of each instruction set: reference.cpp defines the scalar one, vectorized.cpp the others.
#include "kernels/rms_norm/rms_norm.hpp"

namespace lastbit {

namespace scalar {
extern const kernels::RmsNormKernels rms_norm_table;
}
#define LASTBIT_VECTOR_ISA(name, features, flags)      \
  namespace name {                                     \
  extern const kernels::RmsNormKernels rms_norm_table; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace kernels {

const RmsNormKernels& rms_norm_kernels(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::scalar:
      break;
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  case cpu::Isa::name:                            \
    return name::rms_norm_table;
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  }
  return scalar::rms_norm_table;
}

}  // namespace kernels
}  // namespace lastbit
