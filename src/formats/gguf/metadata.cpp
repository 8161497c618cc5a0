#include "formats/gguf/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace lastbit::formats::gguf {
namespace {

enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

constexpr std::uint32_t kValueTypes = 13;
constexpr std::array<std::string_view, kValueTypes> kTypeNames = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                                  "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::array<std::string_view, kValueTypes> kArrayTypeNames = {
    "array of u8",  "array of i8",  "array of u16",  "array of i16",    "array of u32",
    "array of i32", "array of f32", "array of bool", "array of string", "array of array",
    "array of u64", "array of i64", "array of f64"};

ValueType read_type(ByteCursor& cursor, std::string_view what) {
  const std::uint64_t offset = cursor.offset();
  const auto type = cursor.read<std::uint32_t>(what);
  if (type >= kValueTypes) cursor.fail(offset, fmt::format("{} {} is unknown (GGUF has 0 to 12)", what, type));
  return static_cast<ValueType>(type);
}

bool read_boolean(ByteCursor& cursor) {
  const std::uint64_t offset = cursor.offset();
  const auto byte = cursor.read<std::uint8_t>("a boolean");
  if (byte > 1) cursor.fail(offset, fmt::format("a boolean is stored as {}, must be 0 or 1", byte));
  return byte == 1;
}

template <class Stored, class Kept>
GgufValue::Array read_number_array(ByteCursor& cursor, std::uint64_t count) {
  // The count was checked against the bytes that are left, so the product cannot overflow and the vector is no larger
  // than a small multiple of bytes that are there.
  const auto bytes = cursor.take(count * sizeof(Stored), "an array");
  std::vector<Kept> values(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = value;
  }
  return values;
}

GgufValue::Array read_boolean_array(ByteCursor& cursor, std::uint64_t count) {
  std::vector<bool> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = read_boolean(cursor);
  return values;
}

GgufValue::Array read_string_array(ByteCursor& cursor, std::uint64_t count) {
  std::vector<std::string_view> values;
  values.reserve(std::min<std::uint64_t>(count, 1 << 18));  // beyond that memory follows the strings that are there
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(cursor.read_string("a string of an array"));
  return values;
}

std::uint64_t smallest_size(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::string:
    case ValueType::array:
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
  }
  return 1;
}

GgufValue::Array read_array_elements(ByteCursor& cursor, ValueType type, std::uint64_t count) {
  switch (type) {
    case ValueType::u8:
      return read_number_array<std::uint8_t, std::uint64_t>(cursor, count);
    case ValueType::i8:
      return read_number_array<std::int8_t, std::int64_t>(cursor, count);
    case ValueType::u16:
      return read_number_array<std::uint16_t, std::uint64_t>(cursor, count);
    case ValueType::i16:
      return read_number_array<std::int16_t, std::int64_t>(cursor, count);
    case ValueType::u32:
      return read_number_array<std::uint32_t, std::uint64_t>(cursor, count);
    case ValueType::i32:
      return read_number_array<std::int32_t, std::int64_t>(cursor, count);
    case ValueType::f32:
      return read_number_array<float, double>(cursor, count);
    case ValueType::u64:
      return read_number_array<std::uint64_t, std::uint64_t>(cursor, count);
    case ValueType::i64:
      return read_number_array<std::int64_t, std::int64_t>(cursor, count);
    case ValueType::f64:
      return read_number_array<double, double>(cursor, count);
    case ValueType::boolean:
      return read_boolean_array(cursor, count);
    case ValueType::string:
      return read_string_array(cursor, count);
    case ValueType::array:
      break;  // read_array has refused it
  }
  return {};
}

GgufValue read_array(ByteCursor& cursor) {
  const std::uint64_t type_offset = cursor.offset();
  const ValueType type = read_type(cursor, "the element type");
  if (type == ValueType::array) cursor.fail(type_offset, "is an array of arrays, which lastbit does not read");
  const std::uint64_t count_offset = cursor.offset();
  const auto count = cursor.read<std::uint64_t>("the length of an array");
  cursor.check_count(count, smallest_size(type), count_offset, "array elements");
  GgufValue value;
  value.type_name = kArrayTypeNames[static_cast<std::uint32_t>(type)];
  value.value = read_array_elements(cursor, type, count);
  return value;
}

GgufValue read_scalar(ByteCursor& cursor, ValueType type) {
  constexpr std::string_view what = "a number";
  GgufValue value;
  value.type_name = kTypeNames[static_cast<std::uint32_t>(type)];
  switch (type) {
    case ValueType::u8:
      value.value = std::uint64_t{cursor.read<std::uint8_t>(what)};
      break;
    case ValueType::i8:
      value.value = std::int64_t{cursor.read<std::int8_t>(what)};
      break;
    case ValueType::u16:
      value.value = std::uint64_t{cursor.read<std::uint16_t>(what)};
      break;
    case ValueType::i16:
      value.value = std::int64_t{cursor.read<std::int16_t>(what)};
      break;
    case ValueType::u32:
      value.value = std::uint64_t{cursor.read<std::uint32_t>(what)};
      break;
    case ValueType::i32:
      value.value = std::int64_t{cursor.read<std::int32_t>(what)};
      break;
    case ValueType::f32:
      value.value = double{cursor.read<float>(what)};
      break;
    case ValueType::u64:
      value.value = cursor.read<std::uint64_t>(what);
      break;
    case ValueType::i64:
      value.value = cursor.read<std::int64_t>(what);
      break;
    case ValueType::f64:
      value.value = cursor.read<double>(what);
      break;
    case ValueType::boolean:
      value.value = read_boolean(cursor);
      break;
    case ValueType::string:
      value.value = cursor.read_string("a string");
      break;
    case ValueType::array:
      break;  // read_value takes care of it
  }
  return value;
}

}  // namespace

std::string_view read_key(ByteCursor& cursor, std::uint64_t index) {
  constexpr std::uint64_t longest = 65'535;  // the specification's limit
  cursor.set_subject(fmt::format("key number {}", index + 1));
  const std::uint64_t offset = cursor.offset();
  const auto length = cursor.read<std::uint64_t>("the length of a key");
  if (length == 0) cursor.fail(offset, "the key is empty");
  if (length > longest) cursor.fail(offset, fmt::format("the key has {} bytes, GGUF allows {}", length, longest));
  const auto bytes = cursor.take(length, "a key");
  const std::string_view key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  cursor.set_subject("key " + quoted_text(key));
  for (const char character : key) {
    // The specification wants lower_snake_case; real files use capitals and hyphens too (general.Source, nomic-bert.*).
    if (character < 0x21 || character > 0x7E) cursor.fail(offset, "the key holds other bytes than printable ASCII");
  }
  return key;
}

GgufValue read_value(ByteCursor& cursor) {
  const ValueType type = read_type(cursor, "the value type");
  const std::uint64_t offset = cursor.offset();
  GgufValue value = type == ValueType::array ? read_array(cursor) : read_scalar(cursor, type);
  value.file_offset = offset;
  return value;
}

}  // namespace lastbit::formats::gguf
