// Parallel loops and jobs on oneTBB.

#include "function/tbb_parallelism.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "base/check.hpp"
#include "base/hand_over.hpp"

namespace seaway::function {

struct TbbParallelism::Arena {
  // No slot is kept for outside threads: a job never waits for its submitter.
  explicit Arena(std::size_t threads)
      : workers(tbb::global_control::max_allowed_parallelism, threads + 1),
        arena(static_cast<int>(threads), 0) {
    arena.initialize();
  }
  void run_next();

  // By default oneTBB has one worker less than the machine has cores, since it counts on the
  // submitter's thread, which does not help here.
  tbb::global_control workers;
  tbb::task_arena arena;
  std::mutex mutex;
  std::condition_variable all_done;
  std::deque<std::function<void()>> waiting;  // In the order of submit().
  std::size_t jobs = 0;                       // Submitted and not finished.
  bool is_closed = false;
};

TbbParallelism::TbbParallelism(std::size_t threads) {
  SEAWAY_CHECK(threads > 0, threads);
  arena_ = std::make_unique<Arena>(threads);
}

TbbParallelism::~TbbParallelism() {
  std::unique_lock lock(arena_->mutex);
  arena_->all_done.wait(lock, [this] { return arena_->jobs == 0; });
}

void TbbParallelism::close() {
  std::unique_lock lock(arena_->mutex);
  arena_->is_closed = true;
  arena_->all_done.wait(lock, [this] { return arena_->jobs == 0; });
}

std::size_t TbbParallelism::threads() const {
  return static_cast<std::size_t>(arena_->arena.max_concurrency());
}

void TbbParallelism::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  arena_->arena.execute([&] {
    // Isolated: a thread that waits for this loop does not start another job in between, which
    // would hold this one up for as long as that takes.
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(std::size_t{0}, count, [&body](std::size_t i) { body(i); }); });
  });
}

void TbbParallelism::submit(std::function<void()> job) {
  {
    const std::lock_guard lock(arena_->mutex);
    if (arena_->is_closed) return;
    arena_->waiting.push_back(std::move(job));
    ++arena_->jobs;
  }
  base::hand_over(arena_.get());
  arena_->arena.enqueue([arena = arena_.get()] { arena->run_next(); });
}

void TbbParallelism::Arena::run_next() {
  base::take_over(this);
  std::unique_lock lock(mutex);
  std::function<void()> job = std::move(waiting.front());
  waiting.pop_front();
  const bool is_wanted = !is_closed;
  lock.unlock();
  if (is_wanted) job();
  job = nullptr;
  lock.lock();
  // Under the lock, so that the destructor cannot end before the notification has.
  if (--jobs == 0) all_done.notify_all();
}

}  // namespace seaway::function
