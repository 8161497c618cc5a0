#include "blocks/decoder.hpp"

namespace lastbit::blocks {
namespace {

template <class Visit>
void for_each_matrix(const LayerWeights& layer, const Visit& visit) {
  visit(layer.query);
  visit(layer.key);
  visit(layer.value);
  visit(layer.attention_output);
  visit(layer.gate);
  visit(layer.up);
  visit(layer.down);
}

template <class Visit>
void for_each_norm(const LayerWeights& layer, const Visit& visit) {
  visit(layer.attention_norm);
  visit(layer.query_norm);
  visit(layer.key_norm);
  visit(layer.post_attention_norm);
  visit(layer.feed_forward_norm);
  visit(layer.post_feed_forward_norm);
}

}  // namespace

std::uint64_t weight_bytes_per_token(const DecoderWeights& weights) {
  std::uint64_t bytes = weights.output.checkpoint_bytes() + weights.output_norm.size() * sizeof(float);
  for (const LayerWeights& layer : weights.layers) {
    for_each_matrix(layer, [&](const kernels::PackedMatrix& matrix) { bytes += matrix.checkpoint_bytes(); });
    for_each_norm(layer, [&](const NormWeight& norm) { bytes += norm.size() * sizeof(float); });
  }
  return bytes;
}

std::uint64_t layer_operations_per_row(const DecoderWeights& weights) {
  std::uint64_t operations = 0;
  for (const LayerWeights& layer : weights.layers) {
    for_each_matrix(layer,
                    [&](const kernels::PackedMatrix& matrix) { operations += 2 * matrix.outputs() * matrix.inputs(); });
  }
  return operations;
}

}  // namespace lastbit::blocks
