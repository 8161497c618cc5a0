// The view of one sequence's keys and values that attention reads and writes. Pages hold 128 positions (rule A6); who
// allocates and shares them is the engine's business.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/attention/attention.hpp"

namespace lastbit::blocks {

/// Pages of one sequence in one layer. Page p holds the positions [128 p, 128 p + 128):
/// keys [key_value_heads][head_dim][128] (position fastest), values [key_value_heads][128][head_dim].
struct LayerPages {
  std::vector<float*> keys;
  std::vector<float*> values;
};

/// One sequence's part of a pass: the rows [first_row, first_row + rows) stand at positions first_position ...
struct SequenceRows {
  std::size_t first_row = 0;
  std::size_t rows = 0;
  std::size_t first_position = 0;
  const std::vector<LayerPages>* layers = nullptr;  // pages for every position up to the last row are present
};

}  // namespace lastbit::blocks
