// The comparator must fail on planted faults.
#include "tests/support/logits_check.hpp"

#include <algorithm>
#include <limits>

namespace lastbit::test {
namespace {

class LogitsCheck : public ::testing::Test {
 protected:
  std::vector<double> expected_{0.5, -1.25, 3.0, -7.5, 2.0, 0.125};
  std::vector<float> exact_{0.5F, -1.25F, 3.0F, -7.5F, 2.0F, 0.125F};
  static constexpr double kTolerance = 1e-4;

  bool accepts(const std::vector<float>& actual) const {
    return static_cast<bool>(within_tolerance(expected_, actual, kTolerance));
  }
};

TEST_F(LogitsCheck, AcceptsExactAndCloseValues) {
  EXPECT_TRUE(accepts(exact_));
  std::vector<float> close = exact_;
  for (float& value : close) value += 0.00005F;
  EXPECT_TRUE(accepts(close));
}

TEST_F(LogitsCheck, RefusesNanAndInfinityAnywhere) {
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      std::vector<float> planted = exact_;
      planted[i] = bad;
      EXPECT_FALSE(accepts(planted));
    }
  }
}

TEST_F(LogitsCheck, RefusesAMissingTailSwappedValuesAndAWrongSign) {
  EXPECT_FALSE(accepts({exact_.begin(), exact_.end() - 1}));
  std::vector<float> swapped = exact_;
  std::swap(swapped[0], swapped[3]);
  EXPECT_FALSE(accepts(swapped));
  std::vector<float> negated = exact_;
  negated[5] = -negated[5];
  EXPECT_FALSE(accepts(negated));
  EXPECT_FALSE(accepts({}));
}

TEST_F(LogitsCheck, RefusesOneValueBeyondTheLimitAndALimitThatIsNoLimit) {
  std::vector<float> planted = exact_;
  planted[2] += 0.00021F;
  EXPECT_FALSE(accepts(planted));
  EXPECT_FALSE(within_tolerance(expected_, exact_, 0.0));
  EXPECT_FALSE(within_tolerance(expected_, exact_, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace lastbit::test
