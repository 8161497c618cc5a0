// lastbit run: a prompt in, its greedy continuation out, streamed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/quoted_text.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_options.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "engine/generation.hpp"
#include "kernels/machine_peaks/machine_peaks.hpp"

namespace lastbit::cli {
namespace {

using engine::GenerationResult;
using engine::PhaseStatistics;

struct Options {
  ModelOptions model;
  PromptOptions prompt;
  std::string max_tokens = "32";
  std::string temperature = "0";
  bool ignore_end = false;
  bool special = false;
  bool timings = false;
  bool json = false;
};

/// Rates of the run, and the share of what this machine can do.
struct Report {
  double load_seconds = 0.0;
  double first_token_seconds = 0.0;  // reading the prompt, the first token included
  double prefill_rate = 0.0;         // tokens a second
  double decode_rate = 0.0;
  std::uint64_t peak_memory = 0;
  std::optional<kernels::MachinePeaks> peaks;
  double prefill_operations_rate = 0.0;  // of the matrix products, operations a second
  double decode_bytes_rate = 0.0;        // checkpoint and key-value bytes of a token, a second
};

double rate(double amount, double seconds) { return seconds > 0.0 ? amount / seconds : 0.0; }

Report make_report(const LoadedModel& loaded, const GenerationResult& result, bool timings) {
  Report report;
  report.load_seconds = loaded.load_seconds;
  report.first_token_seconds = result.prefill.seconds;
  report.prefill_rate = rate(static_cast<double>(result.prefill.tokens), result.prefill.seconds);
  report.decode_rate = rate(static_cast<double>(result.decode.tokens), result.decode.seconds);
  report.peak_memory = peak_memory_bytes();
  report.prefill_operations_rate =
      rate(static_cast<double>(result.prefill.matmul.operations), result.prefill.matmul.seconds);
  const std::uint64_t weight_bytes = blocks::weight_bytes_per_token(loaded.model->weights());
  const std::uint64_t decode_bytes = weight_bytes * result.decode.tokens + result.decode_key_value_bytes;
  report.decode_bytes_rate = rate(static_cast<double>(decode_bytes), result.decode.seconds);
  if (timings) {
    report.peaks = kernels::measure_machine_peaks(loaded.execution->isa(), loaded.execution->pool(),
                                                  static_cast<std::size_t>(weight_bytes));
  }
  return report;
}

std::string share_text(double rate, double peak, std::string_view unit, std::string_view what) {
  return fmt::format("{:.1f} {}, {:.0f} % of this machine's measured {:.1f} ({}, same threads)\n", rate * 1e-9, unit,
                     100.0 * rate / peak, peak * 1e-9, what);
}

void print_summary(const GenerationResult& result, const Report& report) {
  std::string text = fmt::format("  load     {:.2f} s, first token {:.3f} s after that, peak memory {}\n",
                                 report.load_seconds, report.first_token_seconds, bytes_text(report.peak_memory));
  text += fmt::format("  prefill  {} tokens, {:.1f} tokens/s\n", result.prefill.tokens, report.prefill_rate);
  text += fmt::format("  decode   {} tokens, {:.1f} tokens/s ({})\n", result.decode.tokens, report.decode_rate,
                      engine::finish_reason_name(result.reason));
  if (report.peaks) {
    text += "  products of the prefill: " +
            share_text(report.prefill_operations_rate, report.peaks->flops_per_second, "GFLOP/s", "float32 fma");
    text += "  bytes of the decode: " +
            share_text(report.decode_bytes_rate, report.peaks->read_bytes_per_second, "GB/s", "read");
  }
  write_message(text);
}

nlohmann::ordered_json phase_json(const PhaseStatistics& phase, double tokens_per_second) {
  return {{"tokens", phase.tokens},
          {"seconds", phase.seconds},
          {"tokens_per_second", tokens_per_second},
          {"matmul_seconds", phase.matmul.seconds},
          {"matmul_operations", phase.matmul.operations}};
}

nlohmann::ordered_json timings_json(const GenerationResult& result, const Report& report) {
  nlohmann::ordered_json timings;
  timings["load_seconds"] = report.load_seconds;
  timings["first_token_seconds"] = report.first_token_seconds;
  timings["prefill"] = phase_json(result.prefill, report.prefill_rate);
  timings["decode"] = phase_json(result.decode, report.decode_rate);
  timings["peak_memory_bytes"] = report.peak_memory;
  if (report.peaks) {
    timings["machine"] = {{"flops_per_second", report.peaks->flops_per_second},
                          {"read_bytes_per_second", report.peaks->read_bytes_per_second}};
    timings["prefill_share_of_flops"] = report.prefill_operations_rate / report.peaks->flops_per_second;
    timings["decode_share_of_bandwidth"] = report.decode_bytes_rate / report.peaks->read_bytes_per_second;
  }
  return timings;
}

nlohmann::ordered_json result_json(const LoadedModel& loaded, const std::vector<text::TokenId>& prompt,
                                   const std::string& text, const GenerationResult& result, const Report& report) {
  nlohmann::ordered_json json;
  json["tokens"] = result.tokens;
  json["text"] = text;
  json["prompt_tokens"] = prompt;
  json["finish_reason"] = engine::finish_reason_name(result.reason);
  json["timings"] = timings_json(result, report);
  json["run"] = nlohmann::ordered_json::parse(run_json(loaded));
  return json;
}

void check_temperature(const std::string& text) {
  char* end = nullptr;
  const double temperature = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw_usage(fmt::format("--temp: {} is not a number", quoted_text(text)));
  if (temperature != 0.0)
    throw_usage("--temp: this version decodes greedily (--temp 0); sampling comes in a later version");
}

std::size_t parse_max_tokens(const std::string& text) {
  if (text == "-1") throw_usage("-n -1 (no limit) comes in a later version");
  std::size_t count = 0;
  if (!parse_whole_number(text, count)) throw_usage(fmt::format("-n: {} is not a number of tokens", quoted_text(text)));
  return count;
}

int run_model(const Options& options) {
  check_temperature(options.temperature);
  const std::size_t max_tokens = parse_max_tokens(options.max_tokens);
  const std::atomic<bool>& interrupted = watch_interrupts();
  const LoadedModel loaded = load_model(options.model);
  const text::Tokenizer& tokenizer = loaded.model->tokenizer();
  const std::vector<text::TokenId> prompt = prompt_tokens(options.prompt, tokenizer, options.special);
  print_header(loaded);

  const std::unique_ptr<text::StreamingDecoder> decoder = tokenizer.streaming_decoder(options.special);
  std::string text;
  const auto emit = [&](const std::string& piece) {
    text += piece;
    if (!options.json) write_result(piece, true);
  };
  ProgressLine progress("reading the prompt:");
  engine::GenerationCallbacks callbacks;
  callbacks.interrupted = &interrupted;
  callbacks.prompt_progress = [&](std::size_t done, std::size_t total) {
    if (done < total) {
      progress.update(done, total, "tokens");
    } else {
      progress.clear();
    }
  };
  callbacks.token = [&](text::TokenId id) { emit(decoder->push(id)); };
  const engine::GenerationOptions generation{max_tokens, options.ignore_end, parse_chunk(options.model.chunk)};
  const GenerationResult result = engine::generate_greedily(*loaded.engine, prompt, generation, callbacks);
  emit(decoder->finish());

  const Report report = make_report(loaded, result, options.timings);
  if (options.json) {
    const auto json = result_json(loaded, prompt, text, result, report);
    write_result(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    write_result("\n", true);
  }
  print_summary(result, report);
  return result.reason == engine::FinishReason::interrupted ? kExitInterrupted : 0;
}

}  // namespace

void add_run_command(CLI::App& application, CommandRun& run) {
  CLI::App* command = application.add_subcommand("run", "Continue a prompt, greedily, streaming the text");
  auto options = std::make_shared<Options>();
  add_model_options(*command, options->model);
  add_prompt_options(*command, options->prompt);
  command->add_option("-n", options->max_tokens, "Tokens to generate at most")->capture_default_str()->type_name("N");
  command->add_option("--temp", options->temperature, "Temperature; this version has 0 (greedy)")
      ->capture_default_str()
      ->type_name("T");
  command->add_flag("--ignore-eos", options->ignore_end, "End-of-sequence tokens do not stop");
  command->add_flag("--special", options->special,
                    "Recognise control tokens in the text of -p and show them in the output");
  command->add_flag("--timings", options->timings,
                    "Also measure this machine's peaks and print the share that was reached");
  command->add_flag("--json", options->json, "Print one JSON object at the end instead of streaming text");
  add_later_flags(*command, {"--top-k", "--top-p", "--min-p", "--typical", "--repeat-penalty", "--repeat-last-n",
                             "--presence-penalty", "--frequency-penalty", "--logit-bias", "--seed", "--stop", "--kv",
                             "--fusion", "--draft", "--stats", "--receipt"});
  command->callback([options, &run] { run = [options] { return run_model(*options); }; });
}

}  // namespace lastbit::cli
