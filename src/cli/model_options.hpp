// Options that every command with a model shares, and what they load.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/execution.hpp"
#include "engine/engine.hpp"
#include "engine/model.hpp"

namespace CLI {
class App;
}

namespace lastbit::cli {

struct ModelOptions {
  std::string model;
  std::optional<std::string> precision;
  std::vector<std::string> allow_unknown;
  int threads = 0;  // 0: one for each processor that this process may use
  std::string chunk = "512";
};

void add_model_options(CLI::App& command, ModelOptions& options);

/// The prompt of `run` and `logits`: exactly one of text, ids on the command line, ids in a file.
struct PromptOptions {
  std::optional<std::string> text;
  std::optional<std::string> tokens;
  std::optional<std::string> tokens_file;
};

void add_prompt_options(CLI::App& command, PromptOptions& options);

/// A loaded model with everything that runs it.
struct LoadedModel {
  std::unique_ptr<blocks::Execution> execution;
  std::unique_ptr<engine::Model> model;
  std::unique_ptr<engine::Engine> engine;
  double load_seconds = 0.0;
};

/// Loads with progress on a terminal. Usage errors (precision, instruction set) come before anything is read.
LoadedModel load_model(const ModelOptions& options);

/// Tokens at a time (0: all), from "N" or "all"; anything else is ErrorKind::usage.
std::size_t parse_chunk(const std::string& text);

/// A whole decimal number and nothing else; false otherwise.
bool parse_whole_number(std::string_view text, std::size_t& value);

/// The ids of the prompt. Text is encoded as plain text (control tokens only with parse_special), with what the
/// checkpoint adds around it; ids are taken as they are. ErrorKind::usage for a malformed --tokens, ErrorKind::input
/// for a malformed file.
std::vector<text::TokenId> prompt_tokens(const PromptOptions& options, const text::Tokenizer& tokenizer,
                                         bool parse_special);

}  // namespace lastbit::cli
