// Rule A5 over the vector wrapper: the 32 lanes are 32 / Vector::lanes accumulators side by side.
#include LASTBIT_VECTOR_HEADER
#include "kernels/rms_norm/rms_norm_kernels.hpp"

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

using F32 = Vector::F32;

constexpr std::size_t kWidth = static_cast<std::size_t>(Vector::lanes);
constexpr std::size_t kLanes = 32;
constexpr std::size_t kAccumulators = kLanes / kWidth;

F32 canonical(F32 x) { return Vector::select(Vector::is_nan(x), Vector::broadcast(__builtin_nanf("")), x); }

struct WholeVector {
  static F32 load(const float* p) { return Vector::load(p); }
  static void store(float* p, F32 x) { Vector::store(p, x); }
};

struct FirstLanes {
  int count;
  F32 load(const float* p) const { return Vector::load_first(p, count); }
  void store(float* p, F32 x) const { Vector::store_first(p, x, count); }
};

/// Calls step(i, memory) for each vector of [0, size); memory.load and memory.store touch what exists of it.
template <class Step>
void for_each_vector(std::size_t size, const Step& step) {
  std::size_t i = 0;
  for (; i + kWidth <= size; i += kWidth) step(i, WholeVector());
  if (i < size) step(i, FirstLanes{static_cast<int>(size - i)});
}

/// Lanes l += l + 16, l + 8, l + 4, l + 2, l + 1.
float fold_lanes(float* lane) {
  for (std::size_t distance = kLanes / 2; distance > 0; distance /= 2) {
    for (std::size_t l = 0; l < distance; ++l) lane[l] += lane[l + distance];
  }
  return lane[0];
}

float sum_of_squares(const float* x, std::size_t size) {
  F32 sum[kAccumulators];
  for (F32& lanes : sum) lanes = Vector::zero();
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t a = 0; a < kAccumulators; ++a) {
      const F32 value = Vector::load(x + i + a * kWidth);
      sum[a] = Vector::fma(value, value, sum[a]);
    }
  }
  // The missing elements of the last row of lanes are +0: they change no lane, because no lane is ever -0.
  for (std::size_t a = 0; a < kAccumulators && i < size; ++a, i += kWidth) {
    const std::size_t left = size - i;
    const F32 value = Vector::load_first(x + i, static_cast<int>(left < kWidth ? left : kWidth));
    sum[a] = Vector::fma(value, value, sum[a]);
  }
  float lane[kLanes];
  for (std::size_t a = 0; a < kAccumulators; ++a) Vector::store(lane + a * kWidth, sum[a]);
  return fold_lanes(lane);
}

void row(const float* x, const float* weight, std::size_t size, float epsilon, float* y) {
  const float mean = sum_of_squares(x, size) / static_cast<float>(size);
  // Square root and division of the vector wrapper are IEEE's; here they give the one value, without <cmath>.
  const F32 root = Vector::square_root(Vector::broadcast(mean + epsilon));
  const F32 r = Vector::divide(Vector::broadcast(1.0F), root);
  if (weight == nullptr) {
    for_each_vector(size, [&](std::size_t i, auto memory) {
      memory.store(y + i, canonical(Vector::multiply(memory.load(x + i), r)));
    });
    return;
  }
  for_each_vector(size, [&](std::size_t i, auto memory) {
    memory.store(y + i, canonical(Vector::multiply(Vector::multiply(memory.load(x + i), r), memory.load(weight + i))));
  });
}

void add(float* residual, const float* x, std::size_t size) {
  for_each_vector(size, [&](std::size_t i, auto memory) {
    memory.store(residual + i, canonical(Vector::add(memory.load(residual + i), memory.load(x + i))));
  });
}

void scale(float* x, float factor, std::size_t size) {
  const F32 factors = Vector::broadcast(factor);
  for_each_vector(size, [&](std::size_t i, auto memory) {
    memory.store(x + i, canonical(Vector::multiply(memory.load(x + i), factors)));
  });
}

}  // namespace

extern const kernels::RmsNormKernels rms_norm_table;
const kernels::RmsNormKernels rms_norm_table = {row, add, scale};

}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
