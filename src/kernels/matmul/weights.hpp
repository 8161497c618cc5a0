// Packed weights as vectors of binary32, by rule A3: each storage type is widened here and nowhere else, for both ways
// of the product. Everything is in the anonymous namespace of one instruction set.
#pragma once

#include "kernels/matmul/packed_layout.hpp"

// Loops over registers must be unrolled completely, or their arrays go through memory. The emulated twins are arrays
// anyway: unrolled they would only take minutes to compile.
#if defined(LASTBIT_EMULATED_ISA_avx2) || defined(LASTBIT_EMULATED_ISA_avx512)
#define LASTBIT_UNROLL
#define LASTBIT_INLINE inline
#else
#define LASTBIT_UNROLL _Pragma("GCC unroll 16")
#define LASTBIT_INLINE inline __attribute__((always_inline))
#endif

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

using F32 = Vector::F32;
using I32 = Vector::I32;

constexpr std::size_t kLanes = Vector::lanes;
constexpr int kPanelVectors = static_cast<int>(kernels::kPanelOutputs / kLanes);
constexpr std::size_t kLine = kernels::kPanelOutputs * 4;  // a dword for each output of the panel
/// How far ahead of the codes memory is fetched; panels follow each other without a gap. Measured on one core of an
/// Emerald Rapids with one row: without it 5 to 9 GB/s, from 2304 bytes on 10 to 13, from 4608 on 11 to 14 and then
/// level.
constexpr std::size_t kPrefetchBytes = 6144;

/// D and M of rule A3 for one sub-block and one vector of outputs, folded to weight = fma(code + kBias, scale, offset).
///
/// Where the type has no minimum, the code is not converted to a float: its byte is put into the significand of a power
/// of two, kBias, in one instruction, and the offset -(kBias + kCentre) * D takes both off again. All products are
/// exact: D has at most 18 significant bits, kBias + kCentre 6 (9 for Q8_0, where D has 11), so the fma's only rounding
/// finds nothing to round. With a minimum, M - kBias * D need not be exact, so the code is converted (kBias = 0).
template <class Layout>
struct Factors {
  static constexpr bool kInSignificand = !Layout::kHasMinimum;
  static constexpr bool kEightBits = Layout::kLowBits == 8;
  static constexpr float kBias = !kInSignificand ? 0.0F : kEightBits ? 32768.0F : 128.0F;
  static constexpr std::int32_t kBiasBits = kEightBits ? 0x47000000 : 0x43000000;
  static constexpr int kByte = kEightBits ? 1 : 2;  // the byte of the significand whose lowest bit is worth 1

  F32 scale;
  F32 offset;

  template <int byte>
  LASTBIT_INLINE F32 weight(I32 codes) const {
    F32 value;
    if constexpr (kInSignificand) {
      value = Vector::as_float(Vector::template merge_byte<byte, kByte>(codes, Vector::broadcast_integer(kBiasBits)));
    } else {
      value = Vector::to_float(Vector::template merge_byte<byte, 0>(codes, Vector::broadcast_integer(0)));
    }
    return Vector::fma(value, scale, offset);
  }
};

LASTBIT_INLINE F32 load_half_factors(const std::byte* factors, std::size_t first_output) {
  return Vector::load_f16(reinterpret_cast<const std::uint16_t*>(factors) + first_output);
}

template <class Layout>
LASTBIT_INLINE Factors<Layout> load_factors(const std::byte* lead, const std::byte* group, std::size_t sub_block,
                                            std::size_t first_output) {
  const std::byte* const own = group + Layout::kLowBytes + Layout::kHighBytes;
  constexpr std::size_t kSecondHalf = kernels::kPanelOutputs * 2;
  F32 scale;
  F32 minimum = Vector::zero();
  if constexpr (!Layout::kHasSubBlocks) {
    scale = load_half_factors(own, first_output);
    if constexpr (Layout::kHasMinimum) minimum = load_half_factors(own + kSecondHalf, first_output);
  } else {
    const std::byte* const integers = own + sub_block * Layout::kFactorsOf8Bits + first_output;
    const F32 sc = Vector::to_float(Vector::load_i8(reinterpret_cast<const std::int8_t*>(integers)));
    scale = Vector::multiply(load_half_factors(lead, first_output), sc);
    if constexpr (Layout::kHasMinimum) {
      const auto* const m = reinterpret_cast<const std::uint8_t*>(integers + kernels::kPanelOutputs);
      const F32 dmin = load_half_factors(lead + kSecondHalf, first_output);
      minimum = Vector::multiply(dmin, Vector::subtract(Vector::zero(), Vector::to_float(Vector::load_u8(m))));
    }
  }
  if constexpr (Layout::kHasMinimum) {
    return {scale, minimum};
  } else {
    constexpr float kTaken = -(Factors<Layout>::kBias + static_cast<float>(Layout::Block::kCentre));
    return {scale, Vector::multiply(scale, Vector::broadcast(kTaken))};
  }
}

/// The codes of 8 k as two dwords per output, one code a byte. `high` holds the upper bits of the next 8 k lowest.
template <class Layout>
LASTBIT_INLINE void load_codes(const std::byte* low, std::size_t first_output, I32& high, I32& first, I32& second) {
  if constexpr (Layout::kLowBits == 8) {
    first = Vector::load_integer(low + first_output * 4);
    second = Vector::load_integer(low + kLine + first_output * 4);
  } else {
    const I32 pairs = Vector::load_integer(low + first_output * 4);
    const I32 nibbles = Vector::broadcast_integer(0x0F0F0F0F);
    first = Vector::bit_and(pairs, nibbles);
    second = Vector::bit_and(Vector::template shift_right<4>(pairs), nibbles);
    if constexpr (Layout::kHighBits > 0) {
      constexpr int kBits = Layout::kHighBits;
      const I32 mask = Vector::broadcast_integer(kBits == 1 ? 0x10101010 : 0x30303030);
      first = Vector::bit_or(first, Vector::bit_and(Vector::template shift_left<4>(high), mask));
      second = Vector::bit_or(second, Vector::bit_and(Vector::template shift_left<4 - kBits>(high), mask));
      high = Vector::template shift_right<2 * kBits>(high);
    }
  }
}

template <class Layout, int byte, int vectors, class Use>
LASTBIT_INLINE void visit_byte(const I32 (&codes)[vectors], const Factors<Layout> (&factors)[vectors], std::size_t k,
                               const Use& use) {
  F32 weights[vectors];
  LASTBIT_UNROLL
  for (int v = 0; v < vectors; ++v) weights[v] = factors[v].template weight<byte>(codes[v]);
  use(k, weights);
}

template <class Layout, int vectors, class Use>
LASTBIT_INLINE void visit_dword(const I32 (&codes)[vectors], const Factors<Layout> (&factors)[vectors], std::size_t k,
                                const Use& use) {
  visit_byte<Layout, 0>(codes, factors, k, use);
  visit_byte<Layout, 1>(codes, factors, k + 1, use);
  visit_byte<Layout, 2>(codes, factors, k + 2, use);
  visit_byte<Layout, 3>(codes, factors, k + 3, use);
}

/// Calls use(k, weights) for the 32 k of a group ascending, with the weights of `vectors` vectors of outputs.
template <class Layout, int vectors, class Use>
LASTBIT_INLINE void visit_group(const std::byte* lead, const std::byte* group, int first_vector, const Use& use) {
  constexpr std::size_t kStepsOfSubBlock = Layout::Block::kSubBlockElements / 8;
  constexpr std::size_t kStepBytes = Layout::kLowBytes / 4;
  const auto output = [&](int v) { return static_cast<std::size_t>(first_vector + v) * kLanes; };
  for (std::size_t sub_block = 0; sub_block < Layout::kSubBlocksOfGroup; ++sub_block) {
    Factors<Layout> factors[vectors];
    I32 high[vectors] = {};
    LASTBIT_UNROLL
    for (int v = 0; v < vectors; ++v) {
      factors[v] = load_factors<Layout>(lead, group, sub_block, output(v));
      if constexpr (Layout::kHighBits > 0) {
        // One vector of upper bits serves 8 / kHighBits dwords of codes: exactly a sub-block.
        static_assert(Layout::kHighBits * Layout::Block::kSubBlockElements == kernels::kGroup);
        high[v] = Vector::load_integer(group + Layout::kLowBytes + sub_block * kLine + output(v) * 4);
      }
    }
    for (std::size_t step = sub_block * kStepsOfSubBlock; step < (sub_block + 1) * kStepsOfSubBlock; ++step) {
      const std::byte* const low = group + step * kStepBytes;
      I32 first[vectors];
      I32 second[vectors];
      LASTBIT_UNROLL
      for (int v = 0; v < vectors; ++v) {
        load_codes<Layout>(low, output(v), high[v], first[v], second[v]);
        Vector::prefetch(low + output(v) * 4 + kPrefetchBytes);
        if constexpr (Layout::kLowBits == 8) Vector::prefetch(low + kLine + output(v) * 4 + kPrefetchBytes);
      }
      visit_dword<Layout>(first, factors, 8 * step, use);
      visit_dword<Layout>(second, factors, 8 * step + 4, use);
    }
  }
}

template <class Layout>
LASTBIT_INLINE F32 load_float_weights(const std::byte* step, std::size_t first_output) {
  const std::byte* const values = step + first_output * Layout::kElementBytes;
  if constexpr (Layout::kStorage == kernels::FloatStorage::binary32) {
    return Vector::load(reinterpret_cast<const float*>(values));
  } else if constexpr (Layout::kStorage == kernels::FloatStorage::binary16) {
    return Vector::load_f16(reinterpret_cast<const std::uint16_t*>(values));
  } else {
    return Vector::load_bf16(reinterpret_cast<const std::uint16_t*>(values));
  }
}

/// Calls use(k - k_begin, weights) for k_begin <= k < k_end ascending. In types of blocks the bounds are multiples
/// of 32.
template <class Layout, int vectors, class Use>
LASTBIT_INLINE void visit_weights(const std::byte* panel, std::size_t k_begin, std::size_t k_end, int first_vector,
                                  const Use& use) {
  if constexpr (Layout::kIsFloat) {
    for (std::size_t k = k_begin; k < k_end; ++k) {
      const std::byte* const step = panel + k * Layout::kStepBytes;
      F32 weights[vectors];
      LASTBIT_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const std::size_t output = static_cast<std::size_t>(first_vector + v) * kLanes;
        weights[v] = load_float_weights<Layout>(step, output);
        Vector::prefetch(step + output * Layout::kElementBytes + kPrefetchBytes);
      }
      use(k - k_begin, weights);
    }
  } else {
    for (std::size_t k = k_begin; k < k_end; k += kernels::kGroup) {
      const std::size_t group = k / kernels::kGroup;
      const std::byte* const lead = panel + group / Layout::kGroupsOfUnit * Layout::kUnitBytes;
      const std::byte* const place = lead + Layout::kLeadBytes + group % Layout::kGroupsOfUnit * Layout::kGroupBytes;
      const std::size_t offset = k - k_begin;
      visit_group<Layout, vectors>(lead, place, first_vector,
                                   [&](std::size_t i, const F32(&weights)[vectors]) { use(offset + i, weights); });
    }
  }
}

}  // namespace
}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
