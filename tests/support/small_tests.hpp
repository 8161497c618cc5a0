// LASTBIT_TEST_SMALL=1 asks for fewer and smaller cases of the same kinds: under sanitizers and inside an emulator
// everything takes tens of times longer. Scripts set it (scripts/test_sanitized.sh, scripts/test_avx512.sh); `make
// test` never does.
#pragma once

#include <cstdlib>
#include <string_view>

namespace lastbit::test {

inline bool small_tests() {
  const char* value = std::getenv("LASTBIT_TEST_SMALL");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace lastbit::test
