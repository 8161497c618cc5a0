// Rule A5 in plain loops, and the table of the scalar set, which runs them.
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/rms_norm/rms_norm.hpp"

namespace lastbit::kernels {
namespace {

constexpr std::size_t kLanes = 32;

float canonical(float x) { return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x; }

float sum_of_squares(const float* x, std::size_t size) {
  float lane[kLanes] = {};
  for (std::size_t i = 0; i < size; ++i) lane[i % kLanes] = std::fma(x[i], x[i], lane[i % kLanes]);
  for (std::size_t distance = kLanes / 2; distance > 0; distance /= 2) {
    for (std::size_t l = 0; l < distance; ++l) lane[l] += lane[l + distance];
  }
  return lane[0];
}

void add(float* residual, const float* x, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) residual[i] = canonical(residual[i] + x[i]);
}

void scale(float* x, float factor, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) x[i] = canonical(x[i] * factor);
}

}  // namespace

void rms_norm_reference(const float* x, const float* weight, std::size_t size, float epsilon, float* y) {
  const float mean = sum_of_squares(x, size) / static_cast<float>(size);
  const float r = 1.0F / std::sqrt(mean + epsilon);
  for (std::size_t i = 0; i < size; ++i) {
    const float normalized = x[i] * r;
    y[i] = canonical(weight != nullptr ? normalized * weight[i] : normalized);
  }
}

}  // namespace lastbit::kernels

namespace lastbit::scalar {
extern const kernels::RmsNormKernels rms_norm_table;
const kernels::RmsNormKernels rms_norm_table = {kernels::rms_norm_reference, kernels::add, kernels::scale};
}  // namespace lastbit::scalar
