// Names of instruction sets and what LASTBIT_ISA does.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "cpu/isa.hpp"

namespace lastbit::cpu {
namespace {

std::string refusal(const std::string& name) {
  try {
    require_isa(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(InstructionSets, EverySupportedNameGivesThatSetAndEveryOtherIsRefusedByName) {
  for (const Isa isa : all_isas()) {
    const std::string name(isa_name(isa));
    if (isa_supported(isa)) {
      EXPECT_EQ(require_isa(name), isa);
    } else {
      EXPECT_NE(refusal(name).find("this machine lacks it"), std::string::npos);
    }
  }
  EXPECT_NE(refusal("amx").find("no code for it"), std::string::npos);
  EXPECT_NE(refusal("avx1024").find("unknown"), std::string::npos);
  EXPECT_NE(refusal("").find("unknown"), std::string::npos);
}

TEST(InstructionSets, EnvironmentForcesASetOrFails) {
  ::setenv("LASTBIT_ISA", "scalar", 1);
  EXPECT_EQ(active_isa(), Isa::scalar);
  ::setenv("LASTBIT_ISA", "mmx", 1);
  EXPECT_THROW(active_isa(), Error);
  ::unsetenv("LASTBIT_ISA");
  EXPECT_TRUE(isa_supported(active_isa()));
}

TEST(InstructionSets, ScalarIsAlwaysThere) { EXPECT_TRUE(isa_supported(Isa::scalar)); }

}  // namespace
}  // namespace lastbit::cpu
