// RMSNorm by rule A5: y = fl(fl(x * r) * w), r = fl(1 / fl(sqrt(fl(fl(sum / N) + eps)))).
//
// sum: 32 lanes that start at +0; lane l folds the elements l, l + 32, l + 64 ... ascending by fma(x, x, acc); then lanes
// l += l + 16, l + 8, l + 4, l + 2, l + 1.
#pragma once

#include <cstddef>

#include "cpu/isa.hpp"

namespace lastbit::kernels {

struct RmsNormKernels {
  /// One row: x, y [size] (may be the same memory), weight [size] as the checkpoint's family declares it (GGUF Gemma holds
  /// the 1 + w), or nullptr for a norm without weight (no multiplication then).
  void (*row)(const float* x, const float* weight, std::size_t size, float epsilon, float* y);
  /// residual[i] = fl(residual[i] + x[i])
  void (*add)(float* residual, const float* x, std::size_t size);
  /// x[i] = fl(x[i] * factor)
  void (*scale)(float* x, float factor, std::size_t size);
};

const RmsNormKernels& rms_norm_kernels(cpu::Isa isa);

void rms_norm_reference(const float* x, const float* weight, std::size_t size, float epsilon, float* y);

}  // namespace lastbit::kernels
