// Background: jobs that may take as long as they like, without delaying one another.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace seaway::actor {

/// Each job has a thread of its own while it runs. Threads are started when no idle one is left,
/// and kept. Thread-safe.
class Background {
 public:
  struct Limits {
    std::size_t threads_max = 8;  // Jobs that run at once; further ones wait in their order.
  };

  explicit Background(Limits limits) : limits_(limits) {}
  /// Forgets the jobs that have not begun, and waits for the others.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Runs `job` once, some time after this call; within it, where the system gives no thread at
  /// all. `job` does not throw. About 1 us; starting a thread about 30 us.
  void submit(std::function<void()> job);

 private:
  void work();
  void add_thread();

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;  // Threads that wait for a job.
  bool is_closed_ = false;
};

}  // namespace seaway::actor
