#include "blocks/gated_mlp.hpp"

#include "blocks/normalization.hpp"

namespace lastbit::blocks {

void gated_mlp_block(const DecoderConfig& config, const LayerWeights& weights, std::size_t rows, float* hidden,
                     Execution& execution) {
  PassBuffers& buffers = execution.buffers();
  normalize_rows(weights.feed_forward_norm, config.hidden_size, config.norm_epsilon, hidden, rows,
                 buffers.normalized.data(), execution);
  execution.matmul(weights.gate, buffers.normalized.data(), rows, buffers.gate.data());
  execution.matmul(weights.up, buffers.normalized.data(), rows, buffers.up.data());
  const std::size_t size = config.intermediate_size;
  execution.for_each_row(rows, [&](std::size_t row) {
    float* gate = buffers.gate.data() + row * size;
    execution.gated_activation().apply(config.activation, gate, buffers.up.data() + row * size, size, gate);
  });
  execution.matmul(weights.down, buffers.gate.data(), rows, buffers.projected.data());
  add_branch(weights.post_feed_forward_norm, config.norm_epsilon, config.hidden_size, buffers.projected.data(), rows,
             hidden, execution);
}

}  // namespace lastbit::blocks
