// The table of each instruction set: reference.cpp defines the scalar one, vectorized.cpp the others.
#include "kernels/rotary_embedding/rotary_embedding.hpp"

namespace lastbit {

namespace scalar {
extern const kernels::RotaryEmbeddingKernels rotary_embedding_table;
}
#define LASTBIT_VECTOR_ISA(name, features, flags)                      \
  namespace name {                                                     \
  extern const kernels::RotaryEmbeddingKernels rotary_embedding_table; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace kernels {

const RotaryEmbeddingKernels& rotary_embedding_kernels(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::scalar:
      break;
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  case cpu::Isa::name:                            \
    return name::rotary_embedding_table;
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  }
  return scalar::rotary_embedding_table;
}

}  // namespace kernels
}  // namespace lastbit
