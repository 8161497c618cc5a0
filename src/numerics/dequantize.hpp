// Rule A3: the binary32 values that stored weights stand for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numerics/element_type.hpp"

namespace lastbit::numerics {

/// The binary32 values of `count` consecutive elements stored as `type` at `data` (no alignment needed).
/// `count` is a multiple of the type's block. F32, F16 and BF16 are widened exactly; block-quantized types follow rule
/// A3: w = fl(d * sc * q - dmin * m), or fl(d * q + m), one rounding at most. Source of the block layouts: the GGUF
/// format.
void dequantize(ElementType type, const void* data, std::size_t count, float* values);

/// The index of the first block whose scale (d, dmin or m) is infinite or NaN, or -1: rule A3 refuses such a tensor.
/// Plain types have no scale and always give -1.
std::ptrdiff_t first_bad_scale(ElementType type, const void* data, std::size_t blocks);

}  // namespace lastbit::numerics
