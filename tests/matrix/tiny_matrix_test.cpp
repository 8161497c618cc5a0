// Exactness on tiny checkpoints: one hash of logits over chunks, threads and instruction sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/data.hpp"
#include "tests/support/model_runner.hpp"

namespace lastbit::test {
namespace {

class WindowCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = load_test_model(data_path("gguf/window/gemma3-window.gguf"));
    tokens_ =
        nlohmann::json::parse(read_test_file(data_path("gguf/window/tokens.json"))).get<std::vector<std::int32_t>>();
    expected_ =
        nlohmann::json::parse(read_test_file(data_path("gguf/window/expected.json"))).at("highest").get<std::string>();
  }
  std::unique_ptr<engine::Model> model_;
  std::vector<std::int32_t> tokens_;
  std::string expected_;
};

TEST_F(WindowCheckpoint, CrossesTheWindowThePagesAndBothKindsOfLayers) {
  ASSERT_EQ(tokens_.size(), 450U);
  EXPECT_EQ(model_->config().context_length, 1024U);
  std::set<std::size_t> windows;
  for (const blocks::LayerConfig& layer : model_->config().layers) windows.insert(layer.window);
  EXPECT_EQ(windows, (std::set<std::size_t>{0, 200}));
}

TEST_F(WindowCheckpoint, HasOneHashForEveryChunkThreadCountAndInstructionSet) {
  std::set<std::uint64_t> pass_counts;
  std::size_t most_busy_workers = 0;
  for (const cpu::Isa isa : supported_isas()) {
    for (const int threads : {1, 2, 3}) {
      for (const std::size_t chunk : {1, 3, 7, 64, 127, 128, 129, 0}) {
        // The scalar set is slow where the baseline has no fma instruction: a selection that keeps every kind of cut.
        if (isa == cpu::Isa::scalar && (threads == 2 || (chunk != 7 && chunk != 129 && chunk != 0))) continue;
        const Setting setting{isa, threads, chunk};
        const RunEvidence evidence = run_logits(*model_, setting, tokens_);
        EXPECT_EQ(evidence.hash, expected_) << setting_text(setting);
        pass_counts.insert(evidence.passes);
        const auto busy = std::count_if(evidence.tasks_by_worker.begin(), evidence.tasks_by_worker.end(),
                                        [](std::uint64_t n) { return n > 0; });
        most_busy_workers = std::max(most_busy_workers, static_cast<std::size_t>(busy));
      }
    }
  }
  // The axes were exercised: the chunks gave different numbers of passes, several threads worked.
  EXPECT_EQ(pass_counts, (std::set<std::uint64_t>{450, 150, 65, 8, 4, 1}));
  EXPECT_GE(most_busy_workers, 2U);
}

TEST_F(WindowCheckpoint, RowsOfOtherSequencesInThePassChangeNothing) {
  blocks::Execution execution(best_isa(), 2);
  engine::Engine engine(*model_, execution);
  const std::vector<float> alone = all_logits(*model_, {best_isa(), 2, 0}, tokens_);
  std::vector<std::int32_t> other(tokens_.rbegin(), tokens_.rbegin() + 300);
  engine::Sequence first(engine.pages());
  engine::Sequence second(engine.pages());
  std::vector<float> together(alone.size());
  const std::size_t vocabulary = model_->config().vocabulary_size;
  const auto read = [&](std::size_t begin, std::size_t end, std::size_t other_begin, std::size_t other_end) {
    const std::span<const std::int32_t> tokens(tokens_);
    const std::span<const std::int32_t> others(other);
    const engine::Span spans[] = {
        {&second, others.subspan(other_begin, other_end - other_begin), engine::LogitsOf::none},
        {&first, tokens.subspan(begin, end - begin), engine::LogitsOf::all}};
    engine.forward(spans, [&](std::size_t span, std::size_t row, std::size_t rows, const float* logits) {
      ASSERT_EQ(span, 1U);
      std::copy(logits, logits + rows * vocabulary,
                together.begin() + static_cast<std::ptrdiff_t>((begin + row) * vocabulary));
    });
  };
  read(0, 130, 0, 5);
  read(130, 131, 5, 290);
  read(131, 450, 290, 300);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin(),
                         [](float a, float b) { return __builtin_memcmp(&a, &b, 4) == 0; }));
}

TEST_F(WindowCheckpoint, PagesOfAnEndedSequenceLeaveNoTrace) {
  blocks::Execution execution(best_isa(), 2);
  engine::Engine engine(*model_, execution);
  const auto hash_of = [&](const std::vector<std::int32_t>& tokens) {
    engine::Sequence sequence(engine.pages());
    std::vector<float> values;
    engine::read_prompt(engine, sequence, tokens, 100, engine::LogitsOf::all,
                        [&](std::size_t, std::size_t, std::size_t rows, const float* logits) {
                          values.insert(values.end(), logits, logits + rows * model_->config().vocabulary_size);
                        },
                        {});
    return values;
  };
  const std::vector<float> fresh = hash_of(tokens_);
  hash_of({tokens_.rbegin(), tokens_.rend()});  // fills the recycled pages with other keys and values
  EXPECT_EQ(hash_of(tokens_), fresh);
}

}  // namespace
}  // namespace lastbit::test
