// CafShell: one of our actors inside a CAF actor. Included only by the engines.

#pragma once

#include <caf/all.hpp>
#include <memory>
#include <string>
#include <utility>

#include "actor/actor.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(seaway::Frame)

namespace seaway::actor {

class Address::Cell {
 public:
  explicit Cell(caf::actor actor) : actor_(std::move(actor)) {}
  const caf::actor& actor() const { return actor_; }

 private:
  caf::actor actor_;
};

/// Turns CAF's calls into ours, and notices when the mailbox has run empty.
class CafShell final : public caf::event_based_actor {
 public:
  CafShell(caf::actor_config& config, std::unique_ptr<Actor> actor, std::string name)
      : caf::event_based_actor(config), actor_(std::move(actor)), name_(std::move(name)) {}

  caf::behavior make_behavior() override {
    return {[this](const Frame& frame) { actor_->receive(frame); }};
  }

  resume_result resume(caf::execution_unit* unit, size_t throughput) override {
    const resume_result result = caf::event_based_actor::resume(unit, throughput);
    if (result != resume_result::resume_later && actor_) actor_->idle();
    return result;
  }

  void on_exit() override { actor_.reset(); }
  const char* name() const override { return name_.c_str(); }

 private:
  std::unique_ptr<Actor> actor_;
  std::string name_;
};

}  // namespace seaway::actor
