#include "base/quoted_text.hpp"

#include <fmt/format.h>

namespace lastbit {

std::string quoted_text(std::string_view text) {
  constexpr std::size_t kLongest = 96;
  std::string result = "'";
  for (const char character : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7F && byte != '\'' && byte != '\\') {
      result += character;
    } else {
      result += fmt::format("\\x{:02x}", byte);
    }
  }
  result += text.size() > kLongest ? fmt::format("...' ({} bytes)", text.size()) : "'";
  return result;
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string result;
  const std::string_view shown = text.substr(0, longest);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    const auto previous = static_cast<unsigned char>(i > 0 ? shown[i - 1] : 0);
    // U+0080 to U+009F are 0xC2 and then 0x80 to 0x9F; alone, 8-bit terminals take those bytes for control codes as
    // well.
    const bool second_control = byte >= 0x80 && byte < 0xA0 && (previous < 0x80 || previous == 0xC2);
    if (byte < 0x20 || byte == 0x7F || second_control) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += shown[i];
    }
  }
  if (text.size() > longest) result += fmt::format("... ({} bytes)", text.size());
  return result;
}

}  // namespace lastbit
