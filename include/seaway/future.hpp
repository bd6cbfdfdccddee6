// Future: a value that does not exist yet, with exactly one outcome; Executor: where what follows
// it runs.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "seaway/status.hpp"

namespace seaway {

/// Runs work that waits for a future. A user supplies their own: a thread pool, an event loop.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs `work` once, now or later, in any thread. Never throws.
  virtual void execute(std::function<void()> work) = 0;
  /// What messages and logs call it: "executor", unless it says otherwise.
  virtual std::string to_string() const;
};

/// Runs work at once in the thread that completes the future, usually the cluster's control
/// thread: for work that is short and never blocks. Waiting for a future in it is refused.
Executor& inline_executor();

template <class T>
class Future;

namespace internal {

class CallBase;

/// What an exception that left a user's code says; call inside a catch block.
Status status_of_user_exception();

/// How a future blocks: a cluster's engine, behind a seam.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Blocks until `ready()`; false when `timeout_ns` have passed first (0: no limit).
  virtual bool wait(const std::function<bool()>& ready, std::uint64_t timeout_ns) = 0;
  /// The caller is about to wait for `ready()` in a way of its own: see Engine::help.
  virtual void help(const std::function<bool()>&) {}
  /// Wakes those who wait, to look again.
  virtual void notify() = 0;
  virtual bool on_control_thread() const = 0;
  /// From now on the engine is not touched: it may end before the last future does.
  virtual void detach() = 0;
};

/// Whether completing a future wakes its waiters at once, or the caller does so for many together.
enum class Wake : bool { kLater, kNow };

/// What all futures' shared states have in common. Thread-safe.
class FutureCore : public std::enable_shared_from_this<FutureCore> {
 public:
  explicit FutureCore(std::shared_ptr<Waiter> waiter) : waiter_(std::move(waiter)) {}
  virtual ~FutureCore() = default;
  FutureCore(const FutureCore&) = delete;
  FutureCore& operator=(const FutureCore&) = delete;

  bool ready() const { return is_ready_.load(std::memory_order_acquire); }
  /// OK once ready; else why waiting was refused or gave up. `call` is named in the message.
  Status wait(const char* call, std::optional<std::chrono::nanoseconds> timeout) const;
  /// Runs `work` on `executor` once the future is ready: now, if it already is.
  void then(Executor& executor, std::function<void()> work);
  /// Completes with `status` unless ready already; false when it was.
  virtual bool fail(Status status, Wake wake) = 0;
  /// Gives up; what that means depends on what is waited for.
  virtual void cancel();
  /// The call of an actor whose answer this is; null for all other futures.
  virtual CallBase* as_call() { return nullptr; }

  const std::shared_ptr<Waiter>& waiter() const { return waiter_; }
  bool has_continuation() const { return has_continuation_.load(std::memory_order_acquire); }

 protected:
  /// Calls `store` and makes the future ready, once.
  template <class Store>
  bool complete_with(Store&& store, Wake wake) {
    {
      std::lock_guard guard(mutex_);
      if (ready()) return false;
      store();
      is_ready_.store(true, std::memory_order_release);
    }
    finish(wake);
    return true;
  }

 private:
  struct Continuation {
    Executor* executor;
    std::function<void()> work;
  };
  void finish(Wake wake);

  std::shared_ptr<Waiter> waiter_;
  std::mutex mutex_;
  std::vector<Continuation> continuations_;  // Guarded by mutex_.
  std::atomic<bool> is_ready_ = false;
  std::atomic<bool> has_continuation_ = false;
};

/// The one allocation behind a Future<T>.
template <class T>
class FutureState : public FutureCore {
 public:
  using FutureCore::FutureCore;

  bool complete(Result<T> result, Wake wake = Wake::kNow) {
    return complete_with([this, &result] { result_.emplace(std::move(result)); }, wake);
  }
  bool fail(Status status, Wake wake) override {
    return complete(Result<T>(std::move(status)), wake);
  }
  /// Requires ready().
  Result<T>& result() { return *result_; }

 private:
  std::optional<Result<T>> result_;
};

/// The text of a future: empty, or pending without an `outcome`, or what came of it.
std::string text_of_future(bool is_empty, const Status* outcome);

/// The type inside a Result, or the type itself.
template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<Result<T>> {
  using Type = T;
};
template <>
struct Unwrapped<Status> {
  using Type = void;
};

}  // namespace internal

/// A value of `T` that will exist, or the Status that says why it will not: exactly one outcome,
/// which never changes. Movable. Any thread may call it. It may outlive the client: then it is
/// already complete, with CANCELLED if nothing else came first. Dropping it does not stop the work.
template <class T>
class [[nodiscard]] Future {
 public:
  using Value = T;

  Future() = default;
  /// For the library: the future of a state that something else completes.
  explicit Future(std::shared_ptr<internal::FutureState<T>> state) : state_(std::move(state)) {}
  /// A future that is complete from the start.
  static Future of(Result<T> result) {
    auto state = std::make_shared<internal::FutureState<T>>(nullptr);
    state->complete(std::move(result));
    return Future(std::move(state));
  }

  Future(Future&&) noexcept = default;
  Future& operator=(Future&&) noexcept = default;

  /// True when get() would not block. A default-made future never is.
  bool ready() const { return state_ && state_->ready(); }

  /// Blocks until there is an outcome and returns it; moves the value out when called on a
  /// temporary. While it waits, the calling thread may run the cluster's own work: small gangs,
  /// inline continuations. Not in an actor's handler, nor on the control thread (in an inline
  /// continuation): kInvalidArgument, and the future is unchanged.
  Result<T> get() const& { return copy(wait(std::nullopt)); }
  Result<T> get() && { return take(wait(std::nullopt)); }
  /// The same, but gives up after `timeout` with kDeadlineExceeded. The outcome still comes: ask
  /// again, or cancel().
  Result<T> get(std::chrono::nanoseconds timeout) const& { return copy(wait(timeout)); }
  Result<T> get(std::chrono::nanoseconds timeout) && {
    const Status status = wait(timeout);
    // The value may still come after a time-out, and then belongs to nobody else.
    return take(status);
  }

  /// Calls `f(Result<T>)` on `executor` once there is an outcome, and returns the future of what
  /// `f` returns (a value, a Result, a Status or void). What `f` throws is that future's
  /// kUserFunctionError. `executor` outlives the future.
  template <class F>
  auto then(Executor& executor, F f) const {
    using Returned = std::invoke_result_t<F&, Result<T>>;
    using Next = typename internal::Unwrapped<Returned>::Type;
    if (!state_) return Future<Next>::of(empty_status());
    auto next = std::make_shared<internal::FutureState<Next>>(state_->waiter());
    auto shared = std::make_shared<F>(std::move(f));
    internal::FutureState<T>* state = state_.get();
    state_->then(executor, [state, next, shared] {
      try {
        if constexpr (std::is_void_v<Returned>) {
          (*shared)(Result<T>(state->result()));
          next->complete({});
        } else {
          next->complete((*shared)(Result<T>(state->result())));
        }
      } catch (...) {
        next->complete(internal::status_of_user_exception());
      }
    });
    return Future<Next>(std::move(next));
  }

  /// Gives up waiting: completes with kCancelled, unless there is an outcome already or the value
  /// is just being written. The work itself goes on for whoever else wants it: Run::cancel() stops
  /// it.
  void cancel() {
    if (state_) state_->cancel();
  }

  /// "future: pending", "future: done" when there is a value, or "future: CANCELLED: <message>".
  /// Never blocks.
  std::string to_string() const {
    return internal::text_of_future(!state_, ready() ? &state_->result().status() : nullptr);
  }

  /// For the library.
  const std::shared_ptr<internal::FutureState<T>>& state() const { return state_; }

 private:
  static Status empty_status() {
    return invalid_argument("this future was default-made and stands for nothing");
  }
  Status wait(std::optional<std::chrono::nanoseconds> timeout) const {
    return state_ ? state_->wait("Future::get", timeout) : empty_status();
  }
  Result<T> copy(Status status) const {
    if (!state_ || !status.ok()) return status;
    return state_->result();
  }
  Result<T> take(Status status) {
    if (!state_ || !status.ok()) return status;
    if (state_->has_continuation()) return state_->result();
    return std::move(state_->result());
  }

  std::shared_ptr<internal::FutureState<T>> state_;
};

namespace internal {

/// What a future that follows from `futures` waits on; null if all of them were complete from the
/// start.
template <class T>
std::shared_ptr<Waiter> waiter_of(const std::vector<Future<T>>& futures) {
  std::shared_ptr<Waiter> waiter;
  for (const Future<T>& future : futures) {
    if (future.state() && future.state()->waiter()) waiter = future.state()->waiter();
  }
  return waiter;
}

}  // namespace internal

/// Completes when all of `futures` have: with all values in order, or with the error of the first
/// (by index) that failed. Of no futures: complete at once.
template <class T>
auto when_all(std::vector<Future<T>> futures) {
  using Values = std::conditional_t<std::is_void_v<T>, void,
                                    std::vector<std::conditional_t<std::is_void_v<T>, char, T>>>;
  struct Gathering {
    std::vector<Future<T>> futures;
    std::atomic<std::size_t> missing;
    std::shared_ptr<internal::FutureState<Values>> state;
    void finish() {
      if constexpr (std::is_void_v<T>) {
        Result<void> all;
        for (auto& future : futures) {
          if (const Result<void> one = future.get(); !one.ok() && all.ok()) all = one;
        }
        state->complete(std::move(all));
      } else {
        std::vector<T> values;
        for (auto& future : futures) {
          Result<T> one = future.get();
          if (!one.ok()) {
            state->complete(one.status());
            return;
          }
          values.push_back(std::move(one).value());
        }
        state->complete(std::move(values));
      }
    }
  };
  auto gathering = std::make_shared<Gathering>();
  gathering->futures = std::move(futures);
  gathering->missing = gathering->futures.size() + 1;
  gathering->state =
      std::make_shared<internal::FutureState<Values>>(internal::waiter_of(gathering->futures));
  const auto count_down = [gathering] {
    if (gathering->missing.fetch_sub(1) == 1) gathering->finish();
  };
  for (const auto& future : gathering->futures) {
    if (future.state()) {
      future.state()->then(inline_executor(), count_down);
    } else {
      count_down();
    }
  }
  auto state = gathering->state;
  count_down();
  return Future<Values>(std::move(state));
}

/// Which of several futures was the first to succeed, and with what.
template <class T>
struct Any {
  std::size_t index;
  T value;
};
template <>
struct Any<void> {
  std::size_t index;
};

/// Completes with the first of `futures` that succeeds; when all fail, with the error of the last
/// to do so. Those that come later change nothing, and their work goes on. Of no futures:
/// kInvalidArgument.
template <class T>
Future<Any<T>> when_any(std::vector<Future<T>> futures) {
  struct Race {
    std::atomic<std::size_t> running;
    std::size_t size;
    std::shared_ptr<internal::FutureState<Any<T>>> state;
    void take(std::size_t index, const Result<T>& result) {
      if (result.ok()) {
        if constexpr (std::is_void_v<T>) {
          state->complete(Any<T>{index});
        } else {
          state->complete(Any<T>{index, result.value()});
        }
      } else if (running.fetch_sub(1) == 1) {
        const std::string what = "all " + std::to_string(size) + " futures failed, future " +
                                 std::to_string(index) +
                                 " the last of them: " + result.status().message();
        state->complete(Status(result.status().code(), what));
      }
    }
  };
  if (futures.empty()) {
    return Future<Any<T>>::of(
        invalid_argument("when_any of no futures: none of them can ever succeed"));
  }
  auto race = std::make_shared<Race>();
  race->running = race->size = futures.size();
  race->state = std::make_shared<internal::FutureState<Any<T>>>(internal::waiter_of(futures));
  for (std::size_t i = 0; i < futures.size(); ++i) {
    internal::FutureState<T>* state = futures[i].state().get();
    if (state) {
      state->then(inline_executor(), [race, state, i] { race->take(i, state->result()); });
    } else {
      race->take(i, futures[i].get());
    }
  }
  return Future<Any<T>>(race->state);
}

}  // namespace seaway
