#include "engine/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

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

text::TokenId greedy_token(std::span<const float> logits) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) throw_input(fmt::format("the logit of token {} is NaN: the checkpoint computes no answer", i));
    if (logits[i] > logits[best]) best = i;
  }
  if (logits.empty() || logits[best] == -INFINITY) throw_input("no token has a logit above -Inf: the checkpoint computes no answer");
  return static_cast<text::TokenId>(best);
}

void read_prompt(Engine& engine, Sequence& sequence, std::span<const text::TokenId> tokens, std::size_t chunk, LogitsOf logits,
                 const LogitsSink& sink, const PromptProgress& progress) {
  const std::size_t context = engine.model().config().context_length;
  if (sequence.length() + tokens.size() > context) {
    throw_input(fmt::format("the prompt of {} tokens does not fit in the model's context of {} positions",
                            sequence.length() + tokens.size(), context));
  }
  const std::size_t step = chunk == 0 ? tokens.size() : chunk;
  for (std::size_t done = 0; done < tokens.size();) {
    const std::size_t count = std::min(step, tokens.size() - done);
    const bool last = done + count == tokens.size();
    const Span span{&sequence, tokens.subspan(done, count), logits == LogitsOf::last && !last ? LogitsOf::none : logits};
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

GenerationResult generate_greedily(Engine& engine, std::span<const text::TokenId> prompt, const GenerationOptions& options,
                                   const GenerationCallbacks& callbacks) {
  GenerationResult result;
  const blocks::DecoderConfig& config = engine.model().config();
  const std::vector<text::TokenId>& end_ids = engine.model().tokenizer().end_ids();
  Sequence sequence(engine.pages());
  text::TokenId next = 0;
  const LogitsSink sink = [&](std::size_t, std::size_t, std::size_t, const float* logits) {
    next = greedy_token({logits, config.vocabulary_size});
  };
  {
    const PhaseTimer timer(engine, result.prefill);
    read_prompt(engine, sequence, prompt, options.chunk, options.max_tokens == 0 ? LogitsOf::none : LogitsOf::last, sink,
                callbacks.prompt_progress);
  }
  result.prefill.tokens = prompt.size();
  while (result.tokens.size() < options.max_tokens) {
    if (callbacks.interrupted != nullptr && callbacks.interrupted->load()) {
      result.reason = FinishReason::interrupted;
      return result;
    }
    if (!options.ignore_end && std::binary_search(end_ids.begin(), end_ids.end(), next)) {
      result.reason = FinishReason::stop;
      return result;
    }
    result.tokens.push_back(next);
    if (callbacks.token) callbacks.token(next);
    if (result.tokens.size() == options.max_tokens) break;
    if (sequence.length() == config.context_length) {
      result.reason = FinishReason::context;
      return result;
    }
    const PhaseTimer timer(engine, result.decode);
    const text::TokenId token = next;  // the sink overwrites `next` during the pass
    const Span step{&sequence, {&token, 1}, LogitsOf::last};
    result.decode_key_value_bytes += key_value_bytes(config, sequence.length());
    engine.forward({&step, 1}, sink);
    ++result.decode.tokens;
  }
  result.reason = FinishReason::length;
  return result;
}

}  // namespace lastbit::engine
