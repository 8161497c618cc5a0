#include "cli/model_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/quoted_text.hpp"
#include "cli/command.hpp"
#include "cli/report.hpp"

namespace lastbit::cli {
namespace {

constexpr int kMostThreads = 1024;
constexpr std::size_t kLargestTokenId = std::numeric_limits<text::TokenId>::max();
constexpr std::uint64_t kLargestTokensFile = std::uint64_t{1} << 28;

std::vector<text::TokenId> parse_token_list(std::string_view text) {
  std::vector<text::TokenId> tokens;
  for (;;) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    std::size_t id = 0;
    if (!parse_whole_number(item, id) || id > kLargestTokenId) {
      throw_usage(fmt::format("--tokens: {} is not a token id (form: 2,651,9122)", quoted_text(item)));
    }
    tokens.push_back(static_cast<text::TokenId>(id));
    if (comma == std::string_view::npos) return tokens;
    text.remove_prefix(comma + 1);
  }
}

std::vector<text::TokenId> read_tokens_file(const std::string& path) {
  const std::string content = read_file(path, kLargestTokensFile);
  if (const std::size_t nul = content.find('\0'); nul != std::string::npos) {  // the parser would stop there
    throw_input(fmt::format("{}: is not JSON, at byte {} (a NUL byte)", path, nul + 1));
  }
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(content);
  } catch (const nlohmann::json::parse_error& error) {
    throw_input(fmt::format("{}: is not JSON, at byte {} (wanted: one array of token ids)", path, error.byte));
  }
  if (!document.is_array())
    throw_input(fmt::format("{}: holds a JSON {}, wanted: one array of token ids", path, document.type_name()));
  std::vector<text::TokenId> tokens;
  for (const nlohmann::json& item : document) {
    const bool fits = item.is_number_integer() && item >= 0 && item <= kLargestTokenId;
    if (!fits) throw_input(fmt::format("{}: element {} is not a token id", path, tokens.size()));
    tokens.push_back(item.get<text::TokenId>());
  }
  return tokens;
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("model", options.model, "Checkpoint: a GGUF file")->required()->type_name("MODEL");
  command
      .add_option("--precision", options.precision, "Precision policy: highest, or activations=f32,matmul=f32,kv=f32")
      ->type_name("P");
  command.add_option("--threads", options.threads, "Threads (default: the processors that this process may use)")
      ->check(CLI::Range(1, kMostThreads))
      ->type_name("N");
  command
      .add_option("--chunk", options.chunk, "Prompt tokens read in one pass, or all; the answer does not depend on it")
      ->capture_default_str()
      ->type_name("N|all");
  command
      .add_option("--allow-unknown", options.allow_unknown,
                  "Overlook an unknown key or tensor of the checkpoint (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_later_flags(command, {"--rounding", "--set"});
}

void add_prompt_options(CLI::App& command, PromptOptions& options) {
  CLI::Option_group* group = command.add_option_group("Prompt", "What to read (exactly one)");
  group->add_option("-p,--prompt", options.text, "Text; <bos> is added where the checkpoint says so")
      ->type_name("TEXT");
  group->add_option("--tokens", options.tokens, "Token ids: 2,651,9122; nothing is added")->type_name("IDS");
  group->add_option("--tokens-file", options.tokens_file, "File with one JSON array of token ids; nothing is added")
      ->type_name("FILE");
  group->require_option(1);
}

LoadedModel load_model(const ModelOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  engine::LoadOptions load;
  load.policy = engine::choose_precision(options.precision);
  load.allow_unknown = options.allow_unknown;
  parse_chunk(options.chunk);
  LoadedModel loaded;
  const int threads = options.threads == 0 ? default_thread_count() : options.threads;
  loaded.execution = std::make_unique<blocks::Execution>(cpu::active_isa(), threads);
  ProgressLine progress("loading");
  load.progress = [&](std::size_t done, std::size_t total) { progress.update(done, total, "tensors"); };
  loaded.model = std::make_unique<engine::Model>(options.model, load, loaded.execution->pool());
  progress.clear();
  loaded.engine = std::make_unique<engine::Engine>(*loaded.model, *loaded.execution);
  loaded.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return loaded;
}

std::size_t parse_chunk(const std::string& text) {
  if (text == "all") return 0;
  std::size_t chunk = 0;
  if (!parse_whole_number(text, chunk) || chunk == 0) {
    throw_usage(fmt::format("--chunk: {} is neither a positive number nor all", quoted_text(text)));
  }
  return chunk;
}

bool parse_whole_number(std::string_view text, std::size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<text::TokenId> prompt_tokens(const PromptOptions& options, const text::Tokenizer& tokenizer,
                                         bool parse_special) {
  std::vector<text::TokenId> tokens;
  if (options.tokens) {
    tokens = parse_token_list(*options.tokens);
  } else if (options.tokens_file) {
    tokens = read_tokens_file(*options.tokens_file);
  } else {
    text::EncodeOptions encode;
    encode.parse_special = parse_special;
    tokens = tokenizer.encode(*options.text, encode);
  }
  if (tokens.empty()) throw_input("the prompt has no tokens");
  return tokens;
}

}  // namespace lastbit::cli
