#include "base/thread_pool.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <exception>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/floating_point_state.hpp"

namespace lastbit {
namespace {

// About 10-40 microseconds: longer than the gap between two steps of a forward pass, shorter than a scheduler's slice.
constexpr int kSpins = 2000;

inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until ready() or until the patience is over; says whether it became ready.
template <class Ready>
bool spin_until(const Ready& ready) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (ready()) return true;
    pause_processor();
  }
  return ready();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  if (threads < 1) throw_usage("a thread pool needs at least one thread");
  executed_ = std::make_unique<Counter[]>(static_cast<std::size_t>(threads));
  try {
    for (int worker = 1; worker < threads; ++worker) workers_.emplace_back([this, worker] { worker_loop(worker); });
  } catch (const std::system_error& error) {
    const std::size_t started = workers_.size();
    stop_workers();
    throw_environment(fmt::format("cannot start thread {} of {}: {} (fewer: --threads N)", started + 2, threads,
                                  error.code().message()));
  } catch (...) {
    stop_workers();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop_workers(); }

void ThreadPool::stop_workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    generation_.fetch_add(1);
  }
  work_available_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::worker_loop(int worker) {
  const FloatingPointScope floating_point;
  std::uint64_t seen = 0;
  for (;;) {
    const auto changed = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!spin_until(changed)) {
      std::unique_lock lock(mutex_);
      work_available_.wait(lock, changed);
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stop_) return;
    take_tasks(worker);
    if (active_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(
          mutex_);  // so that the notification cannot fall between the caller's check and its wait
      work_done_.notify_one();
    }
  }
}

void ThreadPool::take_tasks(int worker) {
  for (;;) {
    const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= count_) return;
    try {
      (*task_)(index, worker);
    } catch (...) {
      record_failure();
    }
    executed_[static_cast<std::size_t>(worker)].value.fetch_add(1, std::memory_order_relaxed);
  }
}

void ThreadPool::record_failure() {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t, int)>& task) {
  const FloatingPointScope floating_point;
  task_ = &task;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  const bool shared = count > 1 && !workers_.empty();  // one task: nobody is woken
  if (shared) {
    active_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      generation_.fetch_add(1, std::memory_order_acq_rel);
    }
    work_available_.notify_all();
  }
  take_tasks(0);
  if (shared) {
    const auto finished = [&] { return active_.load(std::memory_order_acquire) == 0; };
    if (!spin_until(finished)) {
      std::unique_lock lock(mutex_);
      work_done_.wait(lock, finished);
    }
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::vector<std::uint64_t> ThreadPool::tasks_by_worker() const {
  std::vector<std::uint64_t> counts;
  for (int worker = 0; worker < threads(); ++worker) {
    counts.push_back(executed_[static_cast<std::size_t>(worker)].value.load(std::memory_order_relaxed));
  }
  return counts;
}

int default_thread_count() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  const int count = CPU_COUNT(&allowed);
  return count < 1 ? 1 : count;
}

}  // namespace lastbit
