// ClientScribe: writes down what one client of arrays calls, and what it is told.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "seaway/array.hpp"
#include "seaway/future.hpp"
#include "sim/history.hpp"

namespace seaway::sim {

/// Of one client. What it writes down outlives the client and all its futures.
class ClientScribe {
 public:
  /// Requests that wait for their answer have it after `request_ns`.
  ClientScribe(History& history, std::uint32_t client, std::uint64_t request_ns)
      : history_(history), client_(client), request_ns_(request_ns) {}

  History& history() { return history_; }

  CallId begin(CallKind kind, std::vector<ValueId> takes = {}, CodeSet wishes = {}) {
    HistoryCall call;
    call.kind = kind;
    call.caller.client = client_;
    call.takes = std::move(takes);
    call.wishes = wishes;
    return history_.begin(std::move(call));
  }
  /// A request that waits; its answer is a Status or a Result.
  template <class Request>
  auto ask(CallKind kind, const Request& request, CodeSet wishes = {}) {
    const CallId call = begin(kind, {}, wishes);
    history_.calls[call].deadline_ns = history_.calls[call].begun_ns + request_ns_;
    auto answer = request();
    if constexpr (requires { answer.code(); }) {
      history_.end(call, answer.code());
    } else {
      history_.end(call, answer.status().code());
    }
    return answer;
  }
  /// The outcome counts when it comes, and not when somebody looks at it.
  void watch(CallId call, const Future<void>& future) {
    static_cast<void>(
        future.then(inline_executor(), [&history = history_, call](const Result<void>& result) {
          history.end(call, result.status().code());
        }));
  }
  void watch_fetch(CallId call, const Future<void>& future, const TensorType& type,
                   std::shared_ptr<std::vector<std::byte>> bytes) {
    static_cast<void>(
        future.then(inline_executor(), [&history = history_, call, dtype = type.dtype,
                                        bytes = std::move(bytes)](const Result<void>& result) {
          const auto kind = static_cast<std::uint64_t>(dtype);
          history.end(call, result.status().code(), result.ok() ? digest_of(*bytes, kind) : 0);
        }));
  }
  ValueId put(CallId call, std::span<const std::byte> bytes, const TensorType& type,
              const Status& refusal) {
    history_.end(call, refusal.code());
    return history_.put(call, digest_of(bytes, static_cast<std::uint64_t>(type.dtype)));
  }
  /// It was donated or deleted just now: asks for it all the same.
  void ask_for_gone(const Array& array, ValueId value) {
    if (array.id() == 0) return;
    history_.donate_or_delete(value);
    const CallId call = begin(CallKind::kFetch, {value});
    auto bytes = std::make_shared<std::vector<std::byte>>(array.type().bytes());
    watch_fetch(call, array.to_host(std::span<std::byte>(*bytes)), array.type(), bytes);
  }
  void end_client() { history_.end_client(client_); }

 private:
  History& history_;
  const std::uint32_t client_;
  const std::uint64_t request_ns_;
};

}  // namespace seaway::sim
