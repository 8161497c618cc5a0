// Exactness on Gemma 3 270M: 700 tokens (beyond the window of 512, five folds of 128), one SHA-256 of the logits for
// every chunk, thread count and instruction set: each axis alone, and six mixed cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/data.hpp"
#include "tests/support/real_gemma.hpp"
#include "tests/support/safetensors_fixture.hpp"

namespace lastbit::test {
namespace {

class RealMatrix : public RealGemmaSuite {
 protected:
  void SetUp() override {
    RealGemmaSuite::SetUp();
    if (IsSkipped()) return;
    expected_ = nlohmann::json::parse(read_test_file(data_path("hashes.json")))
                    .at("files")
                    .at("gemma-3-270m-q4_k_m.gguf")
                    .at("highest")
                    .at("text700");
    // The text with its <bos>, then the text without it again and again.
    const auto text = read_safetensors_fixture(data_path("gguf/real_gemma.expected.safetensors"))
                          .at("text_ids")
                          .values<std::int64_t>();
    tokens_.assign(text.begin(), text.end());
    while (tokens_.size() < 700) tokens_.insert(tokens_.end(), text.begin() + 1, text.end());
    tokens_.resize(700);
  }

  void expect_hash(const Setting& setting, std::uint64_t passes) {
    if (!cpu::isa_supported(setting.isa)) {
      lacking_ = cpu::isa_name(setting.isa);
      return;
    }
    const RunEvidence evidence = run_logits(*model_, setting, tokens_);
    EXPECT_EQ(evidence.hash, expected_) << setting_text(setting);
    EXPECT_EQ(evidence.passes, passes) << setting_text(setting);
    ASSERT_EQ(evidence.tasks_by_worker.size(), static_cast<std::size_t>(setting.threads));
    EXPECT_TRUE(std::all_of(evidence.tasks_by_worker.begin(), evidence.tasks_by_worker.end(),
                            [](std::uint64_t n) { return n > 0; }))
        << setting_text(setting) << ": a thread never worked";
  }

  /// A set that the machine lacks counts as not run; what it has was compared all the same.
  void report_lacking() const {
    if (!lacking_.empty()) GTEST_SKIP() << "not run: this machine lacks " << lacking_;
  }

  std::string lacking_;
  std::string expected_;
  std::vector<std::int32_t> tokens_;
};

TEST_F(RealMatrix, EveryChunkGivesTheStoredHash) {
  expect_hash({best_isa(), 2, 1}, 700);
  expect_hash({best_isa(), 2, 7}, 100);
  expect_hash({best_isa(), 2, 64}, 11);
  expect_hash({best_isa(), 2, 128}, 6);
  expect_hash({best_isa(), 2, 129}, 6);
  expect_hash({best_isa(), 2, 0}, 1);
}

TEST_F(RealMatrix, EveryThreadCountGivesTheStoredHash) {
  for (const int threads : {1, 2, 3}) expect_hash({best_isa(), threads, 512}, 2);
}

TEST_F(RealMatrix, EveryVectorInstructionSetGivesTheStoredHash) {
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (isa != cpu::Isa::scalar) expect_hash({isa, 2, 0}, 1);
  }
  report_lacking();
}

TEST_F(RealMatrix, SixMixedCasesGiveTheStoredHash) {
  expect_hash({cpu::Isa::avx2, 1, 129}, 6);
  expect_hash({cpu::Isa::avx2, 3, 64}, 11);
  expect_hash({cpu::Isa::avx2, 2, 350}, 2);
  expect_hash({best_isa(), 3, 128}, 6);
  expect_hash({best_isa(), 1, 0}, 1);
  expect_hash({best_isa(), 3, 33}, 22);
  report_lacking();
}

TEST_F(RealMatrix, ScalarReferenceEqualsTheVectorSetsOn24Tokens) {
  tokens_.resize(24);
  const std::string scalar = run_logits(*model_, {cpu::Isa::scalar, 2, 0}, tokens_).hash;
  for (const cpu::Isa isa : supported_isas()) {
    EXPECT_EQ(run_logits(*model_, {isa, 2, 5}, tokens_).hash, scalar) << cpu::isa_name(isa);
  }
}

}  // namespace
}  // namespace lastbit::test
