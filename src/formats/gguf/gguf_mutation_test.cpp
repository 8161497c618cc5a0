// Damage of every kind at every place: the answer is a file that can be used or ErrorKind::input, never a crash
// (sanitizers run this too), and never more memory than the bytes that are there justify.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "formats/gguf/gguf.hpp"
#include "tests/support/data.hpp"
#include "tests/support/gguf_builder.hpp"
#include "tests/support/gguf_exercise.hpp"
#include "tests/support/small_tests.hpp"

namespace {

// Every byte that this program asks operator new for. Frees are not counted off: the sum bounds the peak from above.
std::atomic<std::size_t> allocated_bytes{0};

void* counted_allocation(std::size_t size) noexcept {
  allocated_bytes += size;
  return std::malloc(size == 0 ? 1 : size);
}

void* counted_allocation_or_throw(std::size_t size) {
  void* memory = counted_allocation(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted_allocation_or_throw(size); }
void* operator new[](std::size_t size) { return counted_allocation_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_allocation(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted_allocation(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace lastbit::formats {
namespace {

using test::GgufBuilder;
using test::number_bytes;

/// A small file with every value type, arrays, and tensors of three types.
std::string small_file(std::uint32_t version) {
  GgufBuilder builder;
  builder.version = version;
  builder.string("general.architecture", "gemma3").number<std::uint32_t>("general.alignment", 32);
  builder.number<std::uint8_t>("u8", 1).number<std::int8_t>("i8", -1).number<std::uint16_t>("u16", 2);
  builder.number<std::int16_t>("i16", -2).number<std::int32_t>("i32", -3).number<float>("f32", 1.5f);
  builder.number<bool>("bool", true).number<std::uint64_t>("u64", 4).number<std::int64_t>("i64", -4);
  builder.number<double>("f64", 2.5)
      .strings("tokens", {"<pad>", "a", ""})
      .numbers<float>("scores", {0.0f, -1.0f, -2.0f});
  builder.numbers<std::int32_t>("types", {3, 1, 1}).numbers<bool>("bools", {true, false});
  builder.numbers<std::uint8_t>("bytes", {1, 2, 3}).numbers<double>("doubles", {1.0});
  builder.tensor("norm.weight", 0, {4}, std::string(16, '\0')).tensor("q8.weight", 8, {32, 2}, std::string(68, '\0'));
  builder.tensor("q4.weight", 12, {256}, std::string(144, '\0'));
  return builder.bytes();
}

enum class Outcome { used, refused };

/// Parses and, where that succeeds, uses the whole file. Fails the test for any other error and for too much memory.
Outcome parse_hostile(const std::string& bytes) {
  std::vector<std::byte> content = test::to_bytes(bytes);
  // The most that bytes grow to: an array of u8 becomes 64-bit numbers in a vector and once more in integer_array(), an
  // entry becomes a node of a table. The constant is for the text of messages. 64 MiB, whatever a header says.
  const std::size_t limit = std::min<std::size_t>(64 * bytes.size() + (1 << 16), 64 << 20);
  const std::size_t before = allocated_bytes;
  Outcome outcome = Outcome::used;
  try {
    const GgufFile file("test.gguf", std::move(content));
    EXPECT_NE(test::exercise_gguf(file), 0u);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    EXPECT_EQ(std::string(error.what()).find("test.gguf: "), 0u) << error.what();
    EXPECT_NE(std::string(error.what()).find(" at byte "), std::string::npos) << error.what();
    outcome = Outcome::refused;
  }
  EXPECT_LE(allocated_bytes - before, limit) << "for a file of " << bytes.size() << " bytes";
  return outcome;
}

std::vector<std::string> tiny_files() {
  std::vector<std::string> paths;
  for (const char* type : {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"}) {
    paths.push_back(test::data_path(std::string("gguf/tiny/gemma3-") + type + ".gguf"));
  }
  return paths;
}

/// The bytes before the data of the first tensor.
std::size_t header_size(const std::string& bytes) {
  const GgufFile file("test.gguf", test::to_bytes(bytes));
  std::uint64_t start = bytes.size();
  for (const TensorView& tensor : file.tensors().all()) start = std::min(start, tensor.file_offset);
  return start;
}

/// How many places to move on by: every place is damaged, but in small tests.
std::size_t step() { return test::small_tests() ? 5 : 1; }

TEST(GgufMutation, TheUndamagedFilesAreUsed) {
  for (const std::uint32_t version : {2u, 3u}) EXPECT_EQ(parse_hostile(small_file(version)), Outcome::used);
  for (const std::string& path : tiny_files())
    EXPECT_EQ(parse_hostile(test::read_test_file(path)), Outcome::used) << path;
}

TEST(GgufMutation, TruncationAtEveryByteIsRefused) {
  for (const std::uint32_t version : {2u, 3u}) {
    const std::string bytes = small_file(version);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_EQ(parse_hostile(bytes.substr(0, length)), Outcome::refused) << "cut to " << length << " bytes";
    }
  }
}

TEST(GgufMutation, EveryByteReplacedIsUsedOrRefused) {
  const std::string bytes = small_file(3);
  const std::size_t header = header_size(bytes);
  std::size_t refused = 0;
  for (std::size_t place = 0; place < header; place += step()) {
    const unsigned original = static_cast<unsigned char>(bytes[place]);
    for (const unsigned value :
         {0u, 1u, 2u, 9u, 13u, 0x7Fu, 0x80u, 0xFFu, original ^ 1, original ^ 0x20, original ^ 0x80}) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(value);
      refused += parse_hostile(damaged) == Outcome::refused ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 2 * header / step()) << "most damage to lengths, types and counts must be noticed";
}

TEST(GgufMutation, EveryEightBytesReplacedByExtremesAreUsedOrRefused) {
  const std::string bytes = small_file(3);
  const std::uint64_t extremes[] = {0,          1,          0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                    1ull << 32, 1ull << 60, 1ull << 61, 1ull << 62, (1ull << 63) - 1,
                                    1ull << 63, ~0ull - 31, ~0ull};
  for (std::size_t place = 0; place + 8 <= bytes.size(); place += step()) {
    for (const std::uint64_t extreme : extremes) {
      parse_hostile(bytes.substr(0, place) + number_bytes(extreme) + bytes.substr(place + 8));
    }
  }
}

TEST(GgufMutation, EveryByteRemovedOrDoubledIsUsedOrRefused) {
  const std::string bytes = small_file(2);
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    parse_hostile(bytes.substr(0, place) + bytes.substr(place + 1));
    parse_hostile(bytes.substr(0, place) + bytes.substr(place, 1) + bytes.substr(place));
  }
}

TEST(GgufMutation, TruncatedCheckpointsAreRefused) {
  std::mt19937 random(20261201);
  for (const std::string& path : tiny_files()) {
    const std::string bytes = test::read_test_file(path);
    for (int i = 0; i < 200; ++i) {
      const std::size_t length = random() % bytes.size();
      EXPECT_EQ(parse_hostile(bytes.substr(0, length)), Outcome::refused) << path << " cut to " << length << " bytes";
    }
  }
}

TEST(GgufMutation, DamagedCheckpointsAreUsedOrRefused) {
  std::mt19937 random(20261202);
  std::size_t refused = 0;
  for (const std::string& path : tiny_files()) {
    const std::string bytes = test::read_test_file(path);
    const std::size_t header = header_size(bytes);
    for (int i = 0; i < 200; ++i) {
      std::string damaged = bytes;
      const unsigned changes = 1 + random() % 3;
      for (unsigned change = 0; change < changes; ++change) damaged[random() % header] = static_cast<char>(random());
      refused += parse_hostile(damaged) == Outcome::refused ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace lastbit::formats
