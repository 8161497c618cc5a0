#include "formats/safetensors/writer.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lastbit::formats {

SafetensorsWriter::SafetensorsWriter(const std::string& path, const std::vector<SafetensorsEntry>& entries)
    : file_(path) {
  nlohmann::ordered_json header;
  for (const SafetensorsEntry& entry : entries) {
    header[entry.name] = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {expected_, expected_ + entry.bytes}}};
    expected_ += entry.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data section starts at a multiple of 8
  const std::uint64_t length = text.size();
  file_.write(&length, sizeof length);
  file_.write(text.data(), text.size());
}

void SafetensorsWriter::write(const void* data, std::size_t size) {
  file_.write(data, size);
  written_ += size;
}

void SafetensorsWriter::commit() {
  if (written_ != expected_) throw std::logic_error("safetensors: the data written does not match the header");
  file_.commit();
}

}  // namespace lastbit::formats
