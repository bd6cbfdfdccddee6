// Address::send: the only code that puts frames into mailboxes.

#include "actor/actor.hpp"

#include "actor/caf_shell.hpp"

namespace seaway::actor {

void Address::send(Frame frame) const {
  if (!cell_ || !cell_->is_open()) return;
  shell_of(cell_->actor()).deliver(std::move(frame));
}

}  // namespace seaway::actor
