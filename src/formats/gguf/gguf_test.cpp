// Well-formed files are read as written; every kind of damage is refused with file, key or tensor, and byte.
#include "formats/gguf/gguf.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "formats/gguf/tensor_types.hpp"
#include "tests/support/data.hpp"
#include "tests/support/gguf_builder.hpp"

namespace lastbit::formats {
namespace {

using numerics::ElementType;
using test::gguf_string;
using test::GgufBuilder;
using test::number_bytes;

constexpr std::uint32_t kF32 = 0, kQ8_0 = 8, kQ4_K = 12;
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kFirstKey = 24;  // where the first key stands: after magic, version and two counts

GgufFile parse(const std::string& bytes) { return GgufFile("test.gguf", test::to_bytes(bytes)); }
GgufFile parse(const GgufBuilder& builder) { return parse(builder.bytes()); }

/// Runs something that must throw ErrorKind::input with every part in its message, the file's name first.
template <class Run>
void expect_input_error(const Run& run, const std::vector<std::string>& parts) {
  try {
    run();
    ADD_FAILURE() << "nothing was refused; expected: " << parts.front();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    const std::string message = error.what();
    EXPECT_EQ(message.find("test.gguf: "), 0u) << message;
    for (const std::string& part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

void expect_refused(const std::string& bytes, const std::vector<std::string>& parts) {
  expect_input_error([&] { parse(bytes); }, parts);
}
void expect_refused(const GgufBuilder& builder, const std::vector<std::string>& parts) {
  expect_refused(builder.bytes(), parts);
}

std::string at_byte(std::uint64_t offset) { return "at byte " + std::to_string(offset) + ": "; }

// ---- well-formed files ----

TEST(GgufFile, ReadsEveryValueTypeInVersions2And3) {
  for (const std::uint32_t version : {2u, 3u}) {
    GgufBuilder builder;
    builder.version = version;
    builder.number<std::uint8_t>("a.u8", 255).number<std::int8_t>("a.i8", -128).number<std::uint16_t>("a.u16", 65'535);
    builder.number<std::int16_t>("a.i16", -32'768).number<std::uint32_t>("a.u32", 4'294'967'295u);
    builder.number<std::int32_t>("a.i32", -7).number<float>("a.f32", 0.1f).number<bool>("a.yes", true);
    builder.number<bool>("a.no", false).number<std::uint64_t>("a.u64", kHuge).number<std::int64_t>("a.i64", 5);
    builder.number<double>("a.f64", 0.1).string("a.text", "two\nlines").string("a.empty", "");
    const GgufFile file = parse(builder);
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(file.unsigned_integer("a.u8"), 255u);
    EXPECT_EQ(std::get<std::int64_t>(file.find("a.i8")->value), -128);
    EXPECT_EQ(file.unsigned_integer("a.u16"), 65'535u);
    EXPECT_EQ(std::get<std::int64_t>(file.find("a.i16")->value), -32'768);
    EXPECT_EQ(file.unsigned_integer("a.u32"), 4'294'967'295u);
    EXPECT_EQ(std::get<std::int64_t>(file.find("a.i32")->value), -7);
    EXPECT_EQ(file.number("a.f32"), static_cast<double>(0.1f));
    EXPECT_EQ(file.boolean("a.yes"), true);
    EXPECT_EQ(file.boolean("a.no"), false);
    EXPECT_EQ(file.unsigned_integer("a.u64"), kHuge);
    EXPECT_EQ(file.unsigned_integer("a.i64"), 5u);
    EXPECT_EQ(file.number("a.f64"), 0.1);
    EXPECT_EQ(file.string("a.text"), "two\nlines");
    EXPECT_EQ(file.string("a.empty"), "");
    EXPECT_EQ(file.find("a.i16")->type_name, "i16");
    EXPECT_EQ(file.find("a.no")->type_name, "bool");
    EXPECT_EQ(file.find("a.u8")->file_offset, kFirstKey + 8 + 4 + 4);
  }
}

TEST(GgufFile, ReadsArraysOfEveryElementType) {
  GgufBuilder builder;
  builder.numbers<std::uint8_t>("u8", {0, 255}).numbers<std::int8_t>("i8", {-128, 127});
  builder.numbers<std::uint16_t>("u16", {1, 65'535}).numbers<std::int16_t>("i16", {-1});
  builder.numbers<std::uint32_t>("u32", {7})
      .numbers<std::int32_t>("i32", {3, -3})
      .numbers<float>("f32", {0.5f, -1e-40f});
  builder.numbers<bool>("bool", {true, false, true}).strings("string", {"a", "", "\xE2\x96\x81the"});
  builder.numbers<std::uint64_t>("u64", {1, 1ull << 62})
      .numbers<std::int64_t>("i64", {-5})
      .numbers<double>("f64", {0.1});
  builder.strings("none", {});
  const GgufFile file = parse(builder);
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(file.integer_array("u8"), (Integers{0, 255}));
  EXPECT_EQ(file.integer_array("i8"), (Integers{-128, 127}));
  EXPECT_EQ(file.integer_array("u16"), (Integers{1, 65'535}));
  EXPECT_EQ(file.integer_array("i16"), (Integers{-1}));
  EXPECT_EQ(file.integer_array("u32"), (Integers{7}));
  EXPECT_EQ(file.integer_array("i32"), (Integers{3, -3}));
  EXPECT_EQ(file.integer_array("u64"), (Integers{1, 1ll << 62}));
  EXPECT_EQ(file.integer_array("i64"), (Integers{-5}));
  EXPECT_EQ(*file.number_array("f32"), (std::vector<double>{0.5, static_cast<double>(-1e-40f)}));
  EXPECT_EQ(*file.number_array("f64"), (std::vector<double>{0.1}));
  EXPECT_EQ(*file.string_array("string"), (std::vector<std::string_view>{"a", "", "\xE2\x96\x81the"}));
  EXPECT_EQ(std::get<std::vector<bool>>(std::get<GgufValue::Array>(file.find("bool")->value)),
            (std::vector<bool>{true, false, true}));
  EXPECT_TRUE(file.string_array("none")->empty());
  EXPECT_EQ(file.find("i32")->type_name, "array of i32");
  EXPECT_EQ(file.find("string")->type_name, "array of string");
}

TEST(GgufFile, ListsKeysInFileOrderAndKnowsNoOthers) {
  const GgufFile file = parse(GgufBuilder().string("z.last", "1").string("a.first", "2").string("m.middle", "3"));
  EXPECT_EQ(file.keys(), (std::vector<std::string_view>{"z.last", "a.first", "m.middle"}));
  EXPECT_EQ(file.find("absent"), nullptr);
  EXPECT_FALSE(file.unsigned_integer("absent"));
  EXPECT_FALSE(file.number("absent"));
  EXPECT_FALSE(file.boolean("absent"));
  EXPECT_FALSE(file.string("absent"));
  EXPECT_EQ(file.string_array("absent"), nullptr);
  EXPECT_EQ(file.number_array("absent"), nullptr);
  EXPECT_FALSE(file.integer_array("absent"));
}

TEST(GgufFile, GivesTensorsSlowestDimensionFirst) {
  GgufBuilder builder;
  builder.tensor("matrix", kF32, {3, 2}, number_bytes(1.5f) + std::string(20, 'm'));
  builder.tensor("blocks", kQ8_0, {64, 1, 2, 3}, std::string(12 * 34, 'q'));
  const GgufFile file = parse(builder);
  ASSERT_EQ(file.tensors().all().size(), 2u);
  const TensorView& matrix = *file.tensors().find("matrix");
  EXPECT_EQ(matrix.type, ElementType::f32);
  EXPECT_EQ(matrix.shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(shape_text(matrix.shape), "[2, 3]");
  ASSERT_EQ(matrix.data.size(), 24u);
  float first = 0;
  std::memcpy(&first, matrix.data.data(), 4);
  EXPECT_EQ(first, 1.5f);
  EXPECT_EQ(matrix.file_offset % 32, 0u);
  const TensorView& blocks = file.tensors().all()[1];
  EXPECT_EQ(blocks.name, "blocks");
  EXPECT_EQ(blocks.type, ElementType::q8_0);
  EXPECT_EQ(blocks.shape, (std::vector<std::uint64_t>{3, 2, 1, 64}));
  EXPECT_EQ(blocks.data.size(), 12u * 34);
  EXPECT_EQ(blocks.file_offset, matrix.file_offset + 32);
  EXPECT_EQ(file.tensors().find("other"), nullptr);
}

TEST(GgufFile, FollowsTheDeclaredAlignment) {
  for (const std::uint64_t alignment : {8u, 64u, 4096u, 65'536u}) {
    GgufBuilder builder;
    builder.alignment = alignment;
    builder.number("general.alignment", static_cast<std::uint32_t>(alignment));
    builder.tensor("a", kF32, {1}, number_bytes(1.0f)).tensor("b", kF32, {1}, number_bytes(2.0f));
    const GgufFile file = parse(builder);
    EXPECT_EQ(file.tensors().all()[0].file_offset % alignment, 0u);
    EXPECT_EQ(file.tensors().all()[1].file_offset, file.tensors().all()[0].file_offset + alignment);
    float second = 0;
    std::memcpy(&second, file.tensors().all()[1].data.data(), 4);
    EXPECT_EQ(second, 2.0f);
  }
}

TEST(GgufFile, ReadsAVocabularyWithoutTensorsAndAFileOfNothing) {
  EXPECT_EQ(parse(GgufBuilder().strings("tokenizer.ggml.tokens", {"a", "b"})).tensors().all().size(), 0u);
  EXPECT_TRUE(parse(GgufBuilder()).keys().empty());
}

TEST(GgufFile, StaysValidWhenMoved) {
  GgufFile file = parse(GgufBuilder().string("key", "value").tensor("t", kF32, {1}, number_bytes(3.0f)));
  const GgufFile moved = std::move(file);
  EXPECT_EQ(moved.string("key"), "value");
  EXPECT_EQ(moved.tensors().find("t")->data.size(), 4u);
  EXPECT_EQ(moved.path(), "test.gguf");
}

TEST(GgufFile, MapsAFileFromDiskAndGivesTheSameAsFromMemory) {
  const std::string path = test::temporary_path("small.gguf");
  const std::string bytes = GgufBuilder().string("key", "value").tensor("t", kF32, {2}, std::string(8, 'd')).bytes();
  std::ofstream(path, std::ios::binary) << bytes;
  const GgufFile file(path);
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(file.size(), bytes.size());
  EXPECT_EQ(file.string("key"), "value");
  EXPECT_EQ(file.tensors().find("t")->file_offset, parse(bytes).tensors().find("t")->file_offset);
}

TEST(GgufFile, RefusesAMissingFileAndAFolder) {
  for (const std::string& path :
       {test::temporary_path("absent.gguf"), std::filesystem::temp_directory_path().string()}) {
    try {
      const GgufFile file(path);
      ADD_FAILURE() << path << " was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    }
  }
}

// ---- accessors ----

TEST(GgufAccessors, NameFileKeyFoundTypeAndWantedType) {
  GgufBuilder builder;
  builder.string("text", "x")
      .number<std::uint32_t>("count", 3)
      .number<float>("rate", 1.0f)
      .number<std::int32_t>("minus", -3);
  builder.number<bool>("flag", true).numbers<float>("rates", {1.0f}).numbers<std::uint64_t>("large", {1ull << 63});
  const GgufFile file = parse(builder);
  const auto expect = [&](const auto& run, const std::vector<std::string>& parts) { expect_input_error(run, parts); };
  expect([&] { file.unsigned_integer("text"); },
         {"key 'text'", at_byte(kFirstKey + 12 + 4), "string", "must be an integer"});
  expect([&] { file.unsigned_integer("rate"); }, {"key 'rate'", "f32", "must be an integer"});
  expect([&] { file.unsigned_integer("flag"); }, {"key 'flag'", "bool", "must be an integer"});
  expect([&] { file.unsigned_integer("minus"); }, {"key 'minus'", "is -3, must not be negative"});
  expect([&] { file.number("count"); }, {"key 'count'", "u32", "must be f32 or f64"});
  expect([&] { file.boolean("count"); }, {"key 'count'", "u32", "must be bool"});
  expect([&] { file.string("count"); }, {"key 'count'", "u32", "must be string"});
  expect([&] { file.string("rates"); }, {"key 'rates'", "array of f32", "must be string"});
  expect([&] { file.string_array("text"); }, {"key 'text'", "string", "must be array of string"});
  expect([&] { file.string_array("rates"); }, {"key 'rates'", "array of f32", "must be array of string"});
  expect([&] { file.number_array("rate"); }, {"key 'rate'", "f32", "must be array of f32 or f64"});
  expect([&] { file.integer_array("rates"); }, {"key 'rates'", "array of f32", "must be array of integers"});
  expect([&] { file.integer_array("count"); }, {"key 'count'", "u32", "must be array of integers"});
  expect([&] { file.integer_array("large"); }, {"key 'large'", "9223372036854775808", "must stay below 2^63"});
}

// ---- hostile headers ----

TEST(HostileHeader, IsRefusedForItsMagic) {
  expect_refused("", {"header at byte 0: ", "0 bytes", "no GGUF file"});
  expect_refused("GGU", {"header at byte 0: ", "3 bytes"});
  std::string bytes = GgufBuilder().bytes();
  bytes[3] = 'f';
  expect_refused(bytes, {"header at byte 0: ", "starts with 'GGUf'"});
  expect_refused("version https://git-lfs.github.com/spec/v1\n", {"Git LFS pointer", "git lfs pull"});
  expect_refused(std::string("\x80\x02}\n", 4) + std::string(64, '\0'), {"starts with '\\x80\\x02}\\x0a'"});
}

TEST(HostileHeader, IsRefusedForItsVersion) {
  for (const std::uint32_t version : {0u, 1u, 4u, 4'294'967'295u}) {
    GgufBuilder builder;
    builder.version = version;
    expect_refused(builder,
                   {"header at byte 4: ", "version " + std::to_string(version) + " is not supported", "2 and 3"});
  }
}

TEST(HostileHeader, IsRefusedWhenBigEndian) {
  for (const std::uint32_t version : {1u, 2u, 3u}) {
    GgufBuilder builder;
    builder.version = __builtin_bswap32(version);
    expect_refused(builder, {"header at byte 4: ", "big-endian file (version " + std::to_string(version) + ")"});
  }
}

TEST(HostileHeader, IsRefusedForCountsThatTheFileCannotHold) {
  GgufBuilder builder;
  builder.string("key", "value").tensor("t", kF32, {1}, number_bytes(1.0f));
  builder.extra_tensors = 40;
  expect_refused(builder, {"header at byte 8: ", "41 tensors are announced"});
  builder.extra_tensors = kHuge - 1;
  expect_refused(builder, {"header at byte 8: ", "18446744073709551615 tensors are announced", "allows 65536"});
  builder.extra_tensors = 0;
  builder.extra_keys = 40;
  expect_refused(builder, {"header at byte 16: ", "41 keys are announced"});
  builder.extra_keys = kHuge - 1;
  expect_refused(builder, {"header at byte 16: ", "18446744073709551615 keys are announced", "allows 65536"});
}

// ---- hostile keys and values ----

TEST(HostileKey, IsRefusedForItsName) {
  const std::string value = number_bytes(0u) + "x";  // a u8
  const std::string start = at_byte(kFirstKey);
  const auto entry = [&](const std::string& key) { return GgufBuilder().raw_entry(key + value); };
  expect_refused(GgufBuilder().raw_entry(gguf_string("") + value + "x"), {"key number 1 ", start, "empty"});
  expect_refused(entry(gguf_string(std::string(65'536, 'k'))), {"key number 1 ", start, "65536 bytes"});
  expect_refused(entry(number_bytes(kHuge) + "key"), {"key number 1 ", start, "18446744073709551615 bytes"});
  expect_refused(entry(number_bytes<std::uint64_t>(60'000) + "key"),
                 {"key number 1 at byte 32: ", "the file ends inside a key"});
  expect_refused(entry(gguf_string("na\nme")), {"key 'na\\x0ame' ", start, "printable ASCII"});
  expect_refused(entry(gguf_string("caf\xC3\xA9")), {"key 'caf\\xc3\\xa9' ", start, "printable ASCII"});
  expect_refused(entry(gguf_string("two words")), {"printable ASCII"});
  EXPECT_EQ(parse(entry(gguf_string(std::string(65'535, 'k')))).keys().size(), 1u);
}

TEST(HostileKey, IsRefusedWhenItComesTwice) {
  const GgufBuilder builder = GgufBuilder().string("first", "1").string("twice", "2").string("twice", "3");
  const std::uint64_t second = kFirstKey + (8 + 5 + 4 + 8 + 1) * 2;
  expect_refused(builder, {"key 'twice' ", at_byte(second), "comes twice"});
}

TEST(HostileValue, IsRefusedForItsType) {
  const std::uint64_t type_offset = kFirstKey + 8 + 3;
  for (const std::uint32_t type : {13u, 255u, 4'294'967'295u}) {
    expect_refused(GgufBuilder().raw("key", type, std::string(16, '\0')),
                   {"key 'key' ", at_byte(type_offset), "value type " + std::to_string(type) + " is unknown"});
    expect_refused(GgufBuilder().raw_array("key", type, 1, std::string(16, '\0')),
                   {"key 'key' ", at_byte(type_offset + 4), "element type " + std::to_string(type) + " is unknown"});
  }
}

TEST(HostileValue, IsRefusedForABooleanThatIsNeither0Nor1) {
  const std::uint64_t value_offset = kFirstKey + 8 + 3 + 4;
  expect_refused(GgufBuilder().raw("key", 7, "\x02"),
                 {"key 'key' ", at_byte(value_offset), "stored as 2, must be 0 or 1"});
  expect_refused(GgufBuilder().raw_array("key", 7, 3, std::string("\x01\x00\xFF", 3)),
                 {"key 'key' ", at_byte(value_offset + 12 + 2), "stored as 255"});
}

TEST(HostileValue, IsRefusedForAStringLongerThanTheFile) {
  const std::uint64_t text_offset = kFirstKey + 8 + 3 + 4 + 8;
  for (const std::uint64_t length :
       {std::uint64_t{6}, std::uint64_t{1} << 30, std::uint64_t{1} << 63, kHuge - 7, kHuge}) {
    expect_refused(GgufBuilder().raw("key", test::kGgufString, number_bytes(length) + "12345"),
                   {"key 'key' ", at_byte(text_offset), std::to_string(length) + " bytes are needed, 5 are left"});
  }
}

TEST(HostileValue, IsRefusedForAnArrayLongerThanTheFile) {
  const std::uint64_t count_offset = kFirstKey + 8 + 3 + 4 + 4;
  for (const std::uint32_t type : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 10u, 11u, 12u}) {
    // 2^61, 2^62 and 2^63 elements of 8, 4 and 2 bytes wrap to 0 bytes.
    for (const std::uint64_t count :
         {std::uint64_t{17}, std::uint64_t{1} << 61, std::uint64_t{1} << 62, std::uint64_t{1} << 63, kHuge}) {
      expect_refused(GgufBuilder().raw_array("key", type, count, std::string(16, '\0')),
                     {"key 'key' ", at_byte(count_offset), std::to_string(count) + " array elements are announced"});
    }
  }
  const std::string second_too_long = gguf_string("ok") + number_bytes(kHuge);
  expect_refused(GgufBuilder().raw_array("key", test::kGgufString, 2, second_too_long),
                 {"key 'key' ", "the file ends inside a string of an array"});
}

TEST(HostileValue, IsRefusedForAnArrayOfArrays) {
  std::string nested;
  for (int depth = 0; depth < 1000; ++depth) nested += number_bytes(test::kGgufArray) + number_bytes<std::uint64_t>(1);
  expect_refused(GgufBuilder().raw("key", test::kGgufArray, nested), {"key 'key' ", "array of arrays"});
}

TEST(HostileValue, IsRefusedForAnAlignmentThatIsNoPowerOfTwoOrOutOfRange) {
  for (const std::uint32_t alignment : {0u, 1u, 3u, 4u, 24u, 33u, 131'072u, 1u << 30, 1u << 31, 4'294'967'295u}) {
    expect_refused(GgufBuilder().number("general.alignment", alignment).tensor("t", kF32, {1}, number_bytes(1.0f)),
                   {"key 'general.alignment' ", at_byte(kFirstKey + 8 + 17 + 4),
                    "is " + std::to_string(alignment) + ", must be a power of two from 8 to 65536"});
  }
  expect_refused(GgufBuilder().number<std::int32_t>("general.alignment", -32),
                 {"general.alignment", "must not be negative"});
  expect_refused(GgufBuilder().string("general.alignment", "32"),
                 {"general.alignment", "string", "must be an integer"});
}

// ---- hostile tensors ----

GgufBuilder one_tensor(std::uint32_t type, const std::vector<std::uint64_t>& dimensions, std::uint64_t offset = 0) {
  GgufBuilder builder;
  builder.tensor("first", kF32, {8}, std::string(32, '\0'));
  builder.tensor_at("bad", type, dimensions, offset);
  return builder;
}

// Where the info of "bad" starts in one_tensor.
const std::uint64_t kBadInfo = kFirstKey + 8 + 5 + 4 + 8 + 4 + 8;

TEST(HostileTensor, IsRefusedForItsName) {
  const std::string rest =
      number_bytes(1u) + number_bytes<std::uint64_t>(1) + number_bytes(kF32) + number_bytes<std::uint64_t>(0);
  const auto named = [&](const std::string& name) { return GgufBuilder().raw_tensor(name + rest); };
  expect_refused(named(gguf_string("") + "x"), {"tensor number 1 ", at_byte(kFirstKey), "the name is empty"});
  expect_refused(named(number_bytes(kHuge) + "x"), {"tensor number 1 ", "18446744073709551615 bytes"});
  expect_refused(named(number_bytes<std::uint64_t>(4000) + "x"),
                 {"tensor number 1 ", "the file ends inside a tensor name"});
}

TEST(HostileTensor, IsRefusedForItsNumberOfDimensions) {
  for (const std::uint32_t count : {0u, 5u, 4'294'967'295u}) {
    const std::string info = gguf_string("bad") + number_bytes(count) + std::string(64, '\1');
    expect_refused(GgufBuilder().raw_tensor(info), {"tensor 'bad' ", at_byte(kFirstKey + 11),
                                                    "has " + std::to_string(count) + " dimensions, must have 1 to 4"});
  }
}

TEST(HostileTensor, IsRefusedForADimensionOf0) {
  expect_refused(one_tensor(kF32, {0}), {"tensor 'bad' ", at_byte(kBadInfo), "[0]", "dimension of 0"});
  expect_refused(one_tensor(kQ8_0, {32, 0}), {"tensor 'bad' ", "[0, 32]", "dimension of 0"});
  expect_refused(one_tensor(kF32, {kHuge, kHuge, 0}), {"tensor 'bad' ", "dimension of 0"});
}

TEST(HostileTensor, IsRefusedWhenItsSizeWraps) {
  const std::uint64_t half = std::uint64_t{1} << 32;
  for (const std::vector<std::uint64_t>& dimensions : {std::vector<std::uint64_t>{half, half},
                                                       {std::uint64_t{1} << 62},
                                                       {kHuge},
                                                       {kHuge, kHuge, kHuge, kHuge},
                                                       {8, std::uint64_t{1} << 61},
                                                       {2, (std::uint64_t{1} << 63) + 1}}) {
    expect_refused(one_tensor(kF32, dimensions), {"tensor 'bad' ", at_byte(kBadInfo), "more than 2^64 bytes"});
  }
  expect_refused(one_tensor(kQ8_0, {std::uint64_t{1} << 63, 2}), {"tensor 'bad' ", "more than 2^64 bytes"});
  expect_refused(one_tensor(kQ8_0, {std::uint64_t{1} << 63}), {"tensor 'bad' ", "reach past the end of the file"});
}

TEST(HostileTensor, IsRefusedForATypeThatIsNotRead) {
  const std::vector<std::pair<std::uint32_t, std::string>> known = {
      {4, "Q4_2"},      {9, "Q8_1"},   {15, "Q8_K"},  {16, "IQ2_XXS"},    {20, "IQ4_NL"}, {23, "IQ4_XS"},
      {24, "I8"},       {25, "I16"},   {26, "I32"},   {27, "I64"},        {28, "F64"},    {29, "IQ1_M"},
      {31, "Q4_0_4_4"}, {34, "TQ1_0"}, {35, "TQ2_0"}, {38, "IQ4_NL_8_8"}, {39, "MXFP4"},  {40, "NVFP4"}};
  for (const auto& [id, name] : known) {
    expect_refused(one_tensor(id, {256}), {"tensor 'bad' ", at_byte(kBadInfo),
                                           "type " + name + " (" + std::to_string(id) + ") is not supported"});
  }
  for (const std::uint32_t id : {43u, 255u, 4'294'967'295u}) {
    expect_refused(one_tensor(id, {256}), {"tensor 'bad' ", "type number " + std::to_string(id) + " is unknown"});
  }
  expect_refused(one_tensor(20, {256}),
                 {"lastbit reads F32 F16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K BF16"});
}

TEST(HostileTensor, IsRefusedWhenARowIsNoMultipleOfABlock) {
  expect_refused(one_tensor(kQ8_0, {33}), {"tensor 'bad' ", at_byte(kBadInfo), "rows have 33 elements", "32", "Q8_0"});
  expect_refused(one_tensor(kQ4_K, {128, 2}), {"tensor 'bad' ", "rows have 128 elements", "256", "Q4_K"});
}

TEST(HostileTensor, IsRefusedForAMisalignedOffset) {
  expect_refused(one_tensor(kF32, {1}, 4),
                 {"tensor 'bad' ", at_byte(kBadInfo), "data offset 4 is no multiple of the alignment 32"});
  expect_refused(one_tensor(kF32, {1}, kHuge), {"tensor 'bad' ", "18446744073709551615 is no multiple"});
}

TEST(HostileTensor, IsRefusedOutsideTheFile) {
  expect_refused(one_tensor(kF32, {1}, 32),
                 {"tensor 'bad' ", at_byte(kBadInfo), "4 bytes at data offset 32", "past the end"});
  expect_refused(one_tensor(kF32, {9}, 0), {"tensor 'bad' ", "36 bytes at data offset 0", "past the end"});
  expect_refused(one_tensor(kF32, {1}, kHuge - 31), {"tensor 'bad' ", "past the end"});
  expect_refused(one_tensor(kF32, {(std::uint64_t{1} << 61) - 8}, kHuge - 31), {"tensor 'bad' ", "past the end"});
  GgufBuilder without_data;
  without_data.tensor_at("bad", kF32, {1}, 0);
  expect_refused(without_data, {"tensor 'bad' ", "past the end"});
}

TEST(HostileTensor, IsRefusedWhenItOverlapsAnother) {
  expect_refused(one_tensor(kF32, {8}), {"tensor 'bad' ", at_byte(kBadInfo), "overlap those of tensor 'first'"});
  expect_refused(one_tensor(kF32, {1}), {"tensor 'bad' ", "overlap those of tensor 'first'"});
  // A small tensor inside a large one must not hide that the next one overlaps the large one too.
  GgufBuilder builder;
  builder.tensor("large", kF32, {64}, std::string(256, '\0'));
  builder.tensor_at("inside", kF32, {1}, 32).tensor_at("later", kF32, {1}, 128);
  expect_refused(builder, {"2 problems", "tensor 'inside'", "tensor 'later'"});
  // Touching is not overlapping.
  GgufBuilder touching;
  touching.tensor("a", kF32, {8}, std::string(32, '\0')).tensor("b", kF32, {8}, std::string(32, '\0'));
  EXPECT_EQ(parse(touching).tensors().all().size(), 2u);
}

TEST(HostileTensor, IsRefusedWhenItsNameComesTwice) {
  GgufBuilder builder;
  builder.tensor("twice", kF32, {1}, number_bytes(1.0f)).tensor("twice", kF32, {1}, number_bytes(2.0f));
  expect_refused(builder, {"tensor 'twice' ", at_byte(kBadInfo), "used twice"});
}

TEST(HostileTensor, IsReportedTogetherWithAllOthersUpTo20) {
  GgufBuilder builder;
  for (int i = 0; i < 25; ++i) builder.tensor_at("bad." + std::to_string(i), 20, {256}, 0);
  expect_refused(builder, {"25 problems", "tensor 'bad.0'", "tensor 'bad.19'", "and 5 more"});
  try {
    parse(builder);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("'bad.20'"), std::string::npos);
  }
}

TEST(GgufMessages, EscapeAndShortenNamesFromTheFile) {
  GgufBuilder builder;
  builder.tensor_at("evil\x1B[2J'\\" + std::string(200, 'n'), 20, {256}, 0);
  expect_refused(builder, {"tensor 'evil\\x1b[2J\\x27\\x5cnnn", "...' (210 bytes)"});
}

TEST(GgufTensorTypes, HaveANameWhereTheyAreRead) {
  int read = 0;
  for (std::uint32_t id = 0; id < 64; ++id) {
    const auto type = gguf::tensor_element_type(id);
    if (!type) continue;
    ++read;
    EXPECT_EQ(gguf::tensor_type_name(id), numerics::element_type_info(*type).name);
  }
  EXPECT_EQ(read, 13);
}

}  // namespace
}  // namespace lastbit::formats
