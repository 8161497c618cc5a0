// The closed set of errors that the library raises. The library never prints and never aborts: it throws
// lastbit::Error, and the command line turns the kind into an exit code (2 wrong usage, 3 input refused, 4 environment
// failed: docs/commands.md).
#pragma once

#include <stdexcept>
#include <string>

namespace lastbit {

enum class ErrorKind {
  usage,        // an unknown flag or value, an instruction set or policy that this machine or build lacks
  input,        // a checkpoint, prompt or request was refused
  environment,  // disk, network or memory failed
};

/// An error with a message for the person at the keyboard: what is wrong, where (file, tensor, byte), what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

[[noreturn]] void throw_usage(const std::string& message);
[[noreturn]] void throw_input(const std::string& message);
[[noreturn]] void throw_environment(const std::string& message);

}  // namespace lastbit
