// Errors as they leave a plugin: Seaway's words, with a code that frameworks know.

#pragma once

#include <string>

#include "pjrt/abi.hpp"
#include "seaway/status.hpp"

namespace seaway::front {

/// The nearest code that plugins have. Requires an error.
pjrt::abi::ErrorCode error_code(StatusCode code);

/// What a framework shows to people. Where its code says less than Seaway's, that comes first:
/// "INPUT_LOST: array 3 lay on island 1: ...".
std::string error_text(const Status& status);

}  // namespace seaway::front
