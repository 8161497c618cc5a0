// Reading a prompt in chunks and generating greedily.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"

namespace lastbit::engine {

/// Index of the largest logit, the lowest where several are equal (rule A9 at temperature 0). NaN anywhere, or nothing
/// above -Inf, is ErrorKind::input; `place` ("model.gguf, position 5") leads the message.
text::TokenId greedy_token(std::span<const float> logits, std::string_view place);

/// Called while a prompt is read, after each chunk: tokens read so far and in all.
using PromptProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Reads tokens into a sequence in chunks of at most `chunk` (0: all at once). `sink` receives the rows that `logits`
/// asks for; for LogitsOf::last that is the last token of the whole prompt, with first_token counted from the start of
/// `tokens`.
void read_prompt(Engine& engine, Sequence& sequence, std::span<const text::TokenId> tokens, std::size_t chunk,
                 LogitsOf logits, const LogitsSink& sink, const PromptProgress& progress);

struct GenerationOptions {
  std::size_t max_tokens = 0;
  bool ignore_end = false;  // end-of-sequence tokens do not stop
  std::size_t chunk = 0;    // 0: the whole prompt at once
};

enum class FinishReason { stop, length, context, interrupted };
const char* finish_reason_name(FinishReason reason);

/// Wall seconds and work of the two phases.
struct PhaseStatistics {
  std::size_t tokens = 0;
  double seconds = 0.0;
  blocks::MatmulStatistics matmul;
};

struct GenerationResult {
  std::vector<text::TokenId> tokens;  // generated ones; the token that stopped is not among them
  FinishReason reason = FinishReason::length;
  PhaseStatistics prefill;                   // the prompt; the first token is known at its end
  PhaseStatistics decode;                    // the passes after it
  std::uint64_t decode_key_value_bytes = 0;  // read by attention in the decode passes
};

struct GenerationCallbacks {
  PromptProgress prompt_progress;
  std::function<void(text::TokenId)> token;
  const std::atomic<bool>* interrupted = nullptr;  // also looked at during passes
};

/// Greedy continuation of the prompt. A prompt that does not fit in the context is ErrorKind::input; reaching the end
/// of the context stops with FinishReason::context.
GenerationResult generate_greedily(Engine& engine, std::span<const text::TokenId> prompt,
                                   const GenerationOptions& options, const GenerationCallbacks& callbacks);

}  // namespace lastbit::engine
