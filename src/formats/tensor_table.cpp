#include "formats/tensor_table.hpp"

#include <utility>

namespace lastbit::formats {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (const std::uint64_t dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dimension);
  }
  return text + "]";
}

bool TensorTable::add(TensorView tensor) {
  if (!index_.emplace(tensor.name, tensors_.size()).second) return false;
  tensors_.push_back(std::move(tensor));
  return true;
}

const TensorView* TensorTable::find(std::string_view name) const {
  const auto entry = index_.find(name);
  return entry == index_.end() ? nullptr : &tensors_[entry->second];
}

}  // namespace lastbit::formats
