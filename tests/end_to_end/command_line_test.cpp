// Commands on tiny checkpoints: forms that scripts rely on, usage errors, and what belongs to later versions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/data.hpp"
#include "tests/support/safetensors_fixture.hpp"

namespace lastbit::test {
namespace {

using nlohmann::json;

const std::string kModel = data_path("gguf/tiny/gemma3-Q8_0.gguf");

std::string prompt_ids() {
  const json ids = json::parse(read_test_file(data_path("gguf/tiny/gemma3-Q8_0.json"))).at("prompt_ids");
  std::string text = ids.dump();
  return text.substr(1, text.size() - 2);
}

std::string expected_hash() {
  return json::parse(read_test_file(data_path("hashes.json"))).at("files").at("gemma3-Q8_0.gguf").at("highest");
}

void write_text(const std::string& path, const std::string& content) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fwrite(content.data(), 1, content.size(), file);
  std::fclose(file);
}

void expect_exit(int code, const std::vector<std::string>& arguments, const std::string& part,
                 const std::vector<std::string>& environment = {}) {
  const ProgramResult result = run_program(arguments, environment);
  EXPECT_EQ(result.exit_code, code) << result.errors;
  EXPECT_NE(result.errors.find(part), std::string::npos) << "missing \"" << part << "\" in: " << result.errors;
  EXPECT_EQ(result.output, "");
}

TEST(CommandLine, VersionNamesTheArithmetic) {
  const ProgramResult result = run_program({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("arithmetic 1"), std::string::npos);
}

TEST(CommandLine, HelpListsEveryCommandAndEveryLaterCommand) {
  const ProgramResult result = run_program({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* name : {"run", "logits", "tokenize", "inspect", "serve", "compare", "LASTBIT_ISA"}) {
    EXPECT_NE(result.output.find(name), std::string::npos) << name;
  }
}

TEST(Logits, PrintsTheHashAloneOnStdoutForEveryChunkAndIsa) {
  for (const char* chunk : {"1", "7", "all"}) {
    const ProgramResult result =
        run_program({"logits", kModel, "--tokens", prompt_ids(), "--precision", "highest", "--chunk", chunk});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, expected_hash() + "\n") << chunk;
    EXPECT_NE(result.errors.find("policy   highest: activations=f32,matmul=f32,kv=f32"), std::string::npos)
        << result.errors;
    EXPECT_NE(result.errors.find("arithmetic 1"), std::string::npos);
  }
  EXPECT_EQ(run_program({"logits", kModel, "--tokens", prompt_ids()}, {"LASTBIT_ISA=scalar"}).output,
            expected_hash() + "\n");
}

TEST(Logits, WritesASafetensorsFileWithTheHashedBytes) {
  const std::string path = temporary_path("logits.safetensors");
  const std::string ids = temporary_path("ids.json");
  write_text(ids, "[" + prompt_ids() + "]\n");
  const ProgramResult result =
      run_program({"logits", kModel, "--tokens-file", ids, "--json", "--out", path, "--threads", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json object = json::parse(result.output);
  EXPECT_EQ(object.at("sha256"), expected_hash());
  EXPECT_EQ(object.at("run").at("policy"), "activations=f32,matmul=f32,kv=f32");
  EXPECT_EQ(object.at("run").at("threads"), 1);
  const FixtureTensor tensor = read_safetensors_fixture(path).at("logits");
  EXPECT_EQ(tensor.dtype, "F32");
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{26, 272}));
  EXPECT_EQ(object.at("shape"), json(tensor.shape));
  EXPECT_EQ(tensor.bytes.size(), 26U * 272U * 4U);
}

TEST(Logits, AnOutputThatCannotBeWrittenIsAnEnvironmentError) {
  expect_exit(4, {"logits", kModel, "--tokens", "2", "--out", temporary_path("missing/x.safetensors")},
              "cannot create");
}

TEST(StandardStreams, ResultsThatCannotBeWrittenAreAnEnvironmentError) {
  const std::vector<std::vector<std::string>> commands = {{"logits", kModel, "--tokens", "2"},
                                                          {"logits", kModel, "--tokens", "2", "--json"},
                                                          {"run", kModel, "--tokens", "2", "-n", "3", "--ignore-eos"},
                                                          {"run", kModel, "--tokens", "2", "-n", "3", "--json"},
                                                          {"inspect", kModel},
                                                          {"inspect", kModel, "--json"},
                                                          {"tokenize", kModel, "--text", "a"},
                                                          {"--version"},
                                                          {"--help"}};
  for (const std::vector<std::string>& command : commands) {
    for (const char* redirection : {">/dev/full", ">&-"}) {
      const ProgramResult result = run_program_in_shell(command, redirection);
      EXPECT_EQ(result.exit_code, 4) << command[0] << " " << redirection << ": " << result.errors;
      EXPECT_NE(result.errors.find("cannot write to standard output"), std::string::npos) << result.errors;
    }
  }
}

TEST(StandardStreams, MessagesThatCannotBeWrittenChangeNothing) {
  for (const char* redirection : {"2>/dev/full", "2>&-"}) {
    const ProgramResult result = run_program_in_shell({"logits", kModel, "--tokens", prompt_ids()}, redirection);
    EXPECT_EQ(result.exit_code, 0) << redirection;
    EXPECT_EQ(result.output, expected_hash() + "\n") << redirection;
    EXPECT_EQ(run_program_in_shell({"run", "/nonexistent", "-p", "a"}, redirection).exit_code, 3);
  }
}

TEST(StandardStreams, AClosedStandardInputIsRefused) {
  EXPECT_EQ(run_program_in_shell({"tokenize", kModel, "--jsonl", "-"}, "<&-").exit_code, 3);
  EXPECT_EQ(run_program_in_shell({"tokenize", kModel, "--text-file", "-"}, "</tmp").exit_code, 3);
}

TEST(Run, JsonHasTheGreedyTokensTheTextAndTheRun) {
  const json expected = json::parse(read_test_file(data_path("gguf/tiny/gemma3-Q8_0.json"))).at("greedy_ids");
  const ProgramResult result = run_program({"run", kModel, "--tokens", prompt_ids(), "-n",
                                            std::to_string(expected.size()), "--temp", "0", "--ignore-eos", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json object = json::parse(result.output);
  EXPECT_EQ(object.at("tokens"), expected);
  EXPECT_EQ(object.at("finish_reason"), "length");
  EXPECT_EQ(object.at("prompt_tokens").size(), 26U);
  EXPECT_TRUE(object.at("text").is_string());
  EXPECT_EQ(object.at("timings").at("prefill").at("tokens"), 26);
  EXPECT_EQ(object.at("run").at("arithmetic"), 1);
  EXPECT_EQ(object.at("run").at("policy"), "activations=f32,matmul=f32,kv=f32");
  const ProgramResult streamed =
      run_program({"run", kModel, "--tokens", prompt_ids(), "-n", std::to_string(expected.size()), "--ignore-eos"});
  EXPECT_EQ(streamed.output, object.at("text").get<std::string>() + "\n");
  for (const char* part : {"load", "first token", "prefill", "decode", "tokens/s", "peak memory"}) {
    EXPECT_NE(streamed.errors.find(part), std::string::npos) << part;
  }
}

TEST(Run, TimingsPrintTheSharesOfTheMachinesPeaks) {
  const ProgramResult result =
      run_program({"run", kModel, "--tokens", prompt_ids(), "-n", "4", "--ignore-eos", "--timings", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json timings = json::parse(result.output).at("timings");
  EXPECT_GT(timings.at("machine").at("flops_per_second").get<double>(), 0.0);
  EXPECT_GT(timings.at("machine").at("read_bytes_per_second").get<double>(), 0.0);
  EXPECT_GT(timings.at("prefill_share_of_flops").get<double>(), 0.0);
  EXPECT_GT(timings.at("decode_share_of_bandwidth").get<double>(), 0.0);
  EXPECT_NE(result.errors.find("products of the prefill"), std::string::npos);
}

TEST(Run, ReachingTheContextSaysSo) {
  const ProgramResult result =
      run_program({"run", kModel, "--tokens", "2,5,9", "-n", "1000", "--ignore-eos", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json object = json::parse(result.output);
  EXPECT_EQ(object.at("finish_reason"), "context");
  EXPECT_EQ(object.at("tokens").size(), 126U);  // context 128: positions 3..127, and the token that the last one gives
}

TEST(Inspect, ShowsEveryDecisionWithItsSourceAndEveryTensor) {
  const ProgramResult result = run_program({"inspect", kModel, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json object = json::parse(result.output);
  EXPECT_EQ(object.at("family"), "gemma3");
  EXPECT_EQ(object.at("tensors").size(), 80U);
  bool found = false;
  for (const json& decision : object.at("decisions")) {
    EXPECT_FALSE(decision.at("source").get<std::string>().empty());
    found = found ||
            (decision.at("name") == "activation" && decision.at("value").get<std::string>().find("gelu_tanh") == 0);
  }
  EXPECT_TRUE(found);
  const ProgramResult text = run_program({"inspect", kModel, "--tensors"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.output.find("blk.5.post_ffw_norm.weight"), std::string::npos);
  EXPECT_NE(text.output.find("file: gemma3.rope.freq_base"), std::string::npos);
}

TEST(Tokenize, TextAndJsonLinesInBothDirections) {
  const ProgramResult ids = run_program({"tokenize", kModel, "--text", "hi", "--no-bos"});
  ASSERT_EQ(ids.exit_code, 0) << ids.errors;
  const json list = json::parse(ids.output);
  ASSERT_TRUE(list.is_array());
  const std::string rows = temporary_path("rows.jsonl");
  write_text(rows, json{{"ids", list}}.dump() + "\n");
  const ProgramResult text = run_program({"tokenize", kModel, "--jsonl", rows, "--decode"});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_EQ(text.output, "\"hi\"\n");
  const ProgramResult with_bos = run_program({"tokenize", kModel, "--text", "hi"});
  EXPECT_EQ(json::parse(with_bos.output).size(), list.size() + 1);
}

TEST(Usage, IsExitCode2WithAMessage) {
  expect_exit(2, {}, "subcommand");
  expect_exit(2, {"fly"}, "the command 'fly' is unknown");
  expect_exit(2, {"run", kModel, "-p", "a", "-n", ""}, "is not a number of tokens");
  expect_exit(2, {"run", kModel, "-p", "a", "-n", "010x"}, "is not a number of tokens");
  expect_exit(2, {"run", kModel, "-p", "a", "-n", "99999999999999999999"}, "is not a number of tokens");
  expect_exit(2, {"run", kModel, "-p", "a", "--temp", ""}, "is not a number");
  expect_exit(2, {"logits", kModel, "--tokens", "2", "--out", ""}, "the path is empty");
  expect_exit(2, {"logits", kModel, "--tokens", "2", "--out", kModel}, "is the checkpoint itself");
  expect_exit(2, {"logits", kModel, "--tokens", "2", "--allow-unknown", "foo"}, "no unknown key or tensor");
  expect_exit(2, {"run"}, "model is required");
  expect_exit(2, {"run", kModel}, "");  // no prompt
  expect_exit(2, {"run", kModel, "-p", "a", "--tokens", "2"}, "");
  expect_exit(2, {"run", kModel, "-p", "a", "--threads", "0"}, "threads");
  expect_exit(2, {"run", kModel, "-p", "a", "--threads", "two"}, "threads");
  expect_exit(2, {"run", kModel, "-p", "a", "--chunk", "0"}, "--chunk");
  expect_exit(2, {"run", kModel, "-p", "a", "--chunk", "12x"}, "--chunk");
  expect_exit(2, {"run", kModel, "-p", "a", "-n", "-1"}, "-n");
  expect_exit(2, {"run", kModel, "--tokens", "2,x"}, "'x' is not a token id");
  expect_exit(2, {"run", kModel, "--tokens", "2,,3"}, "is not a token id");
  expect_exit(2, {"run", kModel, "--tokens", "99999999999"}, "is not a token id");
  expect_exit(2, {"logits", kModel, "--tokens", "2", "--bogus"}, "--bogus");
}

TEST(Usage, PoliciesAndInstructionSetsThatAreNotThereAreRefusedByName) {
  expect_exit(2, {"logits", kModel, "--tokens", "2", "--precision", "int8"}, "int8 comes in a later version");
  expect_exit(2, {"logits", kModel, "--tokens", "2", "--precision", "fast"}, "unknown");
  expect_exit(2, {"logits", kModel, "--tokens", "2"}, "unknown", {"LASTBIT_PRECISION=fast"});
  expect_exit(2, {"logits", kModel, "--tokens", "2"}, "amx", {"LASTBIT_ISA=amx"});
  expect_exit(2, {"logits", kModel, "--tokens", "2"}, "avx1024", {"LASTBIT_ISA=avx1024"});
}

TEST(LaterVersions, CommandsAndFlagsAreRefusedByNameWithExitCode2) {
  for (const char* name : {"chat", "serve", "embed", "template", "probe", "compare", "verify", "trace", "diff",
                           "perplexity", "bench", "convert", "list", "pull"}) {
    expect_exit(2, {name}, std::string("the command ") + name);
  }
  for (const char* flag : {"--top-k", "--top-p", "--min-p", "--typical", "--repeat-penalty", "--repeat-last-n",
                           "--presence-penalty", "--frequency-penalty", "--logit-bias", "--seed", "--stop", "--kv",
                           "--fusion", "--draft", "--receipt", "--rounding", "--set"}) {
    expect_exit(2, {"run", kModel, "--tokens", "2", flag, "1"}, std::string(flag) + " comes in a later version");
  }
  expect_exit(2, {"run", kModel, "--tokens", "2", "--stats"}, "--stats comes in a later version");
  expect_exit(2, {"run", kModel, "--tokens", "2", "--temp", "0.7"}, "--temp");
  for (const char* flag : {"--inputs", "--image", "--top-logprobs", "--hidden", "--set", "--rounding"}) {
    expect_exit(2, {"logits", kModel, "--tokens", "2", flag, "1"}, std::string(flag) + " comes in a later version");
  }
}

}  // namespace
}  // namespace lastbit::test
