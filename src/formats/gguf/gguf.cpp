#include "formats/gguf/gguf.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/quoted_text.hpp"
#include "formats/gguf/byte_cursor.hpp"
#include "formats/gguf/metadata.hpp"
#include "formats/gguf/tensor_infos.hpp"

namespace lastbit::formats {
namespace {

using gguf::ByteCursor;

// Real files have some dozens of keys and some thousands of tensors. The limit also keeps hash tables harmless whose
// keys were made to collide.
constexpr std::uint64_t kMostEntries = 65'536;

// The format asks for a multiple of 8. Its readers need a power of two, and beyond 64 KiB, the largest page size in
// use, there is nothing to align to: larger values (2^30 has been seen) only serve to make sizes wrap.
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kSmallestAlignment = 8;
constexpr std::uint64_t kLargestAlignment = 65'536;

void check_magic(ByteCursor& cursor, std::string_view start) {
  if (start.substr(0, 4) == "GGUF") {
    cursor.take(4, "the magic bytes");
    return;
  }
  if (start.starts_with("version https://git-lfs")) {
    cursor.fail(0, "this is a Git LFS pointer, not the model: fetch the real file (git lfs pull)");
  }
  if (start.size() < 4) cursor.fail(0, fmt::format("the file has {} bytes: it is no GGUF file", start.size()));
  cursor.fail(
      0, fmt::format("the file starts with {}, not with 'GGUF': it is no GGUF file", quoted_text(start.substr(0, 4))));
}

std::uint32_t read_version(ByteCursor& cursor) {
  const std::uint64_t offset = cursor.offset();
  const auto version = cursor.read<std::uint32_t>("the version");
  if (version == 2 || version == 3) return version;
  const std::uint32_t swapped = __builtin_bswap32(version);
  if (swapped >= 1 && swapped <= 3) {
    cursor.fail(offset,
                fmt::format("this is a big-endian file (version {}), lastbit reads little-endian ones", swapped));
  }
  cursor.fail(offset, fmt::format("version {} is not supported, lastbit reads versions 2 and 3{}", version,
                                  version == 1 ? ": convert the model again with a current converter" : ""));
}

std::uint64_t read_count(ByteCursor& cursor, std::string_view what) {
  const std::uint64_t offset = cursor.offset();
  const auto count = cursor.read<std::uint64_t>(fmt::format("the number of {}", what));
  if (count > kMostEntries) {
    cursor.fail(offset, fmt::format("{} {} are announced, lastbit allows {}", count, what, kMostEntries));
  }
  return count;
}

std::uint64_t checked_alignment(const GgufFile& file) {
  const std::uint64_t alignment = file.unsigned_integer("general.alignment").value_or(kDefaultAlignment);
  if (std::has_single_bit(alignment) && alignment >= kSmallestAlignment && alignment <= kLargestAlignment)
    return alignment;
  throw_input(gguf::place_message(
      file.path(), "key 'general.alignment'", file.find("general.alignment")->file_offset,
      fmt::format("is {}, must be a power of two from {} to {}", alignment, kSmallestAlignment, kLargestAlignment)));
}

}  // namespace

GgufFile::GgufFile(const std::string& path) : path_(path), file_(std::in_place, path) {
  bytes_ = file_->bytes();
  parse();
}

GgufFile::GgufFile(std::string name, std::vector<std::byte> content)
    : path_(std::move(name)), memory_(std::move(content)), bytes_(memory_) {
  parse();
}

void GgufFile::parse() {
  ByteCursor cursor(path_, bytes_);
  check_magic(cursor, {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  version_ = read_version(cursor);
  const std::uint64_t counts_offset = cursor.offset();
  const std::uint64_t tensor_count = read_count(cursor, "tensors");
  const std::uint64_t key_count = read_count(cursor, "keys");
  cursor.check_count(key_count, gguf::kSmallestKeyValue, counts_offset + 8, "keys");
  cursor.check_count(tensor_count, gguf::kSmallestTensorInfo, counts_offset, "tensors");

  for (std::uint64_t i = 0; i < key_count; ++i) {
    const std::uint64_t key_offset = cursor.offset();
    const std::string_view key = gguf::read_key(cursor, i);
    if (values_.contains(key)) cursor.fail(key_offset, "the key comes twice");
    values_.emplace(key, gguf::read_value(cursor));
    keys_.push_back(key);
  }
  const std::uint64_t alignment = checked_alignment(*this);
  const auto infos = gguf::read_tensor_infos(cursor, tensor_count);
  const std::uint64_t data_start =
      *checked_align_up(cursor.offset(), alignment);  // an offset inside a file: no overflow
  tensors_ = gguf::place_tensors(path_, bytes_, infos, data_start, alignment);
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto entry = values_.find(key);
  return entry == values_.end() ? nullptr : &entry->second;
}

void GgufFile::fail_value(std::string_view key, const GgufValue& value, std::string_view message) const {
  throw_input(gguf::place_message(path_, "key " + quoted_text(key), value.file_offset, message));
}

template <class T>
const T* GgufFile::scalar(std::string_view key, std::string_view wanted) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return nullptr;
  const T* content = std::get_if<T>(&value->value);
  if (content == nullptr) fail_value(key, *value, fmt::format("has the type {}, must be {}", value->type_name, wanted));
  return content;
}

template <class T>
const std::vector<T>* GgufFile::array(std::string_view key, std::string_view wanted) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return nullptr;
  const auto* any = std::get_if<GgufValue::Array>(&value->value);
  const auto* content = any == nullptr ? nullptr : std::get_if<std::vector<T>>(any);
  if (content == nullptr) fail_value(key, *value, fmt::format("has the type {}, must be {}", value->type_name, wanted));
  return content;
}

std::optional<std::uint64_t> GgufFile::unsigned_integer(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* content = std::get_if<std::int64_t>(&value->value)) {
    if (*content < 0) fail_value(key, *value, fmt::format("is {}, must not be negative", *content));
    return static_cast<std::uint64_t>(*content);
  }
  return *scalar<std::uint64_t>(key, "an integer");
}

std::optional<double> GgufFile::number(std::string_view key) const {
  const auto* content = scalar<double>(key, "f32 or f64");
  return content == nullptr ? std::nullopt : std::optional(*content);
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
  const auto* content = scalar<bool>(key, "bool");
  return content == nullptr ? std::nullopt : std::optional(*content);
}

std::optional<std::string_view> GgufFile::string(std::string_view key) const {
  const auto* content = scalar<std::string_view>(key, "string");
  return content == nullptr ? std::nullopt : std::optional(*content);
}

const std::vector<std::string_view>* GgufFile::string_array(std::string_view key) const {
  return array<std::string_view>(key, "array of string");
}

const std::vector<double>* GgufFile::number_array(std::string_view key) const {
  return array<double>(key, "array of f32 or f64");
}

std::optional<std::vector<std::int64_t>> GgufFile::integer_array(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto* any = std::get_if<GgufValue::Array>(&value->value);
  const auto* unsigned_values = any == nullptr ? nullptr : std::get_if<std::vector<std::uint64_t>>(any);
  if (unsigned_values == nullptr) return *array<std::int64_t>(key, "array of integers");
  std::vector<std::int64_t> result;
  result.reserve(unsigned_values->size());
  for (const std::uint64_t element : *unsigned_values) {
    if (element > INT64_MAX) fail_value(key, *value, fmt::format("holds {}, must stay below 2^63", element));
    result.push_back(static_cast<std::int64_t>(element));
  }
  return result;
}

}  // namespace lastbit::formats
