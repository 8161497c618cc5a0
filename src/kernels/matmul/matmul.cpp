// How a product is cut in tasks. Nothing here can change a bit: every output of every row is one chain of rule A2.
#include "kernels/matmul/matmul.hpp"

#include <algorithm>

#include "base/thread_pool.hpp"
#include "kernels/matmul/kernels.hpp"

namespace lastbit::kernels {
namespace {

/// k of weights that are widened at a time: 64 outputs of them are 256 KiB, which stay in the second-level cache
/// together with the rows they meet.
constexpr std::size_t kSlab = 1024;
static_assert(kSlab % kChunk == 0);

/// Rows that a task multiplies: enough that widening is a percent of the work, few enough that their packed inputs stay
/// in the cache from panel to panel and that a task ends soon when the machine is shared.
constexpr std::size_t kRowsOfTask = 256;

/// Packed bytes that a task of few rows reads, where there are enough: what is fetched ahead at its end is then little.
constexpr std::size_t kBytesOfTask = std::size_t{512} << 10;

constexpr std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

struct Product {
  const MatmulKernels& kernels;
  const PackedMatrix& weight;
  const WeightKernels& weights;
  const float* input;
  std::size_t input_stride;
  std::size_t rows;
  float* output;
  std::size_t output_stride;
  const float* bias;

  /// A row of a panel's sums to the output. Outputs beyond the matrix are never written.
  void finish(std::size_t panel, std::size_t row, const float* sums) const {
    const std::size_t first = panel * kPanelOutputs;
    kernels.finish(sums, bias == nullptr ? nullptr : bias + first, std::min(kPanelOutputs, weight.outputs() - first),
                   output + row * output_stride + first);
  }
};

// ---- few rows -----------------------------------------------------------------------------------------------------

void multiply_panel_directly(const Product& product, std::size_t panel) {
  alignas(64) float sums[kDirectRows * kPanelOutputs];
  for (std::size_t row = 0; row < product.rows; row += kDirectRows) {
    const std::size_t rows = std::min(kDirectRows, product.rows - row);
    product.weights.direct(product.weight.panel(panel), product.weight.inputs(),
                           product.input + row * product.input_stride, product.input_stride, rows, sums);
    for (std::size_t i = 0; i < rows; ++i) product.finish(panel, row + i, sums + i * kPanelOutputs);
  }
}

void multiply_directly(const Product& product, ThreadPool& pool) {
  const std::size_t panels = product.weight.panels();
  const std::size_t tasks_wanted = 8 * static_cast<std::size_t>(pool.threads());
  const std::size_t panels_of_task =
      std::clamp<std::size_t>(panels / tasks_wanted, 1, 1 + kBytesOfTask / (product.weight.panel_bytes() + 1));
  pool.run(divide_up(panels, panels_of_task), [&](std::size_t task, int) {
    const std::size_t end = std::min(panels, (task + 1) * panels_of_task);
    for (std::size_t panel = task * panels_of_task; panel < end; ++panel) multiply_panel_directly(product, panel);
  });
}

// ---- many rows ----------------------------------------------------------------------------------------------------

/// Rows in tiles of nearly equal height, so that 15 rows are 8 + 7 and not 14 + 1.
class RowTiles {
 public:
  RowTiles(std::size_t rows, std::size_t tile_rows) : count_(divide_up(rows, tile_rows)), rows_(rows) {}
  std::size_t count() const { return count_; }
  std::size_t first_row(std::size_t tile) const { return tile * (rows_ / count_) + std::min(tile, rows_ % count_); }
  std::size_t rows(std::size_t tile) const { return first_row(tile + 1) - first_row(tile); }

 private:
  std::size_t count_;
  std::size_t rows_;
};

/// [rows][inputs] to [inputs][rows]. In blocks of k, so that the lines that are written stay in the first-level cache.
void pack_rows(const float* input, std::size_t input_stride, std::size_t rows, std::size_t inputs, float* packed) {
  constexpr std::size_t kBlock = 128;
  for (std::size_t begin = 0; begin < inputs; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, inputs);
    for (std::size_t row = 0; row < rows; ++row) {
      const float* const source = input + row * input_stride;
      for (std::size_t k = begin; k < end; ++k) packed[k * rows + row] = source[k];
    }
  }
}

struct TaskScratch {
  float* widened;  // [64 / strip_outputs][kSlab][strip_outputs]
  float* sums;     // [rows of the task][64]
};

/// One panel against the rows of tiles tile_begin .. tile_end.
void multiply_panel(const Product& product, const RowTiles& tiles, const float* packed_input, std::size_t panel,
                    std::size_t tile_begin, std::size_t tile_end, const TaskScratch& scratch) {
  const MatmulKernels& kernels = product.kernels;
  const std::size_t inputs = product.weight.inputs();
  const std::size_t first_row = tiles.first_row(tile_begin);
  const std::size_t end_row = tiles.first_row(tile_end);
  std::fill_n(scratch.sums, (end_row - first_row) * kPanelOutputs, 0.0F);
  for (std::size_t k = 0; k < inputs; k += kSlab) {
    const std::size_t count = std::min(kSlab, inputs - k);
    product.weights.widen(product.weight.panel(panel), k, k + count, scratch.widened);
    for (std::size_t tile = tile_begin; tile < tile_end; ++tile) {
      const std::size_t row = tiles.first_row(tile);
      const std::size_t rows = tiles.rows(tile);
      for (std::size_t n = 0; n < kPanelOutputs; n += kernels.strip_outputs) {
        kernels.multiply(rows, count, packed_input + row * inputs + k * rows, scratch.widened + n * count,
                         scratch.sums + (row - first_row) * kPanelOutputs + n, kPanelOutputs);
      }
    }
  }
  for (std::size_t row = first_row; row < end_row; ++row) {
    product.finish(panel, row, scratch.sums + (row - first_row) * kPanelOutputs);
  }
}

}  // namespace

class MatmulWorkspace {
 public:
  float* packed_input(std::size_t floats) { return grown(packed_input_, floats); }
  float* scratch(std::size_t floats) { return grown(scratch_, floats); }

 private:
  static float* grown(HugePageBuffer& buffer, std::size_t floats) {
    if (buffer.size() < floats * sizeof(float)) {
      buffer = HugePageBuffer();  // first the old one goes, so that both need not fit
      buffer = HugePageBuffer(floats * sizeof(float));
    }
    return reinterpret_cast<float*>(buffer.data());
  }
  HugePageBuffer packed_input_;
  HugePageBuffer scratch_;
};

void MatmulWorkspaceDeleter::operator()(MatmulWorkspace* workspace) const { delete workspace; }

std::unique_ptr<MatmulWorkspace, MatmulWorkspaceDeleter> make_matmul_workspace() {
  return std::unique_ptr<MatmulWorkspace, MatmulWorkspaceDeleter>(new MatmulWorkspace);
}

namespace {

void multiply_widened(const Product& product, MatmulWorkspace& workspace, ThreadPool& pool) {
  const std::size_t panels = product.weight.panels();
  const std::size_t inputs = product.weight.inputs();
  const std::size_t threads = static_cast<std::size_t>(pool.threads());
  const RowTiles tiles(product.rows, product.kernels.tile_rows);

  float* const packed_input = workspace.packed_input(product.rows * inputs);
  pool.run(tiles.count(), [&](std::size_t tile, int) {
    const std::size_t row = tiles.first_row(tile);
    pack_rows(product.input + row * product.input_stride, product.input_stride, tiles.rows(tile), inputs,
              packed_input + row * inputs);
  });

  // Rows are cut for the cache's sake, and further where panels alone could not keep every thread busy to the end.
  const std::size_t cuts_for_cache = divide_up(product.rows, kRowsOfTask);
  const std::size_t cuts_for_threads = divide_up(4 * threads, panels);
  const std::size_t cuts = std::min(tiles.count(), std::max(cuts_for_cache, threads == 1 ? 1 : cuts_for_threads));
  const std::size_t tiles_of_task = divide_up(tiles.count(), cuts);
  const std::size_t widened_floats = kPanelOutputs * std::min(kSlab, divide_up(inputs, 16) * 16);
  const std::size_t scratch_floats = widened_floats + tiles_of_task * product.kernels.tile_rows * kPanelOutputs;
  float* const scratch = workspace.scratch(threads * scratch_floats);
  pool.run(panels * divide_up(tiles.count(), tiles_of_task), [&](std::size_t task, int worker) {
    float* const widened = scratch + static_cast<std::size_t>(worker) * scratch_floats;
    const std::size_t tile_begin = task / panels * tiles_of_task;
    multiply_panel(product, tiles, packed_input, task % panels, tile_begin,
                   std::min(tiles.count(), tile_begin + tiles_of_task), {widened, widened + widened_floats});
  });
}

}  // namespace

void matmul(const MatmulKernels& kernels, const PackedMatrix& weight, const float* input, std::size_t input_stride,
            std::size_t rows, float* output, std::size_t output_stride, const float* bias, MatmulWorkspace& workspace,
            ThreadPool& pool) {
  if (rows == 0 || weight.outputs() == 0) return;
  const Product product{kernels, weight,        kernels.weights[static_cast<std::size_t>(weight.type())],
                        input,   input_stride,  rows,
                        output,  output_stride, bias};
  if (rows <= kernels.direct_until) {
    multiply_directly(product, pool);
  } else {
    multiply_widened(product, workspace, pool);
  }
}

}  // namespace lastbit::kernels
