// Waiting for futures, and what runs when they are complete.

#include "seaway/future.hpp"

#include <kj/exception.h>

#include <exception>
#include <string>

#include "actor/handler_scope.hpp"

namespace seaway {
namespace {

class InlineExecutor final : public Executor {
 public:
  void execute(std::function<void()> work) override { work(); }
  std::string to_string() const override { return "inline executor"; }
};

}  // namespace

std::string Executor::to_string() const { return "executor"; }

Executor& inline_executor() {
  static InlineExecutor executor;
  return executor;
}

namespace internal {

Status status_of_user_exception() {
  try {
    throw;
  } catch (const kj::Exception& error) {
    return user_function_error(std::string("it threw: ") + error.getDescription().cStr());
  } catch (const std::exception& error) {
    return user_function_error(std::string("it threw: ") + error.what());
  } catch (...) {
    return user_function_error("it threw something that is no std::exception");
  }
}

Status FutureCore::wait(const char* call, std::optional<std::chrono::nanoseconds> timeout) const {
  if (ready()) return {};
  if (timeout && timeout->count() <= 0) {
    return deadline_exceeded(std::string(call) + ": no outcome yet, and the time-out is 0");
  }
  if (Status status = actor::check_may_block(call, "co_await the future instead"); !status.ok()) {
    return status;
  }
  if (!waiter_ || waiter_->on_control_thread()) {
    return invalid_argument(std::string(call) +
                            " would block the control thread, on which the outcome is made; use "
                            "then() with an executor of your own");
  }
  const std::uint64_t timeout_ns = timeout ? static_cast<std::uint64_t>(timeout->count()) : 0;
  if (waiter_->wait([this] { return ready(); }, timeout_ns) || ready()) return {};
  if (!timeout) return cancelled(std::string(call) + ": the cluster has ended without an outcome");
  return deadline_exceeded(std::string(call) + ": no outcome after " +
                           std::to_string(timeout_ns / 1'000'000) +
                           " ms; why() says what it waits for");
}

void FutureCore::then(Executor& executor, std::function<void()> work) {
  {
    std::lock_guard guard(mutex_);
    has_continuation_.store(true, std::memory_order_release);
    if (!ready()) {
      continuations_.push_back({&executor, std::move(work)});
      return;
    }
  }
  executor.execute([self = shared_from_this(), work = std::move(work)] { work(); });
}

std::string text_of_future(bool is_empty, const Status* outcome) {
  if (is_empty) return "future (empty)";
  if (!outcome) return "future: pending";
  return "future: " + (outcome->ok() ? "done" : outcome->to_string());
}

void FutureCore::cancel() { fail(cancelled("the waiting was given up with cancel()"), Wake::kNow); }

void FutureCore::finish(Wake wake) {
  // No continuation is added any more: who finds the future ready runs its own.
  std::vector<Continuation> continuations;
  {
    std::lock_guard guard(mutex_);
    continuations.swap(continuations_);
  }
  if (wake == Wake::kNow && waiter_) waiter_->notify();
  if (continuations.empty()) return;
  for (Continuation& next : continuations) {
    next.executor->execute([self = shared_from_this(), work = std::move(next.work)] { work(); });
  }
}

}  // namespace internal
}  // namespace seaway
