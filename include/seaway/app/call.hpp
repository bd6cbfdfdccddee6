// What a method pointer says of a call, and the state behind its future. For the library.

#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "seaway/app/message.hpp"
#include "seaway/app/runtime.hpp"
#include "seaway/app/task.hpp"

namespace seaway {

template <class R>
class Promise;
template <class R>
class Writer;
template <class R>
struct StreamItem;

namespace internal {

/// What a caller's future holds: the reply, or nothing for handlers that answer nothing.
template <class R>
struct Answered {
  using Type = Reply<R>;
};
template <>
struct Answered<void> {
  using Type = void;
};

/// What a handler returns, as a reply type.
template <class T>
struct Returned {
  static_assert(sizeof(T) == 0,
                "a handler returns Task<Reply<R>>, Reply<R>, Result<Reply<R>>, Task<Status>, "
                "Task<>, Status or void");
};
template <class R>
struct Returned<Message<R>> {
  using Type = R;
};
template <class R>
struct Returned<Result<Message<R>>> {
  using Type = R;
};
template <>
struct Returned<Status> {
  using Type = void;
};
template <>
struct Returned<void> {
  using Type = void;
};
template <class T>
struct Returned<Task<T>> : Returned<T> {};

enum class MethodKind : std::uint8_t { kReply, kPromise, kStream };

/// What `&Counter::add` says.
template <class M>
struct Method;
template <class A, class X, class Q>
struct Method<X (A::*)(Request<Q>)> {
  using Actor = A;
  using Asked = Q;
  using Answer = typename Returned<X>::Type;
  static constexpr MethodKind kKind = MethodKind::kReply;
};
template <class A, class X, class Q>
struct Method<X (A::*)(Request<Q>) const> : Method<X (A::*)(Request<Q>)> {};
template <class A, class Q, class R>
struct Method<void (A::*)(Request<Q>, Promise<R>)> {
  using Actor = A;
  using Asked = Q;
  using Answer = R;
  static constexpr MethodKind kKind = MethodKind::kPromise;
};
template <class A, class X, class Q, class R>
struct Method<Task<X> (A::*)(Request<Q>, Writer<R>)> {
  using Actor = A;
  using Asked = Q;
  using Answer = R;
  static constexpr MethodKind kKind = MethodKind::kStream;
};

template <class R>
constexpr std::uint64_t reply_type() {
  if constexpr (std::is_void_v<R>) {
    return 0;
  } else {
    return capnp::typeId<R>();
  }
}

/// The one allocation behind the future of a call.
template <class R>
class CallState final : public FutureState<typename Answered<R>::Type>, public CallBase {
 public:
  using Value = typename Answered<R>::Type;

  CallState(std::shared_ptr<Waiter> waiter, std::shared_ptr<Caller> caller)
      : FutureState<Value>(std::move(waiter)), caller_(std::move(caller)) {}

  bool answer(Result<RawMessage> reply) override {
    if (!reply.ok()) return this->fail(reply.status(), Wake::kNow);
    if constexpr (std::is_void_v<R>) {
      return this->complete({});
    } else {
      return this->complete(Reply<R>(bound(std::move(reply).value(), caller_)));
    }
  }
  Result<RawMessage> outcome() override {
    if (!this->result().ok()) return this->result().status();
    if constexpr (std::is_void_v<R>) {
      return RawMessage();
    } else {
      return this->result()->raw();
    }
  }
  FutureCore& core() override { return *this; }
  CallBase* as_call() override { return this; }
  void cancel() override {
    if (this->ready()) return;
    caller_->cancel(std::shared_ptr<CallBase>(this->shared_from_this(), this));
    this->fail(cancelled("the call was given up with cancel()"), Wake::kNow);
  }

 private:
  std::shared_ptr<Caller> caller_;
};

/// Items that have come and were not read, and the reader that waits for one.
template <class R>
class StreamState final : public StreamSink {
 public:
  using Item = std::optional<StreamItem<R>>;

  StreamState(std::shared_ptr<Caller> caller, std::uint32_t credit, std::size_t members)
      : caller_(std::move(caller)),
        batch_(std::max<std::uint32_t>(1, credit / 2)),
        read_(members),
        open_(members) {}

  void keep_calls(std::vector<std::shared_ptr<CallBase>> calls) {
    std::lock_guard guard(mutex_);
    calls_ = std::move(calls);
  }

  Future<Item> next() {
    auto state = std::make_shared<FutureState<Item>>(caller_ ? caller_->waiter() : nullptr);
    std::unique_lock guard(mutex_);
    if (items_.empty() && open_ > 0) {
      if (reader_) {
        guard.unlock();
        state->complete(invalid_argument("a stream has one reader at a time: await next() first"));
      } else {
        reader_ = state;
      }
      return Future<Item>(std::move(state));
    }
    Item item;
    if (!items_.empty()) {
      item.emplace(std::move(items_.front()));
      items_.pop_front();
    }
    guard.unlock();
    if (item) took(item->position);
    state->complete(std::move(item));
    return Future<Item>(std::move(state));
  }

  void cancel() {
    std::vector<std::shared_ptr<CallBase>> calls;
    {
      std::lock_guard guard(mutex_);
      calls = calls_;
    }
    for (const auto& call : calls) call->core().cancel();
  }

  void on_item(std::uint32_t position, RawMessage item) override {
    put({position, Reply<R>(bound(std::move(item), caller_))}, true);
  }
  void on_end(std::uint32_t position, Status status) override {
    if (!status.ok()) put({position, std::move(status)}, false);
    std::shared_ptr<FutureState<Item>> reader;
    {
      std::lock_guard guard(mutex_);
      --open_;
      if (open_ == 0 && items_.empty()) reader = std::move(reader_);
    }
    if (reader) reader->complete(Item());
  }

 private:
  void put(StreamItem<R> item, bool is_credited) {
    const std::uint32_t position = item.position;
    std::shared_ptr<FutureState<Item>> reader;
    {
      std::lock_guard guard(mutex_);
      if (reader_) {
        reader = std::move(reader_);
      } else {
        items_.push_back(std::move(item));
      }
    }
    if (!reader) return;
    if (is_credited) took(position);
    reader->complete(Item(std::move(item)));
  }
  /// One item has left: half a credit later the member hears of it.
  void took(std::uint32_t position) {
    std::shared_ptr<CallBase> call;
    {
      std::lock_guard guard(mutex_);
      if (++read_[position] < batch_ || position >= calls_.size()) return;
      read_[position] = 0;
      call = calls_[position];
    }
    caller_->grant(call, batch_);
  }

  std::shared_ptr<Caller> caller_;
  const std::uint32_t batch_;
  std::mutex mutex_;  // Guards what follows.
  std::vector<std::shared_ptr<CallBase>> calls_;
  std::deque<StreamItem<R>> items_;
  std::vector<std::uint32_t> read_;  // Of each member since it was last granted more.
  std::size_t open_;                 // Members whose stream has not ended.
  std::shared_ptr<FutureState<Item>> reader_;
};

}  // namespace internal
}  // namespace seaway
