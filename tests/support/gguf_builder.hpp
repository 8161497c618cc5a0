// Writes GGUF files for tests, well-formed or deliberately not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lastbit::test {

/// The little-endian bytes of a number.
template <class T>
std::string number_bytes(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// A GGUF string: its length in 64 bits and its bytes.
inline std::string gguf_string(std::string_view text) {
  return number_bytes<std::uint64_t>(text.size()) + std::string(text);
}

template <class T>
constexpr std::uint32_t gguf_type_number() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return 0;
  if constexpr (std::is_same_v<T, std::int8_t>) return 1;
  if constexpr (std::is_same_v<T, std::uint16_t>) return 2;
  if constexpr (std::is_same_v<T, std::int16_t>) return 3;
  if constexpr (std::is_same_v<T, std::uint32_t>) return 4;
  if constexpr (std::is_same_v<T, std::int32_t>) return 5;
  if constexpr (std::is_same_v<T, float>) return 6;
  if constexpr (std::is_same_v<T, bool>) return 7;
  if constexpr (std::is_same_v<T, std::uint64_t>) return 10;
  if constexpr (std::is_same_v<T, std::int64_t>) return 11;
  if constexpr (std::is_same_v<T, double>) return 12;
}
inline constexpr std::uint32_t kGgufString = 8;
inline constexpr std::uint32_t kGgufArray = 9;

class GgufBuilder {
 public:
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;  // how data is laid out; the key general.alignment is up to the caller
  std::uint64_t extra_keys = 0;  // added to the announced counts, modulo 2^64
  std::uint64_t extra_tensors = 0;

  /// A key with a value type and the value's bytes as given.
  GgufBuilder& raw(std::string_view key, std::uint32_t type, std::string_view value) {
    return raw_entry(gguf_string(key) + number_bytes(type) + std::string(value));
  }
  /// A whole entry of the key section as given.
  GgufBuilder& raw_entry(std::string_view bytes) {
    keys_ += bytes;
    ++key_count_;
    return *this;
  }
  template <class T>
  GgufBuilder& number(std::string_view key, T value) {
    return raw(key, gguf_type_number<T>(), number_bytes(value));
  }
  GgufBuilder& string(std::string_view key, std::string_view value) {
    return raw(key, kGgufString, gguf_string(value));
  }
  template <class T>
  GgufBuilder& numbers(std::string_view key, const std::vector<T>& values) {
    std::string bytes;
    for (const T value : values) bytes += number_bytes(value);
    return raw_array(key, gguf_type_number<T>(), values.size(), bytes);
  }
  GgufBuilder& strings(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes;
    for (const std::string& value : values) bytes += gguf_string(value);
    return raw_array(key, kGgufString, values.size(), bytes);
  }
  GgufBuilder& raw_array(std::string_view key, std::uint32_t type, std::uint64_t count, std::string_view elements) {
    return raw(key, kGgufArray, number_bytes(type) + number_bytes(count) + std::string(elements));
  }

  /// A tensor whose data follow those of the tensor before. Dimensions fastest first, as in the file.
  GgufBuilder& tensor(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t>& dimensions,
                      std::string_view data) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    tensor_at(name, type, dimensions, data_.size());
    data_ += data;
    return *this;
  }
  /// A tensor info alone, with the offset as given.
  GgufBuilder& tensor_at(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t>& dimensions,
                         std::uint64_t offset) {
    std::string info = gguf_string(name) + number_bytes(static_cast<std::uint32_t>(dimensions.size()));
    for (const std::uint64_t dimension : dimensions) info += number_bytes(dimension);
    return raw_tensor(info + number_bytes(type) + number_bytes(offset));
  }
  /// A whole info as given.
  GgufBuilder& raw_tensor(std::string_view bytes) {
    tensors_ += bytes;
    ++tensor_count_;
    return *this;
  }

  std::string bytes() const {
    std::string file = "GGUF" + number_bytes(version) + number_bytes(tensor_count_ + extra_tensors) +
                       number_bytes(key_count_ + extra_keys) + keys_ + tensors_;
    if (!data_.empty()) file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data_;
  }

 private:
  std::string keys_;
  std::string tensors_;
  std::string data_;
  std::uint64_t key_count_ = 0;
  std::uint64_t tensor_count_ = 0;
};

/// Text as the bytes that GgufFile takes.
inline std::vector<std::byte> to_bytes(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace lastbit::test
