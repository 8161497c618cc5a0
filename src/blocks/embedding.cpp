#include "blocks/embedding.hpp"

#include "numerics/dequantize.hpp"

namespace lastbit::blocks {

void embed_tokens(const DecoderConfig& config, const DecoderWeights& weights, std::span<const std::int32_t> tokens,
                  float* hidden, Execution& execution) {
  const formats::TensorView& table = weights.token_embedding;
  const std::size_t row_bytes = table.data.size() / config.vocabulary_size;
  execution.for_each_row(tokens.size(), [&](std::size_t row) {
    float* output = hidden + row * config.hidden_size;
    const std::byte* stored = table.data.data() + static_cast<std::size_t>(tokens[row]) * row_bytes;
    numerics::dequantize(table.type, stored, config.hidden_size, output);
    if (config.embedding_scale) execution.rms_norm().scale(output, *config.embedding_scale, config.hidden_size);
  });
}

}  // namespace lastbit::blocks
