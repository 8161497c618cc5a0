// GGUF files, versions 2 and 3: hostile bytes -> checked views. Nothing is copied but the table; tensor data and strings
// point into the mapped file.
#pragma once

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
  using Array = std::variant<std::vector<bool>, std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>,
                             std::vector<std::string_view>>;
  std::variant<bool, std::uint64_t, std::int64_t, double, std::string_view, Array> value;
  std::string_view type_name;      // as the format calls it: "u32", "f32", "string", "array of i32" ...
  std::uint64_t file_offset = 0;   // of the value, for messages
};

/// A parsed and checked GGUF file. Every accessor that finds a wrong type throws ErrorKind::input naming file, key, the type
/// found and the type wanted.
class GgufFile {
 public:
  /// Maps and checks the whole header. Throws ErrorKind::input with file, tensor or key, and byte offset.
  explicit GgufFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  std::uint64_t size() const { return file_.bytes().size(); }
  std::uint32_t version() const { return version_; }

  /// Keys in file order.
  const std::vector<std::string_view>& keys() const { return keys_; }
  const GgufValue* find(std::string_view key) const;

  std::optional<std::uint64_t> unsigned_integer(std::string_view key) const;  // any integer type, not negative
  std::optional<double> number(std::string_view key) const;                   // f32 or f64 (an f32 widened)
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  const std::vector<std::string_view>* string_array(std::string_view key) const;
  const std::vector<double>* number_array(std::string_view key) const;        // array of f32 or f64
  std::optional<std::vector<std::int64_t>> integer_array(std::string_view key) const;

  const TensorTable& tensors() const { return tensors_; }

 private:
  MappedFile file_;
  std::uint32_t version_ = 0;
  std::vector<std::string_view> keys_;
  std::unordered_map<std::string_view, GgufValue> values_;
  TensorTable tensors_;
};

}  // namespace lastbit::formats
