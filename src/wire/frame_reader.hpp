// read_frame: the only way into a frame, with limits, and without exceptions on the way out.

#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/frame.hpp"
#include "seaway/status.hpp"

namespace seaway::wire {

/// Deepest nesting of a message; anything deeper is a PROTOCOL_ERROR.
constexpr int kNestingMax = 16;

/// What reading a message of `words` words may touch: a message that repeats its parts by pointing
/// at them again and again is a PROTOCOL_ERROR.
inline capnp::ReaderOptions limits_for(std::size_t words) {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = 2 * words + 1024;
  options.nestingLimit = kNestingMax;
  return options;
}

namespace internal {
/// The Status for what was thrown while a frame was read. Call inside a catch block.
Status status_of_exception();
/// True when the frame is one segment behind a table of one word: the common case.
inline bool is_single_segment(std::span<const std::uint64_t> words) {
  return !words.empty() && words[0] == std::uint64_t{words.size() - 1} << 32;
}

template <class Root, class Use>
Status use_root(typename Root::Reader root, Use&& use) {
  if constexpr (std::is_void_v<std::invoke_result_t<Use, typename Root::Reader>>) {
    std::forward<Use>(use)(root);
    return {};
  } else {
    return std::forward<Use>(use)(root);
  }
}
}  // namespace internal

/// Calls `use(Root::Reader)`, which returns nothing or a Status, and returns what it returned. The
/// reader and all that hangs on it end with the call; the frame stays. Whatever is thrown, by
/// Cap'n Proto over a malformed frame or by `use`, comes back as kProtocolError.
///
/// A frame of Origin::kBuilt is read without limits and bounds checks; a foreign frame with both.
template <class Root, class Use>
Status read_frame(const Frame& frame, Use&& use) {
  const std::span<const std::uint64_t> words = frame.words();
  const auto* begin = reinterpret_cast<const capnp::word*>(words.data());
  try {
    if (frame.origin() == Frame::Origin::kBuilt) {
      return internal::use_root<Root>(capnp::readMessageUnchecked<Root>(begin + 1),
                                      std::forward<Use>(use));
    }
    const capnp::ReaderOptions limits = limits_for(words.size());
    if (internal::is_single_segment(words)) {
      const kj::ArrayPtr<const capnp::word> segment(begin + 1, words.size() - 1);
      const kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments(&segment, 1);
      capnp::SegmentArrayMessageReader reader(segments, limits);
      return internal::use_root<Root>(reader.getRoot<Root>(), std::forward<Use>(use));
    }
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(begin, words.size()), limits);
    return internal::use_root<Root>(reader.getRoot<Root>(), std::forward<Use>(use));
  } catch (...) {
    return internal::status_of_exception();
  }
}

}  // namespace seaway::wire
