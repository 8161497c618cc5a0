// Attention over pages of keys and values, by rule A6 (flash-style with integer references, exact for any cut).
//
// Keys are cut in pages of 128 by their index in the sequence. A key page holds, per key-value head, [head_dim][128]
// (position fastest); a value page [128][head_dim]. Row i of the pass stands at position first_position + i and sees
// the keys j with j <= i and, under a window W > 0, i - j < W. Query head h uses key-value head h / (query_heads /
// key_value_heads). Masked keys do not exist: whatever a page holds there is never part of a result. A row with a score
// of NaN or +Inf, or with scores of -Inf only, is NaN; every NaN of the output is the canonical 0x7FC00000.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/isa.hpp"
#include "kernels/attention/attention_kernels.hpp"

namespace lastbit {
class ThreadPool;
}

namespace lastbit::kernels {

inline constexpr std::size_t kPagePositions = 128;

struct AttentionArguments {
  const float* query = nullptr;  // [rows][query_heads][head_dim], after norm and rope; never scaled
  std::size_t query_stride = 0;  // elements from row to row
  float* output = nullptr;       // [rows][query_heads][head_dim]
  std::size_t output_stride = 0;
  std::size_t rows = 0;
  std::size_t first_position = 0;
  std::size_t query_heads = 0;
  std::size_t key_value_heads = 0;
  std::size_t head_dim = 0;
  const float* const* key_pages = nullptr;    // page p of this layer: [key_value_heads][head_dim][128]
  const float* const* value_pages = nullptr;  // page p of this layer: [key_value_heads][128][head_dim]
  std::size_t window = 0;                     // 0: every earlier position
  double scale = 0.0;                         // declared, or the binary64 1.0 / sqrt(head_dim)
  float soft_cap = 0.0F;  // 0: none; else t = fl(fl(cap * tanh(fl(fl(s * fl(scale)) / cap))) * fl(log2 e))
};

const AttentionKernels& attention_kernels(cpu::Isa isa);

/// The constants of t_j, from scale and soft_cap.
AttentionLogit attention_logit(const AttentionArguments& arguments);

/// Every row and head of the arguments, shared out over the pool; the bits of a row and head never depend on how. Pages
/// that no row sees are not read; their pointers may be anything.
void attention(const AttentionKernels& kernels, const AttentionArguments& arguments, ThreadPool& pool);

/// The contract in plain loops, one row and head at a time.
void attention_reference(const AttentionArguments& arguments);

}  // namespace lastbit::kernels
