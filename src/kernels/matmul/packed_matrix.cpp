#include "kernels/matmul/packed_matrix.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "numerics/dequantize.hpp"

namespace lastbit::kernels {
namespace {

using numerics::ElementType;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the packed dwords are little-endian");

enum class PackedTypeIndex {
#define LASTBIT_PACKED_TYPE(name, layout) name,
#include "kernels/matmul/packed_types.def"
#undef LASTBIT_PACKED_TYPE
};
#define LASTBIT_PACKED_TYPE(name, layout) \
  static_assert(static_cast<int>(PackedTypeIndex::name) == static_cast<int>(ElementType::name));
#include "kernels/matmul/packed_types.def"
#undef LASTBIT_PACKED_TYPE

/// Calls visit(Layout()) with the packed layout of `type`.
template <class Visit>
void visit_layout(ElementType type, const Visit& visit) {
  switch (type) {
#define LASTBIT_PACKED_TYPE(name, layout) \
  case ElementType::name:                 \
    return visit(layout());
#include "kernels/matmul/packed_types.def"
#undef LASTBIT_PACKED_TYPE
  }
}

std::uint32_t load_dword(const void* position) {
  std::uint32_t value = 0;
  std::memcpy(&value, position, sizeof value);
  return value;
}

void store_dword(std::byte* position, std::uint32_t value) { std::memcpy(position, &value, sizeof value); }

/// Where the group of 32 k number `group` of a panel begins, and the lead of its unit.
template <class Layout>
std::size_t lead_offset(std::size_t group) {
  return group / Layout::kGroupsOfUnit * Layout::kUnitBytes;
}
template <class Layout>
std::size_t group_offset(std::size_t group) {
  return lead_offset<Layout>(group) + Layout::kLeadBytes + group % Layout::kGroupsOfUnit * Layout::kGroupBytes;
}

// ---- packing ------------------------------------------------------------------------------------------------------

/// The 32 codes of one output's group, one a byte, to the low and high code parts of the group.
template <class Layout>
void pack_codes(const std::uint8_t* codes, std::size_t lane, std::byte* group) {
  constexpr std::size_t kLine = kPanelOutputs * 4;  // one dword for each output of the panel
  std::byte* const low = group + lane * 4;
  if constexpr (Layout::kLowBits == 8) {
    for (std::size_t t = 0; t < 8; ++t) store_dword(low + t * kLine, load_dword(codes + 4 * t));
  } else {
    for (std::size_t v = 0; v < 4; ++v) {
      const std::uint32_t first = load_dword(codes + 8 * v) & 0x0F0F0F0FU;
      const std::uint32_t second = load_dword(codes + 8 * v + 4) & 0x0F0F0F0FU;
      store_dword(low + v * kLine, first | second << 4);
    }
  }
  if constexpr (Layout::kHighBits > 0) {
    constexpr std::size_t kStepsOfVector = 8 / Layout::kHighBits;
    constexpr std::uint32_t kMask = Layout::kHighBits == 1 ? 0x01010101U : 0x03030303U;
    for (std::size_t vector = 0; vector < Layout::kHighBits; ++vector) {
      std::uint32_t high = 0;
      for (std::size_t step = 0; step < kStepsOfVector; ++step) {
        const std::uint32_t upper = load_dword(codes + 4 * (vector * kStepsOfVector + step)) >> 4 & kMask;
        high |= upper << (step * Layout::kHighBits);
      }
      store_dword(group + Layout::kLowBytes + vector * kLine + lane * 4, high);
    }
  }
}

void store_half(std::byte* factors, std::size_t lane, std::uint16_t value) {
  std::memcpy(factors + lane * 2, &value, sizeof value);
}

/// d (and m) of a block of 32, or d (and dmin) of a block of 256.
template <class Block>
void pack_half_factors(const Block& block, std::size_t lane, std::byte* factors) {
  store_half(factors, lane, block.d);
  if constexpr (Block::kHasMinimum && Block::kElements == Block::kSubBlockElements) {
    store_half(factors + kPanelOutputs * 2, lane, block.m);
  } else if constexpr (Block::kHasMinimum) {
    store_half(factors + kPanelOutputs * 2, lane, block.dmin);
  }
}

template <class Layout>
void pack_block(const typename Layout::Block& block, std::size_t lane, std::byte* unit) {
  using Block = typename Layout::Block;
  std::uint8_t codes[Block::kElements];
  unpack_codes(block, codes);
  std::byte* const groups = unit + Layout::kLeadBytes;
  for (std::size_t g = 0; g < Layout::kGroupsOfUnit; ++g) {
    pack_codes<Layout>(codes + g * kGroup, lane, groups + g * Layout::kGroupBytes);
  }
  if constexpr (!Layout::kHasSubBlocks) {
    pack_half_factors(block, lane, groups + Layout::kLowBytes + Layout::kHighBytes);
  } else {
    pack_half_factors(block, lane, unit);
    constexpr std::size_t kSubBlocks = Block::kElements / Block::kSubBlockElements;
    std::int8_t scales[kSubBlocks];
    std::uint8_t minimums[kSubBlocks];
    if constexpr (Layout::kHasMinimum) {
      unpack_scales(block, scales, minimums);
    } else {
      unpack_scales(block, scales);
    }
    for (std::size_t s = 0; s < kSubBlocks; ++s) {
      std::byte* const factors = groups + s / Layout::kSubBlocksOfGroup * Layout::kGroupBytes + Layout::kLowBytes +
                                 Layout::kHighBytes + s % Layout::kSubBlocksOfGroup * Layout::kFactorsOf8Bits;
      factors[lane] = static_cast<std::byte>(scales[s]);
      if constexpr (Layout::kHasMinimum) factors[kPanelOutputs + lane] = static_cast<std::byte>(minimums[s]);
    }
  }
}

/// One row of the checkpoint's matrix into its lane of a panel.
template <class Layout>
void pack_row(const std::byte* row, std::size_t inputs, std::size_t lane, std::byte* panel) {
  if constexpr (Layout::kIsFloat) {
    constexpr std::size_t kSize = Layout::kElementBytes;
    for (std::size_t k = 0; k < inputs; ++k) {
      std::memcpy(panel + k * Layout::kStepBytes + lane * kSize, row + k * kSize, kSize);
    }
  } else {
    typename Layout::Block block;
    for (std::size_t b = 0; b < inputs / Layout::Block::kElements; ++b) {
      std::memcpy(&block, row + b * sizeof block, sizeof block);
      pack_block<Layout>(block, lane, panel + b * Layout::kUnitBytes);
    }
  }
}

template <class Layout>
std::size_t panel_size(std::size_t inputs) {
  if constexpr (Layout::kIsFloat) {
    return (inputs + kFloatPadding - 1) / kFloatPadding * kFloatPadding * Layout::kStepBytes;
  } else {
    return inputs / Layout::Block::kElements * Layout::kUnitBytes;
  }
}

// ---- the plain inverse --------------------------------------------------------------------------------------------

float half(const std::byte* factors, std::size_t lane) {
  float value = 0;
  numerics::dequantize(ElementType::f16, factors + lane * 2, 1, &value);
  return value;
}

/// Code of k (0..31) of a group.
template <class Layout>
int code(const std::byte* group, std::size_t lane, std::size_t k) {
  constexpr std::size_t kLine = kPanelOutputs * 4;
  const std::size_t t = k / 4;
  const std::size_t j = k % 4;
  if constexpr (Layout::kLowBits == 8) return std::to_integer<int>(group[t * kLine + lane * 4 + j]);
  const int pair = std::to_integer<int>(group[t / 2 * kLine + lane * 4 + j]);
  int value = t % 2 == 0 ? pair & 15 : pair >> 4;
  if constexpr (Layout::kHighBits > 0) {
    constexpr std::size_t kStepsOfVector = 8 / Layout::kHighBits;
    const std::byte* const high = group + Layout::kLowBytes + t / kStepsOfVector * kLine;
    const int bits = std::to_integer<int>(high[lane * 4 + j]) >> (t % kStepsOfVector * Layout::kHighBits);
    value |= (bits & ((1 << Layout::kHighBits) - 1)) << 4;
  }
  return value;
}

struct Factors {
  float scale = 0;    // D
  float minimum = 0;  // M
};

template <class Layout>
Factors sub_block_factors(const std::byte* lead, const std::byte* group, std::size_t sub_block, std::size_t lane) {
  const std::byte* const own = group + Layout::kLowBytes + Layout::kHighBytes;
  Factors factors;
  if constexpr (!Layout::kHasSubBlocks) {
    factors.scale = half(own, lane);
    if constexpr (Layout::kHasMinimum) factors.minimum = half(own + kPanelOutputs * 2, lane);
  } else {
    const std::byte* const integers = own + sub_block * Layout::kFactorsOf8Bits;
    factors.scale = half(lead, lane) * static_cast<float>(static_cast<std::int8_t>(integers[lane]));
    if constexpr (Layout::kHasMinimum) {
      const float minimum = static_cast<float>(std::to_integer<int>(integers[kPanelOutputs + lane]));
      factors.minimum = -(half(lead + kPanelOutputs * 2, lane) * minimum);
    }
  }
  return factors;
}

template <class Layout>
void unpack_group(const std::byte* panel, std::size_t group_index, std::size_t lane, float* values,
                  std::size_t stride) {
  constexpr std::size_t kWidth = Layout::Block::kSubBlockElements;
  const std::byte* const lead = panel + lead_offset<Layout>(group_index);
  const std::byte* const group = panel + group_offset<Layout>(group_index);
  for (std::size_t s = 0; s < Layout::kSubBlocksOfGroup; ++s) {
    const Factors factors = sub_block_factors<Layout>(lead, group, s, lane);
    for (std::size_t k = s * kWidth; k < (s + 1) * kWidth; ++k) {
      const float product = factors.scale * static_cast<float>(code<Layout>(group, lane, k) - Layout::Block::kCentre);
      values[k * stride] = Layout::kHasMinimum ? product + factors.minimum : product;
    }
  }
}

}  // namespace

void unpack_panel(ElementType type, const std::byte* panel, std::size_t lane, std::size_t k_begin, std::size_t k_end,
                  float* values, std::size_t stride) {
  visit_layout(type, [&](auto layout) {
    using Layout = decltype(layout);
    if constexpr (Layout::kIsFloat) {
      for (std::size_t k = k_begin; k < k_end; ++k) {
        const std::byte* const value = panel + k * Layout::kStepBytes + lane * Layout::kElementBytes;
        numerics::dequantize(type, value, 1, values + (k - k_begin) * stride);
      }
    } else {
      for (std::size_t k = k_begin; k < k_end; k += kGroup) {
        unpack_group<Layout>(panel, k / kGroup, lane, values + (k - k_begin) * stride, stride);
      }
    }
  });
}

PackedMatrix::PackedMatrix(ElementType type, const void* data, std::size_t outputs, std::size_t inputs,
                           const std::string& name, ThreadPool& pool, HugePageArena* arena)
    : type_(type), outputs_(outputs), inputs_(inputs) {
  const numerics::ElementTypeInfo& info = numerics::element_type_info(type);
  if (inputs % info.block_elements != 0) {
    throw_input(fmt::format("{}: a row of {} weights is not a whole number of {} blocks ({} weights each)", name,
                            inputs, info.name, info.block_elements));
  }
  const std::size_t row_blocks = inputs / info.block_elements;
  const std::size_t row_bytes = row_blocks * info.block_bytes;
  checkpoint_bytes_ = outputs * row_bytes;
  visit_layout(type, [&](auto layout) { panel_bytes_ = panel_size<decltype(layout)>(inputs); });
  memory_ = arena == nullptr ? whole_buffer(packed_bytes()) : arena->take(packed_bytes());

  // The lowest bad output of each panel is kept, so that the error names the same place with any number of threads.
  struct BadScale {
    std::size_t output = 0;
    std::ptrdiff_t block = -1;
  };
  std::vector<BadScale> bad(panels());
  pool.run(panels(), [&](std::size_t panel, int) {
    std::byte* const packed = memory_.data + panel * panel_bytes_;
    for (std::size_t lane = 0; lane < kPanelOutputs && panel * kPanelOutputs + lane < outputs; ++lane) {
      const std::size_t output = panel * kPanelOutputs + lane;
      const std::byte* const row = static_cast<const std::byte*>(data) + output * row_bytes;
      if (const std::ptrdiff_t block = numerics::first_bad_scale(type, row, row_blocks); block >= 0) {
        bad[panel] = {output, block};
        return;
      }
      visit_layout(type, [&](auto layout) { pack_row<decltype(layout)>(row, inputs, lane, packed); });
    }
  });
  for (const BadScale& place : bad) {
    if (place.block < 0) continue;
    const std::size_t first_k = static_cast<std::size_t>(place.block) * info.block_elements;
    throw_input(
        fmt::format("{}: the {} block of output {} at k = {} (byte {} of the tensor) has a scale that is "
                    "infinite or not a number; the file is damaged or was quantized badly",
                    name, info.name, place.output, first_k,
                    place.output * row_bytes + static_cast<std::size_t>(place.block) * info.block_bytes));
  }
}

void PackedMatrix::unpack_output(std::size_t output, float* values) const {
  unpack_panel(type_, panel(output / kPanelOutputs), output % kPanelOutputs, 0, inputs_, values, 1);
}

}  // namespace lastbit::kernels
