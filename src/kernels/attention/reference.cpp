// Rule A6 in plain loops, one query at a time, and the table of the scalar set, which runs them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/attention_kernels.hpp"
#include "numerics/elementary/elementary.hpp"

namespace lastbit::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();  // canonical: 0x7FC00000
constexpr std::size_t kDotChunk = 128;
constexpr std::size_t kLanes = 32;

/// s_j by rule A2; key element d of this position is keys[d * 128].
float score(const float* query, const float* keys, std::size_t head_dim) {
  float s = 0.0F;
  for (std::size_t begin = 0; begin < head_dim; begin += kDotChunk) {
    float p = 0.0F;
    for (std::size_t d = begin; d < head_dim && d < begin + kDotChunk; ++d) {
      p = std::fma(query[d], keys[d * kPagePositions], p);
    }
    s = s + p;
  }
  return s;
}

/// t_j
float logit_of_score(const AttentionLogit& logit, float s) {
  if (logit.soft_cap == 0.0F) return s * logit.factor;
  const float capped = logit.soft_cap * numerics::tanh(s * logit.scale / logit.soft_cap);
  return capped * kLog2E;
}

/// e = 2^f for f in [-1/2, 1/2].
float exponential(float f) {
  float e = kExponentialCoefficients[6];
  for (int i = 5; i >= 0; --i) e = std::fma(e, f, kExponentialCoefficients[i]);
  return e;
}

/// 2^i for an integer i <= 0, +0 for i < -64.
float pow2(float i) { return i < kSmallestExponent ? 0.0F : std::ldexp(1.0F, static_cast<int>(i)); }

/// Rule A5 over lane j mod 32; masked keys have weight +0 here, which changes no sum, because no weight is -0.
float sum_of_weights(const float* weight) {
  float lane[kLanes] = {};
  for (std::size_t j = 0; j < kPagePositions; ++j) lane[j % kLanes] += weight[j];
  for (std::size_t distance = kLanes / 2; distance > 0; distance /= 2) {
    for (std::size_t l = 0; l < distance; ++l) lane[l] += lane[l + distance];
  }
  return lane[0];
}

/// The result of the keys [begin, end) of one page for one query.
void chunk_of_one_query(const AttentionChunk& chunk, const float* query, std::size_t begin, std::size_t end, float* sum,
                        float& denominator, float& reference) {
  float t[kPagePositions] = {};
  reference = -kInfinity;
  for (std::size_t j = begin; j < end; ++j) {
    t[j] = logit_of_score(chunk.logit, score(query, chunk.keys + j, chunk.head_dim));
    if (std::isnan(t[j]) || t[j] == kInfinity) reference = kNaN;
    if (t[j] != -kInfinity && reference < std::nearbyint(t[j])) reference = std::nearbyint(t[j]);  // NaN stays
  }
  if (std::isnan(reference) || reference == -kInfinity) return;

  float weight[kPagePositions] = {};
  for (std::size_t j = begin; j < end; ++j) {
    if (t[j] == -kInfinity) continue;  // weight +0
    const float n = std::nearbyint(t[j]);
    weight[j] = exponential(t[j] - n) * pow2(n - reference);
  }
  for (std::size_t d = 0; d < chunk.head_dim; ++d) sum[d] = 0.0F;
  for (std::size_t j = begin; j < end; ++j) {
    for (std::size_t d = 0; d < chunk.head_dim; ++d) {
      sum[d] = std::fma(weight[j], chunk.values[j * chunk.head_dim + d], sum[d]);
    }
  }
  denominator = sum_of_weights(weight);
}

void chunk(const AttentionChunk& chunk) {
  for (std::size_t i = 0; i < chunk.queries; ++i) {
    chunk_of_one_query(chunk, chunk.query[i], chunk.begin[i], chunk.end[i], chunk.sum + i * chunk.sum_stride,
                       chunk.denominator[i], chunk.reference[i]);
  }
}

void fold(float* sum, float* denominator, float* reference, const float* chunk_sum, float chunk_denominator,
          float chunk_reference, std::size_t head_dim) {
  if (chunk_reference == -kInfinity || std::isnan(*reference)) return;  // nothing to add, or nothing left to change
  if (std::isnan(chunk_reference)) {
    *reference = kNaN;
    return;
  }
  if (*reference == -kInfinity) {  // the first chunk that is not skipped
    for (std::size_t d = 0; d < head_dim; ++d) sum[d] = 0.0F;
    *denominator = 0.0F;
    *reference = chunk_reference;
  }
  const float factor = pow2(-std::fabs(*reference - chunk_reference));
  const auto folded = [&](float so_far, float next) {
    return *reference < chunk_reference ? std::fma(so_far, factor, next) : std::fma(next, factor, so_far);
  };
  for (std::size_t d = 0; d < head_dim; ++d) sum[d] = folded(sum[d], chunk_sum[d]);
  *denominator = folded(*denominator, chunk_denominator);
  *reference = std::fmax(*reference, chunk_reference);
}

void finish(const float* sum, float denominator, float reference, std::size_t head_dim, float* output) {
  const bool row_is_nan = std::isnan(reference) || reference == -kInfinity;
  for (std::size_t d = 0; d < head_dim; ++d) {
    const float quotient = row_is_nan ? kNaN : sum[d] / denominator;
    output[d] = std::isnan(quotient) ? kNaN : quotient;
  }
}

}  // namespace

void attention_reference(const AttentionArguments& arguments) {
  const std::size_t head_dim = arguments.head_dim;
  const std::size_t group = arguments.query_heads / arguments.key_value_heads;
  AttentionChunk keys;
  keys.head_dim = head_dim;
  keys.logit = attention_logit(arguments);
  std::vector<float> sum(head_dim);
  std::vector<float> chunk_sum(head_dim);
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const std::size_t position = arguments.first_position + row;
    const bool windowed = arguments.window != 0 && position >= arguments.window;
    const std::size_t first_key = windowed ? position - arguments.window + 1 : 0;
    for (std::size_t head = 0; head < arguments.query_heads; ++head) {
      const float* query = arguments.query + row * arguments.query_stride + head * head_dim;
      float denominator = 0.0F;
      float reference = -kInfinity;
      for (std::size_t page = first_key / kPagePositions; page <= position / kPagePositions; ++page) {
        const std::size_t page_start = page * kPagePositions;
        const std::size_t begin = first_key > page_start ? first_key - page_start : 0;
        const std::size_t end = std::min(position + 1 - page_start, kPagePositions);
        keys.keys = arguments.key_pages[page] + head / group * head_dim * kPagePositions;
        keys.values = arguments.value_pages[page] + head / group * kPagePositions * head_dim;
        float chunk_denominator = 0.0F;
        float chunk_reference = -kInfinity;
        chunk_of_one_query(keys, query, begin, end, chunk_sum.data(), chunk_denominator, chunk_reference);
        fold(sum.data(), &denominator, &reference, chunk_sum.data(), chunk_denominator, chunk_reference, head_dim);
      }
      finish(sum.data(), denominator, reference, head_dim,
             arguments.output + row * arguments.output_stride + head * head_dim);
    }
  }
}

}  // namespace lastbit::kernels

namespace lastbit::scalar {
extern const kernels::AttentionKernels attention_table;
const kernels::AttentionKernels attention_table = {8, kernels::chunk, kernels::fold, kernels::finish};
}  // namespace lastbit::scalar
