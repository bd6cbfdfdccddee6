// FrameBuilder: builds one Cap'n Proto message and freezes it into a Frame.

#pragma once

#include <capnp/message.h>

#include <array>
#include <cstddef>

#include "base/frame.hpp"

namespace seaway::wire {

/// The message of any builder as a frame, as it is now.
Frame freeze(capnp::MessageBuilder& message);

/// One message while it is being written. Lives on the stack of whoever builds it; neither copied
/// nor moved. A message of up to about 1 KB is built in the builder's own scratch, without the
/// heap; finish() then copies it once. A frame is Cap'n Proto's standard stream framing, so any
/// Cap'n Proto tool reads it.
class FrameBuilder {
 public:
  FrameBuilder() = default;
  FrameBuilder(const FrameBuilder&) = delete;
  FrameBuilder& operator=(const FrameBuilder&) = delete;

  /// The root of the message, of schema type `Root`. Call once.
  template <class Root>
  typename Root::Builder init_root() {
    return message_.initRoot<Root>();
  }

  /// The message as it is now.
  Frame finish() { return freeze(message_); }

 private:
  static constexpr std::size_t kScratchWords = 128;

  // Cap'n Proto wants the scratch cleared, and clears what it used of it at its end: that is why
  // the scratch is never the frame itself.
  alignas(capnp::word) std::array<std::byte, kScratchWords * sizeof(capnp::word)> scratch_{};
  capnp::MallocMessageBuilder message_{
      kj::arrayPtr(reinterpret_cast<capnp::word*>(scratch_.data()), kScratchWords)};
};

}  // namespace seaway::wire
