// Status and nested messages, in and out of Cap'n Proto fields.

#pragma once

#include <capnp/blob.h>

#include <cstring>
#include <string>

#include "base/frame.hpp"
#include "seaway/status.hpp"

namespace seaway::wire {

/// A code and a message as they came; a code that this build does not know is a PROTOCOL_ERROR.
inline Status read_status(std::uint8_t code, capnp::Text::Reader message) {
  if (code == 0) return {};
  if (code > static_cast<std::uint8_t>(kLastStatusCode)) {
    return protocol_error("unknown status code " + std::to_string(code) + ": " + message.cStr());
  }
  return {static_cast<StatusCode>(code), message.cStr()};
}

/// A message that travels inside another one's Data field.
inline Frame data_frame(capnp::Data::Reader data) {
  return Frame::make(data.size() / sizeof(std::uint64_t), [&](auto words) {
    if (!words.empty()) std::memcpy(words.data(), data.begin(), words.size_bytes());
  });
}
inline capnp::Data::Reader frame_data(const Frame& frame) {
  return {reinterpret_cast<const capnp::byte*>(frame.words().data()), frame.size_bytes()};
}

}  // namespace seaway::wire
