// What one instruction set provides for rule A6. A chunk of keys (a page) is computed on its own; chunks are then
// folded ascending; so a chunk can be computed by any thread at any time. Apart from attention.hpp because
// vectorized.cpp may include no header with inline functions (src/cpu/README.md).
//
// A "query" below is one (row, query head) pair. A result of a chunk, and of the chunks folded so far, is
//   values [head_dim]  o, the weighted sum of the values, weights relative to 2^reference
//   denominator        l, the sum of the weights
//   reference          r, the largest n_j; -Inf: no key counts (the chunk is skipped); NaN: the row is NaN
// References are integers in binary32. n_j is finite where it enters the maximum, so both marks are free.
#pragma once

#include <cstddef>

namespace lastbit::kernels {

/// How t_j comes from the score s_j.
struct AttentionLogit {
  float factor = 0.0F;    // c: t = fl(s * c) without soft cap
  float scale = 0.0F;     // fl(scale), with soft cap
  float soft_cap = 0.0F;  // 0: none
};

/// The page of one key-value head and the queries that look at it.
struct AttentionChunk {
  const float* keys = nullptr;    // [head_dim][128]
  const float* values = nullptr;  // [128][head_dim]
  std::size_t head_dim = 0;
  AttentionLogit logit;
  std::size_t queries = 0;              // at most AttentionKernels::block_queries
  const float* const* query = nullptr;  // [queries] pointers to [head_dim]
  const std::size_t* begin = nullptr;   // [queries] query i sees the keys begin[i] <= j < end[i] of the page,
  const std::size_t* end = nullptr;     //           at least one; both ascend with i
  float* sum = nullptr;                 // result, o: [queries] times sum_stride
  std::size_t sum_stride = 0;           // at least head_dim, a multiple of kAttentionPadding
  float* denominator = nullptr;         // result, l: [queries]
  float* reference = nullptr;           // result, r: [queries]
  float* scratch = nullptr;             // kAttentionScratchSize elements
};

struct AttentionKernels {
  /// The number of queries that fill the registers.
  std::size_t block_queries;  // at most kMostBlockQueries
  void (*chunk)(const AttentionChunk& chunk);
  /// Folds the next chunk into what was folded so far (before the first: reference = -Inf, the rest is set here).
  void (*fold)(float* sum, float* denominator, float* reference, const float* chunk_sum, float chunk_denominator,
               float chunk_reference, std::size_t head_dim);
  /// output[d] = fl(sum[d] / denominator), every NaN canonical; a row that is NaN by its reference is NaN.
  void (*finish)(const float* sum, float denominator, float reference, std::size_t head_dim, float* output);
};

constexpr std::size_t kMostBlockQueries = 16;

/// Sums are padded so that vectors of every set fit.
constexpr std::size_t kAttentionPadding = 16;

/// From one query's weights (or 128 of its elements) to the next in scratch memory. Not 128: rows that are 512 bytes
/// apart would share cache sets.
constexpr std::size_t kAttentionScratchStride = 144;

/// Elements of scratch memory: weights, and the queries' elements of one chunk of rule A2.
constexpr std::size_t kAttentionScratchSize = 2 * kMostBlockQueries * kAttentionScratchStride;

/// log2 e in binary32, a factor of the soft-capped t_j.
constexpr float kLog2E = 0x1.715476p+0F;

/// The coefficients of e = 2^f on [-1/2, 1/2], by Horner with fma from the last to the first (rule A6: at most 0.875
/// ulp).
constexpr float kExponentialCoefficients[7] = {1.0F,           0x1.62e43p-1F,  0x1.ebfbep-3F,  0x1.c6af6cp-5F,
                                               0x1.3b2a54p-7F, 0x1.5f089p-10F, 0x1.44138ap-13F};

/// pow2(i) is +0 below this exponent.
constexpr float kSmallestExponent = -64.0F;

}  // namespace lastbit::kernels
