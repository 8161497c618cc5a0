#include "cli/interrupt.hpp"

#include <csignal>

namespace lastbit::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void on_interrupt(int) { interrupted.store(true); }

}  // namespace

const std::atomic<bool>& watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second interrupt finds the default action
  ::sigaction(SIGINT, &action, nullptr);
  return interrupted;
}

}  // namespace lastbit::cli
