// Base64 (RFC 4648, section 4): how a JSON string carries bytes that are not UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lastbit::text {

/// The bytes, or nothing where `digits` is not the one canonical encoding of any: padded to a multiple of 4, no spaces
/// or line ends, unused bits zero.
std::optional<std::string> decode_base64(std::string_view digits);

}  // namespace lastbit::text
