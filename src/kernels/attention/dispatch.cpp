// The table of each instruction set: reference.cpp defines the scalar one, vectorized.cpp the others.
#include "kernels/attention/attention.hpp"

namespace lastbit {

namespace scalar {
extern const kernels::AttentionKernels attention_table;
}
#define LASTBIT_VECTOR_ISA(name, features, flags)         \
  namespace name {                                        \
  extern const kernels::AttentionKernels attention_table; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace kernels {

const AttentionKernels& attention_kernels(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::scalar:
      break;
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  case cpu::Isa::name:                            \
    return name::attention_table;
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  }
  return scalar::attention_table;
}

}  // namespace kernels
}  // namespace lastbit
