// UTF-8 as the Unicode Standard defines it (table 3-7): no surrogates, nothing over-long, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lastbit::text {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

/// The length (1 to 4) of the well-formed sequence that `bytes` starts with, or 0 where there is none.
std::size_t utf8_sequence_length(std::string_view bytes);

/// Whether more bytes could make `bytes` one well-formed sequence: a proper, non-empty prefix of one.
bool is_incomplete_utf8(std::string_view bytes);

bool is_valid_utf8(std::string_view bytes);

/// Moves the well-formed sequences at the start of `pending` to the end of `text`; a byte that starts none becomes
/// U+FFFD, one for each such byte, as SentencePiece does it. Unless `at_end`, an incomplete sequence at the end stays
/// in `pending`.
void drain_utf8(std::string& pending, bool at_end, std::string& text);

}  // namespace lastbit::text
