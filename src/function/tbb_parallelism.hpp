// TbbParallelism: kernels' parallelism and asynchronous jobs on an arena of oneTBB.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "function/executable.hpp"

namespace seaway::function {

/// A fixed number of threads that large kernels share. Thread-safe. Jobs may call parallel_for.
class TbbParallelism final : public Parallelism {
 public:
  /// `threads` > 0: how many threads work in the arena at once.
  explicit TbbParallelism(std::size_t threads);
  /// Waits for all submitted jobs.
  ~TbbParallelism() override;
  TbbParallelism(const TbbParallelism&) = delete;
  TbbParallelism& operator=(const TbbParallelism&) = delete;

  std::size_t threads() const;
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) override;
  /// Runs `job` on a thread of the arena, some time after this call. `job` does not throw.
  void submit(std::function<void()> job);
  /// From here on no job begins, whenever it was or is submitted. Returns when those that have
  /// begun are over: then nothing touches what jobs refer to.
  void close();

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

}  // namespace seaway::function
