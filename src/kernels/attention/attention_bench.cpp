// Speed of attention at the shapes of a 270M model: prefill and decode, as a share of this machine's peaks.
//   attention_bench [threads]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/floating_point_state.hpp"
#include "base/thread_pool.hpp"
#include "kernels/attention/attention.hpp"

namespace lastbit::kernels {
namespace {

struct Shape {
  const char* name;
  std::size_t rows, first_position, query_heads, key_value_heads, head_dim, window;
};

constexpr Shape kShapes[] = {
    {"prefill of 512 rows", 512, 0, 4, 1, 256, 0},
    {"prefill of 512 rows at position 7488", 512, 7488, 4, 1, 256, 0},
    {"prefill of 512 rows, window 512, at position 7488", 512, 7488, 4, 1, 256, 512},
    {"prefill of 512 rows, 9 heads of 64", 512, 0, 9, 3, 64, 0},
    {"decode at position 511", 1, 511, 4, 1, 256, 0},
    {"decode at position 8000", 1, 8000, 4, 1, 256, 0},
    {"decode at position 8000, 9 heads of 64", 1, 8000, 9, 3, 64, 0},
};

/// Random values from a cache line's start on, as the engine's pages are.
class AlignedValues {
 public:
  AlignedValues(std::size_t count, unsigned seed) : memory_(count + kLine) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (float& value : memory_) value = normal(generator);
  }
  const float* data() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(float);
    return memory_.data() + (kLine - address % kLine) % kLine;
  }

 private:
  static constexpr std::size_t kLine = 16;
  std::vector<float> memory_;
};

/// The least time of a call, out of as many as fit in 0.3 s.
double seconds_per_call(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  double least = 1e9;
  double total = 0.0;
  for (int i = 0; i < 3 || total < 0.3; ++i) {
    const auto start = Clock::now();
    call();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    least = seconds < least ? seconds : least;
    total += seconds;
  }
  return least;
}

/// Multiplications and additions of keys that are seen, and bytes of their pages.
struct Cost {
  double operations = 0.0;
  double bytes = 0.0;
};

Cost cost_of(const Shape& shape) {
  double pairs = 0.0;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::size_t keys = shape.first_position + row + 1;
    pairs += static_cast<double>(shape.window != 0 && keys > shape.window ? shape.window : keys);
  }
  const double keys = static_cast<double>(shape.first_position + shape.rows);
  return {pairs * static_cast<double>(shape.query_heads * shape.head_dim) * 4.0,
          keys * static_cast<double>(shape.key_value_heads * shape.head_dim) * 8.0};
}

void measure(const Shape& shape, const AttentionKernels& kernels, ThreadPool& pool) {
  const std::size_t pages = (shape.first_position + shape.rows + kPagePositions - 1) / kPagePositions;
  const std::size_t page_size = shape.key_value_heads * shape.head_dim * kPagePositions;
  const AlignedValues keys(pages * page_size, 1);
  const AlignedValues values(pages * page_size, 2);
  const std::size_t row_size = shape.query_heads * shape.head_dim;
  const AlignedValues query(shape.rows * row_size, 3);
  std::vector<float> output(shape.rows * row_size);
  std::vector<const float*> key_pages;
  std::vector<const float*> value_pages;
  for (std::size_t page = 0; page < pages; ++page) {
    key_pages.push_back(keys.data() + page * page_size);
    value_pages.push_back(values.data() + page * page_size);
  }
  AttentionArguments arguments;
  arguments.query = query.data();
  arguments.output = output.data();
  arguments.query_stride = arguments.output_stride = row_size;
  arguments.rows = shape.rows;
  arguments.first_position = shape.first_position;
  arguments.query_heads = shape.query_heads;
  arguments.key_value_heads = shape.key_value_heads;
  arguments.head_dim = shape.head_dim;
  arguments.key_pages = key_pages.data();
  arguments.value_pages = value_pages.data();
  arguments.window = shape.window;
  arguments.scale = 0.0625;
  const double seconds = seconds_per_call([&] { attention(kernels, arguments, pool); });
  const Cost cost = cost_of(shape);
  std::printf("  %-52s %10.1f us  %7.1f GFLOP/s  %6.1f GB/s\n", shape.name, seconds * 1e6,
              cost.operations / seconds * 1e-9, cost.bytes / seconds * 1e-9);
}

}  // namespace
}  // namespace lastbit::kernels

int main(int argc, char** argv) {
  using namespace lastbit;
  const FloatingPointScope floating_point;
  ThreadPool pool(argc > 1 ? std::atoi(argv[1]) : default_thread_count());
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (isa == cpu::Isa::scalar || !cpu::isa_supported(isa)) continue;
    std::printf("%s, %d threads\n", std::string(cpu::isa_name(isa)).c_str(), pool.threads());
    for (const kernels::Shape& shape : kernels::kShapes) kernels::measure(shape, kernels::attention_kernels(isa), pool);
  }
  return 0;
}
