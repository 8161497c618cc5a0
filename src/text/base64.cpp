#include "text/base64.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace lastbit::text {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> decode_base64(std::string_view digits) {
  if (digits.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < digits.size() && digits[digits.size() - 1 - padding] == '=') ++padding;

  std::string bytes;
  bytes.reserve(digits.size() / 4 * 3);
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char digit : digits.substr(0, digits.size() - padding)) {
    const std::size_t value = kAlphabet.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes += static_cast<char>(bits >> bit_count & 0xFF);
  }
  const std::uint32_t unused = bits & ((std::uint32_t{1} << bit_count) - 1);
  return unused == 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace lastbit::text
