#include "tests/support/safetensors_fixture.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/data.hpp"

namespace lastbit::test {

std::map<std::string, FixtureTensor> read_safetensors_fixture(const std::string& path) {
  const std::string content = read_test_file(path);
  std::uint64_t header_length = 0;
  __builtin_memcpy(&header_length, content.data(), sizeof header_length);
  const auto header = nlohmann::json::parse(content.substr(8, header_length));
  std::map<std::string, FixtureTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const std::uint64_t begin = entry.at("data_offsets").at(0);
    const std::uint64_t end = entry.at("data_offsets").at(1);
    tensors[name] = {entry.at("dtype"), entry.at("shape"), content.substr(8 + header_length + begin, end - begin)};
  }
  return tensors;
}

}  // namespace lastbit::test
