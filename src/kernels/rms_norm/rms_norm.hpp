// RMSNorm by rule A5: y = fl(fl(x * r) * w), r = fl(1 / fl(sqrt(fl(fl(sum / N) + eps)))).
//
// sum: 32 lanes that start at +0; lane l folds the elements l, l + 32, l + 64 ... ascending by fma(x, x, acc); then
// lanes l += l + 16, l + 8, l + 4, l + 2, l + 1. A NaN result of any function here is the canonical 0x7FC00000 (A11).
#pragma once

#include <cstddef>

#include "cpu/isa.hpp"
#include "kernels/rms_norm/rms_norm_kernels.hpp"

namespace lastbit::kernels {

const RmsNormKernels& rms_norm_kernels(cpu::Isa isa);

/// The contract in plain loops.
void rms_norm_reference(const float* x, const float* weight, std::size_t size, float epsilon, float* y);

}  // namespace lastbit::kernels
