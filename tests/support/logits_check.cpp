#include "tests/support/logits_check.hpp"

#include <cmath>

namespace lastbit::test {

::testing::AssertionResult within_tolerance(const std::vector<double>& expected, const std::vector<float>& actual,
                                            double tolerance) {
  if (!(tolerance > 0.0)) return ::testing::AssertionFailure() << "the tolerance " << tolerance << " is not positive";
  if (expected.empty() || expected.size() != actual.size()) {
    return ::testing::AssertionFailure() << actual.size() << " values, expected " << expected.size();
  }
  double worst = 0.0;
  std::size_t worst_index = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (!std::isfinite(difference))
      return ::testing::AssertionFailure() << "value " << i << " is " << actual[i] << ", expected " << expected[i];
    if (difference > worst) {
      worst = difference;
      worst_index = i;
    }
  }
  if (worst <= tolerance)
    return ::testing::AssertionSuccess() << "largest difference " << worst << ", limit " << tolerance;
  return ::testing::AssertionFailure() << "value " << worst_index << " is " << actual[worst_index] << ", expected "
                                       << expected[worst_index] << ": difference " << worst << ", limit " << tolerance;
}

}  // namespace lastbit::test
