#include "blocks/normalization.hpp"

#include <algorithm>

namespace lastbit::blocks {

void normalize_rows(const NormWeight& weight, std::size_t size, float epsilon, const float* input, std::size_t rows,
                    float* output, Execution& execution) {
  if (weight.empty()) {
    if (input != output) std::copy(input, input + rows * size, output);
    return;
  }
  execution.for_each_row(rows, [&](std::size_t row) {
    execution.rms_norm().row(input + row * size, weight.data(), size, epsilon, output + row * size);
  });
}

void add_branch(const NormWeight& post_norm, float epsilon, std::size_t size, float* branch, std::size_t rows,
                float* hidden, Execution& execution) {
  const kernels::RmsNormKernels& kernels = execution.rms_norm();
  execution.for_each_row(rows, [&](std::size_t row) {
    float* addend = branch + row * size;
    if (!post_norm.empty()) kernels.row(addend, post_norm.data(), size, epsilon, addend);
    kernels.add(hidden + row * size, addend, size);
  });
}

}  // namespace lastbit::blocks
