// The attention half of a decoder layer:
//   h = x + post_norm(output * attention(rope(norm(query * norm(x))), rope(norm(key * norm(x))), value * norm(x)))
#pragma once

#include <span>

#include "blocks/decoder.hpp"
#include "blocks/execution.hpp"
#include "blocks/key_value_pages.hpp"

namespace lastbit::blocks {

/// cos and sin (rule A7) of every row's position for every rotary table, into the pass buffers. Once per pass.
void prepare_rotary_angles(const DecoderConfig& config, std::span<const SequenceRows> sequences, Execution& execution);

/// Updates hidden [rows, hidden_size] in place; writes the rows' keys and values into their pages before reading them.
void attention_block(const DecoderConfig& config, const LayerWeights& weights, std::size_t layer,
                     std::span<const SequenceRows> sequences, std::size_t rows, float* hidden, Execution& execution);

}  // namespace lastbit::blocks
