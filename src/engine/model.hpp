// A loaded checkpoint: description, packed weights, tokenizer. Immutable; several engines may share one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "blocks/decoder.hpp"
#include "engine/precision_policy.hpp"
#include "families/describe.hpp"
#include "families/load_weights.hpp"
#include "formats/gguf/gguf.hpp"
#include "text/tokenizer.hpp"

namespace lastbit::engine {

struct LoadOptions {
  PrecisionPolicy policy;
  std::vector<std::string> allow_unknown;
  families::LoadProgress progress;
};

class Model {
 public:
  /// Everything that can be refused is refused here (ErrorKind::input): see families::describe and
  /// text::load_tokenizer.
  Model(const std::string& path, const LoadOptions& options, ThreadPool& pool);

  const formats::GgufFile& file() const { return *file_; }
  const families::Description& description() const { return description_; }
  const blocks::DecoderConfig& config() const { return description_.config; }
  const blocks::DecoderWeights& weights() const { return weights_; }
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  const PrecisionPolicy& policy() const { return policy_; }

 private:
  std::unique_ptr<formats::GgufFile> file_;
  families::Description description_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  blocks::DecoderWeights weights_;
  PrecisionPolicy policy_;
};

}  // namespace lastbit::engine
