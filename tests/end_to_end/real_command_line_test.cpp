// The program on Gemma 3 270M: text to text, and `tokenize` on every line of the tokenizer oracles.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/data.hpp"

namespace lastbit::test {
namespace {

using nlohmann::json;

const std::string kModel = model_path("gemma-3-270m-q4_k_m.gguf");

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) rows.push_back(json::parse(line));
  return rows;
}

TEST(RealRun, ContinuesAPromptAsFloat64Does) {
  LASTBIT_REQUIRE_MODEL(kModel);
  const json prompt = json::parse(read_test_file(data_path("gguf/real_gemma.json"))).at("prompts").at(0);
  const ProgramResult result =
      run_program({"run", kModel, "-p", prompt.at("text"), "-n", "32", "--temp", "0", "--ignore-eos"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, prompt.at("greedy_text").get<std::string>() + "\n");
  EXPECT_NE(result.errors.find("policy   highest"), std::string::npos);
}

TEST(RealTokenize, EveryLineOfTheOracleInBothDirections) {
  LASTBIT_REQUIRE_MODEL(kModel);
  const std::string rows_path = data_path("tokenizers/gemma_spm.jsonl");
  const std::vector<json> expected = json_lines(read_test_file(rows_path));
  const ProgramResult plain = run_program({"tokenize", kModel, "--jsonl", rows_path, "--no-bos"});
  ASSERT_EQ(plain.exit_code, 0) << plain.errors;
  const ProgramResult special = run_program({"tokenize", kModel, "--jsonl", rows_path, "--no-bos", "--special"});
  const ProgramResult decoded = run_program({"tokenize", kModel, "--jsonl", rows_path, "--decode"});
  const std::vector<json> ids = json_lines(plain.output);
  const std::vector<json> special_ids = json_lines(special.output);
  const std::vector<json> texts = json_lines(decoded.output);
  ASSERT_EQ(expected.size(), 300U);
  ASSERT_EQ(ids.size(), expected.size());
  ASSERT_EQ(special_ids.size(), expected.size());
  ASSERT_EQ(texts.size(), expected.size());
  for (std::size_t row = 0; row < expected.size(); ++row) {
    EXPECT_EQ(ids[row], expected[row].at("ids")) << row;
    EXPECT_EQ(texts[row], expected[row].at("decoded")) << row;
    if (expected[row].contains("ids_special")) {
      EXPECT_EQ(special_ids[row], expected[row].at("ids_special")) << row;
    }
  }
}

TEST(RealTokenize, DecodesEveryListOfArbitraryIds) {
  LASTBIT_REQUIRE_MODEL(kModel);
  const std::string rows_path = data_path("tokenizers/gemma_spm_decode.jsonl");
  const std::vector<json> expected = json_lines(read_test_file(rows_path));
  const ProgramResult result = run_program({"tokenize", kModel, "--jsonl", rows_path, "--decode"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const std::vector<json> texts = json_lines(result.output);
  ASSERT_EQ(texts.size(), expected.size());
  for (std::size_t row = 0; row < expected.size(); ++row) EXPECT_EQ(texts[row], expected[row].at("decoded")) << row;
}

TEST(RealModels, TheLlamaFamilyIsRefusedByName) {
  const std::string path = model_path("SmolLM2-135M-Instruct.Q4_1.gguf");
  LASTBIT_REQUIRE_MODEL(path);
  const ProgramResult result = run_program({"run", path, "-p", "a"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("'llama'"), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace lastbit::test
