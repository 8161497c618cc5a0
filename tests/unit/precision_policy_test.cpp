// Precision policies: what is accepted, what is refused by name, and who wins.
#include "engine/precision_policy.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"

namespace lastbit::engine {
namespace {

std::string refusal(const std::string& text) {
  try {
    choose_precision(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(PrecisionPolicy, DefaultIsHighestAndSaysWhy) {
  ::unsetenv("LASTBIT_PRECISION");
  const PrecisionPolicy policy = choose_precision({});
  EXPECT_EQ(policy.name(), "highest");
  EXPECT_EQ(policy.fields(), "activations=f32,matmul=f32,kv=f32");
  EXPECT_EQ(policy.reason, "the only policy of this version");
}

TEST(PrecisionPolicy, TakesTheNameAndTheThreeFieldFormInAnyOrder) {
  for (const char* text : {"highest", "activations=f32,matmul=f32,kv=f32", "kv=f32,activations=f32", "matmul=f32"}) {
    EXPECT_EQ(choose_precision(std::string(text)).name(), "highest") << text;
  }
}

TEST(PrecisionPolicy, RefusesLaterPoliciesByName) {
  for (const char* text : {"int8", "matmul=int8", "kv=f16", "activations=bf16", "matmul=tensor,kv=f32"}) {
    EXPECT_NE(refusal(text).find("later version"), std::string::npos) << text;
  }
}

TEST(PrecisionPolicy, RefusesMalformedValuesInsteadOfIgnoringThem) {
  for (const char* text :
       {"", "high", "f32", "kv", "kv=", "kv=f33", "kv=f32,", ",", "kv=f32,kv=f32", "HIGHEST", "weights=f32"}) {
    EXPECT_NE(refusal(text), "accepted") << text;
  }
}

TEST(PrecisionPolicy, FlagWinsOverTheEnvironmentAndAMalformedEnvironmentIsAnError) {
  ::setenv("LASTBIT_PRECISION", "highest", 1);
  EXPECT_EQ(choose_precision({}).reason, "LASTBIT_PRECISION");
  EXPECT_EQ(choose_precision("highest").reason, "--precision");
  ::setenv("LASTBIT_PRECISION", "bogus", 1);
  EXPECT_EQ(choose_precision("highest").reason, "--precision");
  EXPECT_THROW(choose_precision({}), Error);
  ::unsetenv("LASTBIT_PRECISION");
}

}  // namespace
}  // namespace lastbit::engine
