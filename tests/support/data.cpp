#include "tests/support/data.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace lastbit::test {
namespace {

struct TemporaryFolder {
  std::string path;
  TemporaryFolder() : path((std::filesystem::temp_directory_path() / "lastbit-test-XXXXXX").string()) {
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot create a temporary folder");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

std::string data_path(const std::string& name) { return std::string(LASTBIT_SOURCE_DIRECTORY) + "/tests/data/" + name; }
std::string model_path(const std::string& name) { return std::string(LASTBIT_SOURCE_DIRECTORY) + "/models/" + name; }
bool file_exists(const std::string& path) { return std::filesystem::exists(path); }
std::string program_path() { return LASTBIT_PROGRAM; }

std::string read_test_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

std::string temporary_path(const std::string& name) {
  static const TemporaryFolder folder;
  return folder.path + "/" + name;
}

ProgramResult run_program_in_shell(const std::vector<std::string>& arguments, const std::string& redirections) {
  std::string command = "'" + program_path() + "'";
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  const std::string output_path = temporary_path("shell_stdout");
  const std::string errors_path = temporary_path("shell_stderr");
  // The caller's redirections come last and win.
  const int status = std::system((command + " >'" + output_path + "' 2>'" + errors_path + "' " + redirections).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_test_file(output_path),
          read_test_file(errors_path)};
}

ProgramResult run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  const std::string output_path = temporary_path("stdout");
  const std::string errors_path = temporary_path("stderr");
  const std::string program = program_path();
  std::vector<char*> argument_pointers{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argument_pointers.push_back(const_cast<char*>(argument.c_str()));
  argument_pointers.push_back(nullptr);
  std::vector<char*> environment_pointers;
  for (const std::string& entry : environment) environment_pointers.push_back(const_cast<char*>(entry.c_str()));
  for (char** entry = environ; *entry != nullptr; ++entry) environment_pointers.push_back(*entry);
  environment_pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    const int input = ::open("/dev/null", O_RDONLY);
    const int output = ::open(output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int errors = ::open(errors_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(errors, 2) < 0) ::_exit(127);
    ::execve(program.c_str(), argument_pointers.data(), environment_pointers.data());
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("cannot wait for the program");
  ProgramResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = read_test_file(output_path);
  result.errors = read_test_file(errors_path);
  return result;
}

}  // namespace lastbit::test
