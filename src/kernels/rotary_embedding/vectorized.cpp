// Rule A7 over the vector wrapper: lanes over the pairs of a head.
#include LASTBIT_VECTOR_HEADER
#include "kernels/rotary_embedding/rotary_embedding_kernels.hpp"

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

using F32 = Vector::F32;

constexpr std::size_t kWidth = static_cast<std::size_t>(Vector::lanes);

F32 canonical(F32 x) { return Vector::select(Vector::is_nan(x), Vector::broadcast(__builtin_nanf("")), x); }

void head(float* x, const float* cosine, const float* sine, std::size_t half) {
  float* const first = x;
  float* const second = x + half;
  for (std::size_t i = 0; i < half; i += kWidth) {
    const std::size_t left = half - i;
    const int count = static_cast<int>(left < kWidth ? left : kWidth);
    const F32 x1 = Vector::load_first(first + i, count);
    const F32 x2 = Vector::load_first(second + i, count);
    const F32 c = Vector::load_first(cosine + i, count);
    const F32 s = Vector::load_first(sine + i, count);
    Vector::store_first(first + i, canonical(Vector::subtract(Vector::multiply(x1, c), Vector::multiply(x2, s))),
                        count);
    Vector::store_first(second + i, canonical(Vector::add(Vector::multiply(x2, c), Vector::multiply(x1, s))), count);
  }
}

}  // namespace

extern const kernels::RotaryEmbeddingKernels rotary_embedding_table;
const kernels::RotaryEmbeddingKernels rotary_embedding_table = {head};

}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
