#include "blocks/execution.hpp"

#include <algorithm>
#include <chrono>

namespace lastbit::blocks {

Execution::Execution(cpu::Isa isa, int threads)
    : isa_(isa),
      pool_(threads),
      matmul_(&kernels::matmul_kernels(isa)),
      attention_(&kernels::attention_kernels(isa)),
      rms_norm_(&kernels::rms_norm_kernels(isa)),
      rotary_embedding_(&kernels::rotary_embedding_kernels(isa)),
      gated_activation_(&kernels::gated_activation_kernels(isa)),
      workspace_(kernels::make_matmul_workspace()) {}

void Execution::matmul(const kernels::PackedMatrix& weight, const float* input, std::size_t rows, float* output) {
  const auto start = std::chrono::steady_clock::now();
  kernels::matmul(*matmul_, weight, input, weight.inputs(), rows, output, weight.outputs(), nullptr, *workspace_,
                  pool_);
  matmul_statistics_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  matmul_statistics_.operations += 2 * static_cast<std::uint64_t>(rows) * weight.outputs() * weight.inputs();
}

void Execution::for_each_row(std::size_t rows, const std::function<void(std::size_t)>& body) {
  // Four blocks a thread: small enough that a thread that lost its core does not hold up the others for long.
  const std::size_t blocks = std::min(rows, static_cast<std::size_t>(pool_.threads()) * 4);
  pool_.run(blocks, [&](std::size_t block, int) {
    const std::size_t end = rows * (block + 1) / blocks;
    for (std::size_t row = rows * block / blocks; row < end; ++row) body(row);
  });
}

}  // namespace lastbit::blocks
