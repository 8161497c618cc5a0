// Gemma 3 270M (Q4_K_M): greedy continuations, logits and token likelihoods against float64, logits hashes.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/data.hpp"
#include "tests/support/logits_check.hpp"
#include "tests/support/real_gemma.hpp"
#include "tests/support/safetensors_fixture.hpp"

namespace lastbit::test {
namespace {

class RealGemma : public RealGemmaSuite {
 protected:
  void SetUp() override {
    RealGemmaSuite::SetUp();
    report_ = nlohmann::json::parse(read_test_file(data_path("gguf/real_gemma.json")));
    expected_ = read_safetensors_fixture(data_path("gguf/real_gemma.expected.safetensors"));
  }

  std::vector<std::int32_t> prompt(std::size_t index) const {
    return report_.at("prompts").at(index).at("ids").get<std::vector<std::int32_t>>();
  }
  std::size_t vocabulary() const { return model_->config().vocabulary_size; }

  const Setting setting_{best_isa(), 2, 512};
  nlohmann::json report_;
  std::map<std::string, FixtureTensor> expected_;
};

TEST_F(RealGemma, GreedyContinuationsOfSixPromptsEqualFloat64) {
  ASSERT_EQ(report_.at("prompts").size(), 6U);
  blocks::Execution execution(setting_.isa, setting_.threads);
  engine::Engine engine(*model_, execution);
  for (std::size_t index = 0; index < 6; ++index) {
    const nlohmann::json& entry = report_.at("prompts").at(index);
    const auto greedy = entry.at("greedy_ids").get<std::vector<std::int32_t>>();
    ASSERT_EQ(greedy.size(), 32U);
    const engine::GenerationResult result =
        engine::generate_greedily(engine, prompt(index), {greedy.size(), true, 512}, {});
    EXPECT_EQ(result.tokens, greedy) << entry.at("text");
    EXPECT_EQ(model_->tokenizer().decode(result.tokens, false), entry.at("greedy_text").get<std::string>());
  }
}

TEST_F(RealGemma, PromptTextsGiveThePromptIds) {
  for (std::size_t index = 0; index < 6; ++index) {
    EXPECT_EQ(model_->tokenizer().encode(report_.at("prompts").at(index).at("text").get<std::string>(), {}),
              prompt(index));
  }
}

TEST_F(RealGemma, LastLogitsOfSixPromptsAreWithinTheStatedToleranceOfFloat64) {
  const std::vector<std::int64_t> subset = expected_.at("subset_ids").values<std::int64_t>();
  const double tolerance = report_.at("tolerance_last_logits_vs_f64");
  std::vector<float> stacked;
  for (std::size_t index = 0; index < 6; ++index) {
    const std::vector<float> logits = all_logits(*model_, setting_, prompt(index));
    const float* last = logits.data() + logits.size() - vocabulary();
    for (const std::int64_t id : subset) stacked.push_back(last[id]);
    if (index == 0) {
      const std::vector<float> whole = expected_.at("logits_last_prompt_0_f64_rounded_to_f32").values<float>();
      EXPECT_TRUE(within_tolerance({whole.begin(), whole.end()}, {last, last + vocabulary()}, tolerance));
    }
  }
  EXPECT_TRUE(within_tolerance(expected_.at("logits_last_subset_f64").values<double>(), stacked, tolerance));
}

/// Negative log likelihood in binary64 of `next` under one row of logits.
double negative_log_likelihood(const float* logits, std::size_t vocabulary, std::int64_t next) {
  double largest = -INFINITY;
  for (std::size_t i = 0; i < vocabulary; ++i) largest = std::fmax(largest, static_cast<double>(logits[i]));
  double sum = 0.0;
  for (std::size_t i = 0; i < vocabulary; ++i) sum += std::exp(static_cast<double>(logits[i]) - largest);
  return largest + std::log(sum) - static_cast<double>(logits[next]);
}

TEST_F(RealGemma, EachOf296TokenLikelihoodsIsWithinTwiceTheFloat32ErrorOfFloat64) {
  const std::vector<std::int64_t> ids = expected_.at("text_ids").values<std::int64_t>();
  const std::vector<double> expected = expected_.at("nll_f64").values<double>();
  ASSERT_EQ(expected.size(), 296U);
  ASSERT_EQ(ids.size(), 297U);
  const double limit = 2.0 * report_.at("nll_f32_vs_f64_max_abs").get<double>();
  const std::vector<std::int32_t> tokens(ids.begin(), ids.end());
  blocks::Execution execution(setting_.isa, setting_.threads);
  engine::Engine engine(*model_, execution);
  engine::Sequence sequence(engine.pages());
  std::vector<double> actual;
  engine::read_prompt(
      engine, sequence, tokens, setting_.chunk, engine::LogitsOf::all,
      [&](std::size_t, std::size_t first, std::size_t rows, const float* logits) {
        for (std::size_t row = 0; row < rows && first + row + 1 < ids.size(); ++row) {
          actual.push_back(negative_log_likelihood(logits + row * vocabulary(), vocabulary(), ids[first + row + 1]));
        }
      },
      {});
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], limit) << "token " << i + 1;
}

TEST_F(RealGemma, LogitsHashesOfThreePromptsEqualTheIndependentImplementation) {
  const auto hashes = nlohmann::json::parse(read_test_file(data_path("hashes.json")))
                          .at("files")
                          .at("gemma-3-270m-q4_k_m.gguf")
                          .at("highest");
  for (std::size_t index = 0; index < 3; ++index) {
    EXPECT_EQ(run_logits(*model_, setting_, prompt(index)).hash,
              hashes.at("prompt" + std::to_string(index)).get<std::string>());
  }
}

}  // namespace
}  // namespace lastbit::test
