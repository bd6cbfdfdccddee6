// Sending: the one place where a frame becomes a CAF message.

#include "actor/actor.hpp"

#include "actor/caf_shell.hpp"
#include "base/hand_over.hpp"

namespace seaway::actor {

void Address::send(Frame frame) const {
  if (!cell_ || !cell_->is_open()) return;
  base::hand_over(&shell_of(cell_->actor()));
  caf::anon_send(cell_->actor(), std::move(frame));
}

}  // namespace seaway::actor
