// A queue of jobs, and as many threads as jobs have ever run at once.

#include "actor/background.hpp"

#include <system_error>
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
    // An idle thread may have been woken for an earlier job, and not have taken it yet.
    if (waiting_.size() >= idle_ && threads_.size() < limits_.threads_max) add_thread();
    if (!threads_.empty()) {
      waiting_.push_back(std::move(job));
      job = nullptr;
    }
  }
  // Somebody waits for it, and who is late is better than nobody.
  if (job) return job();
  changed_.notify_one();
}

/// If the system has one to give: else the job waits for those that are there.
void Background::add_thread() {
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    return;
  }
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
