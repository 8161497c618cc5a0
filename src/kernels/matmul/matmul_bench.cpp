// bench_matmul [threads]: rates of the matrix product beside what this machine can do at best (kernels/machine_peaks).
//
// Decode (one row) is printed in GB/s of the checkpoint's bytes, prefill (512 rows) in GFLOP/s, both also as a share of
// the peak that was measured with the same number of threads. LASTBIT_ISA chooses the instruction set.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "kernels/machine_peaks/machine_peaks.hpp"
#include "kernels/matmul/matmul.hpp"

namespace {

using lastbit::ThreadPool;
using lastbit::kernels::MachinePeaks;
using lastbit::kernels::PackedMatrix;
using lastbit::numerics::ElementType;

/// Any bytes are valid codes, and values of 0x30 to 0x37 in every byte are finite and normal as every kind of scale and
/// float.
std::vector<std::uint8_t> some_weights(ElementType type, std::size_t elements) {
  const auto& info = lastbit::numerics::element_type_info(type);
  std::vector<std::uint8_t> bytes(elements / info.block_elements * info.block_bytes);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(0x30U | (state >> 29));
  }
  return bytes;
}

class Benchmark {
 public:
  explicit Benchmark(int threads)
      : isa_(lastbit::cpu::active_isa()),
        kernels_(lastbit::kernels::matmul_kernels(isa_)),
        pool_(threads),
        peaks_(lastbit::kernels::measure_machine_peaks(isa_, pool_, std::size_t{512} << 20)),
        workspace_(lastbit::kernels::make_matmul_workspace()) {
    fmt::print("{}, {} threads, {}: {:.0f} GFLOP/s, {:.1f} GB/s\n", lastbit::cpu::processor_name(), threads,
               lastbit::cpu::isa_name(isa_), peaks_.flops_per_second / 1e9, peaks_.read_bytes_per_second / 1e9);
  }

  void run(ElementType type, std::size_t outputs, std::size_t inputs, const std::vector<std::size_t>& rows_of_runs) {
    const std::vector<std::uint8_t> weights = some_weights(type, outputs * inputs);
    const PackedMatrix matrix(type, weights.data(), outputs, inputs, "benchmark", pool_);
    for (const std::size_t rows : rows_of_runs) {
      const double seconds = best_seconds(matrix, rows);
      const double bytes = static_cast<double>(matrix.checkpoint_bytes()) / seconds;
      const double flops = 2.0 * static_cast<double>(outputs * inputs * rows) / seconds;
      fmt::print("{:5} [{} x {}] rows {:4}: {:9.3f} ms {:7.1f} GFLOP/s ({:4.1f} %) {:6.1f} GB/s ({:4.1f} %)\n",
                 lastbit::numerics::element_type_info(type).name, outputs, inputs, rows, seconds * 1e3, flops / 1e9,
                 100.0 * flops / peaks_.flops_per_second, bytes / 1e9, 100.0 * bytes / peaks_.read_bytes_per_second);
    }
  }

 private:
  double best_seconds(const PackedMatrix& matrix, std::size_t rows) {
    std::vector<float> input(rows * matrix.inputs());
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 61) * 0.03125F - 1.0F;
    std::vector<float> output(rows * matrix.outputs());
    double best = 1e30;
    double total = 0.0;
    for (int pass = 0; pass < 5 || (total < 0.5 && pass < 100); ++pass) {
      const auto begin = std::chrono::steady_clock::now();
      lastbit::kernels::matmul(kernels_, matrix, input.data(), matrix.inputs(), rows, output.data(), matrix.outputs(),
                               nullptr, *workspace_, pool_);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      best = std::min(best, seconds);
      total += seconds;
    }
    return best;
  }

  lastbit::cpu::Isa isa_;
  const lastbit::kernels::MatmulKernels& kernels_;
  ThreadPool pool_;
  MachinePeaks peaks_;
  std::unique_ptr<lastbit::kernels::MatmulWorkspace, lastbit::kernels::MatmulWorkspaceDeleter> workspace_;
};

void run_all(int threads) {
  Benchmark benchmark(threads);
  fmt::print("decode: a vocabulary of 262144 (larger than caches)\n");
  for (const ElementType type : {ElementType::q8_0, ElementType::q5_0, ElementType::q4_0, ElementType::q4_1}) {
    benchmark.run(type, 262144, 640, {1});
  }
  benchmark.run(ElementType::f32, 32768, 640, {1});
  benchmark.run(ElementType::bf16, 65536, 640, {1});
  for (const ElementType type :
       {ElementType::q4_k, ElementType::q5_k, ElementType::q6_k, ElementType::q3_k, ElementType::q2_k}) {
    benchmark.run(type, 131072, 1024, {1});
  }
  fmt::print("prefill\n");
  for (const ElementType type : {ElementType::q8_0, ElementType::q5_0, ElementType::f32}) {
    benchmark.run(type, 2048, 640, {512});
    benchmark.run(type, 640, 2048, {512});
  }
  benchmark.run(ElementType::q4_k, 2048, 2048, {512});
  benchmark.run(ElementType::q6_k, 640, 2048, {512});
  fmt::print("few rows\n");
  benchmark.run(ElementType::q8_0, 2048, 640, {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128});
  benchmark.run(ElementType::q5_0, 2048, 640, {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128});
  benchmark.run(ElementType::q4_k, 2048, 1024, {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run_all(argc > 1 ? std::max(1, std::atoi(argv[1])) : lastbit::default_thread_count());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_matmul: %s\n", error.what());
    return 1;
  }
  return 0;
}
