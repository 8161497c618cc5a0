// The rounding and flush state of the arithmetic contract: round to nearest even, FTZ and DAZ clear.
#pragma once

#include <cstdint>

namespace lastbit {

/// Sets the contract's floating-point state for this thread and restores the caller's at the end of the scope. Every
/// public entry and every worker thread holds one: threads inherit FTZ and DAZ from whoever created them.
class FloatingPointScope {
 public:
  FloatingPointScope();
  ~FloatingPointScope();
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
  int saved_rounding_;           // of <cfenv>: the x87 unit, and whatever else the C library manages
  std::uint64_t saved_control_;  // MXCSR on x86-64, FPCR on AArch64
};

/// The control word of the vector unit (MXCSR on x86-64, FPCR on AArch64), without the sticky exception flags.
std::uint64_t floating_point_control();

}  // namespace lastbit
