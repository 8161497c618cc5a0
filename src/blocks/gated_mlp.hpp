// The feed-forward half of a decoder layer: y = h + post_norm(down * (act(gate * norm(h)) * (up * norm(h)))).
#pragma once

#include "blocks/decoder.hpp"
#include "blocks/execution.hpp"

namespace lastbit::blocks {

/// Updates hidden [rows, hidden_size] in place.
void gated_mlp_block(const DecoderConfig& config, const LayerWeights& weights, std::size_t rows, float* hidden,
                     Execution& execution);

}  // namespace lastbit::blocks
