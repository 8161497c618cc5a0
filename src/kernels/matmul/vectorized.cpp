// The kernels of one instruction set, or of its emulated twin (cmake/Targets.cmake compiles this file once for each).
#include LASTBIT_VECTOR_HEADER
#include "kernels/matmul/direct_product.hpp"
#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/tiled_product.hpp"

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

using namespace kernels;  // the layouts of packed_types.def

void finish(const float* sums, const float* bias, std::size_t outputs, float* output) {
  const F32 nan = Vector::as_float(Vector::broadcast_integer(0x7FC00000));
  for (std::size_t n = 0; n < outputs; n += kLanes) {
    const int count = static_cast<int>(outputs - n < kLanes ? outputs - n : kLanes);
    F32 value = Vector::load_first(sums + n, count);
    if (bias != nullptr) value = Vector::add(value, Vector::load_first(bias + n, count));
    Vector::store_first(output + n, Vector::select(Vector::is_nan(value), nan, value), count);
  }
}

/// The highest number of rows for which the direct product was measured to be the faster way.
constexpr std::size_t kDirectUntil = 8;

}  // namespace

extern const MatmulKernels matmul_table;
const MatmulKernels matmul_table = {
    .tile_rows = kTileRows,
    .strip_outputs = kStripOutputs,
    .direct_until = kDirectUntil,
    .weights =
        {
#define LASTBIT_PACKED_TYPE(name, layout) {.direct = direct_product<layout>, .widen = widen<layout>},
#include "kernels/matmul/packed_types.def"
#undef LASTBIT_PACKED_TYPE
        },
    .multiply = multiply<>,
    .finish = finish,
};

}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
