// OrderedOffload: work away from the control thread, and the frames that are behind it.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "actor/held_frames.hpp"
#include "actor/offload.hpp"
#include "base/frame.hpp"

namespace seaway::actor {

/// Runs one piece of a role's work at a time on another thread, and queues the frames that the role
/// passes to hold() meanwhile. Control thread only.
class OrderedOffload {
 public:
  /// Called on any thread; the returned function is called on the control thread. Work may run on
  /// two threads at once, and has the same result on both.
  using Work = std::function<std::function<void()>()>;

  /// `receive` is called with the queued frames in their order, and may begin the next work; `idle`
  /// is called when a piece of work has ended. What both refer to outlives this object.
  OrderedOffload(OffloadOptions options, std::function<void(const Frame&)> receive,
                 std::function<void()> idle);

  bool takes_frame(std::size_t bytes) const { return options_.takes_frame(bytes); }
  bool is_busy() const { return current_ != nullptr; }

  /// Requires that it is not busy.
  void begin(Work work);

  /// Queues `frame`. Above OffloadOptions::held the work runs within this call, which blocks the
  /// control thread, and no frame is lost. Requires that it is busy.
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
