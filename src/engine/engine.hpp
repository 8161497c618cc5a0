// The forward pass over a list of (sequence, span of tokens).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "blocks/execution.hpp"
#include "engine/key_value_cache.hpp"
#include "engine/model.hpp"

namespace lastbit::engine {

/// Thrown by a pass that was asked to stop (Engine::watch). The sequences are as they were before the pass.
struct Interrupted {};

enum class LogitsOf { none, last, all };

/// Tokens that follow what the sequence has read, and the rows of logits that are asked for. A sequence occurs once in
/// a pass.
struct Span {
  Sequence* sequence = nullptr;
  std::span<const text::TokenId> tokens;
  LogitsOf logits = LogitsOf::last;
};

/// Receives logits [rows, vocabulary] in binary32 of the tokens [first_token, first_token + rows) of a span, in
/// ascending order of spans and tokens; a span's rows may come in several calls. The memory is valid during the call.
using LogitsSink =
    std::function<void(std::size_t span, std::size_t first_token, std::size_t rows, const float* logits)>;

class Engine {
 public:
  Engine(const Model& model, blocks::Execution& execution);

  /// Reads the spans' tokens and gives the logits asked for. ErrorKind::input: a token outside the vocabulary, an empty
  /// span, or more tokens than the context holds; the sequences are unchanged then.
  void forward(std::span<const Span> spans, const LogitsSink& sink);

  /// Passes look at this flag between layers and between blocks of logits, and throw Interrupted once it is set.
  void watch(const std::atomic<bool>* interrupted) { interrupted_ = interrupted; }

  const Model& model() const { return model_; }
  blocks::Execution& execution() { return execution_; }
  PageAllocator& pages() { return pages_; }

  /// Passes so far, and the rows that have gone through the layers in them.
  std::uint64_t passes() const { return passes_; }
  std::uint64_t rows_read() const { return rows_read_; }

 private:
  void check(std::span<const Span> spans) const;
  void stop_if_interrupted() const;
  void reserve_buffers(std::size_t rows);
  void give_logits(std::span<const Span> spans, const LogitsSink& sink);

  const Model& model_;
  blocks::Execution& execution_;
  PageAllocator pages_;
  std::vector<text::TokenId> tokens_;
  std::vector<float> logits_;
  const std::atomic<bool>* interrupted_ = nullptr;
  std::uint64_t passes_ = 0;
  std::uint64_t rows_read_ = 0;
};

}  // namespace lastbit::engine
