// What people read on stderr: the header of a run, progress, sizes and times; and the same facts as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/model_options.hpp"

namespace lastbit::cli {

/// One line that is rewritten in place; silent unless stderr is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string_view label);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(std::size_t done, std::size_t total, std::string_view unit);
  void clear();

 private:
  std::string label_;
  bool terminal_;
  bool shown_ = false;
};

/// Model, policy and its reason, instruction set, threads, arithmetic version.
void print_header(const LoadedModel& loaded);

/// The same facts as the object "run" of every JSON result (docs/commands.md), as JSON text: the JSON library stays out
/// of headers.
std::string run_json(const LoadedModel& loaded);

/// "253.1 MB" (decimal units).
std::string bytes_text(std::uint64_t bytes);

/// Tensor types with their share of the checkpoint: "Q8_0 178.4 MB, Q5_0 46.1 MB".
std::string tensor_types_text(const formats::GgufFile& file);

std::uint64_t parameter_count(const formats::GgufFile& file);

/// The most memory that this process has held, in bytes.
std::uint64_t peak_memory_bytes();

}  // namespace lastbit::cli
