#include "numerics/dequantize.hpp"

#include <cstring>

#include "base/error.hpp"
#include "numerics/number_formats.hpp"
#include "numerics/quantized_blocks.hpp"

namespace lastbit::numerics {
namespace {

/// The block at `index`, copied out: data need not be aligned.
template <class Block>
Block load_block(const void* data, std::size_t index) {
  Block block;
  std::memcpy(&block, static_cast<const unsigned char*>(data) + index * sizeof(Block), sizeof(Block));
  return block;
}

/// D of every sub-block and, where the type has a minimum, M (quantized_blocks.hpp). All exact.
template <class Block>
void sub_block_factors(const Block& block, float* scale, [[maybe_unused]] float* minimum) {
  constexpr std::size_t sub_blocks = Block::kElements / Block::kSubBlockElements;
  const float d = f16_to_f32(block.d);
  if constexpr (sub_blocks == 1) {
    scale[0] = d;
    if constexpr (Block::kHasMinimum) minimum[0] = f16_to_f32(block.m);
  } else if constexpr (Block::kHasMinimum) {
    std::int8_t scales[sub_blocks];
    std::uint8_t minimums[sub_blocks];
    unpack_scales(block, scales, minimums);
    const float dmin = f16_to_f32(block.dmin);
    for (std::size_t j = 0; j < sub_blocks; ++j) {
      scale[j] = d * scales[j];
      minimum[j] = -(dmin * minimums[j]);
    }
  } else {
    std::int8_t scales[sub_blocks];
    unpack_scales(block, scales);
    for (std::size_t j = 0; j < sub_blocks; ++j) scale[j] = d * scales[j];
  }
}

template <class Block>
void dequantize_block(const Block& block, float* values) {
  constexpr std::size_t sub_blocks = Block::kElements / Block::kSubBlockElements;
  std::uint8_t codes[Block::kElements];
  float scale[sub_blocks];
  float minimum[sub_blocks];
  unpack_codes(block, codes);
  sub_block_factors(block, scale, minimum);
  for (std::size_t i = 0; i < Block::kElements; ++i) {
    const std::size_t j = i / Block::kSubBlockElements;
    const float product = scale[j] * static_cast<float>(codes[i] - Block::kCentre);
    // Types without a minimum add nothing: product + 0 would turn -0 into +0.
    if constexpr (Block::kHasMinimum) {
      values[i] = product + minimum[j];
    } else {
      values[i] = product;
    }
  }
}

bool is_finite_f16(std::uint16_t bits) { return (bits & 0x7C00) != 0x7C00; }

template <class Block>
bool has_finite_scales(const Block& block) {
  bool finite = is_finite_f16(block.d);
  if constexpr (Block::kHasMinimum && Block::kElements == Block::kSubBlockElements) finite &= is_finite_f16(block.m);
  if constexpr (Block::kHasMinimum && Block::kElements != Block::kSubBlockElements) finite &= is_finite_f16(block.dmin);
  return finite;
}

template <class Block>
struct BlockTag {
  using Type = Block;
};

/// Calls visit(BlockTag<Block>()) with the block structure of a block-quantized type; false for plain types.
template <class Visit>
bool visit_block_type(ElementType type, const Visit& visit) {
  switch (type) {
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16:
      return false;
    case ElementType::q4_0:
      visit(BlockTag<BlockQ4_0>());
      return true;
    case ElementType::q4_1:
      visit(BlockTag<BlockQ4_1>());
      return true;
    case ElementType::q5_0:
      visit(BlockTag<BlockQ5_0>());
      return true;
    case ElementType::q5_1:
      visit(BlockTag<BlockQ5_1>());
      return true;
    case ElementType::q8_0:
      visit(BlockTag<BlockQ8_0>());
      return true;
    case ElementType::q2_k:
      visit(BlockTag<BlockQ2_K>());
      return true;
    case ElementType::q3_k:
      visit(BlockTag<BlockQ3_K>());
      return true;
    case ElementType::q4_k:
      visit(BlockTag<BlockQ4_K>());
      return true;
    case ElementType::q5_k:
      visit(BlockTag<BlockQ5_K>());
      return true;
    case ElementType::q6_k:
      visit(BlockTag<BlockQ6_K>());
      return true;
  }
  return false;
}

template <class Widen>
void widen_all(const void* data, std::size_t count, float* values, const Widen& widen) {
  const unsigned char* position = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, position + 2 * i, sizeof bits);
    values[i] = widen(bits);
  }
}

}  // namespace

void dequantize(ElementType type, const void* data, std::size_t count, float* values) {
  if (count % element_type_info(type).block_elements != 0) {
    throw_usage("dequantize: the count is not a multiple of the type's block");
  }
  const bool in_blocks = visit_block_type(type, [&](auto tag) {
    using Block = typename decltype(tag)::Type;
    for (std::size_t b = 0; b < count / Block::kElements; ++b) {
      dequantize_block(load_block<Block>(data, b), values + b * Block::kElements);
    }
  });
  if (in_blocks) return;
  if (type == ElementType::f16) return widen_all(data, count, values, f16_to_f32);
  if (type == ElementType::bf16) return widen_all(data, count, values, bf16_to_f32);
  if (count > 0) std::memcpy(values, data, count * sizeof(float));
}

std::ptrdiff_t first_bad_scale(ElementType type, const void* data, std::size_t blocks) {
  std::ptrdiff_t bad = -1;
  visit_block_type(type, [&](auto tag) {
    using Block = typename decltype(tag)::Type;
    for (std::size_t b = 0; b < blocks && bad < 0; ++b) {
      if (!has_finite_scales(load_block<Block>(data, b))) bad = static_cast<std::ptrdiff_t>(b);
    }
  });
  return bad;
}

}  // namespace lastbit::numerics
