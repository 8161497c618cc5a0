#include "text/utf8.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace lastbit::text {
namespace {

// The definition by code points, to hold the table-driven function against: decode the bits, then check the range.
std::size_t length_by_definition(const std::string& bytes) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.empty()) return 0;
  const std::uint32_t lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (length == 0 || bytes.size() < length) return 0;
  std::uint32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (at(i) >> 6 != 2) return 0;
    point = point << 6 | (at(i) & 63);
  }
  const std::uint32_t smallest = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return point < smallest || point > 0x10FFFF || surrogate ? 0 : length;
}

TEST(Utf8, SequenceLengthAgreesWithTheDefinitionForAllBytesAtEveryPlace) {
  constexpr std::string_view followers = "\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0";
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      for (const char third : followers) {
        for (const char fourth : followers) {
          const std::string whole = {static_cast<char>(first), static_cast<char>(second), third, fourth};
          for (std::size_t size = 1; size <= 4; ++size) {
            const std::string bytes = whole.substr(0, size);
            ASSERT_EQ(utf8_sequence_length(bytes), length_by_definition(bytes))
                << first << " " << second << " " << size;
          }
        }
      }
    }
  }
}

TEST(Utf8, AnIncompleteSequenceIsOneThatSomeContinuationCompletes) {
  const auto completable = [](const std::string& bytes) {
    if (length_by_definition(bytes) != 0) return false;
    for (const std::string_view end :
         {"\x80", "\xBF", "\x80\x80", "\xBF\x80", "\x80\x80\x80", "\xBF\x80\x80", "\x90\x80\x80"}) {
      const std::string longer = bytes + std::string(end);
      if (length_by_definition(longer) == longer.size()) return true;
    }
    return false;
  };
  for (int first = 0; first < 256; ++first) {
    ASSERT_EQ(is_incomplete_utf8(std::string(1, static_cast<char>(first))), completable({static_cast<char>(first)}))
        << first;
    for (int second = 0; second < 256; ++second) {
      const std::string two = {static_cast<char>(first), static_cast<char>(second)};
      ASSERT_EQ(is_incomplete_utf8(two), completable(two)) << first << " " << second;
      const std::string three = two + "\x80";
      ASSERT_EQ(is_incomplete_utf8(three), completable(three)) << first << " " << second;
    }
  }
  EXPECT_FALSE(is_incomplete_utf8(""));
}

TEST(Utf8, DrainingReplacesEachBadByteAndKeepsAnIncompleteEnd) {
  std::string pending = "a\xFF\xC3\xA9\xF0\x9F\x98";
  std::string text;
  drain_utf8(pending, false, text);
  EXPECT_EQ(text, "a\xEF\xBF\xBD\xC3\xA9");
  EXPECT_EQ(pending, "\xF0\x9F\x98");
  drain_utf8(pending, true, text);
  EXPECT_EQ(text, "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(pending, "");
}

TEST(Utf8, AnIncompleteSequenceInTheMiddleIsNotWaitedFor) {
  std::string pending = "\xF0\x9F!";
  std::string text;
  drain_utf8(pending, false, text);
  EXPECT_EQ(text, "\xEF\xBF\xBD\xEF\xBF\xBD!");
  EXPECT_EQ(pending, "");
}

TEST(Utf8, ValidityLooksAtEverySequence) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8(std::string_view("a\0\xF4\x8F\xBF\xBF", 6)));
  EXPECT_FALSE(is_valid_utf8("abc\xC3"));
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));
  EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));
}

}  // namespace
}  // namespace lastbit::text
