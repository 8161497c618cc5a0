// Token embedding: look-up by rule A3, then the family's scale, rounded once (A2: fl(w * fl(sqrt(hidden_size))) in
// Gemma).
#pragma once

#include <cstdint>
#include <span>

#include "blocks/decoder.hpp"
#include "blocks/execution.hpp"

namespace lastbit::blocks {

/// hidden[row] = embedding of tokens[row]; every token is inside the vocabulary.
void embed_tokens(const DecoderConfig& config, const DecoderWeights& weights, std::span<const std::int32_t> tokens,
                  float* hidden, Execution& execution);

}  // namespace lastbit::blocks
