// Fuzzes the SentencePiece model itself: the input describes a small vocabulary and a text, so that mutations reach
// encoding and decoding far more often than through a GGUF file (gguf_fuzzer goes that way). Besides crashes and
// exceptions other than lastbit::Error it aborts where a promise is broken: ids inside the vocabulary, decoded text
// valid UTF-8, streaming equal to decoding, and with byte tokens and a space piece every valid text given back by
// decoding its ids.
//
// Input: one byte of flags; pieces, each of one byte of type (0x80 and above: the text begins), one signed byte of
// score, one byte of length and the piece's bytes; the text.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "text/sentencepiece_bpe.hpp"
#include "text/utf8.hpp"

namespace {

using lastbit::text::PieceType;
using lastbit::text::TokenId;
using Ids = std::vector<TokenId>;

constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";

struct Case {
  std::vector<std::string> pieces = {"<unk>", "<s>", "</s>"};
  std::vector<double> scores = {0, 0, 0};
  std::vector<PieceType> types = {PieceType::unknown, PieceType::control, PieceType::control};
  bool add_eos = false;
  bool add_space_prefix = false;
  bool has_bytes = false;
  std::string text;

  void add(std::string piece, double score, PieceType type) {
    pieces.push_back(std::move(piece));
    scores.push_back(score);
    types.push_back(type);
  }
};

Case read_case(std::string_view input) {
  Case result;
  const auto take = [&input](std::size_t size) {
    const std::string_view taken = input.substr(0, size);
    input.remove_prefix(taken.size());
    return taken;
  };
  const auto take_byte = [&take] {
    const std::string_view byte = take(1);
    return byte.empty() ? 0 : static_cast<unsigned char>(byte[0]);
  };
  const unsigned flags = take_byte();
  result.add_eos = (flags & 1) != 0;
  result.add_space_prefix = (flags & 2) != 0;
  result.has_bytes = (flags & 4) != 0;
  if (result.has_bytes) {
    for (int byte = 0; byte < 256; ++byte) result.add(fmt::format("<0x{:02X}>", byte), 0, PieceType::byte);
    result.add(std::string(kSpaceSymbol), 0, PieceType::normal);
  }
  while (!input.empty()) {
    const unsigned type = take_byte();
    if (type >= 0x80) break;
    const auto score = static_cast<std::int8_t>(take_byte());
    result.add(std::string(take(take_byte())), score, static_cast<PieceType>(type));
  }
  result.text = input;
  return result;
}

std::unique_ptr<lastbit::text::Tokenizer> build(const Case& input) {
  const std::vector<std::string_view> pieces(input.pieces.begin(), input.pieces.end());
  lastbit::text::SentencePieceModel model;
  model.origin = "input";
  model.pieces = pieces;
  model.scores = input.scores;
  model.types = input.types;
  model.unknown = 0;
  model.bos = 1;
  model.eos = 2;
  model.add_eos = input.add_eos;
  model.add_space_prefix = input.add_space_prefix;
  model.end_ids = {2};
  return lastbit::text::make_sentencepiece_bpe(model);
}

void require(bool promise) {
  if (!promise) std::abort();
}

void check_decoding(const lastbit::text::Tokenizer& tokenizer, const Ids& ids, bool show_special) {
  const std::string text = tokenizer.decode(ids, show_special);
  require(lastbit::text::is_valid_utf8(text));
  const auto decoder = tokenizer.streaming_decoder(show_special);
  std::string streamed;
  for (const TokenId id : ids) {
    const std::string piece = decoder->push(id);
    require(lastbit::text::is_valid_utf8(piece));
    streamed += piece;
  }
  streamed += decoder->finish();
  require(streamed == text);
}

void check(const Case& input) {
  const auto tokenizer = build(input);
  for (const bool parse_special : {false, true}) {
    const Ids ids = tokenizer->encode(input.text, {.add_special = true, .parse_special = parse_special});
    for (const TokenId id : ids) require(id >= 0 && static_cast<std::size_t>(id) < tokenizer->vocabulary_size());
    check_decoding(*tokenizer, ids, parse_special);
  }
  const bool survives =
      input.has_bytes && lastbit::text::is_valid_utf8(input.text) && input.text.find(kSpaceSymbol) == std::string::npos;
  if (survives) require(tokenizer->decode(tokenizer->encode(input.text, {}), false) == input.text);
  Ids arbitrary;  // the text's bytes as ids: runs of byte tokens, control and unknown tokens in any order
  for (const char byte : input.text) {
    arbitrary.push_back(static_cast<TokenId>(static_cast<unsigned char>(byte) % tokenizer->vocabulary_size()));
  }
  check_decoding(*tokenizer, arbitrary, false);
  check_decoding(*tokenizer, arbitrary, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(read_case({reinterpret_cast<const char*>(data), size}));
  } catch (const lastbit::Error& error) {
    if (error.kind() != lastbit::ErrorKind::input) std::abort();
  }
  return 0;
}
