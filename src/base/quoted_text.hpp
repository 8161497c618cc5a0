// Text from a file or a request, made fit for a message or a terminal: hostile input may hold control sequences.
#pragma once

#include <string>
#include <string_view>

namespace lastbit {

/// In single quotes, other than printable ASCII escaped, cut after 96 bytes: for names and values in messages.
std::string quoted_text(std::string_view text);

/// As it is, but control characters (C0, DEL, C1) escaped, cut after `longest` bytes: for values that people read.
std::string printable(std::string_view text, std::size_t longest = 400);

}  // namespace lastbit
