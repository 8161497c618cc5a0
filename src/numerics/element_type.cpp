#include "numerics/element_type.hpp"

#include "base/error.hpp"
#include "numerics/quantized_blocks.hpp"

namespace lastbit::numerics {
namespace {

template <class Block>
constexpr ElementTypeInfo block_info(std::string_view name) {
  return {name, static_cast<std::uint32_t>(Block::kElements), static_cast<std::uint32_t>(sizeof(Block))};
}

constexpr ElementTypeInfo kF32{"F32", 1, 4};
constexpr ElementTypeInfo kF16{"F16", 1, 2};
constexpr ElementTypeInfo kBf16{"BF16", 1, 2};
constexpr ElementTypeInfo kQ4_0 = block_info<BlockQ4_0>("Q4_0");
constexpr ElementTypeInfo kQ4_1 = block_info<BlockQ4_1>("Q4_1");
constexpr ElementTypeInfo kQ5_0 = block_info<BlockQ5_0>("Q5_0");
constexpr ElementTypeInfo kQ5_1 = block_info<BlockQ5_1>("Q5_1");
constexpr ElementTypeInfo kQ8_0 = block_info<BlockQ8_0>("Q8_0");
constexpr ElementTypeInfo kQ2_K = block_info<BlockQ2_K>("Q2_K");
constexpr ElementTypeInfo kQ3_K = block_info<BlockQ3_K>("Q3_K");
constexpr ElementTypeInfo kQ4_K = block_info<BlockQ4_K>("Q4_K");
constexpr ElementTypeInfo kQ5_K = block_info<BlockQ5_K>("Q5_K");
constexpr ElementTypeInfo kQ6_K = block_info<BlockQ6_K>("Q6_K");

}  // namespace

const ElementTypeInfo& element_type_info(ElementType type) {
  switch (type) {  // without a default, so that the compiler names a type that is missing here
    case ElementType::f32:
      return kF32;
    case ElementType::f16:
      return kF16;
    case ElementType::bf16:
      return kBf16;
    case ElementType::q4_0:
      return kQ4_0;
    case ElementType::q4_1:
      return kQ4_1;
    case ElementType::q5_0:
      return kQ5_0;
    case ElementType::q5_1:
      return kQ5_1;
    case ElementType::q8_0:
      return kQ8_0;
    case ElementType::q2_k:
      return kQ2_K;
    case ElementType::q3_k:
      return kQ3_K;
    case ElementType::q4_k:
      return kQ4_K;
    case ElementType::q5_k:
      return kQ5_K;
    case ElementType::q6_k:
      return kQ6_K;
  }
  throw_usage("an element type outside the list of src/numerics/element_type.hpp");
}

}  // namespace lastbit::numerics
