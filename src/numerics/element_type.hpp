// The storage types of tensors: their names, and how many bytes a block of elements takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lastbit::numerics {

/// How the elements of a tensor are stored. Block-quantized types are named as GGUF names them.
enum class ElementType : std::uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
};

struct ElementTypeInfo {
  std::string_view name;         // as printed: "Q4_K"
  std::uint32_t block_elements;  // 1 for plain types, 32 or 256 for block-quantized ones
  std::uint32_t block_bytes;
};

const ElementTypeInfo& element_type_info(ElementType type);

inline bool is_block_quantized(ElementType type) { return element_type_info(type).block_elements > 1; }

}  // namespace lastbit::numerics
