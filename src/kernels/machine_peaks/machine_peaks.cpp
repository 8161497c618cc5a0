#include "kernels/machine_peaks/machine_peaks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/thread_pool.hpp"
#include "kernels/huge_page_buffer.hpp"
#include "kernels/machine_peaks/kernels.hpp"

#define LASTBIT_VECTOR_ISA(name, features, flags)                \
  namespace lastbit::name {                                      \
  extern const kernels::MachinePeaksKernels machine_peaks_table; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace lastbit::kernels {
namespace {

/// The scalar set multiplies and adds one element at a time; the reading loop is as good in scalar code as the compiler
/// makes it.
constexpr std::size_t kScalarChains = 8;

float scalar_multiply_add(std::size_t rounds) {
  float chains[kScalarChains];
  for (std::size_t i = 0; i < kScalarChains; ++i) chains[i] = static_cast<float>(i);
  volatile float half = 0.5F;
  volatile float one = 1.0F;
  const float factor = half;
  const float term = one;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (float& chain : chains) chain = __builtin_fmaf(chain, factor, term);
  }
  float sum = 0.0F;
  for (const float chain : chains) sum += chain;
  return sum;
}

int scalar_read(const std::byte* data, std::size_t size) {
  std::uint64_t folded = 0;
  for (std::size_t offset = 0; offset < size; offset += sizeof folded) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + offset, sizeof word);
    folded ^= word;
  }
  return static_cast<int>(folded);
}

constexpr MachinePeaksKernels kScalarTable = {2 * kScalarChains, scalar_multiply_add, scalar_read};

const MachinePeaksKernels& machine_peaks_kernels(cpu::Isa isa) {
  switch (isa) {
    case cpu::Isa::scalar:
      return kScalarTable;
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  case cpu::Isa::name:                            \
    return lastbit::name::machine_peaks_table;
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  }
  return kScalarTable;
}

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The best of `passes` passes: what the machine can do when nobody disturbs it.
template <class Work>
double best_seconds(int passes, const Work& work) {
  double best = seconds(work);
  for (int pass = 1; pass < passes; ++pass) best = std::min(best, seconds(work));
  return best;
}

double measure_flops(const MachinePeaksKernels& kernels, ThreadPool& pool) {
  std::atomic<int> kept{0};
  const std::size_t tasks = 4 * static_cast<std::size_t>(pool.threads());
  std::size_t rounds = 1024;
  const auto pass = [&] {
    pool.run(tasks, [&](std::size_t, int) { kept.fetch_add(static_cast<int>(kernels.multiply_add(rounds))); });
  };
  constexpr double kEnough = 0.002;  // seconds: far above the cost of starting tasks, below a slice of a shared machine
  while (seconds(pass) < kEnough) rounds *= 2;
  return static_cast<double>(tasks * rounds * kernels.flops_of_round) / best_seconds(40, pass);
}

double measure_reading(const MachinePeaksKernels& kernels, ThreadPool& pool, std::size_t bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const std::size_t pieces = (bytes + kPiece - 1) / kPiece;
  if (pieces == 0) return 0.0;
  HugePageBuffer buffer(pieces * kPiece);
  std::atomic<int> kept{0};
  // Written first: pages that nobody wrote are all the same page of zeros.
  pool.run(pieces, [&](std::size_t piece, int) { std::memset(buffer.data() + piece * kPiece, 1, kPiece); });
  const double best = best_seconds(10, [&] {
    pool.run(pieces,
             [&](std::size_t piece, int) { kept.fetch_add(kernels.read(buffer.data() + piece * kPiece, kPiece)); });
  });
  return static_cast<double>(pieces * kPiece) / best;
}

}  // namespace

MachinePeaks measure_machine_peaks(cpu::Isa isa, ThreadPool& pool, std::size_t bytes) {
  const MachinePeaksKernels& kernels = machine_peaks_kernels(isa);
  return {.flops_per_second = measure_flops(kernels, pool),
          .read_bytes_per_second = measure_reading(kernels, pool, bytes)};
}

}  // namespace lastbit::kernels
