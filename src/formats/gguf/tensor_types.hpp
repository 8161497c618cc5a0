// The tensor types that GGUF files name by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "numerics/element_type.hpp"

namespace lastbit::formats::gguf {

/// The name that ggml gives to the number, also of types that lastbit does not read or that were withdrawn; empty for a
/// number without a name.
std::string_view tensor_type_name(std::uint32_t id);

/// The element type of the number, or nothing where lastbit does not read it.
std::optional<numerics::ElementType> tensor_element_type(std::uint32_t id);

/// "type IQ4_NL (20) is not supported; ...": why tensor_element_type gave nothing, and what is supported.
std::string unsupported_tensor_type_message(std::uint32_t id);

}  // namespace lastbit::formats::gguf
