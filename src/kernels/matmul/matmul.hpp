// Matrix product by rules A2 and A3: output[m][n] = sum over k of weight[n][k] * input[m][k], then + bias[n].
//
// k is cut in chunks of 128 that start at k = 0; in a chunk p = +0, p = fma(weight, input, p) for k ascending; s = +0,
// s = s + p for every chunk ascending, the first included; the bias is added last. Rows, outputs, threads and tiles can
// be cut in any way: the bits of an element depend on its own row and output alone. A NaN result is the canonical
// 0x7FC00000.
#pragma once

#include <cstddef>
#include <memory>

#include "cpu/isa.hpp"
#include "kernels/matmul/packed_matrix.hpp"

namespace lastbit::kernels {

struct MatmulKernels;  // the function pointers of one instruction set

const MatmulKernels& matmul_kernels(cpu::Isa isa);

/// Scratch memory that lives as long as the engine: packed inputs and widened weights.
class MatmulWorkspace;

struct MatmulWorkspaceDeleter {
  void operator()(MatmulWorkspace* workspace) const;
};
std::unique_ptr<MatmulWorkspace, MatmulWorkspaceDeleter> make_matmul_workspace();

/// input: [rows, weight.inputs()] binary32 with `input_stride` elements from row to row; output: [rows,
/// weight.outputs()] likewise; bias: weight.outputs() values or nullptr. Input and output do not overlap.
void matmul(const MatmulKernels& kernels, const PackedMatrix& weight, const float* input, std::size_t input_stride,
            std::size_t rows, float* output, std::size_t output_stride, const float* bias, MatmulWorkspace& workspace,
            ThreadPool& pool);

/// The contract in plain loops, from the checkpoint's own bytes. Used by tests.
void matmul_reference(numerics::ElementType type, const void* weight, std::size_t outputs, std::size_t inputs,
                      const float* input, std::size_t input_stride, std::size_t rows, float* output,
                      std::size_t output_stride, const float* bias);

}  // namespace lastbit::kernels
