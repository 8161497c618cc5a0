// lastbit tokenize: texts to token ids and back, row by row, so that files of any size stream through.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <istream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/quoted_text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "formats/gguf/gguf.hpp"
#include "text/base64.hpp"
#include "text/tokenizer.hpp"

namespace lastbit::cli {
namespace {

using Json = nlohmann::json;

struct TokenizeOptions {
  std::string model;
  std::optional<std::string> text;
  std::optional<std::string> text_file;  // "-": standard input, here and in jsonl
  std::optional<std::string> jsonl;
  bool special = false;
  bool no_bos = false;
  bool decode = false;
  std::vector<std::string> allow_unknown;
};

// A file or standard input.
class Input {
 public:
  explicit Input(const std::string& path) : name_(path == "-" ? "standard input" : path), is_standard_(path == "-") {
    if (is_standard_) return;
    file_.open(path, std::ios::binary);
    if (!file_) throw_input(fmt::format("{}: cannot open: {}", name_, std::strerror(errno)));
  }

  const std::string& name() const { return name_; }
  bool is_standard() const { return is_standard_; }
  std::istream& stream() { return is_standard_ ? std::cin : file_; }

  bool next_line(std::string& line) {
    if (std::getline(stream(), line)) return true;
    check_read();
    return false;
  }

  std::string everything() {
    std::string content;
    char buffer[1 << 16];
    while (stream().read(buffer, sizeof buffer) || stream().gcount() > 0) {
      content.append(buffer, static_cast<std::size_t>(stream().gcount()));
      if (content.size() > kLongestText) {
        throw_input(fmt::format("{}: is longer than the limit of {} bytes for one text", name_, kLongestText));
      }
    }
    check_read();
    return content;
  }

 private:
  static constexpr std::size_t kLongestText = std::size_t{1} << 30;
  void check_read() {
    // Standard input is read through stdio, which keeps the error to itself.
    if (stream().bad() || (is_standard_ && std::ferror(stdin) != 0))
      throw_input(fmt::format("{}: cannot read it", name_));
  }

  std::string name_;
  bool is_standard_;
  std::ifstream file_;
};

void write_line(std::string line, bool flush) { write_result(line += '\n', flush); }

std::string ids_line(const std::vector<text::TokenId>& ids) {
  std::string line = "[";
  for (const text::TokenId id : ids) {
    if (line.size() > 1) line += ',';
    line += std::to_string(id);
  }
  return line + ']';
}

std::string encode_line(const text::Tokenizer& tokenizer, std::string_view text, const TokenizeOptions& options) {
  return ids_line(tokenizer.encode(text, {.add_special = !options.no_bos, .parse_special = options.special}));
}

std::string decode_line(const text::Tokenizer& tokenizer, const std::vector<text::TokenId>& ids,
                        const TokenizeOptions& options) {
  return Json(tokenizer.decode(ids, options.special)).dump();  // not escaped to ASCII; decoded text is valid UTF-8
}

// What a row is about: the bytes of its text. Keys beside these are the caller's own and are left alone.
std::string text_of_row(const Json& row) {
  const auto text = row.find("text");
  const auto bytes = row.find("bytes_base64");
  if ((text == row.end()) == (bytes == row.end())) {
    throw_input("a row needs either \"text\" or \"bytes_base64\"");
  }
  const bool is_text = text != row.end();
  const Json& value = is_text ? *text : *bytes;
  if (!value.is_string()) {
    throw_input(fmt::format("\"{}\" must be a string, not {}", is_text ? "text" : "bytes_base64", value.type_name()));
  }
  if (is_text) return value.get<std::string>();
  std::optional<std::string> decoded = text::decode_base64(value.get_ref<const std::string&>());
  if (!decoded) throw_input("\"bytes_base64\" is not base64 (RFC 4648, padded, without line breaks)");
  return *std::move(decoded);
}

std::vector<text::TokenId> ids_of_row(const Json& row) {
  const auto ids = row.find("ids");
  if (ids == row.end() || !ids->is_array()) throw_input("a row needs \"ids\", an array of token ids");
  std::vector<text::TokenId> result;
  result.reserve(ids->size());
  for (const Json& id : *ids) {
    constexpr std::uint64_t largest = std::numeric_limits<text::TokenId>::max();
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > largest) {
      throw_input(fmt::format("\"ids\"[{}] is {}, which is no token id", result.size(), id.dump()));
    }
    result.push_back(static_cast<text::TokenId>(id.get<std::uint64_t>()));
  }
  return result;
}

std::string row_line(const text::Tokenizer& tokenizer, const std::string& line, const TokenizeOptions& options) {
  if (line.find('\0') != std::string::npos) throw_input("is not a JSON row: it holds a NUL byte");
  Json row;
  try {
    row = Json::parse(line);
  } catch (const Json::exception& error) {
    throw_input(fmt::format("is not a JSON row: {}", printable(error.what())));
  }
  if (!row.is_object()) throw_input(fmt::format("a row must be a JSON object, not {}", row.type_name()));
  return options.decode ? decode_line(tokenizer, ids_of_row(row), options)
                        : encode_line(tokenizer, text_of_row(row), options);
}

void tokenize_rows(const text::Tokenizer& tokenizer, const TokenizeOptions& options) {
  Input input(*options.jsonl);
  std::uint64_t number = 0;
  for (std::string line; input.next_line(line);) {
    ++number;
    std::string result;
    try {
      result = row_line(tokenizer, line, options);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}:{}: {}", input.name(), number, error.what()));
    }
    write_line(std::move(result),
               input.is_standard());  // a program at the other end of the pipes may wait for each row
  }
}

int tokenize(const TokenizeOptions& options) {
  const std::unique_ptr<text::Tokenizer> tokenizer =
      text::load_tokenizer(formats::GgufFile(options.model), options.allow_unknown);
  if (options.jsonl) {
    tokenize_rows(*tokenizer, options);
  } else {
    const std::string text = options.text ? *options.text : Input(*options.text_file).everything();
    write_line(encode_line(*tokenizer, text, options), false);
  }
  return 0;
}

}  // namespace

void add_tokenize_command(CLI::App& application, CommandRun& run) {
  CLI::App* command = application.add_subcommand(
      "tokenize", "Token ids of texts as JSON arrays, one a line; with --decode texts of token ids as JSON strings");
  const auto options = std::make_shared<TokenizeOptions>();
  command->add_option("model", options->model, "Checkpoint: a GGUF file")->required()->type_name("MODEL");

  CLI::Option_group* source = command->add_option_group("Source", "Where the texts come from (exactly one)");
  source->add_option("--text", options->text, "This text")->type_name("TEXT");
  source->add_option("--text-file", options->text_file, "The whole content of a file (-: standard input)")
      ->type_name("FILE");
  CLI::Option* jsonl = source->add_option(
      "--jsonl", options->jsonl,
      "Rows {\"text\": ...} or {\"bytes_base64\": ...}; with --decode {\"ids\": [...]} (-: standard input)");
  jsonl->type_name("FILE");
  source->require_option(1);

  command->add_flag("--special", options->special,
                    "Recognise control tokens in texts; with --decode show them (otherwise they give nothing)");
  command->add_flag("--no-bos", options->no_bos, "Add nothing to a text (no bos, no eos)");
  command->add_flag("--decode", options->decode, "Token ids to texts")->needs(jsonl);
  command
      ->add_option("--allow-unknown", options->allow_unknown,
                   "Overlook an unknown tokenizer key of the checkpoint (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->callback([options, &run] { run = [options] { return tokenize(*options); }; });
}

}  // namespace lastbit::cli
