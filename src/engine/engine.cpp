#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/floating_point_state.hpp"
#include "blocks/attention_block.hpp"
#include "blocks/embedding.hpp"
#include "blocks/gated_mlp.hpp"
#include "blocks/normalization.hpp"

namespace lastbit::engine {
namespace {

// Rows of logits computed at a time: enough to widen the head's weights rarely, few enough to bound the memory
// (128 x 262,144 x 4 bytes = 128 MiB for Gemma). The bits of a row do not depend on it.
constexpr std::size_t kLogitsBlock = 128;

void grow(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

Engine::Engine(const Model& model, blocks::Execution& execution)
    : model_(model), execution_(execution), pages_(model.config()) {}

void Engine::check(std::span<const Span> spans) const {
  const blocks::DecoderConfig& config = model_.config();
  for (const Span& span : spans) {
    if (span.tokens.empty()) throw_input("there are no tokens to read");
    const std::size_t needed = span.sequence->length() + span.tokens.size();
    if (needed > config.context_length) {
      throw_input(fmt::format("{}: {} tokens do not fit in the model's context of {} positions", model_.file().path(),
                              needed, config.context_length));
    }
    for (std::size_t i = 0; i < span.tokens.size(); ++i) {
      if (span.tokens[i] < 0 || static_cast<std::size_t>(span.tokens[i]) >= config.vocabulary_size) {
        throw_input(fmt::format("{}: token {} (number {} of the input) is outside the vocabulary of {}",
                                model_.file().path(), span.tokens[i], span.sequence->length() + i,
                                config.vocabulary_size));
      }
    }
  }
}

void Engine::stop_if_interrupted() const {
  if (interrupted_ != nullptr && interrupted_->load(std::memory_order_relaxed)) throw Interrupted{};
}

void Engine::reserve_buffers(std::size_t rows) {
  const blocks::DecoderConfig& config = model_.config();
  blocks::PassBuffers& buffers = execution_.buffers();
  grow(buffers.hidden, rows * config.hidden_size);
  grow(buffers.normalized, rows * config.hidden_size);
  grow(buffers.query, rows * config.query_size());
  grow(buffers.key, rows * config.key_value_size());
  grow(buffers.value, rows * config.key_value_size());
  grow(buffers.attended, rows * config.query_size());
  grow(buffers.projected, rows * config.hidden_size);
  grow(buffers.gate, rows * config.intermediate_size);
  grow(buffers.up, rows * config.intermediate_size);
  buffers.cosine.resize(config.rotary_tables.size());
  buffers.sine.resize(config.rotary_tables.size());
  for (std::size_t table = 0; table < config.rotary_tables.size(); ++table) {
    grow(buffers.cosine[table], rows * config.rotary_tables[table].inverse_frequency.size());
    grow(buffers.sine[table], rows * config.rotary_tables[table].inverse_frequency.size());
  }
}

void Engine::forward(std::span<const Span> spans, const LogitsSink& sink) {
  const FloatingPointScope floating_point;
  check(spans);
  const blocks::DecoderConfig& config = model_.config();
  std::vector<blocks::SequenceRows> sequences;
  tokens_.clear();
  for (const Span& span : spans) {
    span.sequence->reserve(span.tokens.size());
    sequences.push_back({tokens_.size(), span.tokens.size(), span.sequence->length(), &span.sequence->layers()});
    tokens_.insert(tokens_.end(), span.tokens.begin(), span.tokens.end());
  }
  const std::size_t rows = tokens_.size();
  reserve_buffers(rows);
  float* hidden = execution_.buffers().hidden.data();
  blocks::embed_tokens(config, model_.weights(), tokens_, hidden, execution_);
  blocks::prepare_rotary_angles(config, sequences, execution_);
  for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
    stop_if_interrupted();
    const blocks::LayerWeights& weights = model_.weights().layers[layer];
    blocks::attention_block(config, weights, layer, sequences, rows, hidden, execution_);
    blocks::gated_mlp_block(config, weights, rows, hidden, execution_);
  }
  ++passes_;
  rows_read_ += rows;
  give_logits(spans, sink);
  for (const Span& span : spans) span.sequence->advance(span.tokens.size());
}

void Engine::give_logits(std::span<const Span> spans, const LogitsSink& sink) {
  const blocks::DecoderConfig& config = model_.config();
  const blocks::DecoderWeights& weights = model_.weights();
  blocks::PassBuffers& buffers = execution_.buffers();
  std::size_t span_row = 0;
  for (std::size_t index = 0; index < spans.size(); ++index) {
    const std::size_t count = spans[index].tokens.size();
    const std::size_t wanted = spans[index].logits == LogitsOf::none   ? 0
                               : spans[index].logits == LogitsOf::last ? 1
                                                                       : count;
    for (std::size_t done = 0; done < wanted;) {
      stop_if_interrupted();
      const std::size_t rows = std::min(kLogitsBlock, wanted - done);
      const std::size_t first = count - wanted + done;
      grow(logits_, rows * config.vocabulary_size);
      blocks::normalize_rows(weights.output_norm, config.hidden_size, config.norm_epsilon,
                             buffers.hidden.data() + (span_row + first) * config.hidden_size, rows,
                             buffers.normalized.data(), execution_);
      execution_.matmul(weights.output, buffers.normalized.data(), rows, logits_.data());
      sink(index, first, rows, logits_.data());
      done += rows;
    }
    span_row += count;
  }
}

}  // namespace lastbit::engine
