// The function table of one instruction set. Included by code compiled per instruction set: defines no functions.
#pragma once

#include <cstddef>

namespace lastbit::kernels {

struct MachinePeaksKernels {
  std::size_t flops_of_round;  // floating-point operations of one round
  /// Runs `rounds` rounds of independent chains of fused multiply-adds on registers; the result keeps them alive.
  float (*multiply_add)(std::size_t rounds);
  /// Reads size bytes (a multiple of 256, aligned to 64); the result keeps the loads alive.
  int (*read)(const std::byte* data, std::size_t size);
};

}  // namespace lastbit::kernels
