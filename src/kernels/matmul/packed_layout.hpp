// The packed layout of packed_matrix.hpp as constants. Shared by the packing, the plain inverse and the vectorized
// kernels; defines no functions, so that code compiled per instruction set may include it.
//
// A panel of block-quantized weights is a sequence of units of Block::kElements k:
//   unit  = [lead: d[64], then dmin[64]; only where the block has sub-blocks with scales of their own], then
//           kElements / 32 groups of 32 k;
//   group = [low codes][high codes][factors];
//   factors, blocks of 32:   d[64], then m[64] if the type has a minimum, all binary16;
//   factors, blocks of 256:  per sub-block sc[64] (signed bytes), then m[64] (unsigned bytes) if the type has a
//   minimum.
// [64] runs over the outputs of the panel. Every part is a whole number of 64-byte lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numerics/quantized_blocks.hpp"

namespace lastbit::kernels {

inline constexpr std::size_t kPanelOutputs = 64;
inline constexpr std::size_t kTileOutputs = 16;
inline constexpr std::size_t kChunk = 128;       // rule A2: k is summed in chunks of so many
inline constexpr std::size_t kGroup = 32;        // k of one group of packed codes
inline constexpr std::size_t kFloatPadding = 4;  // k of float weights is padded to a multiple, by zeros

/// Block: the checkpoint's block; low_bits: 4 or 8; high_bits: further bits of a code, 0, 1 or 2.
template <class Block_, int low_bits, int high_bits>
struct PackedBlocks {
  using Block = Block_;
  static constexpr bool kIsFloat = false;
  static constexpr int kLowBits = low_bits;
  static constexpr int kHighBits = high_bits;
  static constexpr bool kHasMinimum = Block::kHasMinimum;
  static constexpr bool kHasSubBlocks = Block::kElements != Block::kSubBlockElements;
  static constexpr std::size_t kSubBlocksOfGroup = kGroup / Block::kSubBlockElements;
  static constexpr std::size_t kGroupsOfUnit = Block::kElements / kGroup;

  static constexpr std::size_t kFactorsOf16Bits = kPanelOutputs * 2 * (kHasMinimum ? 2 : 1);
  static constexpr std::size_t kFactorsOf8Bits = kPanelOutputs * (kHasMinimum ? 2 : 1);

  static constexpr std::size_t kLeadBytes = kHasSubBlocks ? kFactorsOf16Bits : 0;
  static constexpr std::size_t kLowBytes = kGroup * kPanelOutputs * low_bits / 8;
  static constexpr std::size_t kHighBytes = kGroup * kPanelOutputs * high_bits / 8;
  static constexpr std::size_t kFactorBytes = kHasSubBlocks ? kSubBlocksOfGroup * kFactorsOf8Bits : kFactorsOf16Bits;
  static constexpr std::size_t kGroupBytes = kLowBytes + kHighBytes + kFactorBytes;
  static constexpr std::size_t kUnitBytes = kLeadBytes + kGroupsOfUnit * kGroupBytes;
};

enum class FloatStorage { binary32, binary16, bfloat16 };

/// Float weights: per k the values of the panel's 64 outputs.
template <FloatStorage storage>
struct PackedFloats {
  static constexpr bool kIsFloat = true;
  static constexpr FloatStorage kStorage = storage;
  static constexpr std::size_t kElementBytes = storage == FloatStorage::binary32 ? 4 : 2;
  static constexpr std::size_t kStepBytes = kPanelOutputs * kElementBytes;
};

using PackedF32 = PackedFloats<FloatStorage::binary32>;
using PackedF16 = PackedFloats<FloatStorage::binary16>;
using PackedBF16 = PackedFloats<FloatStorage::bfloat16>;
using PackedQ4_0 = PackedBlocks<numerics::BlockQ4_0, 4, 0>;
using PackedQ4_1 = PackedBlocks<numerics::BlockQ4_1, 4, 0>;
using PackedQ5_0 = PackedBlocks<numerics::BlockQ5_0, 4, 1>;
using PackedQ5_1 = PackedBlocks<numerics::BlockQ5_1, 4, 1>;
using PackedQ8_0 = PackedBlocks<numerics::BlockQ8_0, 8, 0>;
using PackedQ2_K = PackedBlocks<numerics::BlockQ2_K, 4, 0>;
using PackedQ3_K = PackedBlocks<numerics::BlockQ3_K, 4, 0>;
using PackedQ4_K = PackedBlocks<numerics::BlockQ4_K, 4, 0>;
using PackedQ5_K = PackedBlocks<numerics::BlockQ5_K, 4, 1>;
using PackedQ6_K = PackedBlocks<numerics::BlockQ6_K, 4, 2>;

}  // namespace lastbit::kernels
