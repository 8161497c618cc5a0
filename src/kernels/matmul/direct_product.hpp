// Few rows: a packed panel is walked once, its weights are multiplied as they are widened.
#pragma once

#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/weights.hpp"

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

/// How many vectors of outputs are summed at a time: each needs a sum per row, two factors and a temporary.
constexpr int direct_vectors(int rows) {
  int vectors = kPanelVectors;
  while (vectors > 1 && vectors * (rows + 3) > Vector::registers) vectors /= 2;
  return vectors;
}

template <class Layout, int rows>
void direct_product_of_rows(const std::byte* panel, std::size_t inputs, const float* input, std::size_t input_stride,
                            float* sums) {
  constexpr int kVectors = direct_vectors(rows);
  for (std::size_t i = 0; i < rows * kernels::kPanelOutputs; i += kLanes) Vector::store(sums + i, Vector::zero());
  for (std::size_t chunk = 0; chunk < inputs; chunk += kernels::kChunk) {
    const std::size_t end = chunk + kernels::kChunk < inputs ? chunk + kernels::kChunk : inputs;
    const float* const first = input + chunk;
    // A chunk of a panel stays in the first-level cache, so its groups of outputs can be walked one after the other.
    for (int first_vector = 0; first_vector < kPanelVectors; first_vector += kVectors) {
      F32 p[rows][kVectors];
      LASTBIT_UNROLL
      for (int r = 0; r < rows; ++r) {
        LASTBIT_UNROLL
        for (int v = 0; v < kVectors; ++v) p[r][v] = Vector::zero();
      }
      visit_weights<Layout, kVectors>(
          panel, chunk, end, first_vector, [&](std::size_t k, const F32(&weights)[kVectors]) {
            LASTBIT_UNROLL
            for (int r = 0; r < rows; ++r) {
              const F32 x = Vector::broadcast(first[static_cast<std::size_t>(r) * input_stride + k]);
              LASTBIT_UNROLL
              for (int v = 0; v < kVectors; ++v) p[r][v] = Vector::fma(weights[v], x, p[r][v]);
            }
          });
      LASTBIT_UNROLL
      for (int r = 0; r < rows; ++r) {
        LASTBIT_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          float* const s = sums + static_cast<std::size_t>(r) * kernels::kPanelOutputs +
                           static_cast<std::size_t>(first_vector + v) * kLanes;
          Vector::store(s, Vector::add(Vector::load(s), p[r][v]));
        }
      }
    }
  }
}

template <class Layout>
void direct_product(const std::byte* panel, std::size_t inputs, const float* input, std::size_t input_stride,
                    std::size_t rows, float* sums) {
  static_assert(kernels::kDirectRows == 4);
  switch (rows) {
    case 1:
      return direct_product_of_rows<Layout, 1>(panel, inputs, input, input_stride, sums);
    case 2:
      return direct_product_of_rows<Layout, 2>(panel, inputs, input, input_stride, sums);
    case 3:
      return direct_product_of_rows<Layout, 3>(panel, inputs, input, input_stride, sums);
    default:
      return direct_product_of_rows<Layout, 4>(panel, inputs, input, input_stride, sums);
  }
}

}  // namespace
}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
