#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace lastbit::cli {
namespace {

[[noreturn]] void fail_to_write() {
  throw_environment(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

}  // namespace

void reserve_standard_streams() {
  for (const int descriptor : {0, 1, 2}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is the one we look at. The wrong direction, so that using it fails as it would closed.
    if (::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void write_result(std::string_view text, bool flush) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_to_write();
  if (flush) flush_results();
}

void flush_results() {
  if (std::fflush(stdout) != 0) fail_to_write();
}

void write_message(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace lastbit::cli
