// What this machine can do at best, measured: the yardsticks that rates are printed against.
#pragma once

#include <cstddef>

#include "cpu/isa.hpp"

namespace lastbit {
class ThreadPool;
}

namespace lastbit::kernels {

struct MachinePeaks {
  double flops_per_second = 0.0;       // binary32, one fused multiply-add is two
  double read_bytes_per_second = 0.0;  // from memory
};

/// Both with all threads of the pool, best of several passes: fused multiply-adds of the set's vectors on registers
/// alone, and reading `bytes` bytes of huge pages once per pass (choose more than the last-level cache holds; 0: the
/// pass is left out and its rate is 0). Takes about 0.1 s and the time of reading `bytes` ten times.
MachinePeaks measure_machine_peaks(cpu::Isa isa, ThreadPool& pool, std::size_t bytes);

}  // namespace lastbit::kernels
