// The comparator of logits: NaN, Inf, a missing tail or a swapped row never passes. tests/golden/logits_check_test.cpp
// plants faults.
#pragma once

#include <gtest/gtest.h>

#include <vector>

namespace lastbit::test {

/// Every value finite and within `tolerance` of the reference, the same number of values.
::testing::AssertionResult within_tolerance(const std::vector<double>& expected, const std::vector<float>& actual,
                                            double tolerance);

}  // namespace lastbit::test
