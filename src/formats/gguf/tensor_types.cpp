#include "formats/gguf/tensor_types.hpp"

#include <fmt/format.h>

#include <array>

namespace lastbit::formats::gguf {
namespace {

// ggml's enumeration as of 2026; numbers are never given twice. 4, 5, 31-33 and 36-38 were withdrawn.
constexpr std::array<std::string_view, 43> kNames = {
    "F32",        "F16",        "Q4_0",       "Q4_1",  "Q4_2",     "Q4_3",     "Q5_0",     "Q5_1",    "Q8_0",
    "Q8_1",       "Q2_K",       "Q3_K",       "Q4_K",  "Q5_K",     "Q6_K",     "Q8_K",     "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS",    "IQ1_S",      "IQ4_NL",     "IQ3_S", "IQ2_S",    "IQ4_XS",   "I8",       "I16",     "I32",
    "I64",        "F64",        "IQ1_M",      "BF16",  "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0",
    "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4", "NVFP4",    "Q1_0",     "Q2_0"};

}  // namespace

std::string_view tensor_type_name(std::uint32_t id) { return id < kNames.size() ? kNames[id] : std::string_view(); }

std::optional<numerics::ElementType> tensor_element_type(std::uint32_t id) {
  using numerics::ElementType;
  switch (id) {
    case 0:
      return ElementType::f32;
    case 1:
      return ElementType::f16;
    case 2:
      return ElementType::q4_0;
    case 3:
      return ElementType::q4_1;
    case 6:
      return ElementType::q5_0;
    case 7:
      return ElementType::q5_1;
    case 8:
      return ElementType::q8_0;
    case 10:
      return ElementType::q2_k;
    case 11:
      return ElementType::q3_k;
    case 12:
      return ElementType::q4_k;
    case 13:
      return ElementType::q5_k;
    case 14:
      return ElementType::q6_k;
    case 30:
      return ElementType::bf16;
    default:
      return std::nullopt;
  }
}

std::string unsupported_tensor_type_message(std::uint32_t id) {
  const std::string_view name = tensor_type_name(id);
  std::string text = name.empty() ? fmt::format("type number {} is unknown", id)
                                  : fmt::format("type {} ({}) is not supported", name, id);
  text += "; lastbit reads";
  for (std::uint32_t known = 0; known < kNames.size(); ++known) {
    if (tensor_element_type(known)) text += fmt::format(" {}", kNames[known]);
  }
  return text;
}

}  // namespace lastbit::formats::gguf
