// Where tests find their data.
#pragma once

#include <string>
#include <vector>

namespace lastbit::test {

/// tests/data/<name> in the source tree.
std::string data_path(const std::string& name);

/// models/<name> in the source tree: real checkpoints that `make models` fetches. Tests that need one call
/// LASTBIT_REQUIRE_MODEL, which reports the test as skipped ("not run") where the file is absent; .ci/run treats that
/// as a failure.
std::string model_path(const std::string& name);
bool file_exists(const std::string& path);

/// The lastbit program of this build.
std::string program_path();

/// The whole file; fails loudly (std::runtime_error) when it is missing.
std::string read_test_file(const std::string& path);

/// A path in a fresh private folder that is removed when the process ends.
std::string temporary_path(const std::string& name);

struct ProgramResult {
  int exit_code = -1;  // 128 + signal when it was killed
  std::string output;  // stdout
  std::string errors;  // stderr
};
/// Runs the lastbit program through the shell with redirections of the caller's, e.g. ">/dev/full" or "2>&-".
ProgramResult run_program_in_shell(const std::vector<std::string>& arguments, const std::string& redirections);

/// Runs the lastbit program with arguments (no shell) and extra environment entries "NAME=value".
ProgramResult run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

}  // namespace lastbit::test

#define LASTBIT_REQUIRE_MODEL(path) \
  if (!::lastbit::test::file_exists(path)) GTEST_SKIP() << "not run: " << (path) << " is absent (make models)"
