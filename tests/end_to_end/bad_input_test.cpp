// Checkpoints and requests that are refused: a message with file and place on stderr, nothing on stdout, exit code 3.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/data.hpp"

namespace lastbit::test {
namespace {

const std::string kModel = data_path("gguf/tiny/gemma3-Q4_0.gguf");

std::string write_case(const std::string& name, const std::string& content) {
  const std::string path = temporary_path(name);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  std::fwrite(content.data(), 1, content.size(), file);
  std::fclose(file);
  return path;
}

/// Refused with exit code 3 and a message that names the file and `part`.
void expect_refused(const std::vector<std::string>& arguments, const std::string& path, const std::string& part) {
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.exit_code, 3) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_NE(result.errors.find(path), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find(part), std::string::npos) << "missing \"" << part << "\" in: " << result.errors;
}

TEST(BadCheckpoint, TruncatedAnywhereIsRefusedByEveryCommandThatLoads) {
  const std::string whole = read_test_file(kModel);
  for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : whole.size() / 37) {
    const std::string path = write_case("truncated.gguf", whole.substr(0, size));
    for (const char* command : {"inspect", "logits"}) {
      std::vector<std::string> arguments{command, path};
      if (std::string(command) == "logits") arguments.insert(arguments.end(), {"--tokens", "2"});
      const ProgramResult result = run_program(arguments);
      EXPECT_EQ(result.exit_code, 3) << size << ": " << result.errors;
      EXPECT_NE(result.errors.find(path), std::string::npos) << result.errors;
    }
  }
}

TEST(BadCheckpoint, MissingFileFolderAndWrongMagic) {
  expect_refused({"run", "/nonexistent.gguf", "-p", "a"}, "/nonexistent.gguf", "cannot open");
  expect_refused({"run", data_path("gguf"), "-p", "a"}, data_path("gguf"), "not a regular file");
  std::string content = read_test_file(kModel);
  content[0] = 'X';
  const std::string path = write_case("magic.gguf", content);
  expect_refused({"run", path, "-p", "a"}, path, "GGUF");
}

TEST(BadCheckpoint, AnotherArchitectureIsRefusedByName) {
  std::string content = read_test_file(kModel);
  const std::size_t position = content.find("gemma3", 0);
  ASSERT_NE(position, std::string::npos);
  content.replace(position, 6, "mamba2");
  const std::string path = write_case("architecture.gguf", content);
  expect_refused({"inspect", path}, path, "mamba2");
}

TEST(BadRequest, PromptLongerThanTheContext) {
  std::string ids = "2";
  for (int i = 0; i < 128; ++i) ids += ",5";
  const ProgramResult result = run_program({"run", kModel, "--tokens", ids});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("the prompt of 129 tokens does not fit in the model's context of 128 positions"),
            std::string::npos)
      << result.errors;
  EXPECT_EQ(run_program({"logits", kModel, "--tokens", ids}).exit_code, 3);
}

TEST(BadRequest, TokenOutsideTheVocabulary) {
  const ProgramResult result = run_program({"logits", kModel, "--tokens", "2,272"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("token 272"), std::string::npos) << result.errors;
}

TEST(BadRequest, TokensFileThatIsMissingOrMalformed) {
  expect_refused({"logits", kModel, "--tokens-file", "/nonexistent.json"}, "/nonexistent.json", "cannot open");
  const std::pair<const char*, const char*> cases[] = {
      {"[2, 5", "is not JSON"},    {"{\"ids\": [2]}", "holds a JSON object"},
      {"[2, \"a\"]", "element 1"}, {"[2, 5.5]", "element 1"},
      {"[-1]", "element 0"},       {"[99999999999]", "element 0"},
      {"", "is not JSON"},         {"[[2]]", "element 0"}};
  for (const auto& [content, part] : cases) {
    const std::string path = write_case("ids.json", content);
    expect_refused({"logits", kModel, "--tokens-file", path}, path, part);
  }
  const std::string nul = write_case("nul.json", std::string("[2,5]\0garbage", 13));
  expect_refused({"logits", kModel, "--tokens-file", nul}, nul, "NUL");
  const std::string empty = write_case("empty.json", "[]");
  EXPECT_EQ(run_program({"logits", kModel, "--tokens-file", empty}).exit_code, 3);
}

TEST(BadRequest, NothingIsLeftBehindWhenALogitsFileIsRefused) {
  const std::string path = temporary_path("never.safetensors");
  EXPECT_EQ(run_program({"logits", kModel, "--tokens", "2,272", "--out", path}).exit_code, 3);
  EXPECT_FALSE(file_exists(path));
}

}  // namespace
}  // namespace lastbit::test
