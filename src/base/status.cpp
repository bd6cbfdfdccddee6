// Names of the status codes, and the shortest ways to make a Status.

#include "seaway/status.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/printable.hpp"

namespace seaway {

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kInputLost:
      return "INPUT_LOST";
    case StatusCode::kUserFunctionError:
      return "USER_FUNCTION_ERROR";
    case StatusCode::kDeviceLost:
      return "DEVICE_LOST";
    case StatusCode::kHostLost:
      return "HOST_LOST";
    case StatusCode::kIslandUnavailable:
      return "ISLAND_UNAVAILABLE";
    case StatusCode::kControllerRestarted:
      return "CONTROLLER_RESTARTED";
    case StatusCode::kMaybeExecuted:
      return "MAYBE_EXECUTED";
    case StatusCode::kDataCorruption:
      return "DATA_CORRUPTION";
    case StatusCode::kProtocolError:
      return "PROTOCOL_ERROR";
    case StatusCode::kUnauthenticated:
      return "UNAUTHENTICATED";
    case StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case StatusCode::kActorLost:
      return "ACTOR_LOST";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
  }
  return "UNKNOWN";
}

std::string Status::to_string() const {
  if (ok()) return "OK";
  return std::string(seaway::to_string(code_)) + ": " + message_;
}

Status invalid_argument(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}
Status resource_exhausted(std::string message) {
  return {StatusCode::kResourceExhausted, std::move(message)};
}
Status cancelled(std::string message) { return {StatusCode::kCancelled, std::move(message)}; }
Status input_lost(std::string message) { return {StatusCode::kInputLost, std::move(message)}; }
Status user_function_error(std::string message) {
  return {StatusCode::kUserFunctionError, std::move(message)};
}
Status deadline_exceeded(std::string message) {
  return {StatusCode::kDeadlineExceeded, std::move(message)};
}
Status protocol_error(std::string message) {
  return {StatusCode::kProtocolError, std::move(message)};
}
Status actor_lost(std::string message) { return {StatusCode::kActorLost, std::move(message)}; }
Status not_found(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }
Status unimplemented(std::string message) {
  return {StatusCode::kUnimplemented, std::move(message)};
}

namespace internal {

void value_of_failed_result(const Status& status) {
  std::fprintf(stderr, "seaway: value() of a failed result: %s\n",
               printable(status.to_string(), Lines::kMany).c_str());
  std::abort();
}

}  // namespace internal
}  // namespace seaway
