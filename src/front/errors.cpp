// Which code becomes which.

#include "front/errors.hpp"

namespace seaway::front {

using pjrt::abi::ErrorCode;

ErrorCode error_code(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return ErrorCode::kOk;
    case StatusCode::kInvalidArgument:
      return ErrorCode::kInvalidArgument;
    case StatusCode::kResourceExhausted:
      return ErrorCode::kResourceExhausted;
    case StatusCode::kDeadlineExceeded:
      return ErrorCode::kDeadlineExceeded;
    case StatusCode::kCancelled:
      return ErrorCode::kCancelled;
    case StatusCode::kInputLost:
    case StatusCode::kDataCorruption:
      return ErrorCode::kDataLoss;
    case StatusCode::kUserFunctionError:
    case StatusCode::kProtocolError:
      return ErrorCode::kInternal;
    case StatusCode::kDeviceLost:
    case StatusCode::kHostLost:
    case StatusCode::kIslandUnavailable:
    case StatusCode::kActorLost:
      return ErrorCode::kUnavailable;
    case StatusCode::kControllerRestarted:
    case StatusCode::kMaybeExecuted:
      return ErrorCode::kAborted;
    case StatusCode::kUnauthenticated:
      return ErrorCode::kUnauthenticated;
    case StatusCode::kPermissionDenied:
      return ErrorCode::kPermissionDenied;
    case StatusCode::kNotFound:
      return ErrorCode::kNotFound;
    case StatusCode::kUnimplemented:
      return ErrorCode::kUnimplemented;
  }
  return ErrorCode::kUnknown;
}

std::string error_text(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kResourceExhausted:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kCancelled:
    case StatusCode::kUnauthenticated:
    case StatusCode::kPermissionDenied:
    case StatusCode::kNotFound:
    case StatusCode::kUnimplemented:
      return status.message();  // The framework's code has the same name.
    default:
      return status.to_string();
  }
}

}  // namespace seaway::front
