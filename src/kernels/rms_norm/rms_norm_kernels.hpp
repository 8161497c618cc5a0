// What one instruction set provides for rule A5. Apart from rms_norm.hpp because vectorized.cpp may include no header
// with inline functions (src/cpu/README.md).
#pragma once

#include <cstddef>

namespace lastbit::kernels {

struct RmsNormKernels {
  /// One row: x, y [size] (may be the same memory), weight [size] as the checkpoint's family declares it (GGUF Gemma
  /// holds the 1 + w), or nullptr for a norm without weight (no multiplication then).
  void (*row)(const float* x, const float* weight, std::size_t size, float epsilon, float* y);
  /// residual[i] = fl(residual[i] + x[i])
  void (*add)(float* residual, const float* x, std::size_t size);
  /// x[i] = fl(x[i] * factor)
  void (*scale)(float* x, float factor, std::size_t size);
};

}  // namespace lastbit::kernels
