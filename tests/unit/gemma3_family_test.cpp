// The Gemma 3 declaration: what a checkpoint must declare, what is taken by default, and that everything else is
// refused.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "families/describe.hpp"
#include "tests/support/minimal_gemma3.hpp"

namespace lastbit::families {
namespace {

using test::MinimalGemma3;

Description describe_bytes(const MinimalGemma3& checkpoint, const DescribeOptions& options = {}) {
  const formats::GgufFile file("minimal.gguf", test::to_bytes(checkpoint.bytes()));
  return describe(file, options);  // the tests read no tensor data, so the file may go
}

std::string refusal(const MinimalGemma3& checkpoint) {
  try {
    describe_bytes(checkpoint);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

void expect_refused(const MinimalGemma3& checkpoint, const std::vector<std::string>& parts) {
  const std::string message = refusal(checkpoint);
  EXPECT_NE(message.find("minimal.gguf"), std::string::npos) << message;
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "missing \"" << part << "\" in: " << message;
}

std::string value_of(const Description& description, const std::string& name) {
  for (const Decision& decision : description.decisions) {
    if (decision.name == name) return decision.value + " <- " + decision.source;
  }
  return "none";
}

TEST(Gemma3Family, TakesAWellFormedCheckpointAndSaysWhereEachValueCameFrom) {
  const Description description = describe_bytes({});
  EXPECT_EQ(description.config.vocabulary_size, 264U);
  EXPECT_EQ(description.config.attention_scale, 0.5);
  EXPECT_EQ(description.config.activation, numerics::Activation::gelu_tanh);
  EXPECT_EQ(*description.config.embedding_scale, 0x1.6a09e6p+1F);  // fl(sqrt(8))
  EXPECT_TRUE(description.tied_output);
  EXPECT_EQ(value_of(description, "rope.freq_base"), "1000000 <- file: gemma3.rope.freq_base");
  EXPECT_NE(value_of(description, "rope.freq_base_swa").find("10000 <- family default"), std::string::npos);
  EXPECT_NE(value_of(description, "activation").find("gelu_tanh"), std::string::npos);
}

TEST(Gemma3Family, EverySixthLayerIsFullAndUsesTheFilesRopeBase) {
  MinimalGemma3 checkpoint;
  checkpoint.integers["gemma3.attention.sliding_window_pattern"] = 2;
  const Description description = describe_bytes(checkpoint);
  EXPECT_EQ(description.config.layers[0].window, 3U);
  EXPECT_EQ(description.config.layers[0].rotary_table, 1U);
  EXPECT_EQ(description.config.layers[1].window, 0U);
  EXPECT_EQ(description.config.layers[1].rotary_table, 0U);
  EXPECT_EQ(describe_bytes({}).config.layers[1].window, 3U);  // pattern 6: both of the first layers slide
}

TEST(Gemma3Family, LinearRopeScalingDividesTheFullLayersFrequenciesAlone) {
  MinimalGemma3 checkpoint;
  checkpoint.strings["gemma3.rope.scaling.type"] = "linear";
  checkpoint.numbers["gemma3.rope.scaling.factor"] = 8.0F;
  const Description plain = describe_bytes({});
  const Description scaled = describe_bytes(checkpoint);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(scaled.config.rotary_tables[0].inverse_frequency[i],
              plain.config.rotary_tables[0].inverse_frequency[i] / 8.0F);
    EXPECT_EQ(scaled.config.rotary_tables[1].inverse_frequency[i], plain.config.rotary_tables[1].inverse_frequency[i]);
  }
  checkpoint.strings["gemma3.rope.scaling.type"] = "yarn";
  expect_refused(checkpoint, {"rope.scaling.type", "yarn"});
}

TEST(Gemma3Family, ReportsAllMissingAndMisshapenTensorsTogether) {
  MinimalGemma3 checkpoint;
  checkpoint.drop_tensor("blk.1.attn_q.weight");
  checkpoint.drop_tensor("output_norm.weight");
  checkpoint.tensor("blk.0.ffn_up.weight").dimensions = {8, 7};
  expect_refused(checkpoint,
                 {"3 problems", "blk.1.attn_q.weight [8, 8] is missing", "output_norm.weight [8] is missing",
                  "blk.0.ffn_up.weight has shape [7, 8], the family needs [6, 8]"});
}

TEST(Gemma3Family, RefusesUnknownTensorsAndKeysUnlessAPersonOverlooksThem) {
  MinimalGemma3 checkpoint;
  checkpoint.integers["gemma3.attention.surprise"] = 1;
  checkpoint.integers["other.key"] = 1;
  expect_refused(checkpoint, {"2 problems", "gemma3.attention.surprise", "other.key", "--allow-unknown"});
  checkpoint.tensors.push_back({"blk.0.attn_q.bias", {8}});
  const Description description =
      describe_bytes(checkpoint, {{"gemma3.attention.surprise", "other.key", "blk.0.attn_q.bias"}});
  EXPECT_EQ(description.overlooked.size(), 3U);
  MinimalGemma3 extra;
  extra.tensors.push_back({"blk.2.attn_norm.weight", {8}});
  expect_refused(extra, {"blk.2.attn_norm.weight", "unknown to the family"});
}

TEST(Gemma3Family, RefusesMissingKeysByNameAllTogether) {
  MinimalGemma3 checkpoint;
  checkpoint.integers.erase("gemma3.block_count");
  checkpoint.numbers.erase("gemma3.attention.layer_norm_rms_epsilon");
  expect_refused(checkpoint,
                 {"2 problems", "gemma3.block_count is missing", "gemma3.attention.layer_norm_rms_epsilon is missing"});
}

TEST(Gemma3Family, RefusesKeysOfTheWrongType) {
  MinimalGemma3 checkpoint;
  checkpoint.integers.erase("gemma3.context_length");
  checkpoint.strings["gemma3.context_length"] = "16";
  expect_refused(checkpoint, {"gemma3.context_length"});
}

TEST(Gemma3Family, RefusesValuesOutOfRange) {
  const std::vector<std::pair<std::string, std::uint32_t>> cases = {{"gemma3.context_length", 0},
                                                                    {"gemma3.embedding_length", 0},
                                                                    {"gemma3.block_count", 0},
                                                                    {"gemma3.block_count", 4294967295U},
                                                                    {"gemma3.embedding_length", 4294967295U},
                                                                    {"gemma3.attention.head_count", 0},
                                                                    {"gemma3.attention.head_count", 3},
                                                                    {"gemma3.attention.head_count_kv", 0},
                                                                    {"gemma3.attention.key_length", 0},
                                                                    {"gemma3.attention.key_length", 5},
                                                                    {"gemma3.attention.key_length", 1U << 20},
                                                                    {"gemma3.attention.value_length", 8},
                                                                    {"gemma3.attention.sliding_window", 0},
                                                                    {"gemma3.rope.dimension_count", 2},
                                                                    {"gemma3.vocab_size", 263},
                                                                    {"gemma3.attention.sliding_window_pattern", 0},
                                                                    {"gemma3.attention.head_count_kv", 4294967295U},
                                                                    {"gemma3.context_length", 4294967295U},
                                                                    {"gemma3.feed_forward_length", 0}};
  for (const auto& [key, value] : cases) {
    MinimalGemma3 checkpoint;
    checkpoint.integers[key] = value;
    EXPECT_NE(refusal(checkpoint), "accepted") << key << " = " << value;
  }
  for (const float value : {0.0F, -1.0F, INFINITY, NAN}) {
    for (const char* key : {"gemma3.attention.layer_norm_rms_epsilon", "gemma3.rope.freq_base"}) {
      MinimalGemma3 checkpoint;
      checkpoint.numbers[key] = value;
      EXPECT_NE(refusal(checkpoint), "accepted") << key << " = " << value;
    }
  }
}

TEST(Gemma3Family, RefusesAnotherArchitectureByName) {
  MinimalGemma3 checkpoint;
  checkpoint.strings["general.architecture"] = "llama";
  expect_refused(checkpoint, {"general.architecture is 'llama'", "known: gemma3"});
  checkpoint.strings.erase("general.architecture");
  expect_refused(checkpoint, {"general.architecture is missing"});
}

TEST(Gemma3Family, RefusesAVocabularyThatTheTokenizerDoesNotShare) {
  MinimalGemma3 checkpoint;
  checkpoint.tensor("token_embd.weight").dimensions = {8, 265};
  expect_refused(checkpoint, {"token_embd.weight has 265 rows, but tokenizer.ggml.tokens has 264 pieces"});
}

}  // namespace
}  // namespace lastbit::families
