// Writes a safetensors file: header, then the tensors' bytes in the order of the list, piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"

namespace lastbit::formats {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // "F32" ...
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
};

/// The file appears whole at commit() or not at all (base/file.hpp).
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::string& path, const std::vector<SafetensorsEntry>& entries);
  /// The next bytes of the data section (little-endian).
  void write(const void* data, std::size_t size);
  /// Throws std::logic_error unless exactly the declared bytes were written.
  void commit();

 private:
  AtomicFileWriter file_;
  std::uint64_t expected_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace lastbit::formats
