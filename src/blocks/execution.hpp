// What a forward pass runs on: the kernels of one instruction set, a thread pool, scratch memory and statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/thread_pool.hpp"
#include "cpu/isa.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/gated_activation/gated_activation.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/rms_norm/rms_norm.hpp"
#include "kernels/rotary_embedding/rotary_embedding.hpp"

namespace lastbit::blocks {

/// Time and work of the matrix products, for the shares that `--timings` prints.
struct MatmulStatistics {
  double seconds = 0.0;
  std::uint64_t operations = 0;  // two per multiply-add
};

/// Scratch rows of one pass. They only grow.
struct PassBuffers {
  std::vector<float> hidden;               // [rows, hidden]
  std::vector<float> normalized;           // [rows, hidden]
  std::vector<float> query;                // [rows, query_size]
  std::vector<float> key;                  // [rows, key_value_size]
  std::vector<float> value;                // [rows, key_value_size]
  std::vector<float> attended;             // [rows, query_size]
  std::vector<float> projected;            // [rows, hidden]
  std::vector<float> gate;                 // [rows, intermediate]
  std::vector<float> up;                   // [rows, intermediate]
  std::vector<std::vector<float>> cosine;  // per rotary table [rows, dimensions / 2]
  std::vector<std::vector<float>> sine;
};

class Execution {
 public:
  Execution(cpu::Isa isa, int threads);

  cpu::Isa isa() const { return isa_; }
  ThreadPool& pool() { return pool_; }
  PassBuffers& buffers() { return buffers_; }
  MatmulStatistics& matmul_statistics() { return matmul_statistics_; }

  const kernels::AttentionKernels& attention() const { return *attention_; }
  const kernels::RmsNormKernels& rms_norm() const { return *rms_norm_; }
  const kernels::RotaryEmbeddingKernels& rotary_embedding() const { return *rotary_embedding_; }
  const kernels::GatedActivationKernels& gated_activation() const { return *gated_activation_; }

  /// output[r] = weight * input[r] for dense rows (stride = length), counted in the statistics.
  void matmul(const kernels::PackedMatrix& weight, const float* input, std::size_t rows, float* output);

  /// Calls body(row) once for each row, in blocks over the threads.
  void for_each_row(std::size_t rows, const std::function<void(std::size_t row)>& body);

 private:
  cpu::Isa isa_;
  ThreadPool pool_;
  PassBuffers buffers_;
  MatmulStatistics matmul_statistics_;
  const kernels::MatmulKernels* matmul_;
  const kernels::AttentionKernels* attention_;
  const kernels::RmsNormKernels* rms_norm_;
  const kernels::RotaryEmbeddingKernels* rotary_embedding_;
  const kernels::GatedActivationKernels* gated_activation_;
  std::unique_ptr<kernels::MatmulWorkspace, kernels::MatmulWorkspaceDeleter> workspace_;
};

}  // namespace lastbit::blocks
