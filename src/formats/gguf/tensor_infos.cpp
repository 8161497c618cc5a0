#include "formats/gguf/tensor_infos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "formats/gguf/tensor_types.hpp"

namespace lastbit::formats::gguf {
namespace {

constexpr std::uint64_t kLongestName =
    65'535;  // the limit of keys; ggml's own buffer of 64 is too short for some files

std::string tensor_subject(const TensorInfo& info) { return "tensor " + quoted_text(info.name); }

TensorInfo read_tensor_info(ByteCursor& cursor, std::uint64_t index) {
  cursor.set_subject(fmt::format("tensor number {}", index + 1));
  TensorInfo info;
  info.info_offset = cursor.offset();
  const auto length = cursor.read<std::uint64_t>("the length of a tensor name");
  if (length == 0) cursor.fail(info.info_offset, "the name is empty");
  if (length > kLongestName) {
    cursor.fail(info.info_offset, fmt::format("the name has {} bytes, lastbit allows {}", length, kLongestName));
  }
  const auto bytes = cursor.take(length, "a tensor name");
  info.name = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  cursor.set_subject(tensor_subject(info));
  const std::uint64_t count_offset = cursor.offset();
  info.dimension_count = cursor.read<std::uint32_t>("the number of dimensions");
  if (info.dimension_count < 1 || info.dimension_count > 4) {
    cursor.fail(count_offset, fmt::format("has {} dimensions, must have 1 to 4", info.dimension_count));
  }
  for (std::uint64_t i = 0; i < info.dimension_count; ++i) {
    info.dimensions[i] = cursor.read<std::uint64_t>("a dimension");
  }
  info.type = cursor.read<std::uint32_t>("the tensor type");
  info.relative_offset = cursor.read<std::uint64_t>("the offset of the data");
  return info;
}

std::vector<std::uint64_t> shape_of(const TensorInfo& info) {
  std::vector<std::uint64_t> shape(info.dimensions, info.dimensions + info.dimension_count);
  std::reverse(shape.begin(), shape.end());
  return shape;
}

/// What is wrong with the tensors, up to a number that a person can read.
class Problems {
 public:
  explicit Problems(std::string_view path) : path_(path) {}

  void add(const TensorInfo& info, std::string_view message) {
    if (++count_ <= kShown) lines_.push_back(place_message(path_, tensor_subject(info), info.info_offset, message));
  }

  void throw_if_any() const {
    if (count_ == 0) return;
    if (count_ == 1) throw_input(lines_.front());
    std::string text = fmt::format("{}: {} problems with its tensors:", path_, count_);
    for (const std::string& line : lines_) text += "\n  " + line;
    if (count_ > kShown) text += fmt::format("\n  and {} more", count_ - kShown);
    throw_input(text);
  }

 private:
  static constexpr std::size_t kShown = 20;
  std::string_view path_;
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
};

/// The bytes that type and dimensions ask for, or nothing after the problems were noted.
std::optional<std::uint64_t> tensor_bytes(const TensorInfo& info, Problems& problems) {
  const auto type = tensor_element_type(info.type);
  if (!type) {
    problems.add(info, unsupported_tensor_type_message(info.type));
    return std::nullopt;
  }
  const numerics::ElementTypeInfo& element = numerics::element_type_info(*type);
  const std::string shape = shape_text(shape_of(info));
  std::optional<std::uint64_t> elements = 1;
  for (std::uint64_t i = 0; i < info.dimension_count; ++i) {
    if (info.dimensions[i] == 0) {
      problems.add(info, fmt::format("its shape {} has a dimension of 0", shape));
      return std::nullopt;
    }
    if (elements) elements = checked_multiply(*elements, info.dimensions[i]);
  }
  if (info.dimensions[0] % element.block_elements != 0) {
    problems.add(info, fmt::format("its rows have {} elements, which is no multiple of the {} of a block of {}",
                                   info.dimensions[0], element.block_elements, element.name));
    return std::nullopt;
  }
  const auto bytes =
      elements ? checked_multiply(*elements / element.block_elements, element.block_bytes) : std::nullopt;
  if (!bytes) problems.add(info, fmt::format("its shape {} asks for more than 2^64 bytes", shape));
  return bytes;
}

/// The view of one tensor, or nothing after the problems were noted.
std::optional<TensorView> place_tensor(std::span<const std::byte> file, const TensorInfo& info,
                                       std::uint64_t data_start, std::uint64_t alignment, Problems& problems) {
  const auto size = tensor_bytes(info, problems);
  if (info.relative_offset % alignment != 0) {
    problems.add(info,
                 fmt::format("its data offset {} is no multiple of the alignment {}", info.relative_offset, alignment));
    return std::nullopt;
  }
  if (!size) return std::nullopt;
  const auto begin = checked_add(data_start, info.relative_offset);
  const auto end = begin ? checked_add(*begin, *size) : std::nullopt;
  if (!end || *end > file.size()) {
    problems.add(info,
                 fmt::format("its {} bytes at data offset {} (data starts at byte {}) reach past the end of the file "
                             "at byte {} (an incomplete download?)",
                             *size, info.relative_offset, data_start, file.size()));
    return std::nullopt;
  }
  TensorView view;
  view.name = std::string(info.name);
  view.type = *tensor_element_type(info.type);
  view.shape = shape_of(info);
  view.data = file.subspan(*begin, *size);
  view.file_offset = *begin;
  return view;
}

/// Notes every tensor whose data begin before the data of another have ended.
void find_overlaps(const TensorTable& table, const std::vector<const TensorInfo*>& infos, Problems& problems) {
  std::vector<std::size_t> order(table.all().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return table.all()[a].file_offset < table.all()[b].file_offset;
  });
  std::size_t furthest = 0;  // position in `order` of the tensor that reaches furthest so far
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TensorView& before = table.all()[order[furthest]];
    const TensorView& view = table.all()[order[i]];
    const std::uint64_t before_end = before.file_offset + before.data.size();
    if (view.file_offset < before_end) {
      problems.add(
          *infos[order[i]],
          fmt::format("its data from byte {} to {} overlap those of tensor {}, from byte {} to {}", view.file_offset,
                      view.file_offset + view.data.size(), quoted_text(before.name), before.file_offset, before_end));
    }
    if (view.file_offset + view.data.size() > before_end) furthest = i;
  }
}

}  // namespace

std::vector<TensorInfo> read_tensor_infos(ByteCursor& cursor, std::uint64_t count) {
  std::vector<TensorInfo> infos;
  for (std::uint64_t i = 0; i < count; ++i) infos.push_back(read_tensor_info(cursor, i));
  return infos;
}

TensorTable place_tensors(std::string_view path, std::span<const std::byte> file, const std::vector<TensorInfo>& infos,
                          std::uint64_t data_start, std::uint64_t alignment) {
  Problems problems(path);
  TensorTable table;
  std::vector<const TensorInfo*> placed;  // the info of each entry of the table
  for (const TensorInfo& info : infos) {
    auto view = place_tensor(file, info, data_start, alignment, problems);
    if (!view) continue;
    if (table.add(std::move(*view))) {
      placed.push_back(&info);
    } else {
      problems.add(info, "its name is used twice");
    }
  }
  find_overlaps(table, placed, problems);
  problems.throw_if_any();
  return table;
}

}  // namespace lastbit::formats::gguf
