// Rotary position embedding by rule A7, halves paired: x1 = the first half of the rotated dimensions, x2 = the second.
//
// x1' = fl(fl(x1 * cos) - fl(x2 * sin)), x2' = fl(fl(x2 * cos) + fl(x1 * sin)); angle = fl(position * inverse_frequency),
// cos and sin correctly rounded, then times the attention factor where it is not 1, rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/isa.hpp"

namespace lastbit::kernels {

/// inverse_frequency[i] = the real number base^(-2i / dimensions) rounded once to binary32, for i < dimensions / 2.
std::vector<float> rotary_inverse_frequencies(float base, std::size_t dimensions);

/// cosine[i], sine[i] of one position for every inverse frequency.
void rotary_angles(const float* inverse_frequency, std::size_t count, std::uint64_t position, float attention_factor,
                   float* cosine, float* sine);

struct RotaryEmbeddingKernels {
  /// Rotates one head in place: x [2 * half], cosine and sine [half].
  void (*head)(float* x, const float* cosine, const float* sine, std::size_t half);
};

const RotaryEmbeddingKernels& rotary_embedding_kernels(cpu::Isa isa);

}  // namespace lastbit::kernels
