// What every checkpoint format becomes: one table of named tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "numerics/element_type.hpp"

namespace lastbit::formats {

/// A tensor inside a mapped file: checked to lie inside it, with a size that agrees with type and shape.
struct TensorView {
  std::string name;
  numerics::ElementType type = numerics::ElementType::f32;
  std::vector<std::uint64_t> shape;  // slowest dimension first: a matrix is [outputs, inputs], rows contiguous
  std::span<const std::byte> data;
  std::uint64_t file_offset = 0;  // of the data, for messages
};

/// "[262144, 640]"
std::string shape_text(const std::vector<std::uint64_t>& shape);

/// Tensors by name, in file order.
class TensorTable {
 public:
  /// Returns false when the name is taken.
  bool add(TensorView tensor);
  const std::vector<TensorView>& all() const { return tensors_; }
  const TensorView* find(std::string_view name) const;

 private:
  struct NameHash {
    using is_transparent = void;  // find() takes a string_view without a copy
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::vector<TensorView> tensors_;
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> index_;
};

}  // namespace lastbit::formats
