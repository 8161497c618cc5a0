#include "formats/gguf/byte_cursor.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace lastbit::formats::gguf {

std::string place_message(std::string_view path, std::string_view subject, std::uint64_t offset,
                          std::string_view message) {
  return fmt::format("{}: {} at byte {}: {}", path, subject, offset, message);
}

void ByteCursor::check_count(std::uint64_t count, std::uint64_t minimum_size, std::uint64_t offset,
                             std::string_view what) const {
  if (count <= remaining() / minimum_size) return;
  fail(offset, fmt::format("{} {} are announced, but the {} bytes that follow can hold {} at most: the file is damaged",
                           count, what, remaining(), remaining() / minimum_size));
}

void ByteCursor::fail(std::uint64_t offset, std::string_view message) const {
  throw_input(place_message(path_, subject_, offset, message));
}

void ByteCursor::fail_truncated(std::uint64_t size, std::string_view what) const {
  fail(offset_, fmt::format("the file ends inside {}: {} bytes are needed, {} are left (an incomplete download?)", what,
                            size, remaining()));
}

}  // namespace lastbit::formats::gguf
