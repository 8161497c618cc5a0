// From the `tokenizer.*` keys of a GGUF file to a tokenizer: each key is consumed, inert for a stated reason, or
// refused.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/quoted_text.hpp"
#include "formats/gguf/gguf.hpp"
#include "text/sentencepiece_bpe.hpp"
#include "text/tokenizer.hpp"

namespace lastbit::text {
namespace {

using formats::GgufFile;

constexpr std::size_t kShownBytes = 96;  // of a value from the file, in a message

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kPiecesKey = "tokenizer.ggml.tokens";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kPreKey = "tokenizer.ggml.pre";
constexpr std::string_view kBosKey = "tokenizer.ggml.bos_token_id";
constexpr std::string_view kEosKey = "tokenizer.ggml.eos_token_id";
constexpr std::string_view kEndOfTurnKey = "tokenizer.ggml.eot_token_id";
constexpr std::string_view kEndOfMessageKey = "tokenizer.ggml.eom_token_id";
constexpr std::string_view kUnknownKey = "tokenizer.ggml.unknown_token_id";
constexpr std::string_view kPaddingKey = "tokenizer.ggml.padding_token_id";
constexpr std::string_view kAddBosKey = "tokenizer.ggml.add_bos_token";
constexpr std::string_view kAddEosKey = "tokenizer.ggml.add_eos_token";
constexpr std::string_view kSpacePrefixKey = "tokenizer.ggml.add_space_prefix";
constexpr std::string_view kExtraSpacesKey = "tokenizer.ggml.remove_extra_whitespaces";

// What llama.cpp, whose convention GGUF is, takes for the model "llama" where the file is silent.
constexpr std::string_view kDefaultSource = "default of GGUF readers for tokenizer.ggml.model \"llama\"";
constexpr TokenId kDefaultBos = 1;
constexpr TokenId kDefaultEos = 2;
constexpr TokenId kDefaultUnknown = 0;

// Where a file names no end of turn, a control token with one of these names is it: Gemma 1-3, ChatML, Llama 3, Phi 3.
// Their converters often leave the key out; without this list a chat would run on past the end of its turn.
constexpr std::array<std::string_view, 4> kEndOfTurnNames = {"<end_of_turn>", "<|im_end|>", "<|eot_id|>", "<|end|>"};

struct KnownKey {
  std::string_view name;
  std::string_view inert_because;  // empty: consumed
};
constexpr std::array kKnownKeys = {
    KnownKey{kModelKey, ""},
    KnownKey{kPiecesKey, ""},
    KnownKey{kScoresKey, ""},
    KnownKey{kTypesKey, ""},
    KnownKey{kPreKey, ""},
    KnownKey{kBosKey, ""},
    KnownKey{kEosKey, ""},
    KnownKey{kEndOfTurnKey, ""},
    KnownKey{kEndOfMessageKey, ""},
    KnownKey{kUnknownKey, ""},
    KnownKey{kPaddingKey, ""},
    KnownKey{kAddBosKey, ""},
    KnownKey{kAddEosKey, ""},
    KnownKey{kSpacePrefixKey, ""},
    KnownKey{kExtraSpacesKey, ""},
    KnownKey{"tokenizer.ggml.add_sep_token", "separators stand between two texts; one text is encoded at a time"},
    KnownKey{"tokenizer.ggml.seperator_token_id", "separators stand between two texts"},  // GGUF spells it so
    KnownKey{"tokenizer.ggml.cls_token_id", "a SentencePiece text starts with bos"},
    KnownKey{"tokenizer.ggml.mask_token_id", "masks are written as text"},
    KnownKey{"tokenizer.ggml.prefix_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.suffix_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.middle_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.fim_pre_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.fim_suf_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.fim_mid_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.fim_pad_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.fim_rep_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.ggml.fim_sep_token_id", "infilling is not encoded by the tokenizer"},
    KnownKey{"tokenizer.huggingface.json", "the tokenizer.ggml keys hold the same vocabulary"},
    KnownKey{"tokenizer.chat_template", "renders messages to text before the tokenizer sees it"},
    KnownKey{"tokenizer.chat_templates", "lists the names of further chat templates"},
};
constexpr std::string_view kNamedTemplatePrefix = "tokenizer.chat_template.";

const KnownKey* find_known(std::string_view key) {
  const auto found =
      std::find_if(kKnownKeys.begin(), kKnownKeys.end(), [&](const KnownKey& k) { return k.name == key; });
  if (found != kKnownKeys.end()) return &*found;
  static constexpr KnownKey named_template{kNamedTemplatePrefix,
                                           "renders messages to text before the tokenizer sees it"};
  return key.substr(0, kNamedTemplatePrefix.size()) == kNamedTemplatePrefix ? &named_template : nullptr;
}

bool is_tokenizer_key(std::string_view key) { return key.substr(0, 10) == "tokenizer."; }

// Reads one SentencePiece vocabulary and writes down each decision on the way.
class Loader {
 public:
  Loader(const GgufFile& file, const std::vector<std::string>& allow_unknown)
      : file_(file), allow_unknown_(allow_unknown) {}
  std::unique_ptr<Tokenizer> load();

 private:
  [[noreturn]] void refuse(std::string_view key, const std::string& reason) const {
    throw_input(fmt::format("{}: {} {}", file_.path(), key, reason));
  }
  bool is_allowed(std::string_view key) const {
    return std::find(allow_unknown_.begin(), allow_unknown_.end(), key) != allow_unknown_.end();
  }
  void check_keys();
  void read_vocabulary();
  void read_ids();
  void read_end_ids();
  void read_flags();
  bool flag(std::string_view name, std::string_view key, bool default_value);
  std::optional<TokenId> declared_id(std::string_view key) const;
  std::optional<TokenId> special_id(std::string_view name, std::string_view key, TokenId default_id, PieceType type);
  std::string shown(std::optional<TokenId> id) const;
  void decide(std::string_view name, std::string value, std::string_view source) {
    const std::string_view prefix = is_tokenizer_key(name) ? "" : "tokenizer.";
    model_.decisions.push_back({fmt::format("{}{}", prefix, name), std::move(value), std::string(source)});
  }

  const GgufFile& file_;
  const std::vector<std::string>& allow_unknown_;
  std::vector<PieceType> types_;
  SentencePieceModel model_;
};

void Loader::check_keys() {
  for (const std::string_view key : file_.keys()) {
    if (!is_tokenizer_key(key)) continue;
    const KnownKey* known = find_known(key);
    if (known == nullptr) {
      if (!is_allowed(key)) {
        refuse(key, fmt::format("is unknown for a SentencePiece vocabulary and could change its tokens; "
                                "--allow-unknown {} ignores it",
                                printable(key, kShownBytes)));
      }
      decide(key, "ignored", "--allow-unknown");
    } else if (!known->inert_because.empty()) {
      decide(key, "inert", known->inert_because);
    }
  }
  // `pre` names the expression that cuts a text before byte-level BPE. SentencePiece has none; converters write
  // "default".
  const std::optional<std::string_view> pre = file_.string(kPreKey);
  if (!pre) return;
  if (*pre != "default" && !is_allowed(kPreKey)) {
    refuse(kPreKey,
           fmt::format("is \"{}\"; a SentencePiece vocabulary has no pre-tokenizer, so only \"default\" is known "
                       "(--allow-unknown {} ignores it)",
                       printable(*pre, kShownBytes), kPreKey));
  }
  decide(kPreKey, "inert", "SentencePiece has no pre-tokenizer");
}

void Loader::read_vocabulary() {
  const std::vector<std::string_view>* pieces = file_.string_array(kPiecesKey);
  if (pieces == nullptr) refuse(kPiecesKey, "is missing: the file holds no vocabulary");
  const std::vector<double>* scores = file_.number_array(kScoresKey);
  if (scores == nullptr) refuse(kScoresKey, "is missing: SentencePiece BPE merges by score");
  const std::optional<std::vector<std::int64_t>> types = file_.integer_array(kTypesKey);
  if (!types) refuse(kTypesKey, "is missing: it says which tokens are control, user-defined and byte tokens");
  if (scores->size() != pieces->size()) {
    refuse(kScoresKey, fmt::format("has {} entries, {} has {}", scores->size(), kPiecesKey, pieces->size()));
  }
  if (types->size() != pieces->size()) {
    refuse(kTypesKey, fmt::format("has {} entries, {} has {}", types->size(), kPiecesKey, pieces->size()));
  }
  types_.reserve(types->size());
  for (const std::int64_t type : *types) {
    if (type < 1 || type > 6) {
      refuse(kTypesKey, fmt::format("is {} for token {}; known are 1 (normal) to 6 (byte)", type, types_.size()));
    }
    types_.push_back(static_cast<PieceType>(type));
  }
  model_.pieces = *pieces;
  model_.scores = *scores;
  model_.types = types_;
  decide("vocabulary_size", std::to_string(pieces->size()), kPiecesKey);
  const bool has_bytes = std::find(types_.begin(), types_.end(), PieceType::byte) != types_.end();
  decide("byte_fallback", has_bytes ? "true" : "false", kTypesKey);
}

std::optional<TokenId> Loader::declared_id(std::string_view key) const {
  const std::optional<std::uint64_t> id = file_.unsigned_integer(key);
  if (!id) return std::nullopt;
  if (*id >= model_.pieces.size()) {
    refuse(key, fmt::format("is {}, outside the vocabulary of {} tokens", *id, model_.pieces.size()));
  }
  return static_cast<TokenId>(*id);
}

// The declared id, or the default one where that token has the type that the default supposes; otherwise there is none.
std::optional<TokenId> Loader::special_id(std::string_view name, std::string_view key, TokenId default_id,
                                          PieceType type) {
  std::optional<TokenId> id = declared_id(key);
  std::string_view source = key;
  if (!id) {
    const auto index = static_cast<std::size_t>(default_id);
    if (index < types_.size() && types_[index] == type) id = default_id;
    source = kDefaultSource;
  }
  decide(name, shown(id), source);
  return id;
}

std::string Loader::shown(std::optional<TokenId> id) const {
  return id ? fmt::format("{} \"{}\"", *id, model_.pieces[static_cast<std::size_t>(*id)]) : "none";
}

void Loader::read_ids() {
  model_.bos = special_id("bos", kBosKey, kDefaultBos, PieceType::control);
  model_.eos = special_id("eos", kEosKey, kDefaultEos, PieceType::control);
  model_.unknown = special_id("unknown", kUnknownKey, kDefaultUnknown, PieceType::unknown);
  if (const auto padding = declared_id(kPaddingKey)) decide("padding", shown(padding), kPaddingKey);
  for (const KnownKey& known : kKnownKeys) {
    constexpr std::string_view suffix = "_token_id";
    if (known.name.size() > suffix.size() && known.name.substr(known.name.size() - suffix.size()) == suffix) {
      declared_id(known.name);  // inert ones too: an id outside the vocabulary says that the file is broken
    }
  }
}

void Loader::read_end_ids() {
  if (model_.eos) model_.end_ids.push_back(*model_.eos);
  if (const auto message = declared_id(kEndOfMessageKey)) {
    model_.end_ids.push_back(*message);
    decide("end_of_message", shown(message), kEndOfMessageKey);
  }
  if (const auto turn = declared_id(kEndOfTurnKey)) {
    model_.end_ids.push_back(*turn);
    decide("end_of_turn", shown(turn), kEndOfTurnKey);
    return;
  }
  for (std::size_t index = 0; index < types_.size(); ++index) {
    if (types_[index] != PieceType::control) continue;
    if (std::find(kEndOfTurnNames.begin(), kEndOfTurnNames.end(), model_.pieces[index]) == kEndOfTurnNames.end())
      continue;
    model_.end_ids.push_back(static_cast<TokenId>(index));
    decide("end_of_turn", shown(static_cast<TokenId>(index)), "default: a control token of this name ends a turn");
  }
}

bool Loader::flag(std::string_view name, std::string_view key, bool default_value) {
  const std::optional<bool> declared = file_.boolean(key);
  const bool value = declared.value_or(default_value);
  decide(name, value ? "true" : "false", declared ? key : kDefaultSource);
  return value;
}

void Loader::read_flags() {
  model_.add_bos = flag("add_bos", kAddBosKey, true);
  model_.add_eos = flag("add_eos", kAddEosKey, false);
  model_.add_space_prefix = flag("add_space_prefix", kSpacePrefixKey, true);
  if (flag("remove_extra_whitespaces", kExtraSpacesKey, false)) {
    refuse(kExtraSpacesKey, "is true: this version of lastbit keeps every space of a text");
  }
}

std::unique_ptr<Tokenizer> Loader::load() {
  model_.origin = file_.path();
  decide("kind", "SentencePiece BPE", kModelKey);
  check_keys();
  read_vocabulary();
  read_ids();
  read_end_ids();
  read_flags();
  return make_sentencepiece_bpe(model_);
}

// Models that other readers of GGUF know and this version does not.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLaterModels = {{
    {"gpt2", "byte-level BPE"},
    {"bert", "WordPiece"},
    {"t5", "SentencePiece Unigram"},
}};

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const GgufFile& file, const std::vector<std::string>& allow_unknown) {
  const std::optional<std::string_view> model = file.string(kModelKey);
  if (!model) throw_input(fmt::format("{}: {} is missing: the file holds no tokenizer", file.path(), kModelKey));
  if (*model == "llama") return Loader(file, allow_unknown).load();
  for (const auto& [name, what] : kLaterModels) {
    if (*model != name) continue;
    throw_input(
        fmt::format("{}: {} is \"{}\" ({}), which comes in a later version of lastbit; this one knows \"llama\" "
                    "(SentencePiece BPE)",
                    file.path(), kModelKey, name, what));
  }
  throw_input(
      fmt::format("{}: {} is \"{}\", which is unknown; this version of lastbit knows \"llama\" (SentencePiece BPE)",
                  file.path(), kModelKey, printable(*model, kShownBytes)));
}

}  // namespace lastbit::text
