// Ctrl-C: the first one asks the command to stop in good order, the second one ends the process.
#pragma once

#include <atomic>

namespace lastbit::cli {

inline constexpr int kExitInterrupted = 130;

/// Installs the handler; the flag becomes true at the first interrupt.
const std::atomic<bool>& watch_interrupts();

}  // namespace lastbit::cli
