#include LASTBIT_VECTOR_HEADER
#include "kernels/machine_peaks/kernels.hpp"

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

/// Two units with a latency of four or five cycles are full with ten independent chains; every set has the registers.
constexpr int kChains = 12;

float multiply_add(std::size_t rounds) {
  Vector::F32 chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = Vector::broadcast(static_cast<float>(i));
  // x = x / 2 + 1: every value stays between 0 and 12 and normal, whatever the number of rounds. The volatile reads
  // keep the compiler from working the chains out.
  volatile float half = 0.5F;
  volatile float one = 1.0F;
  const Vector::F32 factor = Vector::broadcast(half);
  const Vector::F32 term = Vector::broadcast(one);
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = Vector::fma(chains[i], factor, term);
  }
  Vector::F32 sum = chains[0];
  for (int i = 1; i < kChains; ++i) sum = Vector::add(sum, chains[i]);
  float lanes[Vector::lanes];
  Vector::store(lanes, sum);
  return lanes[0];
}

int read(const std::byte* data, std::size_t size) {
  constexpr int kStreams = 4;
  constexpr std::size_t kVectorBytes = Vector::lanes * 4;
  Vector::I32 folded[kStreams];
  for (int i = 0; i < kStreams; ++i) folded[i] = Vector::broadcast_integer(0);
  for (std::size_t offset = 0; offset < size; offset += kStreams * kVectorBytes) {
#pragma GCC unroll 4
    for (int i = 0; i < kStreams; ++i) {
      const std::byte* const place = data + offset + static_cast<std::size_t>(i) * kVectorBytes;
      Vector::prefetch(place + 4096);
      folded[i] = Vector::bit_xor(folded[i], Vector::load_integer(place));
    }
  }
  const Vector::I32 all = Vector::bit_xor(Vector::bit_xor(folded[0], folded[1]), Vector::bit_xor(folded[2], folded[3]));
  int lanes[Vector::lanes];
  __builtin_memcpy(lanes, &all, sizeof lanes);
  return lanes[0];
}

}  // namespace

extern const kernels::MachinePeaksKernels machine_peaks_table;
const kernels::MachinePeaksKernels machine_peaks_table = {
    .flops_of_round = 2 * kChains * Vector::lanes,
    .multiply_add = multiply_add,
    .read = read,
};

}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
