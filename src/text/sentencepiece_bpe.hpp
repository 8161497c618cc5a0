// SentencePiece's BPE model with the identity normaliser, as GGUF files carry it (tokenizer.ggml.model = "llama").
//
// Encoding a text (the bits of sentencepiece 0.2.3 on the same model):
//   1. A byte that starts no well-formed UTF-8 sequence becomes U+FFFD, each by itself. Spaces become U+2581. With
//      add_space_prefix a text that is not empty gets one U+2581 in front.
//   2. User-defined pieces are cut out, leftmost and longest first. They are tokens and never merge.
//   3. What is left starts as single characters. The pair of neighbours that forms the piece with the highest score
//   merges,
//      the leftmost among equals, until no pair forms a piece. Unused pieces take part and are split again at the end.
//   4. A character without a piece, or whose piece is unused, becomes its bytes' tokens; in a vocabulary without byte
//      tokens a run of such characters becomes one unknown token.
// Decoding: U+2581 becomes a space; control tokens give nothing; the unknown token gives " U+2047 "; a run of byte
// tokens gives its well-formed characters and one U+FFFD for each other byte; with add_space_prefix one space at the
// start is taken off.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/decision.hpp"
#include "text/tokenizer.hpp"

namespace lastbit::text {

/// The types of pieces, with the numbers of GGUF's tokenizer.ggml.token_type and of SentencePiece's own enumeration.
enum class PieceType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

/// A model as plain data. Everything is copied: the views need not outlive the call.
struct SentencePieceModel {
  std::string origin;  // the file, for messages
  std::span<const std::string_view> pieces;
  std::span<const double> scores;    // as many as pieces
  std::span<const PieceType> types;  // as many as pieces
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<TokenId> unknown;  // needed where the vocabulary has no byte tokens
  bool add_bos = true;             // needs bos
  bool add_eos = false;            // needs eos
  bool add_space_prefix = true;
  std::vector<TokenId> end_ids;
  std::vector<Decision> decisions;
};

/// Checks the model and builds the tokenizer. ErrorKind::input naming origin, token and reason: arrays of different
/// lengths; a piece that is empty or not UTF-8; a score that is NaN; two pieces with one text that the same step would
/// look up; a byte piece that is not written <0xHH>; some byte pieces but not all 256; ids outside the vocabulary;
/// missing ids.
std::unique_ptr<Tokenizer> make_sentencepiece_bpe(const SentencePieceModel& model);

}  // namespace lastbit::text
