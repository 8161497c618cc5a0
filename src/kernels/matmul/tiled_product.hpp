// Many rows: weights are widened once to strips of two vectors, then register tiles of rows x strip run over them.
#pragma once

#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/weights.hpp"

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

constexpr int kStripVectors = 2;
constexpr std::size_t kStripOutputs = kStripVectors * kLanes;
/// Sums fill the registers but for the strip's two vectors, an input and a spare one: 14 x 32 with 32 registers of 16,
/// 6 x 16 with 16 registers of 8.
constexpr int kTileRows = Vector::registers / kStripVectors - 2;

template <class Layout>
void widen(const std::byte* panel, std::size_t k_begin, std::size_t k_end, float* widened) {
  const std::size_t count = k_end - k_begin;
  for (int first_vector = 0; first_vector < kPanelVectors; first_vector += kStripVectors) {
    float* const strip = widened + static_cast<std::size_t>(first_vector) * kLanes * count;
    visit_weights<Layout, kStripVectors>(
        panel, k_begin, k_end, first_vector, [&](std::size_t k, const F32(&weights)[kStripVectors]) {
          LASTBIT_UNROLL
          for (int v = 0; v < kStripVectors; ++v) {
            Vector::store(strip + k * kStripOutputs + static_cast<std::size_t>(v) * kLanes, weights[v]);
          }
        });
  }
}

template <int rows>
void multiply_tile(std::size_t inputs, const float* packed_input, const float* widened, float* sums,
                   std::size_t sums_stride) {
  for (std::size_t chunk = 0; chunk < inputs; chunk += kernels::kChunk) {
    const std::size_t count = chunk + kernels::kChunk < inputs ? kernels::kChunk : inputs - chunk;
    F32 p[rows][kStripVectors];
    LASTBIT_UNROLL
    for (int r = 0; r < rows; ++r) {
      LASTBIT_UNROLL
      for (int v = 0; v < kStripVectors; ++v) p[r][v] = Vector::zero();
    }
    for (std::size_t k = 0; k < count; ++k) {
      const F32 first = Vector::load(widened);
      const F32 second = Vector::load(widened + kLanes);
      LASTBIT_UNROLL
      for (int r = 0; r < rows; ++r) {
        const F32 x = Vector::broadcast(packed_input[r]);
        p[r][0] = Vector::fma(first, x, p[r][0]);
        p[r][1] = Vector::fma(second, x, p[r][1]);
      }
      widened += kStripOutputs;
      packed_input += rows;
    }
    LASTBIT_UNROLL
    for (int r = 0; r < rows; ++r) {
      LASTBIT_UNROLL
      for (int v = 0; v < kStripVectors; ++v) {
        float* const s = sums + static_cast<std::size_t>(r) * sums_stride + static_cast<std::size_t>(v) * kLanes;
        Vector::store(s, Vector::add(Vector::load(s), p[r][v]));
      }
    }
  }
}

/// The tile of as many rows as there are: tiles are cut evenly, so every height up to kTileRows occurs.
template <int rows = kTileRows>
void multiply(std::size_t tile_rows, std::size_t inputs, const float* packed_input, const float* widened, float* sums,
              std::size_t sums_stride) {
  if constexpr (rows > 1) {
    if (tile_rows < rows) return multiply<rows - 1>(tile_rows, inputs, packed_input, widened, sums, sums_stride);
  }
  multiply_tile<rows>(inputs, packed_input, widened, sums, sums_stride);
}

}  // namespace
}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
