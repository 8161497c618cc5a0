// A pool of threads for short parallel steps. It yields when the machine is shared: a waiting thread spins for some
// microseconds only, then sleeps. (A barrier that spins on costs a factor of ten once another process holds a core.)
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace lastbit {

class ThreadPool {
 public:
  /// `threads` counts the calling thread, so 1 starts none. Workers run in the contract's floating-point state.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(index, worker) once for each index in [0, count), on any thread in any order, and returns when all are
  /// done. worker is in [0, threads()): no two calls with the same worker overlap, so it can index scratch memory.
  /// Results must not depend on which worker ran what. The first exception of a task is rethrown here. Not reentrant.
  void run(std::size_t count, const std::function<void(std::size_t index, int worker)>& task);

  /// How many tasks each worker has executed since the start (evidence that an axis of threads was really exercised).
  std::vector<std::uint64_t> tasks_by_worker() const;

 private:
  struct alignas(64) Counter {
    std::atomic<std::uint64_t> value{0};
  };
  void stop_workers();
  void worker_loop(int worker);
  void take_tasks(int worker);
  void record_failure();

  std::vector<std::thread> workers_;
  std::unique_ptr<Counter[]> executed_;
  const std::function<void(std::size_t, int)>* task_ = nullptr;
  std::size_t count_ = 0;
  alignas(64) std::atomic<std::size_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> generation_{0};  // raised for each run; workers wait for it to change
  alignas(64) std::atomic<int> active_{0};                // workers that have not finished the current run
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable work_done_;
  std::exception_ptr failure_;
};

/// The number of threads to use when nobody said: the processors that this process may run on.
int default_thread_count();

}  // namespace lastbit
