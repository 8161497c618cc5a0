// lastbit logits: token ids or a prompt in, the logits of every position out; prints their SHA-256.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/sha256.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_options.hpp"
#include "cli/report.hpp"
#include "engine/generation.hpp"
#include "formats/safetensors/writer.hpp"
#include "lastbit/version.hpp"

namespace lastbit::cli {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "hashes and files are of little-endian bytes");

struct Options {
  ModelOptions model;
  PromptOptions prompt;
  std::optional<std::string> output;
  bool special = false;
  bool json = false;
};

struct Interrupted {};

nlohmann::ordered_json result_json(const LoadedModel& loaded, const std::string& hash, const std::vector<text::TokenId>& tokens) {
  const engine::Model& model = *loaded.model;
  nlohmann::ordered_json result;
  result["sha256"] = hash;
  result["shape"] = {tokens.size(), model.config().vocabulary_size};
  result["dtype"] = "F32";
  result["prompt_tokens"] = tokens;
  result["run"] = {{"model", model.file().path()},
                   {"policy", model.policy().fields()},
                   {"isa", cpu::isa_name(loaded.execution->isa())},
                   {"threads", loaded.execution->pool().threads()},
                   {"arithmetic", kArithmeticVersion}};
  return result;
}

int logits(const Options& options) {
  const std::atomic<bool>& interrupted = watch_interrupts();
  const LoadedModel loaded = load_model(options.model);
  const std::vector<text::TokenId> tokens = prompt_tokens(options.prompt, loaded.model->tokenizer(), options.special);
  print_header(loaded);
  const std::size_t vocabulary = loaded.model->config().vocabulary_size;
  std::optional<formats::SafetensorsWriter> writer;
  const std::vector<std::uint64_t> shape{tokens.size(), vocabulary};
  if (options.output) writer.emplace(*options.output, std::vector<formats::SafetensorsEntry>{{"logits", "F32", shape, tokens.size() * vocabulary * sizeof(float)}});
  Sha256 hash;
  engine::Sequence sequence(loaded.engine->pages());
  ProgressLine progress("reading");
  try {
    engine::read_prompt(
        *loaded.engine, sequence, tokens, parse_chunk(options.model.chunk), engine::LogitsOf::all,
        [&](std::size_t, std::size_t, std::size_t rows, const float* values) {
          hash.update(values, rows * vocabulary * sizeof(float));
          if (writer) writer->write(values, rows * vocabulary * sizeof(float));
          if (interrupted.load()) throw Interrupted{};
        },
        [&](std::size_t done, std::size_t total) { progress.update(done, total, "tokens"); });
  } catch (const Interrupted&) {
    return kExitInterrupted;
  }
  progress.clear();
  if (writer) writer->commit();
  const std::string digest = hash.finish();
  if (options.json) {
    fmt::print("{}\n", result_json(loaded, digest, tokens).dump());
  } else {
    fmt::print("{}\n", digest);
  }
  return 0;
}

}  // namespace

void add_logits_command(CLI::App& application, CommandRun& run) {
  CLI::App* command = application.add_subcommand("logits", "Logits of every position of a prompt; prints the SHA-256 of their bytes");
  auto options = std::make_shared<Options>();
  add_model_options(*command, options->model);
  add_prompt_options(*command, options->prompt);
  command->add_option("--out", options->output, "Also write \"logits\" [positions, vocabulary] float32 as safetensors")->type_name("FILE");
  command->add_flag("--special", options->special, "Recognise control tokens in the text of -p");
  command->add_flag("--json", options->json, "Print one JSON object instead of the hash alone");
  add_later_flags(*command, {"--inputs", "--image", "--top-logprobs", "--hidden"});
  command->callback([options, &run] { run = [options] { return logits(*options); }; });
}

}  // namespace lastbit::cli
