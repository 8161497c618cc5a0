// RMS norms (rule A5) of rows and of heads, and the residual addition.
#pragma once

#include <cstddef>

#include "blocks/decoder.hpp"
#include "blocks/execution.hpp"

namespace lastbit::blocks {

/// output[row] = norm(input[row]) for dense rows of `size` elements, or input[row] where the block has no such norm (an
/// empty weight); input and output may be the same.
void normalize_rows(const NormWeight& weight, std::size_t size, float epsilon, const float* input, std::size_t rows,
                    float* output, Execution& execution);

/// hidden[row] = fl(hidden[row] + norm(branch[row])); without a weight the branch is added as it is.
void add_branch(const NormWeight& post_norm, float epsilon, std::size_t size, float* branch, std::size_t rows,
                float* hidden, Execution& execution);

}  // namespace lastbit::blocks
