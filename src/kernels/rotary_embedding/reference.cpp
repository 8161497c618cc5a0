// Rule A7 in plain loops, the angles that all instruction sets share, and the table of the scalar set.
#include <cmath>
#include <limits>

#include "kernels/rotary_embedding/rotary_embedding.hpp"
#include "numerics/elementary/elementary.hpp"

namespace lastbit::kernels {
namespace {

float canonical(float x) { return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x; }

}  // namespace

std::vector<float> rotary_inverse_frequencies(float base, std::size_t dimensions) {
  std::vector<float> result(dimensions / 2);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = numerics::inverse_frequency(base, i, dimensions);
  return result;
}

void rotary_angles(const float* inverse_frequency, std::size_t count, std::uint64_t position, float attention_factor,
                   float* cosine, float* sine) {
  for (std::size_t i = 0; i < count; ++i) {
    const float angle = static_cast<float>(position) * inverse_frequency[i];
    cosine[i] = numerics::cos(angle) * attention_factor;  // a factor of 1 changes nothing
    sine[i] = numerics::sin(angle) * attention_factor;
  }
}

void rotary_embedding_reference(float* x, const float* cosine, const float* sine, std::size_t half) {
  for (std::size_t i = 0; i < half; ++i) {
    const float x1 = x[i];
    const float x2 = x[half + i];
    x[i] = canonical(x1 * cosine[i] - x2 * sine[i]);
    x[half + i] = canonical(x2 * cosine[i] + x1 * sine[i]);
  }
}

}  // namespace lastbit::kernels

namespace lastbit::scalar {
extern const kernels::RotaryEmbeddingKernels rotary_embedding_table;
const kernels::RotaryEmbeddingKernels rotary_embedding_table = {kernels::rotary_embedding_reference};
}  // namespace lastbit::scalar
