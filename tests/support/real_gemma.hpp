// Gemma 3 270M for the tests of values and of bits: loaded once for all tests of a program.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/data.hpp"
#include "tests/support/model_runner.hpp"

namespace lastbit::test {

/// A suite that is reported as not run where the checkpoint is absent.
class RealGemmaSuite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (file_exists(path())) model_ = load_test_model(path());
  }
  static void TearDownTestSuite() { model_.reset(); }
  void SetUp() override { LASTBIT_REQUIRE_MODEL(path()); }

  static std::string path() { return model_path("gemma-3-270m-q4_k_m.gguf"); }

  static inline std::unique_ptr<engine::Model> model_;
};

}  // namespace lastbit::test
