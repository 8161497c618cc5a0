#include "tests/support/compare.hpp"

#include <cstdint>
#include <cstdio>

namespace lastbit::test {

::testing::AssertionResult same_bits(const float* expected, const float* actual, std::size_t count) {
  std::size_t differences = 0;
  char message[256] = "";
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t expected_bits = 0;
    std::uint32_t actual_bits = 0;
    __builtin_memcpy(&expected_bits, expected + i, 4);
    __builtin_memcpy(&actual_bits, actual + i, 4);
    if (expected_bits == actual_bits) continue;
    if (differences++ == 0) {
      std::snprintf(message, sizeof message, "first at %zu: expected %a (%08x), got %a (%08x)", i,
                    static_cast<double>(expected[i]), expected_bits, static_cast<double>(actual[i]), actual_bits);
    }
  }
  if (differences == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << differences << " of " << count << " values differ, " << message;
}

}  // namespace lastbit::test
