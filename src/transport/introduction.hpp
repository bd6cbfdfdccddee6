// What is said first on a connection, as frames of schemas/wires.capnp, and how frames come out of
// a stream that a stranger writes to.

#pragma once

#include <kj/async-io.h>

#include <cstdint>
#include <string>
#include <variant>

#include "base/frame.hpp"
#include "seaway/status.hpp"
#include "transport/wires.hpp"

namespace seaway::transport {

/// A Welcome is no longer, but for the answer in it. Longer messages are cut.
constexpr std::size_t kWelcomeBytesMax = 4096;

struct Talk {
  ProcessId from = 0;
  ProcessId to = 0;
  bool is_of_data = false;  // See wires.capnp.
};
struct Introduction {
  std::uint64_t cluster = 0;
  std::variant<Talk, Frame> what;  // A frame: it asks.
  // See schemas/wires.capnp.
  std::string token = {}, binding = {}, pass = {};
  std::uint32_t life = 0;
};

struct Welcome {
  enum class Kind : std::uint8_t { kRefused, kTalk, kCrossed, kAnswer };
  Kind kind = Kind::kRefused;
  Status refusal;
  Frame answer;
};

/// kResourceExhausted for an answer that is too long.
Status check_answer(const Frame& answer, std::size_t bytes_max);

/// Whether `talk` is with process `self` of `cluster`, and of another one. Errors: kNotFound,
/// kInvalidArgument.
Status check_names(const Talk& talk, ProcessId self, std::uint64_t cluster);

/// Of this protocol, or of another one.
Frame introduction_frame(const Introduction& introduction);
Frame introduction_frame(const Introduction& introduction, std::uint32_t protocol);
Frame welcome_frame(const Welcome& welcome);
/// Errors: kProtocolError for what is none, or of another protocol.
Result<Introduction> read_introduction(const Frame& frame);
Result<Welcome> read_welcome(const Frame& frame);

/// As tryRead(), but what is wrong with a stream is never thrown: it fails the promise.
kj::Promise<std::size_t> read_some(kj::AsyncIoStream& stream, void* target, std::size_t least,
                                   std::size_t most);

/// The next frame of `stream`, which outlives the promise. Never fails: kProtocolError for bytes
/// that are none, kUnauthenticated when the other end takes no certificate of this one's,
/// kResourceExhausted above `bytes_max`, before there is memory for it; kHostLost when the stream
/// ends before it.
kj::Promise<Result<Frame>> receive_frame(kj::AsyncIoStream& stream, std::size_t bytes_max);
/// As it is. `frame` is held until then.
kj::Promise<void> send_frame(kj::AsyncIoStream& stream, Frame frame);

}  // namespace seaway::transport
