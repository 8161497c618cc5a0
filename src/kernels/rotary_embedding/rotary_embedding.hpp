// Rotary position embedding by rule A7, halves paired: x1 = the first half of the rotated dimensions, x2 = the second.
//
// x1' = fl(fl(x1 * cos) - fl(x2 * sin)), x2' = fl(fl(x2 * cos) + fl(x1 * sin)); angle = fl(position *
// inverse_frequency), cos and sin correctly rounded, then times the attention factor where it is not 1, rounded. A NaN
// result is the canonical 0x7FC00000 (A11).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/isa.hpp"
#include "kernels/rotary_embedding/rotary_embedding_kernels.hpp"

namespace lastbit::kernels {

/// inverse_frequency[i] = the real number base^(-2i / dimensions) rounded once to binary32, for i < dimensions / 2.
std::vector<float> rotary_inverse_frequencies(float base, std::size_t dimensions);

/// cosine[i], sine[i] of one position for every inverse frequency, i < count. position is rounded to binary32 first, as
/// the originals do (exact below 2^24).
void rotary_angles(const float* inverse_frequency, std::size_t count, std::uint64_t position, float attention_factor,
                   float* cosine, float* sine);

/// The contract in plain loops.
void rotary_embedding_reference(float* x, const float* cosine, const float* sine, std::size_t half);

const RotaryEmbeddingKernels& rotary_embedding_kernels(cpu::Isa isa);

}  // namespace lastbit::kernels
