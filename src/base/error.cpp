#include "base/error.hpp"

namespace lastbit {

void throw_usage(const std::string& message) { throw Error(ErrorKind::usage, message); }
void throw_input(const std::string& message) { throw Error(ErrorKind::input, message); }
void throw_environment(const std::string& message) { throw Error(ErrorKind::environment, message); }

}  // namespace lastbit
