// HeldFrames: a bounded queue of frames that a role has received and cannot handle yet.

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "base/frame.hpp"
#include "base/limits.hpp"
#include "seaway/status.hpp"

namespace seaway::actor {

struct HeldLimits {
  std::size_t frames = 65'536;
  std::size_t bytes = 2 * limits::kFrameBytes.max;
};

/// First in, first out. Each call takes constant time, except for drop_if().
class HeldFrames {
 public:
  explicit HeldFrames(HeldLimits limits = {}) : limits_(limits) {}

  /// Errors: kResourceExhausted, with the numbers, above a limit; `frame` is held all the same,
  /// and the caller decides what ends: the wait, or who has sent so much.
  Status hold(Frame frame) {
    bytes_ += frame.size_bytes();
    frames_.push_back(std::move(frame));
    if (frames_.size() <= limits_.frames && bytes_ <= limits_.bytes) return {};
    return resource_exhausted(std::to_string(frames_.size()) + " frames of " +
                              std::to_string(bytes_) + " bytes are held; the limits are " +
                              std::to_string(limits_.frames) + " and " +
                              std::to_string(limits_.bytes));
  }

  bool empty() const { return frames_.empty(); }
  const Frame& front() const { return frames_.front(); }

  Frame pop() {
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    bytes_ -= frame.size_bytes();
    return frame;
  }

  /// Removes all frames from this queue and returns them.
  HeldFrames take() { return std::exchange(*this, HeldFrames(limits_)); }

  /// Drops each frame for which `is_dropped(frame)` is true. O(frames).
  template <typename Predicate>
  void drop_if(Predicate is_dropped) {
    std::erase_if(frames_, [&](const Frame& frame) {
      const bool drops = is_dropped(frame);
      if (drops) bytes_ -= frame.size_bytes();
      return drops;
    });
  }

 private:
  HeldLimits limits_;
  std::deque<Frame> frames_;
  std::size_t bytes_ = 0;
};

}  // namespace seaway::actor
