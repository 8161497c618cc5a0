// The tensor section of a GGUF file: read the infos, then check all of them against each other and against the file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/gguf/byte_cursor.hpp"
#include "formats/tensor_table.hpp"

namespace lastbit::formats::gguf {

/// The fewest bytes an info can take: name length, one character, dimension count, one dimension, type, offset.
inline constexpr std::uint64_t kSmallestTensorInfo = 8 + 1 + 4 + 8 + 4 + 8;

/// A tensor as the header announces it: nothing but the number of dimensions (1 to 4) is checked yet.
struct TensorInfo {
  std::string_view name;
  std::uint64_t dimension_count = 0;
  std::uint64_t dimensions[4] = {};  // fastest first, as the file has them
  std::uint32_t type = 0;
  std::uint64_t relative_offset = 0;  // from the start of the data section
  std::uint64_t info_offset = 0;      // where this info stands in the file
};

/// Reads `count` infos. Refuses what makes the rest unreadable: a bad count of dimensions, an empty name, the end of
/// the file.
std::vector<TensorInfo> read_tensor_infos(ByteCursor& cursor, std::uint64_t count);

/// Checks every info (type, dimensions, size, alignment, place in the file, names used twice, overlaps) and gives the
/// table of views. Throws ErrorKind::input that lists up to 20 problems at once.
TensorTable place_tensors(std::string_view path, std::span<const std::byte> file, const std::vector<TensorInfo>& infos,
                          std::uint64_t data_start, std::uint64_t alignment);

}  // namespace lastbit::formats::gguf
