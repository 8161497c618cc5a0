// The function table of one instruction set. Included by code compiled per instruction set: defines no functions.
//
// Two ways to the same bits (rule A2 fixes the sum of an output whatever surrounds it):
//   * few rows: `direct` walks a packed panel once, widens codes in registers and multiplies at once (memory-bound);
//   * many rows: `widen` writes binary32 weights to scratch memory once, `multiply` runs over all rows
//   (arithmetic-bound).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul/packed_layout.hpp"

namespace lastbit::kernels {

/// The functions for one storage type.
struct WeightKernels {
  /// sums[r][64] = the sums of rule A2 (without bias) of a panel for `rows` rows of input, 1 <= rows <= kDirectRows.
  void (*direct)(const std::byte* panel, std::size_t inputs, const float* input, std::size_t input_stride,
                 std::size_t rows, float* sums);
  /// The weights k_begin <= k < k_end of a panel by rule A3: widened[64 / strip_outputs][k_end -
  /// k_begin][strip_outputs]. k_begin is a multiple of 128, k_end too or the number of inputs. widened is aligned to 64
  /// bytes.
  void (*widen)(const std::byte* panel, std::size_t k_begin, std::size_t k_end, float* widened);
};

inline constexpr std::size_t kPackedTypes = 13;  // entries of packed_types.def
inline constexpr std::size_t kDirectRows = 4;    // rows that `direct` takes at a time

struct MatmulKernels {
  std::size_t tile_rows;                // most rows that `multiply` takes: as many as the registers hold
  std::size_t strip_outputs;            // outputs that `multiply` makes, a divisor of 64
  std::size_t direct_until;             // up to so many rows `direct` is the faster way (measured); 0: it is absent
  WeightKernels weights[kPackedTypes];  // in the order of numerics::ElementType

  /// sums[r * sums_stride + n] += each chunk's sum, chunks of 128 ascending, for r < rows <= tile_rows, n <
  /// strip_outputs. packed_input: [inputs][rows]; widened: [inputs][strip_outputs], 64-byte aligned, of one strip.
  void (*multiply)(std::size_t rows, std::size_t inputs, const float* packed_input, const float* widened, float* sums,
                   std::size_t sums_stride);
  /// output[n] = fl(sums[n] + bias[n]) (bias may be nullptr: sums[n]), a NaN as 0x7FC00000, n < outputs <= 64.
  void (*finish)(const float* sums, const float* bias, std::size_t outputs, float* output);
};

}  // namespace lastbit::kernels
