// A queue of jobs, and as many threads as jobs have ever run at once.

#include "actor/background.hpp"

#include <utility>

namespace seaway::actor {

Background::~Background() {
  std::deque<std::function<void()>> forgotten;
  {
    const std::lock_guard guard(mutex_);
    is_closed_ = true;
    forgotten.swap(waiting_);
  }
  forgotten.clear();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Background::submit(std::function<void()> job) {
  {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(job));
    // An idle thread may have been woken for an earlier job, and not have taken it yet.
    if (waiting_.size() > idle_ && threads_.size() < limits_.threads_max) {
      threads_.emplace_back([this] { work(); });
    }
  }
  changed_.notify_one();
}

void Background::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    --idle_;
    if (is_closed_) return;
    std::function<void()> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // What it holds goes before the lock is taken again.
    lock.lock();
  }
}

}  // namespace seaway::actor
