#include <gtest/gtest.h>

#include "base/floating_point_state.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const lastbit::FloatingPointScope floating_point;
  return RUN_ALL_TESTS();
}
