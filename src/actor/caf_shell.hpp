// CafShell: one of our actors inside a CAF actor. Included only by the engines.

#pragma once

#include <caf/all.hpp>
#include <memory>
#include <string>
#include <utility>

#include "actor/actor.hpp"
#include "base/hand_over.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(seaway::Frame)

namespace seaway::actor {

class Address::Cell {
 public:
  /// While `*is_muted`, which outlives the actor, nothing is sent. Null: always.
  explicit Cell(caf::actor actor, const bool* is_muted = nullptr)
      : actor_(std::move(actor)), is_muted_(is_muted) {}

  const caf::actor& actor() const { return actor_; }
  bool is_open() const { return actor_ && (is_muted_ == nullptr || !*is_muted_); }
  /// From now on nothing is sent, nor is the actor kept. While no other thread knows the address.
  void close() {
    actor_ = caf::actor();
    is_muted_ = nullptr;
  }

 private:
  caf::actor actor_;
  const bool* is_muted_;
};

/// Turns CAF's calls into ours, and notices when the mailbox has run empty.
class CafShell final : public caf::event_based_actor {
 public:
  CafShell(caf::actor_config& config, std::unique_ptr<Actor> actor, std::string name)
      : caf::event_based_actor(config), actor_(std::move(actor)), name_(std::move(name)) {}

  caf::behavior make_behavior() override {
    return {[this](const Frame& frame) {
      base::take_over(this);
      if (actor_) actor_->receive(frame);
    }};
  }

  resume_result resume(caf::execution_unit* unit, size_t throughput) override {
    const resume_result result = caf::event_based_actor::resume(unit, throughput);
    if (result != resume_result::resume_later && actor_) actor_->idle();
    return result;
  }

  /// Ends our actor; what is in its mailbox, and comes into it, is dropped.
  void discard() { actor_.reset(); }

  void on_exit() override { actor_.reset(); }
  const char* name() const override { return name_.c_str(); }

 private:
  std::unique_ptr<Actor> actor_;
  std::string name_;
};

/// Of an actor that an engine has spawned.
inline CafShell& shell_of(const caf::actor& actor) {
  return *static_cast<CafShell*>(caf::actor_cast<caf::abstract_actor*>(actor));
}

}  // namespace seaway::actor
