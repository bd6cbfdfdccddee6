// SessionActor: sends what a session's threads have said, and hands it what comes back.

#pragma once

#include <map>
#include <memory>

#include "actor/actor.hpp"
#include "actor/engine.hpp"
#include "client/outbox.hpp"
#include "client/session.hpp"

namespace seaway::client {

/// Binds itself as Role::kClient at its first poke and lets go of the session after its goodbye.
class SessionActor final : public actor::Actor {
 public:
  explicit SessionActor(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  void receive(const Frame& frame) override;

 private:
  void drain();
  void send_records(std::size_t begin, std::size_t end, std::size_t arguments_begin,
                    std::size_t arguments_end);
  void send(Frame frame);
  void start_limits();

  std::shared_ptr<Session> session_;
  Outbox outbox_;  // Kept for its capacity.
  bool is_bound_ = false;
};

}  // namespace seaway::client
