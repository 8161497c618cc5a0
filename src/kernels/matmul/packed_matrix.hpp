// A weight matrix in the one packed layout that serves decode and prefill, every precision policy and every instruction
// set.
//
// Outputs (rows of the checkpoint's matrix) are cut in panels of 64, a panel in four tiles of 16 outputs side by side.
// A panel is contiguous along k. Codes keep their storage width and are widened in registers:
//   * 8-bit codes: per 4 k and tile 16 dwords, lane = output, byte j = k 4v + j.
//   * 4-bit codes: per 8 k and tile 16 dwords; byte j holds k 8v + j in its low and k 8v + 4 + j in its high nibble.
//   * the fifth bit of Q5 (4+1): per 32 k and tile 16 dwords; k = 4t + j is bit 8j + t.
//   * the upper two bits of Q6_K (4+2): per 32 k two vectors of 16 dwords a tile, first the vector 0 of the four tiles;
//   k = 4t +
//     j is in vector t / 4, bits 8j + 2 (t % 4) and the next.
//   * Q2_K and Q3_K codes (2 and 3 bits) are stored as 4-bit codes.
//   * 16- and 32-bit floats: per k and tile 16 values.
// Codes are unsigned as stored in the checkpoint (Q8_0: q + 128); scales follow the codes of their 32 k, super-block
// scales lead their 256 k (packed_layout.hpp has the sizes). Outputs beyond the matrix are zero codes with zero scales;
// float k is padded to 4 by zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/huge_page_buffer.hpp"
#include "kernels/matmul/packed_layout.hpp"
#include "numerics/element_type.hpp"

namespace lastbit {
class ThreadPool;
}

namespace lastbit::kernels {

class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Packs the matrix [outputs, inputs] stored row by row as `type` at `data` (no alignment needed). `inputs` is a
  /// multiple of the type's block. A scale that is not finite is refused (ErrorKind::input, naming `name`, output and
  /// k): rule A3. The memory comes from `arena` where one is given.
  PackedMatrix(numerics::ElementType type, const void* data, std::size_t outputs, std::size_t inputs,
               const std::string& name, ThreadPool& pool, HugePageArena* arena = nullptr);

  numerics::ElementType type() const { return type_; }
  std::size_t outputs() const { return outputs_; }
  std::size_t inputs() const { return inputs_; }
  std::size_t panels() const { return (outputs_ + kPanelOutputs - 1) / kPanelOutputs; }
  std::size_t panel_bytes() const { return panel_bytes_; }
  std::size_t packed_bytes() const { return panels() * panel_bytes_; }
  /// The size in the checkpoint: what shares of the read bandwidth are computed from.
  std::size_t checkpoint_bytes() const { return checkpoint_bytes_; }
  const std::byte* panel(std::size_t index) const { return memory_.data + index * panel_bytes_; }

  /// Plain inverse of the packing, by rule A3: the `inputs()` binary32 weights of one output.
  void unpack_output(std::size_t output, float* values) const;

 private:
  numerics::ElementType type_ = numerics::ElementType::f32;
  std::size_t outputs_ = 0;
  std::size_t inputs_ = 0;
  std::size_t panel_bytes_ = 0;
  std::size_t checkpoint_bytes_ = 0;
  HugePageSlice memory_;
};

/// The weights k_begin <= k < k_end of output `lane` of a panel, by rule A3, `stride` floats apart. For block-quantized
/// types both bounds are multiples of 32.
void unpack_panel(numerics::ElementType type, const std::byte* panel, std::size_t lane, std::size_t k_begin,
                  std::size_t k_end, float* values, std::size_t stride);

}  // namespace lastbit::kernels
