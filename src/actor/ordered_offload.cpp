// Work away from the control thread, and the frames that are behind it.

#include "actor/ordered_offload.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/probe.hpp"

namespace seaway::actor {

OrderedOffload::OrderedOffload(OffloadOptions options, std::function<void(const Frame&)> receive,
                               std::function<void()> idle)
    : options_(std::move(options)),
      receive_(std::move(receive)),
      idle_(std::move(idle)),
      held_(options_.held) {}

void OrderedOffload::begin(Work work) {
  SEAWAY_CHECK(!is_busy());
  const auto piece = std::make_shared<Piece>(std::move(work), nullptr);
  current_ = piece;
  options_.offload([piece] { piece->made = piece->work(); },
                   [this, piece] {
                     // What they hold goes on this thread, whoever lets go of the piece last.
                     piece->work = nullptr;
                     if (auto made = std::exchange(piece->made, nullptr); current_ == piece) {
                       end(made);
                     }
                     idle_();  // Something may be to be said of what was let go of, too.
                   });
}

void OrderedOffload::hold(const Frame& frame) {
  SEAWAY_CHECK(is_busy());
  if (held_.hold(frame).ok()) return;
  SEAWAY_PROBE("so much waits for work on another thread that it is done on this one");
  end(current_->work());
}

void OrderedOffload::end(const std::function<void()>& made) {
  current_ = nullptr;
  made();
  for (HeldFrames held = held_.take(); !held.empty();) receive_(held.pop());
}

}  // namespace seaway::actor
