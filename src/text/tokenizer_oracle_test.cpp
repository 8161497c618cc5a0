// The tokenizer of the real Gemma 3 checkpoint against the answers of sentencepiece 0.2.3 (tests/data/tokenizers).
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "formats/gguf/gguf.hpp"
#include "tests/support/data.hpp"
#include "text/base64.hpp"
#include "text/tokenizer.hpp"

namespace lastbit::text {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;

constexpr char kGemma[] = "gemma-3-270m-q4_k_m.gguf";
constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};
constexpr EncodeOptions kParseSpecial{.add_special = false, .parse_special = true};

std::vector<Json> rows_of(const std::string& name) {
  std::vector<Json> rows;
  std::istringstream lines(test::read_test_file(test::data_path("tokenizers/" + name)));
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  return rows;
}

// Loaded once for the tests of this file: reading the 262144 pieces is most of their time.
const Tokenizer& gemma() {
  static const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(formats::GgufFile(test::model_path(kGemma)));
  return *tokenizer;
}

std::string decode_streaming(const Tokenizer& tokenizer, const Ids& ids, bool show_special) {
  const std::unique_ptr<StreamingDecoder> decoder = tokenizer.streaming_decoder(show_special);
  std::string text;
  for (const TokenId id : ids) text += decoder->push(id);
  return text + decoder->finish();
}

class GemmaTokenizer : public ::testing::Test {
 protected:
  void SetUp() override { LASTBIT_REQUIRE_MODEL(test::model_path(kGemma)); }
};

TEST_F(GemmaTokenizer, EncodesEveryTextLikeSentencePiece) {
  int texts = 0, with_special = 0, with_invalid_bytes = 0;
  for (const Json& row : rows_of("gemma_spm.jsonl")) {
    const bool is_text = row.contains("text");
    const std::string text =
        is_text ? row["text"].get<std::string>() : decode_base64(row["bytes_base64"].get<std::string>()).value();
    const Ids expected = row["ids"];
    EXPECT_EQ(gemma().encode(text, kPlain), expected) << row;
    // A row without `ids_special` has no control token in its text, so that recognising them changes nothing.
    EXPECT_EQ(gemma().encode(text, kParseSpecial), row.value("ids_special", expected)) << row;
    ++texts;
    with_special += row.contains("ids_special");
    with_invalid_bytes += !is_text;
  }
  EXPECT_EQ(texts, 300);
  EXPECT_EQ(with_special, 18);
  EXPECT_EQ(with_invalid_bytes, 11);
}

TEST_F(GemmaTokenizer, DecodesEveryTextLikeSentencePiece) {
  int rows = 0;
  for (const char* name : {"gemma_spm.jsonl", "gemma_spm_decode.jsonl"}) {
    for (const Json& row : rows_of(name)) {
      const Ids ids = row["ids"];
      EXPECT_EQ(gemma().decode(ids, false), row["decoded"].get<std::string>()) << row;
      EXPECT_EQ(decode_streaming(gemma(), ids, false), row["decoded"].get<std::string>()) << row;
      ++rows;
    }
  }
  EXPECT_EQ(rows, 360);
}

TEST_F(GemmaTokenizer, GivesTextsWithControlTokensBackWhenTheyAreShown) {
  int rows = 0;
  for (const Json& row : rows_of("gemma_spm.jsonl")) {
    if (!row.contains("ids_special")) continue;
    const Ids ids = row["ids_special"];
    EXPECT_EQ(gemma().decode(ids, true), row["text"].get<std::string>()) << row;
    ++rows;
  }
  EXPECT_EQ(rows, 18);
}

TEST_F(GemmaTokenizer, AddsBosAndEndsAtEosAndEndOfTurn) {
  EXPECT_EQ(gemma().vocabulary_size(), 262144U);
  EXPECT_EQ(gemma().end_ids(), (Ids{1, 106}));
  EXPECT_EQ(gemma().encode("", {}), (Ids{2}));
  EXPECT_EQ(gemma().encode("The ferry", {}), (Ids{2, 818, 40916}));
}

TEST_F(GemmaTokenizer, TokenizesAMegabyteOfOneLetterOfSpacesAndOfEmoji) {
  constexpr std::size_t kBytes = 1 << 20;
  for (const std::string unit : {"a", " ", "\n", "\xF0\x9F\x98\x80", "\xE2\x96\x81", "\xFF", "ab ", "<unused7>"}) {
    std::string text;
    while (text.size() < kBytes) text += unit;
    const Ids ids = gemma().encode(text, kParseSpecial);
    EXPECT_LT(ids.size(), text.size() + 1);
    if (unit == "\xFF") {
      EXPECT_EQ(gemma().decode(ids, true).size(), 3 * text.size());
    } else if (unit != "\xE2\x96\x81") {
      EXPECT_EQ(gemma().decode(ids, true), text);
    }
  }
}

TEST(SmolLm2Tokenizer, IsRefusedByTheNameOfItsModel) {
  const std::string path = test::model_path("SmolLM2-135M-Instruct.Q4_1.gguf");
  LASTBIT_REQUIRE_MODEL(path);
  const formats::GgufFile file(path);
  try {
    load_tokenizer(file);
    FAIL() << "a byte-level BPE vocabulary was taken for SentencePiece";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(
        std::string(error.what()),
        path +
            ": tokenizer.ggml.model is \"gpt2\" (byte-level BPE), which comes in a later version of lastbit; this "
            "one knows \"llama\" (SentencePiece BPE)");
  }
}

}  // namespace
}  // namespace lastbit::text
