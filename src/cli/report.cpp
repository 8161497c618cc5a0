#include "cli/report.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/quoted_text.hpp"
#include "cli/output.hpp"
#include "lastbit/version.hpp"

namespace lastbit::cli {

ProgressLine::ProgressLine(std::string_view label) : label_(label), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(std::size_t done, std::size_t total, std::string_view unit) {
  if (!terminal_) return;
  write_message(fmt::format("\r\033[K{} {} of {} {}", label_, done, total, unit));
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  write_message("\r\033[K");
  shown_ = false;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 1000000000) return fmt::format("{:.2f} GB", static_cast<double>(bytes) * 1e-9);
  if (bytes >= 1000000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
  return fmt::format("{:.1f} kB", static_cast<double>(bytes) * 1e-3);
}

std::string tensor_types_text(const formats::GgufFile& file) {
  std::map<std::string_view, std::uint64_t> sizes;
  for (const formats::TensorView& tensor : file.tensors().all()) {
    sizes[numerics::element_type_info(tensor.type).name] += tensor.data.size();
  }
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted(sizes.begin(), sizes.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, size] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, bytes_text(size));
  return text;
}

std::uint64_t parameter_count(const formats::GgufFile& file) {
  std::uint64_t count = 0;
  for (const formats::TensorView& tensor : file.tensors().all()) {
    std::uint64_t elements = 1;
    for (const std::uint64_t dimension : tensor.shape) elements *= dimension;
    count += elements;
  }
  return count;
}

void print_header(const LoadedModel& loaded) {
  const engine::Model& model = *loaded.model;
  const engine::PrecisionPolicy& policy = model.policy();
  blocks::Execution& execution = *loaded.execution;
  const int threads = execution.pool().threads();
  std::string header = fmt::format("lastbit {} (arithmetic {})\n", kVersion, kArithmeticVersion);
  header += fmt::format("  model    {}: {}, {:.1f} M parameters, {}\n", printable(model.file().path()),
                        model.description().family->title, static_cast<double>(parameter_count(model.file())) * 1e-6,
                        tensor_types_text(model.file()));
  header += fmt::format("  policy   {}: {} ({})\n", policy.name(), policy.fields(), policy.reason);
  header += fmt::format("  machine  {}, instruction set {}, {} thread{}\n", cpu::processor_name(),
                        cpu::isa_name(execution.isa()), threads, threads == 1 ? "" : "s");
  for (const std::string& name : model.description().overlooked) {
    header += fmt::format("  warning  {} is unknown and was overlooked (--allow-unknown)\n", quoted_text(name));
  }
  write_message(header);
}

std::string run_json(const LoadedModel& loaded) {
  const engine::Model& model = *loaded.model;
  const nlohmann::ordered_json run = {{"version", kVersion},
                                      {"arithmetic", kArithmeticVersion},
                                      {"model", model.file().path()},
                                      {"family", model.description().family->architecture},
                                      {"policy", model.policy().fields()},
                                      {"policy_reason", model.policy().reason},
                                      {"isa", cpu::isa_name(loaded.execution->isa())},
                                      {"threads", loaded.execution->pool().threads()},
                                      {"processor", cpu::processor_name()}};
  return run.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::uint64_t peak_memory_bytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace lastbit::cli
