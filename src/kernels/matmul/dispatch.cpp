// The table of each instruction set: reference.cpp defines the scalar one, vectorized.cpp the others.
#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/matmul.hpp"

namespace lastbit {

namespace scalar {
extern const kernels::MatmulKernels matmul_table;
}
#define LASTBIT_VECTOR_ISA(name, features, flags)   \
  namespace name {                                  \
  extern const kernels::MatmulKernels matmul_table; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace kernels {

const MatmulKernels& matmul_kernels(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::scalar:
      break;
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  case cpu::Isa::name:                            \
    return name::matmul_table;
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  }
  return scalar::matmul_table;
}

}  // namespace kernels
}  // namespace lastbit
