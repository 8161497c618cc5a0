// Uses all of a parsed GGUF file as an engine might: what parsers tests and fuzzers run on hostile files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "formats/gguf/gguf.hpp"
#include "numerics/dequantize.hpp"

namespace lastbit::test {

/// Asks every accessor for every key, reads every byte of every value and every tensor; returns a checksum, so that
/// nothing is optimised away. Errors of the closed set are expected; anything else gets out.
inline std::uint64_t exercise_gguf(const formats::GgufFile& file) {
  std::uint64_t sum = file.version() + file.size();
  const auto add_text = [&](std::string_view text) {
    for (const char character : text) sum += static_cast<unsigned char>(character);
  };
  const auto attempt = [](const auto& use) {
    try {
      use();
    } catch (const Error&) {
    }
  };
  for (const std::string_view key : file.keys()) {
    add_text(key);
    attempt([&] { sum += file.unsigned_integer(key).value(); });
    attempt([&] { sum += file.number(key).value() > 0 ? 1 : 0; });
    attempt([&] { sum += file.boolean(key).value() ? 1 : 0; });
    attempt([&] { add_text(file.string(key).value()); });
    attempt([&] {
      for (const std::string_view text : *file.string_array(key)) add_text(text);
    });
    attempt([&] {
      for (const double value : *file.number_array(key)) sum += value > 0 ? 1 : 0;
    });
    attempt([&] {
      const auto integers = file.integer_array(key);
      for (const std::int64_t value : integers.value()) sum += static_cast<std::uint64_t>(value);
    });
  }
  for (const formats::TensorView& tensor : file.tensors().all()) {
    add_text(tensor.name);
    for (const std::byte byte : tensor.data) sum += static_cast<std::uint64_t>(byte);
    const auto& element = numerics::element_type_info(tensor.type);
    sum += static_cast<std::uint64_t>(
        numerics::first_bad_scale(tensor.type, tensor.data.data(), tensor.data.size() / element.block_bytes));
  }
  return sum;
}

}  // namespace lastbit::test
