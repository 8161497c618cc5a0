// Rules A2 and A3 in plain loops: the contract itself (matmul_reference) and the scalar set, which reads the packed
// layout.
#include <limits>
#include <vector>

#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/matmul.hpp"
#include "numerics/dequantize.hpp"

namespace lastbit::kernels {
namespace {

float canonical(float x) { return x != x ? std::numeric_limits<float>::quiet_NaN() : x; }

// ---- the scalar set -----------------------------------------------------------------------------------------------

constexpr std::size_t kScalarTileRows = 4;

template <numerics::ElementType type>
void widen(const std::byte* panel, std::size_t k_begin, std::size_t k_end, float* widened) {
  for (std::size_t lane = 0; lane < kPanelOutputs; ++lane) {
    unpack_panel(type, panel, lane, k_begin, k_end, widened + lane, kPanelOutputs);
  }
}

void multiply(std::size_t rows, std::size_t inputs, const float* packed_input, const float* widened, float* sums,
              std::size_t sums_stride) {
  for (std::size_t chunk = 0; chunk < inputs; chunk += kChunk) {
    const std::size_t end = chunk + kChunk < inputs ? chunk + kChunk : inputs;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t n = 0; n < kPanelOutputs; ++n) {
        float p = 0.0F;
        for (std::size_t k = chunk; k < end; ++k) {
          p = __builtin_fmaf(widened[k * kPanelOutputs + n], packed_input[k * rows + row], p);
        }
        sums[row * sums_stride + n] += p;
      }
    }
  }
}

void finish(const float* sums, const float* bias, std::size_t outputs, float* output) {
  for (std::size_t n = 0; n < outputs; ++n) output[n] = canonical(bias == nullptr ? sums[n] : sums[n] + bias[n]);
}

}  // namespace
}  // namespace lastbit::kernels

namespace lastbit::scalar {

extern const kernels::MatmulKernels matmul_table;
const kernels::MatmulKernels matmul_table = {
    .tile_rows = kernels::kScalarTileRows,
    .strip_outputs = kernels::kPanelOutputs,
    .direct_until = 0,
    .weights =
        {
#define LASTBIT_PACKED_TYPE(name, layout) {.direct = nullptr, .widen = kernels::widen<numerics::ElementType::name>},
#include "kernels/matmul/packed_types.def"
#undef LASTBIT_PACKED_TYPE
        },
    .multiply = kernels::multiply,
    .finish = kernels::finish,
};

}  // namespace lastbit::scalar

namespace lastbit::kernels {

void matmul_reference(numerics::ElementType type, const void* weight, std::size_t outputs, std::size_t inputs,
                      const float* input, std::size_t input_stride, std::size_t rows, float* output,
                      std::size_t output_stride, const float* bias) {
  const numerics::ElementTypeInfo& info = numerics::element_type_info(type);
  const std::size_t row_bytes = inputs / info.block_elements * info.block_bytes;
  std::vector<float> weights(inputs);
  for (std::size_t n = 0; n < outputs; ++n) {
    numerics::dequantize(type, static_cast<const std::byte*>(weight) + n * row_bytes, inputs, weights.data());
    for (std::size_t m = 0; m < rows; ++m) {
      float s = 0.0F;
      for (std::size_t chunk = 0; chunk < inputs; chunk += kChunk) {
        float p = 0.0F;
        for (std::size_t k = chunk; k < inputs && k < chunk + kChunk; ++k) {
          p = __builtin_fmaf(weights[k], input[m * input_stride + k], p);
        }
        s = s + p;
      }
      output[m * output_stride + n] = canonical(bias == nullptr ? s : s + bias[n]);
    }
  }
}

}  // namespace lastbit::kernels
