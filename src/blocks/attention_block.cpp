#include "blocks/attention_block.hpp"

#include "blocks/normalization.hpp"

namespace lastbit::blocks {
namespace {

using kernels::kPagePositions;

/// Norm and rope of the heads of one row, in place.
void finish_heads(const DecoderConfig& config, const NormWeight& norm, std::size_t heads, const float* cosine,
                  const float* sine, float* row, const Execution& execution) {
  const std::size_t half = config.head_dim / 2;
  for (std::size_t head = 0; head < heads; ++head) {
    float* values = row + head * config.head_dim;
    if (!norm.empty()) execution.rms_norm().row(values, norm.data(), config.head_dim, config.norm_epsilon, values);
    execution.rotary_embedding().head(values, cosine, sine, half);
  }
}

/// Stores one row's keys (position fastest) and values (dimension fastest) at its position.
void write_pages(const DecoderConfig& config, const LayerPages& pages, std::size_t position, const float* key,
                 const float* value) {
  float* keys = pages.keys[position / kPagePositions];
  float* values = pages.values[position / kPagePositions];
  const std::size_t slot = position % kPagePositions;
  for (std::size_t head = 0; head < config.key_value_heads; ++head) {
    for (std::size_t d = 0; d < config.head_dim; ++d) {
      keys[(head * config.head_dim + d) * kPagePositions + slot] = key[head * config.head_dim + d];
      values[(head * kPagePositions + slot) * config.head_dim + d] = value[head * config.head_dim + d];
    }
  }
}

void project(const DecoderConfig& config, const LayerWeights& weights, std::size_t rows, const float* hidden,
             Execution& execution) {
  PassBuffers& buffers = execution.buffers();
  normalize_rows(weights.attention_norm, config.hidden_size, config.norm_epsilon, hidden, rows,
                 buffers.normalized.data(), execution);
  execution.matmul(weights.query, buffers.normalized.data(), rows, buffers.query.data());
  execution.matmul(weights.key, buffers.normalized.data(), rows, buffers.key.data());
  execution.matmul(weights.value, buffers.normalized.data(), rows, buffers.value.data());
}

void rotate_and_store(const DecoderConfig& config, const LayerWeights& weights, std::size_t layer,
                      const SequenceRows& sequence, Execution& execution) {
  PassBuffers& buffers = execution.buffers();
  const std::size_t table = config.layers[layer].rotary_table;
  const std::size_t half = config.head_dim / 2;
  execution.for_each_row(sequence.rows, [&](std::size_t index) {
    const std::size_t row = sequence.first_row + index;
    const float* cosine = buffers.cosine[table].data() + row * half;
    const float* sine = buffers.sine[table].data() + row * half;
    float* query = buffers.query.data() + row * config.query_size();
    float* key = buffers.key.data() + row * config.key_value_size();
    finish_heads(config, weights.query_norm, config.query_heads, cosine, sine, query, execution);
    finish_heads(config, weights.key_norm, config.key_value_heads, cosine, sine, key, execution);
    const float* value = buffers.value.data() + row * config.key_value_size();
    write_pages(config, (*sequence.layers)[layer], sequence.first_position + index, key, value);
  });
}

void attend(const DecoderConfig& config, std::size_t layer, const SequenceRows& sequence, Execution& execution) {
  PassBuffers& buffers = execution.buffers();
  const LayerPages& pages = (*sequence.layers)[layer];
  kernels::AttentionArguments arguments;
  arguments.query = buffers.query.data() + sequence.first_row * config.query_size();
  arguments.query_stride = config.query_size();
  arguments.output = buffers.attended.data() + sequence.first_row * config.query_size();
  arguments.output_stride = config.query_size();
  arguments.rows = sequence.rows;
  arguments.first_position = sequence.first_position;
  arguments.query_heads = config.query_heads;
  arguments.key_value_heads = config.key_value_heads;
  arguments.head_dim = config.head_dim;
  arguments.key_pages = pages.keys.data();
  arguments.value_pages = pages.values.data();
  arguments.window = config.layers[layer].window;
  arguments.scale = config.attention_scale;
  kernels::attention(execution.attention(), arguments, execution.pool());
}

}  // namespace

void prepare_rotary_angles(const DecoderConfig& config, std::span<const SequenceRows> sequences, Execution& execution) {
  PassBuffers& buffers = execution.buffers();
  for (std::size_t table = 0; table < config.rotary_tables.size(); ++table) {
    const RotaryTable& rotary = config.rotary_tables[table];
    const std::size_t half = rotary.inverse_frequency.size();
    for (const SequenceRows& sequence : sequences) {
      execution.for_each_row(sequence.rows, [&](std::size_t index) {
        const std::size_t row = sequence.first_row + index;
        kernels::rotary_angles(rotary.inverse_frequency.data(), half, sequence.first_position + index,
                               rotary.attention_factor, buffers.cosine[table].data() + row * half,
                               buffers.sine[table].data() + row * half);
      });
    }
  }
}

void attention_block(const DecoderConfig& config, const LayerWeights& weights, std::size_t layer,
                     std::span<const SequenceRows> sequences, std::size_t rows, float* hidden, Execution& execution) {
  PassBuffers& buffers = execution.buffers();
  project(config, weights, rows, hidden, execution);
  for (const SequenceRows& sequence : sequences) {
    rotate_and_store(config, weights, layer, sequence, execution);
    attend(config, layer, sequence, execution);
  }
  execution.matmul(weights.attention_output, buffers.attended.data(), rows, buffers.projected.data());
  add_branch(weights.post_attention_norm, config.norm_epsilon, config.hidden_size, buffers.projected.data(), rows,
             hidden, execution);
}

}  // namespace lastbit::blocks
