// Each rule of the model on vocabularies small enough to follow by hand, and random small models against the answers of
// sentencepiece 0.2.3 (tests/data/tokenizers/random_spm.jsonl, made by make_random_spm.py beside it).
#include "text/sentencepiece_bpe.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/support/data.hpp"
#include "text/base64.hpp"
#include "text/utf8.hpp"

namespace lastbit::text {
namespace {

using Ids = std::vector<TokenId>;
constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};
constexpr EncodeOptions kParseSpecial{.add_special = false, .parse_special = true};

// A model that owns its pieces and is built up in the test.
struct TinyModel {
  std::vector<std::string> pieces = {"<unk>", "<s>", "</s>"};
  std::vector<double> scores = {0, 0, 0};
  std::vector<PieceType> types = {PieceType::unknown, PieceType::control, PieceType::control};
  SentencePieceModel settings = defaults();

  static SentencePieceModel defaults() {
    SentencePieceModel model;
    model.origin = "tiny.gguf";
    model.unknown = 0;
    model.bos = 1;
    model.eos = 2;
    model.add_bos = false;
    model.add_space_prefix = false;
    model.end_ids = {2};
    return model;
  }

  TokenId add(const std::string& piece, double score = 0, PieceType type = PieceType::normal) {
    pieces.push_back(piece);
    scores.push_back(score);
    types.push_back(type);
    return static_cast<TokenId>(pieces.size() - 1);
  }
  /// The 256 byte tokens; returns the id of <0x00>.
  TokenId add_bytes() {
    const auto first = static_cast<TokenId>(pieces.size());
    for (int byte = 0; byte < 256; ++byte) add(fmt::format("<0x{:02X}>", byte), 0, PieceType::byte);
    return first;
  }
  std::unique_ptr<Tokenizer> build() const {
    const std::vector<std::string_view> views(pieces.begin(), pieces.end());
    SentencePieceModel model = settings;
    model.pieces = views;
    model.scores = scores;
    model.types = types;
    return make_sentencepiece_bpe(model);
  }
  std::string refusal() const {
    try {
      build();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return "accepted";
  }
};

std::string decode_streaming(const Tokenizer& tokenizer, const Ids& ids, bool show_special) {
  const std::unique_ptr<StreamingDecoder> decoder = tokenizer.streaming_decoder(show_special);
  std::string text;
  for (const TokenId id : ids) {
    const std::string piece = decoder->push(id);
    EXPECT_TRUE(is_valid_utf8(piece)) << "half of a character was given out";
    text += piece;
  }
  return text + decoder->finish();
}

TEST(SentencePieceBpe, MergesThePairWithTheHighestScoreFirst) {
  TinyModel model;
  model.add("a"), model.add("b"), model.add("c");
  const TokenId ab = model.add("ab", -2);
  const TokenId bc = model.add("bc", -1);
  EXPECT_EQ(model.build()->encode("abc", kPlain), (Ids{3, bc}));
  model.scores[static_cast<std::size_t>(ab)] = -0.5;
  EXPECT_EQ(model.build()->encode("abc", kPlain), (Ids{ab, 5}));
}

TEST(SentencePieceBpe, MergesTheLeftmostOfEqualScores) {
  TinyModel model;
  const TokenId a = model.add("a");
  const TokenId aa = model.add("aa", -1);
  EXPECT_EQ(model.build()->encode("aaa", kPlain), (Ids{aa, a}));
  EXPECT_EQ(model.build()->encode("aaaaa", kPlain), (Ids{aa, aa, a}));
}

TEST(SentencePieceBpe, MergesWithWhatAnEarlierMergeMade) {
  TinyModel model;
  model.add("a"), model.add("b");
  model.add("ab", -3);
  const TokenId abab = model.add("abab", -1);
  EXPECT_EQ(model.build()->encode("abab", kPlain), (Ids{abab}));
}

TEST(SentencePieceBpe, TellsScoresApartThatAgreeAsBinary32) {
  TinyModel model;
  const TokenId a = model.add("a");
  model.add("b"), model.add("c");
  model.add("ab", -1.0);
  const TokenId bc = model.add("bc", -1.0 + 1e-12);
  EXPECT_EQ(model.build()->encode("abc", kPlain), (Ids{a, bc}));
}

TEST(SentencePieceBpe, CutsUserDefinedPiecesLeftmostAndLongest) {
  TinyModel model;
  const TokenId a = model.add("a");
  const TokenId b = model.add("b");
  const TokenId c = model.add("c");
  const TokenId ab = model.add("ab", -9, PieceType::user_defined);
  const TokenId abc = model.add("abcc", -9, PieceType::user_defined);
  const TokenId bc = model.add("bc", 9, PieceType::user_defined);
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("abc", kPlain), (Ids{ab, c}));  // bc is better, ab begins further left
  EXPECT_EQ(tokenizer->encode("abcc", kPlain), (Ids{abc}));
  EXPECT_EQ(tokenizer->encode("acbcb", kPlain), (Ids{a, c, bc, b}));
}

TEST(SentencePieceBpe, NeverMergesAUserDefinedPiece) {
  TinyModel model;
  const TokenId a = model.add("a");
  model.add("b");
  const TokenId user_defined = model.add("b", 0, PieceType::user_defined);
  model.add("ab", 5), model.add("ba", 5);
  EXPECT_EQ(model.build()->encode("aba", kPlain), (Ids{a, user_defined, a}));
}

TEST(SentencePieceBpe, UserDefinedSpacesMatchEscapedSpaces) {
  TinyModel model;
  const TokenId space = model.add("\xE2\x96\x81");
  const TokenId two = model.add("  ", 0, PieceType::user_defined);
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("     ", kPlain), (Ids{two, two, space}));
  EXPECT_EQ(tokenizer->encode("\xE2\x96\x81 ", kPlain), (Ids{two}));  // the symbol itself is a space
  EXPECT_EQ(tokenizer->decode(Ids{two, space}, false), "   ");
}

TEST(SentencePieceBpe, CharactersWithoutAPieceBecomeTheirBytes) {
  TinyModel model;
  const TokenId zero = model.add_bytes();
  const TokenId a = model.add("a");
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("a\xC3\xA9\n", kPlain), (Ids{a, zero + 0xC3, zero + 0xA9, zero + 10}));
  EXPECT_EQ(tokenizer->encode(std::string(1, '\0'), kPlain), (Ids{zero}));
}

TEST(SentencePieceBpe, WithoutByteTokensARunOfStrangersIsOneUnknownToken) {
  TinyModel model;
  const TokenId a = model.add("a");
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("axya\xC3\xA9", kPlain), (Ids{a, 0, a, 0}));
  EXPECT_EQ(tokenizer->encode("xax", kParseSpecial), (Ids{0, a, 0}));
}

TEST(SentencePieceBpe, EachByteThatStartsNoCharacterBecomesAReplacementCharacter) {
  TinyModel model;
  const TokenId replacement = model.add("\xEF\xBF\xBD");
  model.add("a");
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("\xFF", kPlain), (Ids{replacement}));
  EXPECT_EQ(tokenizer->encode("\xF0\x9F\x98", kPlain), (Ids{replacement, replacement, replacement}));
  EXPECT_EQ(tokenizer->encode("\xED\xA0\x80", kPlain), (Ids{replacement, replacement, replacement}));
  EXPECT_EQ(tokenizer->encode("\xC0\xAF", kPlain), (Ids{replacement, replacement}));
}

TEST(SentencePieceBpe, UnusedPiecesMergeAndAreSplitAgain) {
  TinyModel model;
  const TokenId a = model.add("a");
  const TokenId b = model.add("b");
  const TokenId c = model.add("c");
  model.add("ab", -1, PieceType::unused);
  const TokenId abc = model.add("abc", -2);
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("abc", kPlain), (Ids{abc}));  // reached through the unused ab
  EXPECT_EQ(tokenizer->encode("abb", kPlain), (Ids{a, b, b}));
  EXPECT_EQ(tokenizer->encode("cab", kPlain), (Ids{c, a, b}));
}

TEST(SentencePieceBpe, AnUnusedCharacterIsAsGoodAsNone) {
  TinyModel model;
  const TokenId a = model.add("a");
  model.add("b", 0, PieceType::unused);
  EXPECT_EQ(model.build()->encode("ab", kPlain), (Ids{a, 0}));
  const TokenId zero = model.add_bytes();
  EXPECT_EQ(model.build()->encode("ab", kPlain), (Ids{a, zero + 'b'}));
}

TEST(SentencePieceBpe, DeeplyNestedUnusedPiecesDoNotExhaustTheStack) {
  TinyModel model;
  const TokenId a = model.add("a");
  std::string piece = "a";
  for (int i = 0; i < 3000; ++i) model.add(piece += 'a', i, PieceType::unused);
  EXPECT_EQ(model.build()->encode(piece, kPlain), Ids(piece.size(), a));
}

TEST(SentencePieceBpe, TheSpacePrefixIsAddedToEachTextAndTakenOffOnce) {
  TinyModel model;
  model.settings.add_space_prefix = true;
  const TokenId a = model.add("a");
  const TokenId space = model.add("\xE2\x96\x81");
  const TokenId space_a = model.add(
      "\xE2\x96\x81"
      "a",
      -1);
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("aa", kPlain), (Ids{space_a, a}));
  EXPECT_EQ(tokenizer->encode(" a", kPlain), (Ids{space, space_a}));
  EXPECT_EQ(tokenizer->encode("", kPlain), Ids{});
  EXPECT_EQ(tokenizer->encode("a<s>a", kParseSpecial), (Ids{space_a, 1, space_a}));
  EXPECT_EQ(tokenizer->decode(Ids{space_a, space_a}, false), "a a");
  EXPECT_EQ(tokenizer->decode(Ids{space, space_a}, false), " a");
  EXPECT_EQ(tokenizer->decode(Ids{1, space_a}, false), "a");
  EXPECT_EQ(tokenizer->decode(Ids{1, space_a}, true), "<s> a");
  EXPECT_EQ(tokenizer->decode(Ids{0, space_a}, false), " \xE2\x81\x87  a");
}

TEST(SentencePieceBpe, ControlTokensAreTextUnlessTheyAreAskedFor) {
  TinyModel model;
  const TokenId zero = model.add_bytes();
  const TokenId longer = model.add("<s>>", 0, PieceType::control);
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->encode("<s>", kPlain), (Ids{zero + '<', zero + 's', zero + '>'}));
  EXPECT_EQ(tokenizer->encode("<s>!<s>></s>", kParseSpecial), (Ids{1, zero + '!', longer, 2}));
  EXPECT_EQ(tokenizer->encode("<unk>", kParseSpecial), (Ids{0}));
  EXPECT_EQ(tokenizer->encode("<0x41>", kParseSpecial).size(), 6U);  // the name of a byte token is only text
}

TEST(SentencePieceBpe, BosAndEosSurroundATextWhereTheModelSaysSo) {
  TinyModel model;
  const TokenId a = model.add("a");
  EXPECT_EQ(model.build()->encode("a", {}), (Ids{a}));
  model.settings.add_bos = true;
  EXPECT_EQ(model.build()->encode("a", {}), (Ids{1, a}));
  model.settings.add_eos = true;
  EXPECT_EQ(model.build()->encode("a", {}), (Ids{1, a, 2}));
  EXPECT_EQ(model.build()->encode("", {}), (Ids{1, 2}));
  EXPECT_EQ(model.build()->encode("a", kPlain), (Ids{a}));
}

TEST(SentencePieceBpe, DecodingSkipsControlTokensAndMarksUnknownOnes) {
  TinyModel model;
  const TokenId a = model.add("a");
  const TokenId unused = model.add(
      "\xE2\x96\x81"
      "u",
      0, PieceType::unused);
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->decode(Ids{1, a, 0, unused, 2}, false), "a \xE2\x81\x87  u");
  EXPECT_EQ(tokenizer->decode(Ids{1, a, 0, unused, 2}, true), "<s>a<unk> u</s>");
}

TEST(SentencePieceBpe, TheUnknownTokenMayBeTypedAsControl) {  // Gemma's file has it so
  TinyModel model;
  model.types[0] = PieceType::control;
  model.add("a");
  EXPECT_EQ(model.build()->decode(Ids{0}, false), " \xE2\x81\x87 ");
}

TEST(SentencePieceBpe, BytesDecodeToCharactersOrToOneReplacementEach) {
  TinyModel model;
  const TokenId zero = model.add_bytes();
  const TokenId a = model.add("a");
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->decode(Ids{zero + 0xC3, zero + 0xA9}, false), "\xC3\xA9");
  EXPECT_EQ(tokenizer->decode(Ids{zero + 0xF0, zero + 0x9F, a}, false),
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "a");
  // Nothing is shown of a control token, and yet it ends the run of bytes.
  EXPECT_EQ(tokenizer->decode(Ids{zero + 0xC3, 1, zero + 0xA9}, false), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(tokenizer->decode(Ids{zero + 0xE2, zero + 0x96, zero + 0x81}, false), "\xE2\x96\x81");  // bytes: no space
}

TEST(SentencePieceBpe, StreamingGivesACharacterWithItsLastByte) {
  TinyModel model;
  const TokenId zero = model.add_bytes();
  const auto tokenizer = model.build();
  const auto decoder = tokenizer->streaming_decoder(false);
  EXPECT_EQ(decoder->push(zero + 0xF0), "");
  EXPECT_EQ(decoder->push(zero + 0x9F), "");
  EXPECT_EQ(decoder->push(zero + 0x98), "");
  EXPECT_EQ(decoder->push(zero + 0x80), "\xF0\x9F\x98\x80");
  EXPECT_EQ(decoder->push(zero + 0xC3), "");
  EXPECT_EQ(decoder->push(zero + 'x'), "\xEF\xBF\xBDx");
  EXPECT_EQ(decoder->push(zero + 0xE2), "");
  EXPECT_EQ(decoder->finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder->finish(), "");
}

TEST(SentencePieceBpe, IdsOutsideTheVocabularyAreRefused) {
  TinyModel model;
  const auto tokenizer = model.build();
  EXPECT_EQ(tokenizer->vocabulary_size(), 3U);
  for (const TokenId id : {-1, 3, std::numeric_limits<TokenId>::max(), std::numeric_limits<TokenId>::min()}) {
    EXPECT_THROW(tokenizer->decode(Ids{id}, false), Error);
    EXPECT_THROW(tokenizer->streaming_decoder(false)->push(id), Error);
  }
}

TEST(SentencePieceBpe, EndIdsAreSortedAndUnique) {
  TinyModel model;
  model.settings.end_ids = {2, 0, 2, 1};
  EXPECT_EQ(model.build()->end_ids(), (Ids{0, 1, 2}));
}

TEST(SentencePieceBpe, TokenizesAMegabyteOfAnythingAndGivesItBack) {
  TinyModel model;
  model.add_bytes();
  model.add("a"), model.add("b"), model.add("\xE2\x96\x81"), model.add("\xF0\x9F\x98\x80");
  model.add("   ", 0, PieceType::user_defined);
  for (const std::string unit : {"a", "\xF0\x9F\x98\x80"}) {
    std::string piece = unit;
    for (int doubling = 1; doubling <= 10; ++doubling) model.add(piece += piece, -doubling);
  }
  const auto tokenizer = model.build();
  for (const std::string unit : {"a", "b", " ", "\n", "\xF0\x9F\x98\x80", "ab", "a  ", "<s>"}) {
    std::string text;
    while (text.size() < (1U << 20)) text += unit;
    const Ids ids = tokenizer->encode(text, kParseSpecial);
    ASSERT_TRUE(tokenizer->decode(ids, true) == text) << unit;
    if (unit == "a") {
      EXPECT_EQ(ids.size(), 1024U);  // 2^20 letters in pieces of 2^10
    }
  }
}

TEST(SentencePieceBpe, AnyTextSurvivesTheWayThereAndBack) {
  TinyModel model;
  model.add_bytes();
  for (const char* piece : {"a", "b", "\xE2\x96\x81", "\xC3\xA9"}) model.add(piece);
  model.add("ab", -1),
      model.add(
          "\xE2\x96\x81"
          "a",
          -2),
      model.add(
          "\xE2\x96\x81"
          "ab",
          -3),
      model.add("b\xC3\xA9", -1);
  model.add("  ", 0, PieceType::user_defined);
  const std::vector<std::string> units = {"a",  "b",   " ",     "\xC3\xA9", "\xF0\x9F\x98\x80",
                                          "\n", "<s>", "<unk>", "<0x41>"};
  std::mt19937 random(7);
  for (const bool prefix : {false, true}) {
    model.settings.add_space_prefix = prefix;
    const auto tokenizer = model.build();
    for (int trial = 0; trial < 500; ++trial) {
      std::string text;
      for (std::size_t length = random() % 20; length > 0; --length) text += units[random() % units.size()];
      const Ids ids = tokenizer->encode(text, kPlain);
      EXPECT_EQ(tokenizer->decode(ids, false), text);
      EXPECT_EQ(decode_streaming(*tokenizer, ids, false), text);
    }
  }
}

TEST(SentencePieceBpe, StreamingEqualsDecodingForAnyIds) {
  TinyModel model;
  model.add_bytes();
  model.add(
      "\xE2\x96\x81"
      "a"),
      model.add(" b", 0, PieceType::user_defined);
  std::mt19937 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    model.settings.add_space_prefix = trial % 2 == 0;
    static std::unique_ptr<Tokenizer> tokenizers[2];
    auto& tokenizer = tokenizers[trial % 2];
    if (!tokenizer) tokenizer = model.build();
    Ids ids;
    for (std::size_t length = random() % 12; length > 0; --length) {
      ids.push_back(static_cast<TokenId>(random() % tokenizer->vocabulary_size()));
    }
    for (const bool show : {false, true})
      EXPECT_EQ(decode_streaming(*tokenizer, ids, show), tokenizer->decode(ids, show));
  }
}

// ---------------------------------------------------------------------------------------------- sentencepiece's own
// answers

TinyModel random_model(const nlohmann::json& row) {
  TinyModel model;
  model.pieces.clear(), model.scores.clear(), model.types.clear();
  for (const auto& piece : row["pieces"]) {
    if (row["byte_tokens_after"] == model.pieces.size()) model.add_bytes();
    model.add(piece[0], piece[1], static_cast<PieceType>(piece[2].get<int>()));
  }
  model.settings.add_space_prefix = row["add_space_prefix"];
  return model;
}

TEST(SentencePieceBpe, RandomModelsAnswerLikeSentencePiece) {
  std::istringstream lines(test::read_test_file(test::data_path("tokenizers/random_spm.jsonl")));
  int models = 0, texts = 0;
  for (std::string line; std::getline(lines, line); ++models) {
    const auto row = nlohmann::json::parse(line);
    const auto tokenizer = random_model(row).build();
    for (const auto& example : row["encode"]) {
      const std::string text = decode_base64(example[0].get<std::string>()).value();
      const Ids expected = example[1];
      EXPECT_EQ(tokenizer->encode(text, kPlain), expected) << "model " << models << ": " << example;
      EXPECT_EQ(tokenizer->decode(expected, false), example[2].get<std::string>())
          << "model " << models << ": " << example;
      ++texts;
    }
    for (const auto& example : row["decode"]) {
      const Ids ids = example[0];
      EXPECT_EQ(tokenizer->decode(ids, false), example[1].get<std::string>()) << "model " << models << ": " << example;
      EXPECT_EQ(decode_streaming(*tokenizer, ids, false), example[1].get<std::string>()) << "model " << models;
    }
  }
  EXPECT_EQ(models, 48);
  EXPECT_EQ(texts, 48 * 24);
}

// ------------------------------------------------------------------------------------------------------------ refused
// models

TEST(SentencePieceBpe, RefusesBadPiecesByNumberAndText) {
  const auto refusal_with = [](const std::string& piece, double score, PieceType type) {
    TinyModel model;
    model.add("a");
    model.add(piece, score, type);
    return model.refusal();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal_with("", 0, PieceType::normal), "tiny.gguf: token 4 \"\" is empty");
  EXPECT_EQ(refusal_with("x\xFF", 0, PieceType::normal), "tiny.gguf: token 4 \"x\xEF\xBF\xBD\" is not UTF-8");
  EXPECT_EQ(refusal_with("x", nan, PieceType::normal), "tiny.gguf: token 4 \"x\" has the score NaN");
  EXPECT_EQ(refusal_with("a", 0, PieceType::normal), "tiny.gguf: token 4 \"a\" has the text and the kind of token 3");
  EXPECT_EQ(refusal_with("a", 0, PieceType::unused), "tiny.gguf: token 4 \"a\" has the text and the kind of token 3");
  EXPECT_EQ(refusal_with("<s>", 0, PieceType::control),
            "tiny.gguf: token 4 \"<s>\" has the text and the kind of token 1");
  EXPECT_EQ(refusal_with("a", 0, PieceType::user_defined), "accepted");  // cut out before normal pieces are looked up
  EXPECT_EQ(refusal_with("<0x0a>", 0, PieceType::byte),
            "tiny.gguf: token 4 \"<0x0a>\" is a byte token (type 6) that is not written <0xHH>");
  EXPECT_EQ(refusal_with("<0x41>", 0, PieceType::byte),
            "tiny.gguf: 1 of 256 byte tokens are present, <0x00> is missing; a vocabulary has all or none");
  EXPECT_EQ(refusal_with("x", 0, static_cast<PieceType>(7)),
            "tiny.gguf: token 4 \"x\" has the token type 7; known are 1 (normal) to 6 (byte)");
}

TEST(SentencePieceBpe, RefusesASecondTokenForOneByte) {
  TinyModel model;
  model.add_bytes();
  model.add("<0x41>", 0, PieceType::byte);
  EXPECT_EQ(model.refusal(), "tiny.gguf: token 259 \"<0x41>\" has the text and the kind of token 68");
}

TEST(SentencePieceBpe, RefusesMissingAndOutlyingIds) {
  TinyModel model;
  model.settings.unknown.reset();
  EXPECT_EQ(model.refusal(), "tiny.gguf: the tokenizer needs the unknown token and the file names none");
  model.add_bytes();
  EXPECT_EQ(model.refusal(), "accepted");
  model.settings.bos.reset();
  EXPECT_EQ(model.refusal(), "accepted");
  model.settings.add_bos = true;
  EXPECT_EQ(model.refusal(), "tiny.gguf: the tokenizer needs the bos token and the file names none");
  model.settings.bos = 259;
  EXPECT_EQ(model.refusal(), "tiny.gguf: the bos token 259 is outside the vocabulary of 259 tokens");
  model.settings.bos = 1;
  model.settings.end_ids = {-1};
  EXPECT_EQ(model.refusal(), "tiny.gguf: the end-of-generation token -1 is outside the vocabulary of 259 tokens");
}

TEST(SentencePieceBpe, RefusesArraysOfDifferentLengths) {
  TinyModel model;
  model.scores.pop_back();
  EXPECT_EQ(model.refusal(), "tiny.gguf: 3 tokens have 2 scores and 3 token types; all three must agree");
  TinyModel empty;
  empty.pieces.clear(), empty.scores.clear(), empty.types.clear();
  EXPECT_EQ(empty.refusal(), "tiny.gguf: the vocabulary is empty");
}

}  // namespace
}  // namespace lastbit::text
