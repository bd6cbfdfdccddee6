// CafShell: a CAF actor that runs one Actor, with a mailbox of frames. Included only by the
// engines.

#pragma once

#include <caf/all.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "actor/actor.hpp"

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

/// Each turn passes frames from the mailbox to Actor::receive() in order, and ends with
/// Actor::idle() when the mailbox is empty. CafShell drops CAF messages; Seaway sends none.
///
/// CafShell replaces CAF's event_based_actor, whose mailbox cost 13,400 instructions per call of
/// eight frames (docs/decisions.md). An exception in a handler terminates the process.
class CafShell final : public caf::local_actor, public caf::resumable {
 public:
  using behavior_type = caf::behavior;  // CAF's type of a handle: caf::actor.

  CafShell(caf::actor_config& config, std::unique_ptr<Actor> actor, std::string name)
      : caf::local_actor(config), actor_(std::move(actor)), name_(std::move(name)) {}

  /// Appends `frame` to the mailbox and schedules the actor if it is idle. Thread-safe.
  void deliver(Frame frame) {
    {
      std::lock_guard guard(mutex_);
      if (has_ended_) return;
      arrived_.push_back(std::move(frame));
      if (std::exchange(is_scheduled_, true)) return;
    }
    schedule();
  }

  /// Destroys the Actor, and drops all frames in the mailbox and all later ones. Call from the
  /// thread that runs turns, but not inside a turn of this actor.
  void end() {
    std::vector<Frame> dropped;
    {
      std::lock_guard guard(mutex_);
      has_ended_ = true;
      dropped.swap(arrived_);
    }
    taken_.clear();
    next_ = 0;
    actor_.reset();
    cleanup(caf::exit_reason::user_shutdown, nullptr);  // Handles may outlive the actor system.
  }

  // For CAF.
  void launch(caf::execution_unit*, bool, bool) override {
    is_scheduled_ = true;  // The first turn calls idle() even if the mailbox is empty.
    schedule();
  }
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
  resume_result resume(caf::execution_unit*, std::size_t throughput) noexcept override {
    for (std::size_t handled = 0; has_more(); ++handled) {
      if (handled == throughput) return resume_later;
      const Frame frame = std::move(taken_[next_++]);
      actor_->receive(frame);
    }
    if (actor_) actor_->idle();
    return awaiting_message;
  }
  subtype_t subtype() const override { return kSubtype; }
  void intrusive_ptr_add_ref_impl() override { caf::intrusive_ptr_add_ref(ctrl()); }
  void intrusive_ptr_release_impl() override { caf::intrusive_ptr_release(ctrl()); }
  const char* name() const override { return name_.c_str(); }

  /// Identifies a CafShell among jobs: CAF's own actors have other subtypes.
  static constexpr subtype_t kSubtype = function_object;

 private:
  /// An empty mailbox releases a vector with capacity for more frames.
  static constexpr std::size_t kKeptMax = 1024;

  void schedule() {
    intrusive_ptr_add_ref_impl();  // JobCoordinator::run() releases the reference.
    home_system().scheduler().enqueue(this);
  }

  /// False: the mailbox is empty, and the next deliver() schedules the actor.
  bool has_more() {
    if (next_ < taken_.size()) return true;
    taken_.clear();
    next_ = 0;
    if (taken_.capacity() > kKeptMax) taken_ = {};
    std::lock_guard guard(mutex_);
    taken_.swap(arrived_);
    is_scheduled_ = !taken_.empty();
    return is_scheduled_;
  }

  std::unique_ptr<Actor> actor_;
  const std::string name_;
  std::vector<Frame> taken_;  // The batch in progress. Used only by turns and end().
  std::size_t next_ = 0;      // Index of the next frame in `taken_`.
  std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<Frame> arrived_;
  bool is_scheduled_ = false;  // In the scheduler's queue, or in a turn.
  bool has_ended_ = false;
};

/// Of an actor that an engine has spawned.
inline CafShell& shell_of(const caf::actor& actor) {
  return *static_cast<CafShell*>(caf::actor_cast<caf::abstract_actor*>(actor));
}

}  // namespace seaway::actor
