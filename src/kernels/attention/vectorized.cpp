// Rule A6 over the vector wrapper. Both products of a chunk, queries x keys and weights x values, are one microkernel
// with lanes over the columns (keys, then elements of the head) and registers over queries:
//
//   c[query][column] = fma(a[query][k], b[k][column], c[query][column]) for k ascending
//
// The queries of a block see different keys. The scores of keys that only some of them see are computed for all and not
// used. The weighted sum of values takes the keys that all see with the whole block, and those before and after query
// by query; a chain that is stored as binary32 and taken up again is the same chain.
#include LASTBIT_VECTOR_HEADER
#include "kernels/attention/attention_kernels.hpp"
#include "numerics/elementary/hyperbolic_tangent.hpp"

// Loops over registers must be unrolled completely, or their arrays go through memory. The emulated twins are arrays
// anyway.
#if defined(LASTBIT_EMULATED_ISA_avx2) || defined(LASTBIT_EMULATED_ISA_avx512)
#define LASTBIT_UNROLL
#else
#define LASTBIT_UNROLL _Pragma("GCC unroll 16")
#endif

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

using kernels::AttentionChunk;
using kernels::kAttentionScratchStride;
using kernels::kExponentialCoefficients;
using kernels::kSmallestExponent;
using F32 = Vector::F32;
using Mask = Vector::Mask;
using std::size_t;

constexpr size_t kWidth = static_cast<size_t>(Vector::lanes);
constexpr size_t kKeys = 128;  // of a page, and the elements of a chunk of rule A2
constexpr size_t kLanes = 32;
constexpr float kInfinity = __builtin_inff();

// Accumulators fill the registers but for the vectors of b and one for a: 14 x 2 of 32 registers, 6 x 2 of 16.
constexpr int kBlockQueries = Vector::registers == 32 ? 14 : 6;

/// How many vectors of columns go with so many queries.
constexpr int columns_for(int queries) {
  const int accumulators = Vector::registers == 32 ? 28 : 12;
  const int columns = accumulators / queries;
  return columns >= 8 ? 8 : columns >= 4 ? 4 : 2;
}

size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
size_t larger(size_t a, size_t b) { return a < b ? b : a; }

F32 canonical(F32 x) { return Vector::select(Vector::is_nan(x), Vector::broadcast(__builtin_nanf("")), x); }

/// Loads a whole vector of columns of b, or its first ones where the row ends.
struct WholeVector {
  F32 load(const float* p) const { return Vector::load(p); }
};
struct FirstLanes {
  int count;
  F32 load(const float* p) const { return Vector::load_first(p, count); }
};

/// The operands of the microkernel. a: rows kAttentionScratchStride apart; that it is a constant keeps the addresses of
/// all rows in one register.
struct Product {
  const float* a;
  const float* b;
  size_t b_stride;
  size_t depth;
  float* c;
  size_t c_stride;
};

/// Continues the chains of c.
struct Continue {
  static F32 start(const float* c) { return Vector::load(c); }
  static F32 end(F32 chain, const float*) { return chain; }
};
/// A chain of rule A2's chunk, which is added to c.
struct AddChunk {
  static F32 start(const float*) { return Vector::zero(); }
  static F32 end(F32 chain, const float* c) { return Vector::add(Vector::load(c), chain); }
};

template <class Chain, int queries, int columns, class Load>
void microkernel(const Product& product, size_t column, Load load) {
  const float* a = product.a;
  const float* b = product.b + column;
  float* const c = product.c + column;
  const size_t b_stride = product.b_stride;
  const size_t c_stride = product.c_stride;
  const auto place = [&](int q, int v) {
    return c + static_cast<size_t>(q) * c_stride + static_cast<size_t>(v) * kWidth;
  };
  F32 chain[queries][columns];
  LASTBIT_UNROLL
  for (int q = 0; q < queries; ++q) {
    LASTBIT_UNROLL
    for (int v = 0; v < columns; ++v) chain[q][v] = Chain::start(place(q, v));
  }
  for (size_t k = product.depth; k != 0; --k, ++a, b += b_stride) {
    F32 row[columns];
    LASTBIT_UNROLL
    for (int v = 0; v < columns; ++v) row[v] = load.load(b + static_cast<size_t>(v) * kWidth);
    LASTBIT_UNROLL
    for (int q = 0; q < queries; ++q) {
      const F32 factor = Vector::broadcast(a[static_cast<size_t>(q) * kAttentionScratchStride]);
      LASTBIT_UNROLL
      for (int v = 0; v < columns; ++v) chain[q][v] = Vector::fma(factor, row[v], chain[q][v]);
    }
  }
  LASTBIT_UNROLL
  for (int q = 0; q < queries; ++q) {
    LASTBIT_UNROLL
    for (int v = 0; v < columns; ++v) Vector::store(place(q, v), Chain::end(chain[q][v], place(q, v)));
  }
}

/// The columns [column, end); c holds whole vectors.
template <class Chain, int queries, int columns>
void multiply_columns(const Product& product, size_t column, size_t end) {
  for (; column + columns * kWidth <= end; column += columns * kWidth) {
    microkernel<Chain, queries, columns>(product, column, WholeVector());
  }
  if constexpr (columns > 1) {
    multiply_columns<Chain, queries, columns / 2>(product, column, end);
  } else if (column < end) {
    microkernel<Chain, queries, 1>(product, column, FirstLanes{static_cast<int>(end - column)});
  }
}

/// queries in [1, most].
template <class Chain, int most = kBlockQueries>
void multiply(const Product& product, size_t queries, size_t column, size_t end) {
  if constexpr (most > 1) {
    if (queries < static_cast<size_t>(most)) return multiply<Chain, most - 1>(product, queries, column, end);
  }
  multiply_columns<Chain, most, columns_for(most)>(product, column, end);
}

/// The keys that some query of a block sees, and those that all see (0, 0 where there is none).
struct Visible {
  size_t first_any, end_any, first_all, end_all;

  explicit Visible(const AttentionChunk& chunk)
      : first_any(chunk.begin[0]),
        end_any(chunk.end[chunk.queries - 1]),
        first_all(chunk.begin[chunk.queries - 1]),
        end_all(chunk.end[0]) {
    if (first_all >= end_all) first_all = end_all = 0;
  }
};

/// scores[query][key] by rule A2 for the whole vectors around the keys that some query sees.
void compute_scores(const AttentionChunk& chunk, const Visible& visible, float* packed, float* scores) {
  const size_t first = visible.first_any / kWidth * kWidth;
  const size_t end = (visible.end_any + kWidth - 1) / kWidth * kWidth;
  for (size_t q = 0; q < chunk.queries; ++q) {
    for (size_t j = first; j < end; j += kWidth)
      Vector::store(scores + q * kAttentionScratchStride + j, Vector::zero());
  }
  for (size_t d = 0; d < chunk.head_dim; d += kKeys) {
    const size_t depth = smaller(kKeys, chunk.head_dim - d);
    for (size_t q = 0; q < chunk.queries; ++q) {
      __builtin_memcpy(packed + q * kAttentionScratchStride, chunk.query[q] + d, depth * sizeof(float));
    }
    const Product product{packed, chunk.keys + d * kKeys, kKeys, depth, scores, kAttentionScratchStride};
    multiply<AddChunk>(product, chunk.queries, first, end);
  }
}

/// e = 2^f for f in [-1/2, 1/2].
F32 exponential(F32 f) {
  F32 e = Vector::broadcast(kExponentialCoefficients[6]);
  for (int i = 5; i >= 0; --i) e = Vector::fma(e, f, Vector::broadcast(kExponentialCoefficients[i]));
  return e;
}

/// x * pow2(i) for integers i <= 0; pow2 is 2^i, +0 for i < -64, and there the result is +0 whatever x is.
F32 scaled(F32 x, F32 i) {
  // i + 1.5 * 2^23 holds i in its low bits; moved up they are the exponent, to which that of 1.0 is added.
  const auto bits = Vector::as_integer(Vector::add(i, Vector::broadcast(0x1.8p23F)));
  const auto power = Vector::add_integer(Vector::template shift_left<23>(bits), Vector::broadcast_integer(0x3F800000));
  const F32 product = Vector::multiply(x, Vector::as_float(power));
  return Vector::select(Vector::less(i, Vector::broadcast(kSmallestExponent)), Vector::zero(), product);
}

/// Lanes l += l + 16, l + 8, l + 4, l + 2, l + 1.
float fold_lanes(float* lane) {
  for (size_t distance = kLanes / 2; distance > 0; distance /= 2) {
    for (size_t l = 0; l < distance; ++l) lane[l] += lane[l + distance];
  }
  return lane[0];
}

/// The lanes of the vector at key j that stand for keys in [begin, end).
Mask lanes_between(size_t j, size_t begin, size_t end) {
  const Mask before_end = Vector::first(static_cast<int>(end > j ? smaller(end - j, kWidth) : 0));
  const Mask before_begin = Vector::first(static_cast<int>(begin > j ? smaller(begin - j, kWidth) : 0));
  return Vector::mask_and(before_end, Vector::mask_not(before_begin));
}

float largest_lane(F32 x) {
  float lane[kWidth];
  Vector::store(lane, x);
  for (size_t distance = kWidth / 2; distance > 0; distance /= 2) {
    for (size_t l = 0; l < distance; ++l) lane[l] = lane[l] < lane[l + distance] ? lane[l + distance] : lane[l];
  }
  return lane[0];
}

template <bool capped>
F32 logit_of_score(const kernels::AttentionLogit& logit, F32 score) {
  if constexpr (capped) {
    const F32 cap = Vector::broadcast(logit.soft_cap);
    const F32 inner = Vector::divide(Vector::multiply(score, Vector::broadcast(logit.scale)), cap);
    return Vector::multiply(Vector::multiply(cap, numerics::tanh<Vector>(inner)), Vector::broadcast(kernels::kLog2E));
  } else {
    return Vector::multiply(score, Vector::broadcast(logit.factor));
  }
}

/// Scores of the keys [begin, end) to t_j, in place; r of the chunk.
template <bool capped>
float logits_of_scores(const kernels::AttentionLogit& logit, float* scores, size_t begin, size_t end) {
  const F32 minus_infinity = Vector::broadcast(-kInfinity);
  const F32 infinity = Vector::broadcast(kInfinity);
  F32 most = minus_infinity;
  Mask invalid = Vector::first(0);
  for (size_t j = begin / kWidth * kWidth; j < end; j += kWidth) {
    F32 t = logit_of_score<capped>(logit, Vector::load(scores + j));
    if (j < begin || j + kWidth > end) t = Vector::select(lanes_between(j, begin, end), t, minus_infinity);
    Vector::store(scores + j, t);
    invalid = Vector::mask_or(invalid, Vector::mask_not(Vector::less(t, infinity)));  // NaN or +Inf
    const F32 n = Vector::round_even(t);
    most = Vector::select(Vector::less(most, n), n, most);
  }
  return Vector::any(invalid) ? __builtin_nanf("") : largest_lane(most);
}

/// t_j of the keys [begin, end) to w_j, in place (keys beside them in the same vectors are -Inf and get +0); l of the
/// chunk.
float weights_of_logits(float* logits, size_t begin, size_t end, float reference) {
  constexpr size_t kAccumulators = kLanes / kWidth;
  F32 sum[kAccumulators];
  for (F32& lanes : sum) lanes = Vector::zero();
  const F32 references = Vector::broadcast(reference);
  for (size_t j = begin / kWidth * kWidth; j < end; j += kWidth) {
    const F32 t = Vector::load(logits + j);
    const F32 n = Vector::round_even(t);
    // A key of -Inf is more than 64 powers of two below any reference, so that it gets its +0 here.
    const F32 weight = scaled(exponential(Vector::subtract(t, n)), Vector::subtract(n, references));
    Vector::store(logits + j, weight);
    F32& lanes = sum[j / kWidth % kAccumulators];
    lanes = Vector::add(lanes, weight);
  }
  float lane[kLanes];
  for (size_t a = 0; a < kAccumulators; ++a) Vector::store(lane + a * kWidth, sum[a]);
  return fold_lanes(lane);
}

/// sum[query] = the chain over the keys that it sees, from +0.
void weigh_values(const AttentionChunk& chunk, const Visible& visible, const float* weights) {
  const size_t stride = chunk.sum_stride;
  const auto continue_chains = [&](size_t query, size_t queries, size_t first_key, size_t end_key) {
    if (first_key >= end_key) return;
    const Product product{weights + query * kAttentionScratchStride + first_key,
                          chunk.values + first_key * chunk.head_dim,
                          chunk.head_dim,
                          end_key - first_key,
                          chunk.sum + query * stride,
                          stride};
    multiply<Continue>(product, queries, 0, chunk.head_dim);
  };
  for (size_t q = 0; q < chunk.queries; ++q) {
    for (size_t d = 0; d < stride; d += kWidth) Vector::store(chunk.sum + q * stride + d, Vector::zero());
    continue_chains(q, 1, chunk.begin[q], visible.first_all);
  }
  continue_chains(0, chunk.queries, visible.first_all, visible.end_all);
  for (size_t q = 0; q < chunk.queries; ++q) {
    continue_chains(q, 1, larger(visible.end_all, chunk.begin[q]), chunk.end[q]);
  }
}

void chunk(const AttentionChunk& chunk) {
  const Visible visible(chunk);
  float* const weights = chunk.scratch;
  float* const packed = chunk.scratch + kernels::kMostBlockQueries * kAttentionScratchStride;
  compute_scores(chunk, visible, packed, weights);
  const auto row = [&](size_t q) { return weights + q * kAttentionScratchStride; };
  for (size_t q = 0; q < chunk.queries; ++q) {  // two loops: the maximum of one query is found while others go on
    const auto logits = chunk.logit.soft_cap != 0.0F ? logits_of_scores<true> : logits_of_scores<false>;
    chunk.reference[q] = logits(chunk.logit, row(q), chunk.begin[q], chunk.end[q]);
  }
  for (size_t q = 0; q < chunk.queries; ++q) {
    chunk.denominator[q] = weights_of_logits(row(q), chunk.begin[q], chunk.end[q], chunk.reference[q]);
  }
  weigh_values(chunk, visible, weights);
}

bool is_nan(float x) { return x != x; }

void fold(float* sum, float* denominator, float* reference, const float* chunk_sum, float chunk_denominator,
          float chunk_reference, size_t head_dim) {
  if (chunk_reference == -kInfinity || is_nan(*reference)) return;
  if (is_nan(chunk_reference)) {
    *reference = __builtin_nanf("");
    return;
  }
  const size_t padded = (head_dim + kWidth - 1) / kWidth * kWidth;
  if (*reference == -kInfinity) {
    for (size_t d = 0; d < padded; d += kWidth) Vector::store(sum + d, Vector::zero());
    *denominator = 0.0F;
    *reference = chunk_reference;
  }
  const bool chunk_is_larger = *reference < chunk_reference;
  const float distance = chunk_is_larger ? *reference - chunk_reference : chunk_reference - *reference;  // <= 0
  const F32 factor = scaled(Vector::broadcast(1.0F), Vector::broadcast(distance));
  const auto folded = [&](F32 so_far, F32 next) {
    return chunk_is_larger ? Vector::fma(so_far, factor, next) : Vector::fma(next, factor, so_far);
  };
  for (size_t d = 0; d < padded; d += kWidth) {
    Vector::store(sum + d, folded(Vector::load(sum + d), Vector::load(chunk_sum + d)));
  }
  Vector::store_first(denominator, folded(Vector::broadcast(*denominator), Vector::broadcast(chunk_denominator)), 1);
  if (chunk_is_larger) *reference = chunk_reference;
}

void finish(const float* sum, float denominator, float reference, size_t head_dim, float* output) {
  const bool row_is_nan = is_nan(reference) || reference == -kInfinity;
  const F32 divisor = Vector::broadcast(row_is_nan ? __builtin_nanf("") : denominator);
  for (size_t d = 0; d < head_dim; d += kWidth) {
    const F32 quotient = canonical(Vector::divide(Vector::load(sum + d), divisor));
    Vector::store_first(output + d, quotient, static_cast<int>(smaller(head_dim - d, kWidth)));
  }
}

}  // namespace

extern const kernels::AttentionKernels attention_table;
const kernels::AttentionKernels attention_table = {kBlockQueries, chunk, fold, finish};

}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
