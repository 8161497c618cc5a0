// The tiny Gemma 3 checkpoints, one for each tensor type: logits against float64, greedy continuations, logits hashes
// of an independent plain implementation of the arithmetic; on every instruction set of this machine.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/data.hpp"
#include "tests/support/logits_check.hpp"
#include "tests/support/model_runner.hpp"
#include "tests/support/safetensors_fixture.hpp"

namespace lastbit::test {
namespace {

class TinyGemma3 : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string stem = data_path(std::string("gguf/tiny/gemma3-") + GetParam());
    model_ = load_test_model(stem + ".gguf");
    report_ = nlohmann::json::parse(read_test_file(stem + ".json"));
    expected_ = read_safetensors_fixture(stem + ".expected.safetensors");
    prompt_ = report_.at("prompt_ids").get<std::vector<std::int32_t>>();
  }

  std::unique_ptr<engine::Model> model_;
  nlohmann::json report_;
  std::map<std::string, FixtureTensor> expected_;
  std::vector<std::int32_t> prompt_;
};

TEST_P(TinyGemma3, LogitsAreWithinTheStatedToleranceOfFloat64) {
  const std::vector<double> expected = expected_.at("logits_f64").values<double>();
  for (const cpu::Isa isa : supported_isas()) {
    const Setting setting{isa, 2, 0};
    EXPECT_TRUE(within_tolerance(expected, all_logits(*model_, setting, prompt_),
                                 report_.at("tolerance_logits_vs_f64").get<double>()))
        << setting_text(setting);
  }
}

TEST_P(TinyGemma3, GreedyContinuationEqualsFloat64) {
  blocks::Execution execution(best_isa(), 2);
  engine::Engine engine(*model_, execution);
  const auto expected = report_.at("greedy_ids").get<std::vector<std::int32_t>>();
  const engine::GenerationResult result = engine::generate_greedily(engine, prompt_, {expected.size(), true, 0}, {});
  EXPECT_EQ(result.tokens, expected);
}

TEST_P(TinyGemma3, LogitsHashEqualsTheIndependentImplementation) {
  const auto hashes = nlohmann::json::parse(read_test_file(data_path("hashes.json"))).at("files");
  const std::string expected = hashes.at(std::string("gemma3-") + GetParam() + ".gguf").at("highest");
  for (const cpu::Isa isa : supported_isas()) {
    for (const std::size_t chunk : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
      const Setting setting{isa, 2, chunk};
      EXPECT_EQ(run_logits(*model_, setting, prompt_).hash, expected) << setting_text(setting);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTensorType, TinyGemma3,
                         ::testing::Values("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K",
                                           "Q6_K"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace lastbit::test
