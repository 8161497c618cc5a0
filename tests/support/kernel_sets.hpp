// Every version of one operator's kernels, so that a test can compare each with the reference. Included with
// parameters, because the sets come from the X-macro list of src/cpu/isa.def:
//
//   #define LASTBIT_KERNELS MatmulKernels       // the table's type in lastbit::kernels
//   #define LASTBIT_KERNELS_TABLE matmul_table  // the table in namespace lastbit::<set>, defined by vectorized.cpp
//   #define LASTBIT_KERNELS_OF matmul_kernels   // lastbit::kernels::...(cpu::Isa), defined by dispatch.cpp
//   #include "tests/support/kernel_sets.hpp"
//
//   for (const auto& [name, kernels] : lastbit::test::kernel_sets()) { SCOPED_TRACE(name); kernels->...; }
//
// vectorized.cpp defines `namespace lastbit::LASTBIT_VECTOR_NAMESPACE { extern const kernels::MatmulKernels
// matmul_table; }`. The test links lastbit_kernels_emulated and lastbit_kernels. Sets that the machine lacks are absent
// from the list and named by kernel_sets_not_run(); their emulated twins (emulated_<set>) are always present.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu/isa.hpp"
#include "tests/support/small_tests.hpp"

#define LASTBIT_VECTOR_ISA(name, features, flags)                           \
  namespace lastbit::emulated_##name {                                      \
    extern const ::lastbit::kernels::LASTBIT_KERNELS LASTBIT_KERNELS_TABLE; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace lastbit::test {

struct NamedKernels {
  std::string name;  // "scalar", "avx2", "emulated_avx2" ...
  const kernels::LASTBIT_KERNELS* table;
};

inline bool is_emulated(const NamedKernels& set) { return set.name.rfind("emulated_", 0) == 0; }

/// The sets that this machine can run, weakest first, then the emulated twin of every set.
inline std::vector<NamedKernels> kernel_sets() {
  std::vector<NamedKernels> sets;
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (cpu::isa_supported(isa)) sets.push_back({std::string(cpu::isa_name(isa)), &kernels::LASTBIT_KERNELS_OF(isa)});
  }
  // In small tests the twin of a set that is here is left out: the same templates just ran on the set itself.
#define LASTBIT_VECTOR_ISA(name, features, flags)                                            \
  if (!small_tests() || !cpu::isa_supported(cpu::Isa::name)) {                               \
    sets.push_back({"emulated_" #name, &::lastbit::emulated_##name::LASTBIT_KERNELS_TABLE}); \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  // LASTBIT_TEST_KERNEL_SET=<name> leaves that set alone: inside an emulator (make test-avx512) the others cost
  // minutes.
  if (const char* only = std::getenv("LASTBIT_TEST_KERNEL_SET"); only != nullptr && *only != '\0') {
    std::erase_if(sets, [only](const NamedKernels& set) { return set.name != only; });
    if (sets.empty()) throw std::runtime_error(std::string("LASTBIT_TEST_KERNEL_SET: there is no set ") + only);
  }
  return sets;
}

/// The sets that this machine lacks, to be reported as not run (their emulated twins were).
inline std::vector<std::string> kernel_sets_not_run() {
  std::vector<std::string> names;
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (!cpu::isa_supported(isa)) names.emplace_back(cpu::isa_name(isa));
  }
  return names;
}

/// In every program that includes this: a set that the machine lacks counts as not run, never as passed.
TEST(InstructionSets, EverySetOfThisBuildRan) {
  std::string names;
  for (const std::string& name : kernel_sets_not_run()) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) GTEST_SKIP() << "not run: this machine lacks " << names << " (emulated twins ran)";
}

}  // namespace lastbit::test
