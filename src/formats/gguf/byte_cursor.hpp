// Reads the header of a GGUF file front to back. Every length is checked against the bytes that are left before it is
// used.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/quoted_text.hpp"

namespace lastbit::formats::gguf {

static_assert(std::endian::native == std::endian::little, "GGUF files of versions 2 and 3 are read in place");

/// "model.gguf: key 'general.name' at byte 24: message". The form of every message about a place in a GGUF file.
std::string place_message(std::string_view path, std::string_view subject, std::uint64_t offset,
                          std::string_view message);

class ByteCursor {
 public:
  ByteCursor(std::string_view path, std::span<const std::byte> bytes) : path_(path), bytes_(bytes) {}

  /// What is being read, for messages: "key 'general.name'".
  void set_subject(std::string subject) { subject_ = std::move(subject); }
  const std::string& subject() const { return subject_; }

  std::string_view path() const { return path_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t remaining() const { return bytes_.size() - offset_; }

  /// The next `size` bytes; `what` they are is said when the file ends before them.
  std::span<const std::byte> take(std::uint64_t size, std::string_view what) {
    if (size > remaining()) fail_truncated(size, what);
    const auto taken = bytes_.subspan(offset_, size);
    offset_ += size;
    return taken;
  }

  /// A number of the file's type (integers and IEEE 754 floats, little-endian).
  template <class T>
  T read(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  /// A string: its length in 64 bits, then its bytes. Points into the file.
  std::string_view read_string(std::string_view what) {
    const auto length = read<std::uint64_t>(what);
    const auto text = take(length, what);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  /// `count` elements of at least `minimum_size` bytes each are announced at `offset`: refuses a count that the rest of
  /// the file cannot hold, before anybody makes room for it.
  void check_count(std::uint64_t count, std::uint64_t minimum_size, std::uint64_t offset, std::string_view what) const;

  /// Throws ErrorKind::input about the present subject.
  [[noreturn]] void fail(std::uint64_t offset, std::string_view message) const;

 private:
  [[noreturn]] void fail_truncated(std::uint64_t size, std::string_view what) const;

  std::string_view path_;
  std::span<const std::byte> bytes_;
  std::uint64_t offset_ = 0;
  std::string subject_ = "header";
};

}  // namespace lastbit::formats::gguf
