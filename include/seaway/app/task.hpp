// Task: a coroutine that runs in an actor's handler, and co_await for futures.

#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "seaway/app/runtime.hpp"

namespace seaway {

namespace internal {

/// One co_await of one future. Its destructor withdraws it: the coroutine may end while it waits.
class Suspension {
 public:
  Suspension() = default;
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;
  ~Suspension() { withdraw(); }

  /// Has the current invocation resumed at `point` once `core` is ready.
  void begin(const std::shared_ptr<FutureCore>& core, std::coroutine_handle<> point);
  void withdraw();

 private:
  std::shared_ptr<FutureCore> core_;
  Invocation* invocation_ = nullptr;
  std::shared_ptr<std::atomic<Invocation*>> token_;  // For futures of others: null once withdrawn.
};

template <class T>
class FutureAwaiter {
 public:
  explicit FutureAwaiter(std::shared_ptr<FutureState<T>> state) : state_(std::move(state)) {}
  bool await_ready() const { return !state_ || state_->ready(); }
  void await_suspend(std::coroutine_handle<> point) { suspension_.begin(state_, point); }
  Result<T> await_resume() {
    suspension_.withdraw();
    if (!state_) return invalid_argument("co_await of a future that was default-made");
    return state_->result();
  }

 private:
  std::shared_ptr<FutureState<T>> state_;
  Suspension suspension_;
};

/// What all promises of coroutines share.
class TaskPromiseBase {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }
  void unhandled_exception() { exception_ = std::current_exception(); }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
      TaskPromiseBase& promise = done.promise();
      if (promise.continuation_) return promise.continuation_;
      if (promise.on_done_) promise.on_done_(promise);
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  std::coroutine_handle<> continuation_;
  void (*on_done_)(TaskPromiseBase&) = nullptr;
  Invocation* invocation_ = nullptr;  // Of a handler's own coroutine.
  std::exception_ptr exception_;
};

/// The value of a task: what co_return may be given, as a Result.
template <class T>
class TaskPromise : public TaskPromiseBase {
 public:
  auto get_return_object() { return std::coroutine_handle<TaskPromise>::from_promise(*this); }
  template <class U>
  requires std::is_convertible_v<U, Result<T>>
  void return_value(U&& value) { result_.emplace(std::forward<U>(value)); }
  Result<T> take() {
    if (exception_) std::rethrow_exception(exception_);
    return std::move(*result_);
  }

 private:
  std::optional<Result<T>> result_;
};

template <>
class TaskPromise<Status> : public TaskPromiseBase {
 public:
  auto get_return_object() { return std::coroutine_handle<TaskPromise>::from_promise(*this); }
  void return_value(Status value) { status_ = std::move(value); }
  Status take() {
    if (exception_) std::rethrow_exception(exception_);
    return std::move(status_);
  }

 private:
  Status status_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  auto get_return_object() { return std::coroutine_handle<TaskPromise>::from_promise(*this); }
  void return_void() {}
  void take() {
    if (exception_) std::rethrow_exception(exception_);
  }
};

}  // namespace internal

/// A coroutine of an actor: a handler, or what a handler awaits. It starts when it is awaited, or
/// when the runtime runs the handler; it runs on its member's thread, and ends with its member:
/// then what lies on it is destroyed where it waits. `co_await` in it takes Tasks and Futures, and
/// gives a Result of their value (for a Task<Status> the Status, for a Task<void> nothing).
///
/// `co_return` takes a T, a Status or a Result<T>. An exception that leaves a handler kills its
/// actor; one that leaves an inner task leaves the co_await.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::TaskPromise<T>;
  using Value = T;

  Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}  // NOLINT: for the compiler
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && {
    struct Awaiter {
      std::coroutine_handle<promise_type> handle;
      bool await_ready() const { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        handle.promise().continuation_ = caller;
        return handle;
      }
      decltype(auto) await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

  /// For the library: gives the coroutine up to whoever runs it.
  std::coroutine_handle<promise_type> release() { return std::exchange(handle_, nullptr); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// Lets a handler wait for any future without blocking its thread. Outside a handler's coroutine
/// there is nobody to resume: the process stops with a message.
template <class T>
internal::FutureAwaiter<T> operator co_await(Future<T>&& future) {
  return internal::FutureAwaiter<T>(future.state());
}
template <class T>
internal::FutureAwaiter<T> operator co_await(const Future<T>& future) {
  return internal::FutureAwaiter<T>(future.state());
}

}  // namespace seaway
