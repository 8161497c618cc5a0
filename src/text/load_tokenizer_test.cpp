// The tokenizer.* keys of GGUF files: what is read from them, which defaults fill gaps, and what is refused with which
// words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "formats/gguf/gguf.hpp"
#include "tests/support/gguf_builder.hpp"
#include "text/tokenizer.hpp"

namespace lastbit::text {
namespace {

using Ids = std::vector<TokenId>;
using test::GgufBuilder;

// The arrays of a vocabulary: <unk> <s> </s>, 256 bytes, "a", "▁", "▁a", <end_of_turn>.
struct VocabularyArrays {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<float> scores;
  std::vector<std::int32_t> types = {2, 3, 3};

  VocabularyArrays() {
    for (int byte = 0; byte < 256; ++byte) {
      tokens.push_back(fmt::format("<0x{:02X}>", byte));
      types.push_back(6);
    }
    for (const char* piece : {"a", "\xE2\x96\x81",
                              "\xE2\x96\x81"
                              "a",
                              "<end_of_turn>"})
      tokens.push_back(piece);
    types.insert(types.end(), {1, 1, 1, 3});
    scores.assign(tokens.size(), 0);
  }
};
constexpr TokenId kA = 259, kSpace = 260, kSpaceA = 261, kEndOfTurn = 262;

GgufBuilder with_vocabulary(const VocabularyArrays& arrays = {}) {
  GgufBuilder builder;
  builder.string("general.architecture", "gemma3").string("tokenizer.ggml.model", "llama");
  builder.strings("tokenizer.ggml.tokens", arrays.tokens);
  builder.numbers("tokenizer.ggml.scores", arrays.scores);
  builder.numbers("tokenizer.ggml.token_type", arrays.types);
  return builder;
}

std::unique_ptr<Tokenizer> load(const GgufBuilder& builder, const std::vector<std::string>& allow_unknown = {}) {
  return load_tokenizer(formats::GgufFile("t.gguf", test::to_bytes(builder.bytes())), allow_unknown);
}

std::string refusal(const GgufBuilder& builder) {
  try {
    load(builder);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

std::string decision(const Tokenizer& tokenizer, const std::string& name) {
  for (const Decision& decision : tokenizer.decisions()) {
    if (decision.name == "tokenizer." + name) return decision.value + " | " + decision.source;
  }
  return "undecided";
}

TEST(LoadTokenizer, FillsGapsWithTheDefaultsThatReadersOfGgufShare) {
  const auto tokenizer = load(with_vocabulary());
  EXPECT_EQ(tokenizer->kind(), "SentencePiece BPE");
  EXPECT_EQ(tokenizer->encode("aa", {}), (Ids{1, kSpaceA, kA}));  // bos, space prefix, no eos
  EXPECT_EQ(tokenizer->end_ids(), (Ids{2, kEndOfTurn}));
  const std::string by_default = " | default of GGUF readers for tokenizer.ggml.model \"llama\"";
  EXPECT_EQ(decision(*tokenizer, "add_bos"), "true" + by_default);
  EXPECT_EQ(decision(*tokenizer, "add_eos"), "false" + by_default);
  EXPECT_EQ(decision(*tokenizer, "add_space_prefix"), "true" + by_default);
  EXPECT_EQ(decision(*tokenizer, "bos"), "1 \"<s>\"" + by_default);
  EXPECT_EQ(decision(*tokenizer, "eos"), "2 \"</s>\"" + by_default);
  EXPECT_EQ(decision(*tokenizer, "unknown"), "0 \"<unk>\"" + by_default);
  EXPECT_EQ(decision(*tokenizer, "end_of_turn"),
            "262 \"<end_of_turn>\" | default: a control token of this name ends a turn");
}

TEST(LoadTokenizer, TakesWhatTheFileDeclares) {
  GgufBuilder builder = with_vocabulary();
  builder.number("tokenizer.ggml.add_bos_token", false).number("tokenizer.ggml.add_eos_token", true);
  builder.number("tokenizer.ggml.add_space_prefix", false).number("tokenizer.ggml.remove_extra_whitespaces", false);
  builder.number<std::uint32_t>("tokenizer.ggml.bos_token_id", 2)
      .number<std::uint32_t>("tokenizer.ggml.eos_token_id", 1);
  builder.number<std::uint32_t>("tokenizer.ggml.eot_token_id", 5)
      .number<std::uint64_t>("tokenizer.ggml.eom_token_id", 4);
  builder.number<std::int32_t>("tokenizer.ggml.padding_token_id", 0).string("tokenizer.ggml.pre", "default");
  const auto tokenizer = load(builder);
  EXPECT_EQ(tokenizer->encode("a", {}), (Ids{kA, 1}));
  EXPECT_EQ(tokenizer->end_ids(), (Ids{1, 4, 5}));  // the declared end of turn stands in the place of the one by name
  EXPECT_EQ(decision(*tokenizer, "eos"), "1 \"<s>\" | tokenizer.ggml.eos_token_id");
  EXPECT_EQ(decision(*tokenizer, "add_eos"), "true | tokenizer.ggml.add_eos_token");
  EXPECT_EQ(decision(*tokenizer, "padding"), "0 \"<unk>\" | tokenizer.ggml.padding_token_id");
}

TEST(LoadTokenizer, DoesNotNeedTheFileAfterwards) {
  std::unique_ptr<Tokenizer> tokenizer;
  {
    const formats::GgufFile file("t.gguf", test::to_bytes(with_vocabulary().bytes()));
    tokenizer = load_tokenizer(file);
  }
  EXPECT_EQ(tokenizer->decode(Ids{kSpaceA, kSpace, kA}, false), "a a");
}

TEST(LoadTokenizer, RefusesModelsOfLaterVersionsAndUnknownOnesByName) {
  GgufBuilder builder;
  EXPECT_EQ(refusal(builder), "t.gguf: tokenizer.ggml.model is missing: the file holds no tokenizer");
  const auto with_model = [](const char* model) {
    return refusal(GgufBuilder().string("tokenizer.ggml.model", model));
  };
  EXPECT_EQ(with_model("gpt2"),
            "t.gguf: tokenizer.ggml.model is \"gpt2\" (byte-level BPE), which comes in a later version of "
            "lastbit; this one knows \"llama\" (SentencePiece BPE)");
  EXPECT_NE(with_model("bert").find("(WordPiece), which comes in a later version"), std::string::npos);
  EXPECT_NE(with_model("t5").find("(SentencePiece Unigram), which comes in a later version"), std::string::npos);
  EXPECT_EQ(with_model("llama2"),
            "t.gguf: tokenizer.ggml.model is \"llama2\", which is unknown; this version of lastbit knows "
            "\"llama\" (SentencePiece BPE)");
  const std::string wrong_type = refusal(GgufBuilder().number<std::uint32_t>("tokenizer.ggml.model", 1));
  EXPECT_NE(wrong_type.find("tokenizer.ggml.model"), std::string::npos) << wrong_type;
}

TEST(LoadTokenizer, RefusesKeysThatItDoesNotKnowUnlessAPersonAllowsThem) {
  GgufBuilder builder = with_vocabulary();
  builder.strings("tokenizer.ggml.merges", {"a a"});
  EXPECT_EQ(refusal(builder),
            "t.gguf: tokenizer.ggml.merges is unknown for a SentencePiece vocabulary and could change its "
            "tokens; --allow-unknown tokenizer.ggml.merges ignores it");
  const auto tokenizer = load(builder, {"tokenizer.ggml.merges"});
  EXPECT_EQ(decision(*tokenizer, "ggml.merges"), "ignored | --allow-unknown");
}

TEST(LoadTokenizer, ListsInertKeysWithTheirReasons) {
  GgufBuilder builder = with_vocabulary();
  builder.number("tokenizer.ggml.add_sep_token", true).string("tokenizer.chat_template", "{{ x }}");
  builder.string("tokenizer.chat_template.tool_use", "{{ y }}").string("tokenizer.ggml.pre", "default");
  const auto tokenizer = load(builder);
  EXPECT_EQ(decision(*tokenizer, "ggml.pre"), "inert | SentencePiece has no pre-tokenizer");
  EXPECT_EQ(decision(*tokenizer, "chat_template"), "inert | renders messages to text before the tokenizer sees it");
  EXPECT_EQ(decision(*tokenizer, "chat_template.tool_use"),
            "inert | renders messages to text before the tokenizer sees it");
  EXPECT_EQ(decision(*tokenizer, "ggml.add_sep_token"),
            "inert | separators stand between two texts; one text is encoded at a time");
}

TEST(LoadTokenizer, RefusesValuesThatItCannotHonour) {
  EXPECT_EQ(
      refusal(with_vocabulary().number("tokenizer.ggml.remove_extra_whitespaces", true)),
      "t.gguf: tokenizer.ggml.remove_extra_whitespaces is true: this version of lastbit keeps every space of a text");
  EXPECT_EQ(refusal(with_vocabulary().string("tokenizer.ggml.pre", "llama-bpe")),
            "t.gguf: tokenizer.ggml.pre is \"llama-bpe\"; a SentencePiece vocabulary has no pre-tokenizer, so only "
            "\"default\" "
            "is known (--allow-unknown tokenizer.ggml.pre ignores it)");
}

TEST(LoadTokenizer, RefusesIdsOutsideTheVocabularyForEveryKey) {
  for (const char* name :
       {"bos", "eos", "eot", "eom", "unknown", "padding", "seperator", "cls", "mask", "prefix", "fim_pre"}) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", name);
    EXPECT_EQ(refusal(with_vocabulary().number<std::uint32_t>(key, 263)),
              "t.gguf: " + key + " is 263, outside the vocabulary of 263 tokens");
    EXPECT_NE(refusal(with_vocabulary().number<std::int32_t>(key, -1)), "accepted");
    EXPECT_NE(refusal(with_vocabulary().number<std::uint64_t>(key, std::numeric_limits<std::uint64_t>::max())),
              "accepted");
    EXPECT_NE(refusal(with_vocabulary().number<float>(key, 1)), "accepted");
  }
}

TEST(LoadTokenizer, RefusesMissingArraysAndArraysThatDisagree) {
  const VocabularyArrays good;
  const auto model = [] { return GgufBuilder().string("tokenizer.ggml.model", "llama"); };
  EXPECT_EQ(refusal(model()), "t.gguf: tokenizer.ggml.tokens is missing: the file holds no vocabulary");
  EXPECT_EQ(refusal(model().strings("tokenizer.ggml.tokens", good.tokens)),
            "t.gguf: tokenizer.ggml.scores is missing: SentencePiece BPE merges by score");
  EXPECT_EQ(
      refusal(model().strings("tokenizer.ggml.tokens", good.tokens).numbers("tokenizer.ggml.scores", good.scores)),
      "t.gguf: tokenizer.ggml.token_type is missing: it says which tokens are control, user-defined and byte tokens");
  VocabularyArrays arrays;
  arrays.scores.pop_back();
  EXPECT_EQ(refusal(with_vocabulary(arrays)),
            "t.gguf: tokenizer.ggml.scores has 262 entries, tokenizer.ggml.tokens has 263");
  arrays = {};
  arrays.types.push_back(1);
  EXPECT_EQ(refusal(with_vocabulary(arrays)),
            "t.gguf: tokenizer.ggml.token_type has 264 entries, tokenizer.ggml.tokens has 263");
  for (const std::int32_t type : {0, 7, -1, 256 + 1}) {
    arrays = {};
    arrays.types[5] = type;
    EXPECT_EQ(
        refusal(with_vocabulary(arrays)),
        fmt::format("t.gguf: tokenizer.ggml.token_type is {} for token 5; known are 1 (normal) to 6 (byte)", type));
  }
}

TEST(LoadTokenizer, RefusesAnEmptyVocabularyAndOnesWithBadPieces) {
  VocabularyArrays arrays;
  arrays.tokens.clear(), arrays.scores.clear(), arrays.types.clear();
  EXPECT_EQ(refusal(with_vocabulary(arrays)), "t.gguf: the vocabulary is empty");
  arrays = {};
  arrays.tokens[kA] = "\xE2\x96\x81";
  EXPECT_EQ(refusal(with_vocabulary(arrays)),
            "t.gguf: token 260 \"\xE2\x96\x81\" has the text and the kind of token 259");
  arrays = {};
  arrays.types[3 + 0x41] = 1;
  EXPECT_EQ(refusal(with_vocabulary(arrays)),
            "t.gguf: 255 of 256 byte tokens are present, <0x41> is missing; a vocabulary has all or none");
}

TEST(LoadTokenizer, ADefaultIdMustBeATokenOfTheTypeThatItSupposes) {
  VocabularyArrays arrays;
  arrays.types[1] = 1;  // <s> as plain text: no bos, and a text must get one by default
  EXPECT_EQ(refusal(with_vocabulary(arrays)), "t.gguf: the tokenizer needs the bos token and the file names none");
  EXPECT_EQ(refusal(with_vocabulary(arrays).number("tokenizer.ggml.add_bos_token", false)), "accepted");
}

}  // namespace
}  // namespace lastbit::text
