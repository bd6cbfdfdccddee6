// Sending: the one place where a frame comes into a mailbox.

#include "actor/actor.hpp"

#include "actor/caf_shell.hpp"

namespace seaway::actor {

void Address::send(Frame frame) const {
  if (!cell_ || !cell_->is_open()) return;
  shell_of(cell_->actor()).deliver(std::move(frame));
}

}  // namespace seaway::actor
