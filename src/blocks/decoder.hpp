// A decoder-only transformer as data: the configuration and the weights that a family's declaration resolves to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/tensor_table.hpp"
#include "kernels/matmul/packed_matrix.hpp"
#include "numerics/activation.hpp"

namespace lastbit::blocks {

/// One rotary embedding (rule A7): computed once at load, shared by the layers that name it.
struct RotaryTable {
  std::vector<float> inverse_frequency;  // [rotated dimensions / 2], after the family's scaling
  float attention_factor = 1.0F;
};

struct LayerConfig {
  std::size_t window = 0;        // a query at i sees keys j with 0 <= i - j < window; 0: every earlier key
  std::size_t rotary_table = 0;  // index into DecoderConfig::rotary_tables
};

struct DecoderConfig {
  std::size_t vocabulary_size = 0;
  std::size_t context_length = 0;
  std::size_t hidden_size = 0;
  std::size_t intermediate_size = 0;
  std::size_t query_heads = 0;
  std::size_t key_value_heads = 0;
  std::size_t head_dim = 0;
  float norm_epsilon = 0.0F;
  std::optional<float> embedding_scale;  // embeddings are multiplied by it, rounded
  double attention_scale = 0.0;
  numerics::Activation activation = numerics::Activation::identity;
  std::vector<RotaryTable> rotary_tables;
  std::vector<LayerConfig> layers;

  std::size_t query_size() const { return query_heads * head_dim; }
  std::size_t key_value_size() const { return key_value_heads * head_dim; }
};

/// Weight of a norm, widened to binary32. Empty: the block has no such norm.
using NormWeight = std::vector<float>;

struct LayerWeights {
  NormWeight attention_norm;
  kernels::PackedMatrix query;             // [query_size, hidden]
  kernels::PackedMatrix key;               // [key_value_size, hidden]
  kernels::PackedMatrix value;             // [key_value_size, hidden]
  NormWeight query_norm;                   // [head_dim], before rope
  NormWeight key_norm;                     // [head_dim], before rope
  kernels::PackedMatrix attention_output;  // [hidden, query_size]
  NormWeight post_attention_norm;
  NormWeight feed_forward_norm;
  kernels::PackedMatrix gate;  // [intermediate, hidden]
  kernels::PackedMatrix up;    // [intermediate, hidden]
  kernels::PackedMatrix down;  // [hidden, intermediate]
  NormWeight post_feed_forward_norm;
};

struct DecoderWeights {
  formats::TensorView token_embedding;  // [vocabulary, hidden], rows looked up in the checkpoint itself
  std::vector<LayerWeights> layers;
  NormWeight output_norm;
  kernels::PackedMatrix output;  // [vocabulary, hidden]; with a tied head the packed token embedding
};

/// Bytes that the plain forward pass of one token reads, at their size in the checkpoint (a tied matrix counts once),
/// keys and values not included: what a share of the read bandwidth is computed from.
std::uint64_t weight_bytes_per_token(const DecoderWeights& weights);

/// Floating-point operations (two per multiply-add) of the matrix products of one row, the output head not included.
std::uint64_t layer_operations_per_row(const DecoderWeights& weights);

}  // namespace lastbit::blocks
