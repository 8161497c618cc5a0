#include "engine/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace lastbit::engine {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds a pass's time and products to a phase.
class PhaseTimer {
 public:
  PhaseTimer(Engine& engine, PhaseStatistics& phase)
      : engine_(engine), phase_(phase), before_(engine.execution().matmul_statistics()), start_(Clock::now()) {}
  ~PhaseTimer() {
    phase_.seconds += std::chrono::duration<double>(Clock::now() - start_).count();
    const blocks::MatmulStatistics& after = engine_.execution().matmul_statistics();
    phase_.matmul.seconds += after.seconds - before_.seconds;
    phase_.matmul.operations += after.operations - before_.operations;
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  Engine& engine_;
  PhaseStatistics& phase_;
  blocks::MatmulStatistics before_;
  Clock::time_point start_;
};

/// Bytes of keys and values that one new row at `position` reads, itself included.
std::uint64_t key_value_bytes(const blocks::DecoderConfig& config, std::size_t position) {
  std::uint64_t bytes = 0;
  for (const blocks::LayerConfig& layer : config.layers) {
    const std::size_t visible = layer.window == 0 ? position + 1 : std::min(position + 1, layer.window);
    bytes += 2 * visible * config.key_value_size() * sizeof(float);
  }
  return bytes;
}

}  // namespace

text::TokenId greedy_token(std::span<const float> logits, std::string_view place) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]))
      throw_input(fmt::format("{}: the logit of token {} is NaN: the checkpoint computes no answer", place, i));
    if (logits[i] > logits[best]) best = i;
  }
  if (logits.empty() || logits[best] == -INFINITY)
    throw_input(fmt::format("{}: no token has a logit above -Inf: the checkpoint computes no answer", place));
  return static_cast<text::TokenId>(best);
}

void read_prompt(Engine& engine, Sequence& sequence, std::span<const text::TokenId> tokens, std::size_t chunk,
                 LogitsOf logits, const LogitsSink& sink, const PromptProgress& progress) {
  const std::size_t context = engine.model().config().context_length;
  if (sequence.length() + tokens.size() > context) {
    throw_input(fmt::format("{}: the prompt of {} tokens does not fit in the model's context of {} positions",
                            engine.model().file().path(), sequence.length() + tokens.size(), context));
  }
  const std::size_t step = chunk == 0 ? tokens.size() : chunk;
  for (std::size_t done = 0; done < tokens.size();) {
    const std::size_t count = std::min(step, tokens.size() - done);
    const bool last = done + count == tokens.size();
    const Span span{&sequence, tokens.subspan(done, count),
                    logits == LogitsOf::last && !last ? LogitsOf::none : logits};
    engine.forward({&span, 1}, [&](std::size_t index, std::size_t first, std::size_t rows, const float* values) {
      sink(index, done + first, rows, values);
    });
    done += count;
    if (progress) progress(done, tokens.size());
  }
}

const char* finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::context:
      return "context";
    case FinishReason::interrupted:
      return "interrupted";
  }
  return "";
}

namespace {

/// One greedy generation. Its state is the sequence, and the token that the last pass chose.
class GreedyGeneration {
 public:
  GreedyGeneration(Engine& engine, const GenerationOptions& options, const GenerationCallbacks& callbacks)
      : engine_(engine), options_(options), callbacks_(callbacks), sequence_(engine.pages()) {
    engine_.watch(callbacks.interrupted);
  }
  ~GreedyGeneration() { engine_.watch(nullptr); }
  GreedyGeneration(const GreedyGeneration&) = delete;
  GreedyGeneration& operator=(const GreedyGeneration&) = delete;

  GenerationResult run(std::span<const text::TokenId> prompt) {
    try {
      read(prompt);
      while (decode_one()) {
      }
    } catch (const Interrupted&) {
      result_.reason = FinishReason::interrupted;
    }
    return std::move(result_);
  }

 private:
  void read(std::span<const text::TokenId> prompt) {
    const PhaseTimer timer(engine_, result_.prefill);
    result_.prefill.tokens = prompt.size();
    read_prompt(engine_, sequence_, prompt, options_.chunk, options_.max_tokens == 0 ? LogitsOf::none : LogitsOf::last,
                sink(), callbacks_.prompt_progress);
  }

  /// Emits the token that is known and computes the next one; false when the generation is over.
  bool decode_one() {
    const std::vector<text::TokenId>& end_ids = engine_.model().tokenizer().end_ids();
    if (result_.tokens.size() == options_.max_tokens) return finish(FinishReason::length);
    if (callbacks_.interrupted != nullptr && callbacks_.interrupted->load()) return finish(FinishReason::interrupted);
    if (!options_.ignore_end && std::binary_search(end_ids.begin(), end_ids.end(), next_))
      return finish(FinishReason::stop);
    result_.tokens.push_back(next_);
    if (callbacks_.token) callbacks_.token(next_);
    if (result_.tokens.size() == options_.max_tokens) return finish(FinishReason::length);
    if (sequence_.length() == engine_.model().config().context_length) return finish(FinishReason::context);
    const PhaseTimer timer(engine_, result_.decode);
    const text::TokenId token = next_;  // the sink overwrites next_ during the pass
    const Span step{&sequence_, {&token, 1}, LogitsOf::last};
    result_.decode_key_value_bytes += key_value_bytes(engine_.model().config(), sequence_.length());
    engine_.forward({&step, 1}, sink());
    ++result_.decode.tokens;
    return true;
  }

  bool finish(FinishReason reason) {
    result_.reason = reason;
    return false;
  }

  LogitsSink sink() {
    return [this](std::size_t, std::size_t first_token, std::size_t, const float* logits) {
      const std::size_t position = result_.tokens.empty() ? first_token : sequence_.length();
      next_ = greedy_token({logits, engine_.model().config().vocabulary_size},
                           fmt::format("{}, position {}", engine_.model().file().path(), position));
    };
  }

  Engine& engine_;
  const GenerationOptions& options_;
  const GenerationCallbacks& callbacks_;
  Sequence sequence_;
  text::TokenId next_ = 0;
  GenerationResult result_;
};

}  // namespace

GenerationResult generate_greedily(Engine& engine, std::span<const text::TokenId> prompt,
                                   const GenerationOptions& options, const GenerationCallbacks& callbacks) {
  return GreedyGeneration(engine, options, callbacks).run(prompt);
}

}  // namespace lastbit::engine
