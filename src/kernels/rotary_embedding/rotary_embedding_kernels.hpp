// What one instruction set provides for rule A7. Apart from rotary_embedding.hpp because vectorized.cpp may include no
// header with inline functions (src/cpu/README.md).
#pragma once

#include <cstddef>

namespace lastbit::kernels {

struct RotaryEmbeddingKernels {
  /// Rotates one head in place: x [2 * half], cosine and sine [half].
  void (*head)(float* x, const float* cosine, const float* sine, std::size_t half);
};

}  // namespace lastbit::kernels
