// The engine's own promises: the floating-point state at its entry, limits, greedy choice, finish reasons.
#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/floating_point_state.hpp"
#include "engine/generation.hpp"
#include "tests/support/data.hpp"
#include "tests/support/minimal_gemma3.hpp"
#include "tests/support/model_runner.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lastbit::engine {
namespace {

std::unique_ptr<Model> load(const test::MinimalGemma3& checkpoint) {
  const std::string path = test::temporary_path("minimal.gguf");
  AtomicFileWriter writer(path);
  const std::string bytes = checkpoint.bytes();
  writer.write(bytes.data(), bytes.size());
  writer.commit();
  return test::load_test_model(path);
}

#if defined(__x86_64__)
TEST(Engine, AnswersTheSameWhenTheCallerFlushesSubnormalsAndKeepsTheCallersState) {
  test::MinimalGemma3 checkpoint;
  checkpoint.tensor("token_embd.weight").value = 1e-40F;  // a subnormal: flushed, every logit would be 0
  checkpoint.tensors.push_back({"output.weight", {8, 264}});
  const std::unique_ptr<Model> model = load(checkpoint);
  const std::vector<std::int32_t> tokens{2, 5, 9};
  for (const cpu::Isa isa : test::supported_isas()) {
    const std::vector<float> expected = test::all_logits(*model, {isa, 2, 0}, tokens);
    EXPECT_NE(expected[0], 0.0F);
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
    const std::uint64_t hostile = floating_point_control();
    const std::vector<float> actual = test::all_logits(*model, {isa, 2, 0}, tokens);
    EXPECT_EQ(floating_point_control(), hostile);
    _mm_setcsr(before);
    EXPECT_EQ(actual, expected);
  }
}
#endif

class EngineLimits : public ::testing::Test {
 protected:
  EngineLimits() : model_(load({})), execution_(test::best_isa(), 2), engine_(*model_, execution_) {}

  std::string refusal(const std::vector<std::int32_t>& tokens) {
    Sequence sequence(engine_.pages());
    const Span span{&sequence, tokens, LogitsOf::none};
    try {
      engine_.forward({&span, 1}, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_EQ(sequence.length(), 0U);
      return error.what();
    }
    return "accepted";
  }

  std::unique_ptr<Model> model_;
  blocks::Execution execution_;
  Engine engine_;
};

TEST_F(EngineLimits, RefusesTokensOutsideTheVocabularyEmptySpansAndTooManyTokens) {
  EXPECT_NE(refusal({2, 264}).find("token 264 (number 1 of the input) is outside the vocabulary of 264"),
            std::string::npos);
  EXPECT_NE(refusal({-1}).find("token -1"), std::string::npos);
  EXPECT_NE(refusal({}).find("no tokens"), std::string::npos);
  EXPECT_NE(refusal(std::vector<std::int32_t>(17, 2)).find("17 tokens do not fit in the model's context of 16"),
            std::string::npos);
  EXPECT_EQ(refusal(std::vector<std::int32_t>(16, 2)), "accepted");
}

TEST_F(EngineLimits, APromptBeyondTheContextIsRefusedBeforeAnyOfItIsRead) {
  Sequence sequence(engine_.pages());
  const std::vector<std::int32_t> tokens(17, 2);
  EXPECT_THROW(read_prompt(engine_, sequence, tokens, 4, LogitsOf::none, {}, {}), Error);
  EXPECT_EQ(engine_.passes(), 0U);
}

TEST_F(EngineLimits, GenerationEndsAtTheContextWithItsReason) {
  const std::vector<std::int32_t> prompt(10, 2);
  const GenerationResult result = generate_greedily(engine_, prompt, {100, true, 0}, {});
  EXPECT_EQ(result.reason, FinishReason::context);
  EXPECT_EQ(result.tokens.size(), 7U);  // positions 10..15, and the token that the last position gives
  const GenerationResult shorter = generate_greedily(engine_, prompt, {3, true, 0}, {});
  EXPECT_EQ(shorter.reason, FinishReason::length);
  EXPECT_EQ(shorter.tokens.size(), 3U);
  const GenerationResult none = generate_greedily(engine_, prompt, {0, true, 0}, {});
  EXPECT_TRUE(none.tokens.empty());
}

TEST_F(EngineLimits, AnInterruptStopsTheGeneration) {
  std::atomic<bool> interrupted{false};
  GenerationCallbacks callbacks;
  callbacks.interrupted = &interrupted;
  callbacks.token = [&](std::int32_t) { interrupted = true; };
  const std::vector<std::int32_t> prompt(4, 2);
  const GenerationResult result = generate_greedily(engine_, prompt, {10, true, 0}, callbacks);
  EXPECT_EQ(result.reason, FinishReason::interrupted);
  EXPECT_EQ(result.tokens.size(), 1U);
}

TEST(GreedyToken, TakesTheLargestTheLowestIdAmongEqualsAndRefusesNan) {
  EXPECT_EQ(greedy_token(std::vector<float>{1.0F, 3.0F, 3.0F, 2.0F}, "here"), 1);
  EXPECT_EQ(greedy_token(std::vector<float>{-0.0F, 0.0F}, "here"), 0);
  EXPECT_EQ(greedy_token(std::vector<float>{-INFINITY, -5.0F}, "here"), 1);
  EXPECT_THROW(greedy_token(std::vector<float>{1.0F, NAN}, "here"), Error);
  EXPECT_THROW(greedy_token(std::vector<float>{-INFINITY, -INFINITY}, "here"), Error);
}

TEST(BadScales, OfAQuantizedMatrixFailTheLoadWithTheirPlace) {
  std::string bytes = test::read_test_file(test::data_path("gguf/tiny/gemma3-Q8_0.gguf"));
  const formats::GgufFile file(test::data_path("gguf/tiny/gemma3-Q8_0.gguf"));
  const formats::TensorView* tensor = file.tensors().find("blk.2.ffn_up.weight");
  ASSERT_NE(tensor, nullptr);
  bytes[tensor->file_offset + 34 + 1] = static_cast<char>(0x7C);  // the scale of the second block: Inf or NaN
  const std::string path = test::temporary_path("bad_scale.gguf");
  AtomicFileWriter writer(path);
  writer.write(bytes.data(), bytes.size());
  writer.commit();
  try {
    test::load_test_model(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("blk.2.ffn_up.weight"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lastbit::engine
