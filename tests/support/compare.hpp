// Byte comparison of binary32 arrays, with a message that shows index, hex floats and bits.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

namespace lastbit::test {

/// Equal to the bit; every NaN must be the same NaN. The message names the first difference and how many there are.
::testing::AssertionResult same_bits(const float* expected, const float* actual, std::size_t count);

}  // namespace lastbit::test
