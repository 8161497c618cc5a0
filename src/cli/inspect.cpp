// lastbit inspect: what a checkpoint declares, each decision of the load with its source, and the tensors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/quoted_text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "engine/precision_policy.hpp"
#include "families/describe.hpp"
#include "formats/gguf/gguf.hpp"
#include "text/tokenizer.hpp"

namespace lastbit::cli {
namespace {

struct Options {
  std::string model;
  std::optional<std::string> precision;
  std::vector<std::string> allow_unknown;
  bool tensors = false;
  bool json = false;
};

struct Inspection {
  formats::GgufFile file;
  families::Description description;
  std::unique_ptr<text::Tokenizer> tokenizer;
  engine::PrecisionPolicy policy;
};

nlohmann::ordered_json decisions_json(const std::vector<Decision>& decisions) {
  auto list = nlohmann::ordered_json::array();
  for (const Decision& decision : decisions)
    list.push_back({{"name", decision.name}, {"value", decision.value}, {"source", decision.source}});
  return list;
}

nlohmann::ordered_json tensors_json(const formats::GgufFile& file) {
  auto list = nlohmann::ordered_json::array();
  for (const formats::TensorView& tensor : file.tensors().all()) {
    list.push_back({{"name", tensor.name},
                    {"type", numerics::element_type_info(tensor.type).name},
                    {"shape", tensor.shape},
                    {"offset", tensor.file_offset},
                    {"bytes", tensor.data.size()}});
  }
  return list;
}

nlohmann::ordered_json inspection_json(const Inspection& inspection) {
  nlohmann::ordered_json json;
  json["file"] = inspection.file.path();
  json["format"] = {{"name", "GGUF"}, {"version", inspection.file.version()}, {"bytes", inspection.file.size()}};
  json["family"] = inspection.description.family->architecture;
  json["parameters"] = parameter_count(inspection.file);
  json["policy"] = {
      {"name", inspection.policy.name()}, {"fields", inspection.policy.fields()}, {"reason", inspection.policy.reason}};
  json["decisions"] = decisions_json(inspection.description.decisions);
  json["tokenizer"] = {{"kind", inspection.tokenizer->kind()},
                       {"vocabulary_size", inspection.tokenizer->vocabulary_size()},
                       {"decisions", decisions_json(inspection.tokenizer->decisions())}};
  json["inert_keys"] = inspection.description.inert_keys;
  json["overlooked"] = inspection.description.overlooked;
  json["tensors"] = tensors_json(inspection.file);
  return json;
}

std::string decisions_text(const std::vector<Decision>& decisions) {
  std::string text;
  for (const Decision& decision : decisions) {
    text += fmt::format("  {:<34} {:<28} {}\n", printable(decision.name), printable(decision.value),
                        printable(decision.source));
  }
  return text;
}

std::string tensors_text(const formats::GgufFile& file) {
  std::string text = "\ntensors (name, type, shape, bytes, offset)\n";
  for (const formats::TensorView& tensor : file.tensors().all()) {
    text += fmt::format("  {:<40} {:<5} {:<16} {:>12} {:>12}\n", printable(tensor.name),
                        numerics::element_type_info(tensor.type).name, formats::shape_text(tensor.shape),
                        tensor.data.size(), tensor.file_offset);
  }
  return text;
}

std::string inspection_text(const Inspection& inspection) {
  const formats::GgufFile& file = inspection.file;
  const families::Description& description = inspection.description;
  std::string text =
      fmt::format("{}: GGUF version {}, {}, {} keys, {} tensors\n", printable(file.path()), file.version(),
                  bytes_text(file.size()), file.keys().size(), file.tensors().all().size());
  text += fmt::format("family: {} ({}), {:.1f} M parameters, {}\n", description.family->architecture,
                      description.family->title, static_cast<double>(parameter_count(file)) * 1e-6,
                      tensor_types_text(file));
  text += fmt::format("policy: {}: {} ({})\n", inspection.policy.name(), inspection.policy.fields(),
                      inspection.policy.reason);
  text += "\ndecisions (name, value, where it came from)\n" + decisions_text(description.decisions);
  text += fmt::format("\ntokenizer: {}, {} pieces\n", inspection.tokenizer->kind(),
                      inspection.tokenizer->vocabulary_size());
  text += decisions_text(inspection.tokenizer->decisions());
  text += "\nwithout influence on the answer:";
  for (const std::string& key : description.inert_keys) text += " " + printable(key);
  text += "\n";
  for (const std::string& name : description.overlooked)
    text += fmt::format("overlooked (--allow-unknown): {}\n", quoted_text(name));
  return text;
}

int inspect(const Options& options) {
  Inspection inspection{formats::GgufFile(options.model), {}, nullptr, engine::choose_precision(options.precision)};
  inspection.description = families::describe(inspection.file, {options.allow_unknown});
  inspection.tokenizer = text::load_tokenizer(inspection.file, options.allow_unknown);
  if (options.json) {
    write_result(inspection_json(inspection).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    write_result(inspection_text(inspection) + (options.tensors ? tensors_text(inspection.file) : ""));
  }
  return 0;
}

}  // namespace

void add_inspect_command(CLI::App& application, CommandRun& run) {
  CLI::App* command =
      application.add_subcommand("inspect", "What a checkpoint declares: every decision, its value and its source");
  auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "Checkpoint: a GGUF file")->required()->type_name("MODEL");
  command->add_option("--precision", options->precision, "Precision policy to report")->type_name("P");
  command->add_option("--allow-unknown", options->allow_unknown, "Overlook an unknown key or tensor (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--tensors", options->tensors, "List every tensor (always in --json)");
  command->add_flag("--json", options->json, "Print one JSON object");
  add_later_flags(*command, {"--set", "--rounding"});
  command->callback([options, &run] { run = [options] { return inspect(*options); }; });
}

}  // namespace lastbit::cli
