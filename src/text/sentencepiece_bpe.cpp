#include "text/sentencepiece_bpe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "text/piece_table.hpp"
#include "text/utf8.hpp"

namespace lastbit::text {
namespace {

constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";       // U+2581, what SentencePiece writes for a space
constexpr std::string_view kUnknownSurface = " \xE2\x81\x87 ";  // U+2047 between spaces, SentencePiece's unk_surface
// Offsets into the escaped text are 32 bits wide, to keep symbols and candidates small. A byte becomes 3 at most.
constexpr std::size_t kLongestText = (std::numeric_limits<std::int32_t>::max)() / 3 - 1;

void append_escaped(std::string_view text, std::string& escaped) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t space = std::min(text.find(' ', begin), text.size());
    escaped += text.substr(begin, space - begin);
    if (space < text.size()) escaped += kSpaceSymbol;
    begin = space + 1;
  }
}

std::string unescaped(std::string_view piece) {
  std::string text;
  for (std::size_t begin = 0; begin <= piece.size();) {
    const std::size_t symbol = std::min(piece.find(kSpaceSymbol, begin), piece.size());
    text += piece.substr(begin, symbol - begin);
    if (symbol < piece.size()) text += ' ';
    begin = symbol + kSpaceSymbol.size();
  }
  return text;
}

// "<0x0A>" -> 10, or -1. Only the form that SentencePiece writes, with upper-case digits.
int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>') return -1;
  int value = 0;
  for (const char digit : piece.substr(3, 2)) {
    const std::size_t number = std::string_view("0123456789ABCDEF").find(digit);
    if (number == std::string_view::npos) return -1;
    value = value * 16 + static_cast<int>(number);
  }
  return value;
}

// The checked model in the form that encoding and decoding need.
class Vocabulary {
 public:
  explicit Vocabulary(const SentencePieceModel& model);

  std::size_t size() const { return types_.size(); }
  std::string_view piece(TokenId id) const { return pieces_[static_cast<std::size_t>(id)]; }
  double score(TokenId id) const { return scores_[static_cast<std::size_t>(id)]; }
  PieceType type(TokenId id) const { return types_[static_cast<std::size_t>(id)]; }
  bool is_unknown(TokenId id) const { return type(id) == PieceType::unknown || id == unknown_; }
  TokenId unknown() const { return unknown_; }
  bool has_bytes() const { return byte_ids_[0] != kNoToken; }
  TokenId byte_id(char byte) const { return byte_ids_[static_cast<unsigned char>(byte)]; }

  /// The normal or unused piece with this text, or kNoToken.
  TokenId find(std::string_view text) const { return text.size() > longest_piece_ ? kNoToken : table_.find(text); }
  /// User-defined pieces, with their spaces escaped.
  const PieceTrie& user_defined() const { return user_defined_; }
  /// Control and unknown pieces, as they stand in the file.
  const PieceTrie& special() const { return special_; }

 private:
  void copy_pieces(const SentencePieceModel& model);
  void add(TokenId id);
  void add_byte(TokenId id);
  void check_bytes() const;
  [[noreturn]] void refuse(TokenId id, const std::string& reason) const;
  void refuse_duplicate(TokenId id, TokenId first) const;

  std::string origin_;
  std::string arena_;  // the text of all pieces, one after the other; pieces_ and table_ point into it
  std::vector<std::string_view> pieces_;
  std::vector<double> scores_;
  std::vector<PieceType> types_;
  std::array<TokenId, 256> byte_ids_;
  TokenId unknown_ = kNoToken;
  std::size_t longest_piece_ = 0;
  PieceTable table_;
  PieceTrie user_defined_;
  PieceTrie special_;
};

Vocabulary::Vocabulary(const SentencePieceModel& model)
    : origin_(model.origin),
      scores_(model.scores.begin(), model.scores.end()),
      types_(model.types.begin(), model.types.end()),
      table_(model.pieces.size()) {
  byte_ids_.fill(kNoToken);
  const std::size_t count = model.pieces.size();
  if (count == 0) throw_input(fmt::format("{}: the vocabulary is empty", origin_));
  if (count > static_cast<std::size_t>(std::numeric_limits<TokenId>::max())) {
    throw_input(fmt::format("{}: {} tokens are more than 31-bit ids can name", origin_, count));
  }
  if (model.scores.size() != count || model.types.size() != count) {
    throw_input(fmt::format("{}: {} tokens have {} scores and {} token types; all three must agree", origin_, count,
                            model.scores.size(), model.types.size()));
  }
  copy_pieces(model);
  for (std::size_t id = 0; id < count; ++id) add(static_cast<TokenId>(id));
  check_bytes();
  unknown_ = model.unknown.value_or(kNoToken);
}

void Vocabulary::copy_pieces(const SentencePieceModel& model) {
  std::size_t bytes = 0;
  for (const std::string_view piece : model.pieces) bytes += piece.size();
  arena_.reserve(bytes);  // so that the views below stay valid while it grows
  pieces_.reserve(model.pieces.size());
  for (const std::string_view piece : model.pieces) {
    pieces_.emplace_back(arena_.data() + arena_.size(), piece.size());
    arena_ += piece;
  }
}

// Within one look-up a text must name one token, or the answer would depend on which of the two is found: SentencePiece
// refuses such a model too. A control piece may repeat the text of a normal one: they are looked up in different steps.
void Vocabulary::add(TokenId id) {
  const std::string_view text = piece(id);
  if (text.empty()) refuse(id, "is empty");
  if (!is_valid_utf8(text)) refuse(id, "is not UTF-8");
  if (std::isnan(score(id))) refuse(id, "has the score NaN");
  switch (type(id)) {
    case PieceType::normal:
    case PieceType::unused:
      longest_piece_ = std::max(longest_piece_, text.size());
      return refuse_duplicate(id, table_.insert(text, id));
    case PieceType::user_defined: {
      std::string escaped;
      append_escaped(text, escaped);
      return refuse_duplicate(id, user_defined_.insert(escaped, id));
    }
    case PieceType::unknown:
    case PieceType::control:
      return refuse_duplicate(id, special_.insert(text, id));
    case PieceType::byte:
      return add_byte(id);
  }
  refuse(id, fmt::format("has the token type {}; known are 1 (normal) to 6 (byte)", static_cast<int>(type(id))));
}

void Vocabulary::add_byte(TokenId id) {
  const int byte = byte_of_piece(piece(id));
  if (byte < 0) refuse(id, "is a byte token (type 6) that is not written <0xHH>");
  TokenId& slot = byte_ids_[static_cast<std::size_t>(byte)];
  refuse_duplicate(id, slot);
  slot = id;
}

void Vocabulary::check_bytes() const {
  const auto present = std::count_if(byte_ids_.begin(), byte_ids_.end(), [](TokenId id) { return id != kNoToken; });
  if (present == 0 || present == 256) return;
  const auto missing = std::find(byte_ids_.begin(), byte_ids_.end(), kNoToken) - byte_ids_.begin();
  throw_input(fmt::format("{}: {} of 256 byte tokens are present, <0x{:02X}> is missing; a vocabulary has all or none",
                          origin_, present, missing));
}

void Vocabulary::refuse(TokenId id, const std::string& reason) const {
  std::string shown(piece(id).substr(0, 64));
  std::string text;
  drain_utf8(shown, true, text);
  throw_input(fmt::format("{}: token {} \"{}\" {}", origin_, id, text, reason));
}

void Vocabulary::refuse_duplicate(TokenId id, TokenId first) const {
  if (first != kNoToken) refuse(id, fmt::format("has the text and the kind of token {}", first));
}

// Steps 2 to 4 for one escaped text. Time O(n log n) look-ups for n characters.
class Encoder {
 public:
  Encoder(const Vocabulary& vocabulary, std::string_view escaped) : vocabulary_(vocabulary), text_(escaped) {}
  void encode(std::vector<TokenId>& ids);

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xFFFFFFFF;

  // A stretch of the text that is one symbol now; a list in text order. A merge swallows the right neighbour.
  struct Symbol {
    Index begin;
    Index size;  // 0: swallowed
    Index previous;
    Index next;
    TokenId frozen;  // a user-defined token, which never merges, or kNoToken
  };

  // The symbol `left` and its right neighbour form a piece while they are `size` bytes together. Symbols only grow, by
  // swallowing what follows, so the sum of the two sizes is `size` exactly as long as both are what they were.
  struct Candidate {
    double score;
    Index left;
    Index size;
  };
  struct MergesLater {
    bool operator()(const Candidate& a, const Candidate& b) const {
      return a.score < b.score || (a.score == b.score && a.left > b.left);
    }
  };

  std::string_view text_of(Index begin, Index size) const { return text_.substr(begin, size); }
  void split();
  void add_candidate(Index left);
  void merge();
  void write(const Symbol& symbol, std::vector<TokenId>& ids);
  void write_token(TokenId id, std::string_view text, std::vector<TokenId>& ids);

  const Vocabulary& vocabulary_;
  std::string_view text_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate, std::vector<Candidate>, MergesLater> agenda_;
  std::unordered_map<TokenId, Index> unused_splits_;  // unused piece -> size of its left part in the latest candidate
  bool previous_unknown_ = false;
};

void Encoder::split() {
  symbols_.reserve(text_.size() / 2);
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::string_view rest = text_.substr(begin);
    const PieceTrie::Match match = vocabulary_.user_defined().longest_prefix(rest);
    const std::size_t size = match.id != kNoToken ? match.length : utf8_sequence_length(rest);
    const auto index = static_cast<Index>(symbols_.size());
    symbols_.push_back(
        {static_cast<Index>(begin), static_cast<Index>(size), index == 0 ? kNone : index - 1, index + 1, match.id});
    begin += size;
  }
  if (!symbols_.empty()) symbols_.back().next = kNone;
}

void Encoder::add_candidate(Index left) {
  if (left == kNone) return;
  const Symbol& first = symbols_[left];
  if (first.next == kNone || first.frozen != kNoToken || symbols_[first.next].frozen != kNoToken) return;
  const Index size = first.size + symbols_[first.next].size;
  const TokenId id = vocabulary_.find(text_of(first.begin, size));
  if (id == kNoToken) return;
  agenda_.push({vocabulary_.score(id), left, size});
  if (vocabulary_.type(id) == PieceType::unused) unused_splits_[id] = first.size;
}

void Encoder::merge() {
  for (Index left = 0; left + 1 < symbols_.size(); ++left) add_candidate(left);
  while (!agenda_.empty()) {
    const Candidate candidate = agenda_.top();
    agenda_.pop();
    Symbol& left = symbols_[candidate.left];
    if (left.size == 0 || left.next == kNone) continue;
    Symbol& right = symbols_[left.next];
    if (left.size + right.size != candidate.size) continue;
    left.size = candidate.size;
    right.size = 0;
    left.next = right.next;
    if (left.next != kNone) symbols_[left.next].previous = candidate.left;
    add_candidate(left.previous);
    add_candidate(candidate.left);
  }
}

// Writes a symbol's token. An unused piece is split as the latest candidate for it was put together, and so on for its
// parts; a single character that is unused is a stranger: SentencePiece's rules. The parts wait on a list of our own,
// because a hostile vocabulary can nest them deeply.
void Encoder::write(const Symbol& symbol, std::vector<TokenId>& ids) {
  if (symbol.frozen != kNoToken) return write_token(symbol.frozen, text_of(symbol.begin, symbol.size), ids);
  std::vector<std::pair<Index, Index>> waiting = {{symbol.begin, symbol.size}};
  while (!waiting.empty()) {
    const auto [begin, size] = waiting.back();
    waiting.pop_back();
    const TokenId id = vocabulary_.find(text_of(begin, size));
    const bool is_unused = id != kNoToken && vocabulary_.type(id) == PieceType::unused;
    const auto split = is_unused ? unused_splits_.find(id) : unused_splits_.end();
    if (split != unused_splits_.end()) {
      waiting.emplace_back(begin + split->second, size - split->second);
      waiting.emplace_back(begin, split->second);
    } else {
      write_token(is_unused ? kNoToken : id, text_of(begin, size), ids);
    }
  }
}

void Encoder::write_token(TokenId id, std::string_view text, std::vector<TokenId>& ids) {
  if (id != kNoToken) {
    ids.push_back(id);
  } else if (vocabulary_.has_bytes()) {
    for (const char byte : text) ids.push_back(vocabulary_.byte_id(byte));
  } else if (!previous_unknown_) {
    ids.push_back(vocabulary_.unknown());
  }
  previous_unknown_ = id == kNoToken;
}

void Encoder::encode(std::vector<TokenId>& ids) {
  split();
  merge();
  for (Index index = symbols_.empty() ? kNone : 0; index != kNone; index = symbols_[index].next) {
    write(symbols_[index], ids);
  }
}

class Decoder final : public StreamingDecoder {
 public:
  Decoder(const Vocabulary& vocabulary, bool add_space_prefix, bool show_special)
      : vocabulary_(vocabulary), strip_space_(add_space_prefix), show_special_(show_special) {}

  std::string push(TokenId id) override {
    if (id < 0 || static_cast<std::size_t>(id) >= vocabulary_.size()) {
      throw_input(fmt::format("token id {} is outside the vocabulary of {} tokens", id, vocabulary_.size()));
    }
    std::string text;
    const bool is_byte = vocabulary_.type(id) == PieceType::byte;
    if (is_byte) pending_ += static_cast<char>(byte_of_piece(vocabulary_.piece(id)));
    drain_utf8(pending_, !is_byte, text);  // any other token ends a run of bytes
    if (!text.empty()) strip_space_ = false;
    if (!is_byte) append_surface(id, text);
    return text;
  }

  std::string finish() override {
    std::string text;
    drain_utf8(pending_, true, text);
    return text;
  }

 private:
  void append_surface(TokenId id, std::string& text) {
    std::string surface;
    if (vocabulary_.is_unknown(id)) {
      surface = show_special_ ? vocabulary_.piece(id) : kUnknownSurface;
    } else if (vocabulary_.type(id) == PieceType::control) {
      if (show_special_) surface = vocabulary_.piece(id);
    } else {
      surface = unescaped(vocabulary_.piece(id));
      if (strip_space_ && surface[0] == ' ') {
        strip_space_ = false;
        surface.erase(0, 1);
      }
    }
    if (!surface.empty()) strip_space_ = false;
    text += surface;
  }

  const Vocabulary& vocabulary_;
  std::string pending_;  // bytes of a character that is not complete yet
  bool strip_space_;     // still at the start, where the space that encoding added is taken off
  bool show_special_;
};

class SentencePieceBpe final : public Tokenizer {
 public:
  explicit SentencePieceBpe(const SentencePieceModel& model);

  std::string_view kind() const override { return "SentencePiece BPE"; }
  std::size_t vocabulary_size() const override { return vocabulary_.size(); }
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override;
  std::string decode(std::span<const TokenId> ids, bool show_special) const override;
  std::unique_ptr<StreamingDecoder> streaming_decoder(bool show_special) const override {
    return std::make_unique<Decoder>(vocabulary_, add_space_prefix_, show_special);
  }
  const std::vector<TokenId>& end_ids() const override { return end_ids_; }
  const std::vector<Decision>& decisions() const override { return decisions_; }

 private:
  void check_id(const std::string& origin, std::string_view name, std::optional<TokenId> id, bool needed) const;
  void encode_part(std::string_view text, std::vector<TokenId>& ids) const;
  void encode_with_special(std::string_view text, std::vector<TokenId>& ids) const;

  Vocabulary vocabulary_;
  std::optional<TokenId> bos_;  // what is added around a text
  std::optional<TokenId> eos_;
  bool add_space_prefix_;
  std::vector<TokenId> end_ids_;
  std::vector<Decision> decisions_;
};

SentencePieceBpe::SentencePieceBpe(const SentencePieceModel& model)
    : vocabulary_(model),
      bos_(model.add_bos ? model.bos : std::nullopt),
      eos_(model.add_eos ? model.eos : std::nullopt),
      add_space_prefix_(model.add_space_prefix),
      end_ids_(model.end_ids),
      decisions_(model.decisions) {
  check_id(model.origin, "bos", model.bos, model.add_bos);
  check_id(model.origin, "eos", model.eos, model.add_eos);
  check_id(model.origin, "unknown", model.unknown, !vocabulary_.has_bytes());
  for (const TokenId id : end_ids_) check_id(model.origin, "end-of-generation", id, true);
  std::sort(end_ids_.begin(), end_ids_.end());
  end_ids_.erase(std::unique(end_ids_.begin(), end_ids_.end()), end_ids_.end());
}

void SentencePieceBpe::check_id(const std::string& origin, std::string_view name, std::optional<TokenId> id,
                                bool needed) const {
  if (!id && needed)
    throw_input(fmt::format("{}: the tokenizer needs the {} token and the file names none", origin, name));
  if (id && (*id < 0 || static_cast<std::size_t>(*id) >= vocabulary_.size())) {
    throw_input(fmt::format("{}: the {} token {} is outside the vocabulary of {} tokens", origin, name, *id,
                            vocabulary_.size()));
  }
}

void SentencePieceBpe::encode_part(std::string_view text, std::vector<TokenId>& ids) const {
  if (text.empty()) return;
  std::string well_formed;
  if (!is_valid_utf8(text)) {
    std::string bytes(text);
    drain_utf8(bytes, true, well_formed);
    text = well_formed;
  }
  std::string escaped(add_space_prefix_ ? kSpaceSymbol : "");
  append_escaped(text, escaped);
  Encoder(vocabulary_, escaped).encode(ids);
}

// Control tokens are cut out first; each part between them is a text of its own (and gets its own space prefix).
void SentencePieceBpe::encode_with_special(std::string_view text, std::vector<TokenId>& ids) const {
  std::size_t part = 0;
  for (std::size_t position = 0; position < text.size();) {
    const PieceTrie::Match match = vocabulary_.special().longest_prefix(text.substr(position));
    if (match.id == kNoToken) {
      ++position;
      continue;
    }
    encode_part(text.substr(part, position - part), ids);
    ids.push_back(match.id);
    position += match.length;
    part = position;
  }
  encode_part(text.substr(part), ids);
}

std::vector<TokenId> SentencePieceBpe::encode(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > kLongestText) {
    throw_input(fmt::format("a text of {} bytes is too long to tokenize: the limit is {}", text.size(), kLongestText));
  }
  std::vector<TokenId> ids;
  if (options.add_special && bos_) ids.push_back(*bos_);
  if (options.parse_special) {
    encode_with_special(text, ids);
  } else {
    encode_part(text, ids);
  }
  if (options.add_special && eos_) ids.push_back(*eos_);
  return ids;
}

std::string SentencePieceBpe::decode(std::span<const TokenId> ids, bool show_special) const {
  Decoder decoder(vocabulary_, add_space_prefix_, show_special);
  std::string text;
  for (const TokenId id : ids) text += decoder.push(id);
  return text + decoder.finish();
}

}  // namespace

std::unique_ptr<Tokenizer> make_sentencepiece_bpe(const SentencePieceModel& model) {
  return std::make_unique<SentencePieceBpe>(model);
}

}  // namespace lastbit::text
