// SessionActor: sends what a session's threads have said, and hands it what comes back.

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "actor/actor.hpp"
#include "actor/engine.hpp"
#include "client/outbox.hpp"
#include "client/session.hpp"

namespace seaway::client {

/// Binds itself as Role::kClient at its first poke and lets go of the session after its goodbye.
class SessionActor final : public actor::Actor {
 public:
  explicit SessionActor(std::shared_ptr<Session> session);
  ~SessionActor() override;

  void receive(const Frame& frame) override;

 private:
  void drain();
  void send_records(std::size_t begin, std::size_t end, std::size_t arguments_begin,
                    std::size_t arguments_end);
  void send(Frame frame);
  void start_limits();
  void take_drops();

  std::shared_ptr<Session> session_;
  Outbox outbox_;  // Kept for its capacity.
  std::vector<ArrayId> dropped_;
  bool is_bound_ = false;
};

}  // namespace seaway::client
