// GGUF files, versions 2 and 3: hostile bytes -> checked views. Nothing is copied but the table; tensor data and
// strings point into the mapped file.
//
// Refused, always with file, key or tensor, and byte offset: other magics and versions, big-endian files, counts and
// lengths that the rest of the file cannot hold, empty or over-long names, keys or tensors that come twice, unknown
// value and tensor types, arrays of arrays, booleans other than 0 and 1, an alignment that is not a power of two from 8
// to 65,536, zero dimensions, sizes beyond 2^64, rows that are no multiple of a block, and tensors that are misaligned,
// overlap or leave the file. No memory is taken on the word of a header: it stays within a small multiple of the bytes
// that are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/file.hpp"
#include "formats/tensor_table.hpp"

namespace lastbit::formats {

/// One metadata value. Arrays of numbers and strings keep GGUF's element type.
struct GgufValue {
  using Array = std::variant<std::vector<bool>, std::vector<std::uint64_t>, std::vector<std::int64_t>,
                             std::vector<double>, std::vector<std::string_view>>;
  std::variant<bool, std::uint64_t, std::int64_t, double, std::string_view, Array> value;
  std::string_view type_name;     // as the format calls it: "u32", "f32", "string", "array of i32" ...
  std::uint64_t file_offset = 0;  // of the value, for messages
};

/// A parsed and checked GGUF file. Every accessor that finds a wrong type throws ErrorKind::input naming file, key, the
/// type found and the type wanted.
class GgufFile {
 public:
  /// Maps and checks the whole header. Throws ErrorKind::input with file, tensor or key, and byte offset.
  explicit GgufFile(const std::string& path);

  /// The same for a file that lies in memory (fuzzers, tests); `name` stands for the path in messages.
  GgufFile(std::string name, std::vector<std::byte> content);

  GgufFile(GgufFile&&) noexcept = default;
  GgufFile& operator=(GgufFile&&) noexcept = default;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return bytes_.size(); }
  std::uint32_t version() const { return version_; }

  /// Keys in file order.
  const std::vector<std::string_view>& keys() const { return keys_; }
  const GgufValue* find(std::string_view key) const;

  std::optional<std::uint64_t> unsigned_integer(std::string_view key) const;  // any integer type, not negative
  std::optional<double> number(std::string_view key) const;                   // f32 or f64 (an f32 widened)
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  const std::vector<std::string_view>* string_array(std::string_view key) const;
  const std::vector<double>* number_array(std::string_view key) const;  // array of f32 or f64
  /// An array of any integer type. A value of 2^63 or more is refused.
  std::optional<std::vector<std::int64_t>> integer_array(std::string_view key) const;

  const TensorTable& tensors() const { return tensors_; }

 private:
  void parse();
  [[noreturn]] void fail_value(std::string_view key, const GgufValue& value, std::string_view message) const;
  template <class T>
  const T* scalar(std::string_view key, std::string_view wanted) const;
  template <class T>
  const std::vector<T>* array(std::string_view key, std::string_view wanted) const;

  std::string path_;
  std::optional<MappedFile> file_;  // one of these two holds the bytes; both keep their address when moved
  std::vector<std::byte> memory_;
  std::span<const std::byte> bytes_;
  std::uint32_t version_ = 0;
  std::vector<std::string_view> keys_;
  std::unordered_map<std::string_view, GgufValue> values_;
  TensorTable tensors_;
};

}  // namespace lastbit::formats
