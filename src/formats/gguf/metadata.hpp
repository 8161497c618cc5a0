// The key-value section of a GGUF file.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/gguf/byte_cursor.hpp"
#include "formats/gguf/gguf.hpp"

namespace lastbit::formats::gguf {

/// The fewest bytes a key with its value can take: length, one character, value type, one byte.
inline constexpr std::uint64_t kSmallestKeyValue = 8 + 1 + 4 + 1;

/// Reads a key: 1 to 65,535 printable ASCII bytes. Sets the cursor's subject to it.
std::string_view read_key(ByteCursor& cursor, std::uint64_t index);

/// Reads a value type and the value. Refuses unknown types, arrays of arrays and booleans other than 0 and 1.
GgufValue read_value(ByteCursor& cursor);

}  // namespace lastbit::formats::gguf
