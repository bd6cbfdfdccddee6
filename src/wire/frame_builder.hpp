// FrameBuilder: builds one Cap'n Proto message and freezes it into a Frame.

#pragma once

#include <capnp/message.h>

#include <cstddef>
#include <cstdint>

#include "base/frame.hpp"

namespace seaway::wire {

/// The message of any builder as a frame, as it is now.
Frame freeze(capnp::MessageBuilder& message);

namespace internal {

/// Cleared words, which a thread keeps for the messages that it builds: clearing a kilobyte for
/// each costs more than most of them. Of a few that live at once the others get words of their own.
class Scratch {
 public:
  static constexpr std::size_t kWords = 128;

  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  kj::ArrayPtr<capnp::word> words() const {
    return kj::arrayPtr(reinterpret_cast<capnp::word*>(words_), kWords);
  }

 private:
  std::uint64_t* words_;
};

}  // namespace internal

/// One message while it is being written. Lives on the stack of whoever builds it, and ends on the
/// thread that it began on; neither copied nor moved. A message of up to about 1 KB is built in
/// words that the thread keeps, without the heap; finish() then copies it once. A frame is Cap'n
/// Proto's standard stream framing, so any Cap'n Proto tool reads it.
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
  // The message clears what it has used of it at its end.
  internal::Scratch scratch_;
  capnp::MallocMessageBuilder message_{scratch_.words()};
};

}  // namespace seaway::wire
