// OrderedOffload: work away from the control thread, and the frames that are behind it.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "actor/held_frames.hpp"
#include "actor/offload.hpp"
#include "base/frame.hpp"

namespace seaway::actor {

/// One piece of work of a role at a time. What the role hears meanwhile waits for it, unless the
/// role says otherwise. The control thread only.
class OrderedOffload {
 public:
  /// Called on any thread; what it returns is called on the control thread. It may be called twice
  /// at once, and does the same each time.
  using Work = std::function<std::function<void()>()>;

  /// `receive` hears the frames that waited, in their order, and may begin the next work; `idle` is
  /// called when a piece of work is over. Both are called as long as this lives.
  OrderedOffload(OffloadOptions options, std::function<void(const Frame&)> receive,
                 std::function<void()> idle);

  bool takes_frame(std::size_t bytes) const { return options_.takes_frame(bytes); }
  bool is_busy() const { return current_ != nullptr; }

  /// Requires that it is not busy.
  void begin(Work work);

  /// `frame` waits. When too much waits, the work is done here and now: the control thread stands
  /// still for it, and nobody loses anything. Requires that it is busy.
  void hold(const Frame& frame);

 private:
  struct Piece {
    Work work;
    std::function<void()> made;
  };
  void end(const std::function<void()>& made);

  const OffloadOptions options_;
  const std::function<void(const Frame&)> receive_;
  const std::function<void()> idle_;
  std::shared_ptr<Piece> current_;
  HeldFrames held_;
};

}  // namespace seaway::actor
