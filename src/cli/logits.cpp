// lastbit logits: token ids or a prompt in, the logits of every position out; prints their SHA-256.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_options.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "engine/generation.hpp"
#include "formats/safetensors/writer.hpp"

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

/// Hashes the logits as they come, writes them where a file is asked for, and counts those that are NaN.
class LogitsReceiver {
 public:
  LogitsReceiver(const Options& options, std::size_t positions, std::size_t vocabulary) : vocabulary_(vocabulary) {
    if (!options.output) return;
    const std::uint64_t bytes = static_cast<std::uint64_t>(positions) * vocabulary * sizeof(float);
    writer_.emplace(*options.output,
                    std::vector<formats::SafetensorsEntry>{{"logits", "F32", {positions, vocabulary}, bytes}});
  }

  void take(std::size_t rows, const float* values) {
    const std::size_t count = rows * vocabulary_;
    hash_.update(values, count * sizeof(float));
    if (writer_) writer_->write(values, count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i) nan_count_ += std::isnan(values[i]) ? 1 : 0;
  }

  /// The file is in place after this.
  std::string finish() {
    if (writer_) writer_->commit();
    return hash_.finish();
  }
  std::uint64_t nan_count() const { return nan_count_; }

 private:
  std::size_t vocabulary_;
  Sha256 hash_;
  std::optional<formats::SafetensorsWriter> writer_;
  std::uint64_t nan_count_ = 0;
};

nlohmann::ordered_json result_json(const LoadedModel& loaded, const std::string& hash,
                                   const std::vector<text::TokenId>& tokens, std::uint64_t nan_count) {
  nlohmann::ordered_json result;
  result["sha256"] = hash;
  result["shape"] = {tokens.size(), loaded.model->config().vocabulary_size};
  result["dtype"] = "F32";
  result["nan_count"] = nan_count;
  result["prompt_tokens"] = tokens;
  result["run"] = nlohmann::ordered_json::parse(run_json(loaded));
  return result;
}

void check_output(const Options& options) {
  if (!options.output) return;
  if (options.output->empty()) throw_usage("--out: the path is empty");
  std::error_code ignored;
  if (std::filesystem::equivalent(*options.output, options.model.model, ignored)) {
    throw_usage(fmt::format("--out: {} is the checkpoint itself", *options.output));
  }
}

int logits(const Options& options) {
  check_output(options);
  const std::atomic<bool>& interrupted = watch_interrupts();
  const LoadedModel loaded = load_model(options.model);
  const std::vector<text::TokenId> tokens = prompt_tokens(options.prompt, loaded.model->tokenizer(), options.special);
  print_header(loaded);
  LogitsReceiver receiver(options, tokens.size(), loaded.model->config().vocabulary_size);
  engine::Sequence sequence(loaded.engine->pages());
  loaded.engine->watch(&interrupted);
  ProgressLine progress("reading");
  try {
    engine::read_prompt(
        *loaded.engine, sequence, tokens, parse_chunk(options.model.chunk), engine::LogitsOf::all,
        [&](std::size_t, std::size_t, std::size_t rows, const float* values) { receiver.take(rows, values); },
        [&](std::size_t done, std::size_t total) { progress.update(done, total, "tokens"); });
  } catch (const engine::Interrupted&) {
    progress.clear();
    write_message("lastbit: interrupted; nothing was written\n");
    return kExitInterrupted;
  }
  progress.clear();
  const std::string digest = receiver.finish();
  if (receiver.nan_count() > 0) {
    write_message(
        fmt::format("  warning  {} logits are NaN: the checkpoint computes no answer there\n", receiver.nan_count()));
  }
  const std::string result = options.json ? result_json(loaded, digest, tokens, receiver.nan_count())
                                                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                                          : digest;
  write_result(result + "\n");
  return 0;
}

}  // namespace

void add_logits_command(CLI::App& application, CommandRun& run) {
  CLI::App* command =
      application.add_subcommand("logits", "Logits of every position of a prompt; prints the SHA-256 of their bytes");
  auto options = std::make_shared<Options>();
  add_model_options(*command, options->model);
  add_prompt_options(*command, options->prompt);
  command->add_option("--out", options->output, "Also write \"logits\" [positions, vocabulary] float32 as safetensors")
      ->type_name("FILE");
  command->add_flag("--special", options->special, "Recognise control tokens in the text of -p");
  command->add_flag("--json", options->json, "Print one JSON object instead of the hash alone");
  add_later_flags(*command, {"--inputs", "--image", "--top-logprobs", "--hidden"});
  command->callback([options, &run] { run = [options] { return logits(*options); }; });
}

}  // namespace lastbit::cli
