#include "text/utf8.hpp"

namespace lastbit::text {
namespace {

// What a first byte demands: the length of its sequence, and the range of the second byte. All later bytes are 80..BF.
struct Lead {
  std::size_t length;  // 0: no sequence starts with this byte
  unsigned char second_minimum;
  unsigned char second_maximum;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};  // a continuation byte, or an over-long form of ASCII
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // below: over-long
  if (byte == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};  // below: over-long
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // above: beyond U+10FFFF
  return {0, 0, 0};
}

// How many bytes at the start agree with one well-formed sequence, and how long that sequence is.
struct Match {
  std::size_t agreeing;
  std::size_t length;
};

Match match_sequence(std::string_view bytes) {
  if (bytes.empty()) return {0, 0};
  const Lead lead = lead_of(static_cast<unsigned char>(bytes[0]));
  if (lead.length == 0) return {0, 0};
  std::size_t agreeing = 1;
  while (agreeing < lead.length && agreeing < bytes.size()) {
    const auto byte = static_cast<unsigned char>(bytes[agreeing]);
    const unsigned char minimum = agreeing == 1 ? lead.second_minimum : 0x80;
    const unsigned char maximum = agreeing == 1 ? lead.second_maximum : 0xBF;
    if (byte < minimum || byte > maximum) break;
    ++agreeing;
  }
  return {agreeing, lead.length};
}

}  // namespace

std::size_t utf8_sequence_length(std::string_view bytes) {
  const Match match = match_sequence(bytes);
  return match.agreeing == match.length ? match.length : 0;
}

bool is_incomplete_utf8(std::string_view bytes) {
  const Match match = match_sequence(bytes);
  return match.agreeing == bytes.size() && match.agreeing < match.length;
}

bool is_valid_utf8(std::string_view bytes) {
  for (std::size_t position = 0; position < bytes.size();) {
    const std::size_t length = utf8_sequence_length(bytes.substr(position));
    if (length == 0) return false;
    position += length;
  }
  return true;
}

void drain_utf8(std::string& pending, bool at_end, std::string& text) {
  std::size_t position = 0;
  while (position < pending.size()) {
    const std::string_view rest = std::string_view(pending).substr(position);
    const std::size_t length = utf8_sequence_length(rest);
    if (length == 0 && !at_end && is_incomplete_utf8(rest)) break;
    text += length == 0 ? kReplacementCharacter : rest.substr(0, length);
    position += length == 0 ? 1 : length;
  }
  pending.erase(0, position);
}

}  // namespace lastbit::text
