#include "kernels/machine_peaks/machine_peaks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/thread_pool.hpp"

namespace lastbit::kernels {
namespace {

TEST(MachinePeaks, EverySetOfThisMachineHasFinitePositivePeaks) {
  ThreadPool pool(2);
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (!cpu::isa_supported(isa)) continue;
    const MachinePeaks peaks = measure_machine_peaks(isa, pool, std::size_t{8} << 20);
    EXPECT_TRUE(std::isfinite(peaks.flops_per_second)) << cpu::isa_name(isa);
    // No processor has a unit that is faster than the upper bounds: a loop that the compiler removed would be.
    EXPECT_GT(peaks.flops_per_second, 0.0) << cpu::isa_name(isa);
    EXPECT_LT(peaks.flops_per_second, 1e13) << cpu::isa_name(isa);
    EXPECT_GT(peaks.read_bytes_per_second, 0.0) << cpu::isa_name(isa);
    EXPECT_LT(peaks.read_bytes_per_second, 1e13) << cpu::isa_name(isa);
  }
}

TEST(MachinePeaks, WithoutMemoryToReadTheReadingRateIsZero) {
  ThreadPool pool(1);
  EXPECT_EQ(measure_machine_peaks(cpu::Isa::scalar, pool, 0).read_bytes_per_second, 0.0);
}

}  // namespace
}  // namespace lastbit::kernels
