// Reads the reference tensors of tests/data (trusted files; the reader for hostile files will be
// src/formats/safetensors).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lastbit::test {

struct FixtureTensor {
  std::string dtype;  // "F64", "F32", "I64", "U8" ...
  std::vector<std::int64_t> shape;
  std::string bytes;

  template <class T>
  std::vector<T> values() const {
    std::vector<T> result(bytes.size() / sizeof(T));
    __builtin_memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
    return result;
  }
};

std::map<std::string, FixtureTensor> read_safetensors_fixture(const std::string& path);

}  // namespace lastbit::test
