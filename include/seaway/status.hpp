// Status and Result: how every call says that something could not be done.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace seaway {

/// What went wrong, as far as a caller would act on it: a closed set. A broken promise of Seaway's
/// own is no code; SEAWAY_CHECK stops the process.
enum class StatusCode : std::uint8_t {
  kOk = 0,
  kInvalidArgument,      // The call is wrong in any state: fix the caller.
  kResourceExhausted,    // A limit is reached: the message has the numbers and the next step.
  kDeadlineExceeded,     // No outcome in time; what happened elsewhere is unknown.
  kCancelled,            // The client gave up.
  kInputLost,            // An input failed; the message carries its root cause and path.
  kUserFunctionError,    // The user's own code failed, threw or broke its declared shape.
  kDeviceLost,           // The device is gone: run again on another slice.
  kHostLost,             // The host process is gone, and its devices with it.
  kIslandUnavailable,    // No scheduler serves the island now.
  kControllerRestarted,  // Submit again: nothing was acknowledged.
  kMaybeExecuted,        // Not idempotent, and it cannot be known whether it ran.
  kDataCorruption,       // A checksum does not match: fetch again or restore.
  kProtocolError,        // A peer sent what the protocol does not allow.
  kUnauthenticated,      // Who calls is not known.
  kPermissionDenied,     // Who calls is known, and may not.
  kActorLost,            // The actor is dead, stopping or being restarted: ask later, or another.
  kNotFound,             // Nothing of that name or kind is known here.
  kUnimplemented,        // The actor's type does not know this message.
};
/// Codes travel as their numbers: new ones are added at the end, and this moves with them.
inline constexpr StatusCode kLastStatusCode = StatusCode::kUnimplemented;

/// The name as it stands in messages and logs, for example "RESOURCE_EXHAUSTED".
std::string_view to_string(StatusCode code);

/// The outcome of a call that returns nothing else. A value: reading is thread-safe.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  /// "OK", or "RESOURCE_EXHAUSTED: <message>".
  std::string to_string() const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

Status invalid_argument(std::string message);
Status resource_exhausted(std::string message);
Status cancelled(std::string message);
Status input_lost(std::string message);
Status user_function_error(std::string message);
Status deadline_exceeded(std::string message);
Status protocol_error(std::string message);
Status actor_lost(std::string message);
Status not_found(std::string message);
Status unimplemented(std::string message);

namespace internal {
[[noreturn]] void value_of_failed_result(const Status& status);
}

/// A `T`, or the Status that says why there is none. `value()` of a failed result prints the
/// status and ends the process: use it where failing is a bug of the caller, as in examples.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  explicit operator bool() const { return ok(); }

  T& value() & { return require(), *value_; }
  const T& value() const& { return require(), *value_; }
  T&& value() && { return require(), std::move(*value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// "OK" when there is a value, or "RESOURCE_EXHAUSTED: <message>".
  std::string to_string() const { return status_.to_string(); }

 private:
  void require() const {
    if (!value_) internal::value_of_failed_result(status_);
  }

  std::optional<T> value_;
  Status status_;
};

/// The outcome of a call whose value is "it is done".
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  explicit operator bool() const { return ok(); }
  void value() const {
    if (!ok()) internal::value_of_failed_result(status_);
  }

  /// "OK", or "RESOURCE_EXHAUSTED: <message>".
  std::string to_string() const { return status_.to_string(); }

 private:
  Status status_;
};

}  // namespace seaway
