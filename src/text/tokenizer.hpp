// Tokenizers: text to ids and back. Each model (SentencePiece BPE ...) is a file of its own; load_tokenizer picks one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/decision.hpp"

namespace lastbit::formats {
class GgufFile;
}

namespace lastbit::text {

using TokenId = std::int32_t;

struct EncodeOptions {
  bool add_special = true;     // what the checkpoint says is added around a text (<bos> ...)
  bool parse_special = false;  // control tokens in the text are recognised; otherwise they are plain text
};

/// Turns generated ids into text piece by piece and never emits half of a UTF-8 character. The pieces and what finish()
/// gives, one after the other, are what decode() gives for all the ids. Must not outlive its tokenizer.
class StreamingDecoder {
 public:
  virtual ~StreamingDecoder() = default;
  /// The text that is certain after this token; may be empty while a character is incomplete.
  /// An id outside the vocabulary is ErrorKind::input.
  virtual std::string push(TokenId id) = 0;
  /// What is left at the end: incomplete characters become U+FFFD as decode() would give them.
  virtual std::string finish() = 0;
};

/// An immutable tokenizer, safe to use from several threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string_view kind() const = 0;  // "SentencePiece BPE"
  virtual std::size_t vocabulary_size() const = 0;
  /// Any bytes are a text: what is not UTF-8 becomes U+FFFD as the model's original does it. A text above the model's
  /// limit (hundreds of megabytes) is ErrorKind::input.
  virtual std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const = 0;
  /// Always valid UTF-8. Control tokens give nothing unless `show_special`. Ids outside the vocabulary are
  /// ErrorKind::input.
  virtual std::string decode(std::span<const TokenId> ids, bool show_special) const = 0;
  virtual std::unique_ptr<StreamingDecoder> streaming_decoder(bool show_special) const = 0;
  /// Ids that end a generation (eos, eot ...), ascending.
  virtual const std::vector<TokenId>& end_ids() const = 0;
  /// What the checkpoint declared and which written defaults filled the gaps, for `lastbit inspect`.
  virtual const std::vector<Decision>& decisions() const = 0;
};

/// The tokenizer that the file's `tokenizer.*` keys declare, or ErrorKind::input naming file, key and value. Every key
/// with that prefix is consumed, declared inert (decisions() lists those) or refused here, so that a family need not
/// look at them; `allow_unknown` names keys that a person overruled.
std::unique_ptr<Tokenizer> load_tokenizer(const formats::GgufFile& file,
                                          const std::vector<std::string>& allow_unknown = {});

}  // namespace lastbit::text
