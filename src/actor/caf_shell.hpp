// CafShell: one of our actors as an actor of CAF, with a mailbox of frames. Included only by the
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

/// Hands frames to an actor, one after the other, when CAF's scheduler says so, and tells it when
/// its mailbox has run empty. Messages of CAF are dropped: nobody sends any.
///
/// Why it has a mailbox of its own: of CAF's event_based_actor a frame cost 1,900 instructions of
/// the 7,700 that one took on its way, for kinds of messages and timeouts that nobody here uses.
class CafShell final : public caf::local_actor, public caf::resumable {
 public:
  using behavior_type = caf::behavior;  // CAF's type of a handle: caf::actor.

  CafShell(caf::actor_config& config, std::unique_ptr<Actor> actor, std::string name)
      : caf::local_actor(config), actor_(std::move(actor)), name_(std::move(name)) {}

  /// Any thread.
  void deliver(Frame frame) {
    {
      std::lock_guard guard(mutex_);
      if (has_ended_) return;
      arrived_.push_back(std::move(frame));
      if (std::exchange(is_scheduled_, true)) return;
    }
    schedule();
  }

  /// Ends our actor, and drops what is in its mailbox, now and later. Where it is resumed, but not
  /// within its own turn.
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
    cleanup(caf::exit_reason::user_shutdown, nullptr);  // Its handles may outlive CAF's system.
  }

  // For CAF.
  void launch(caf::execution_unit*, bool, bool) override {
    is_scheduled_ = true;  // Its first turn, in which it may have nothing but idle().
    schedule();
  }
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
  resume_result resume(caf::execution_unit*, std::size_t throughput) override {
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

  /// No other job of our schedulers is of this kind.
  static constexpr subtype_t kSubtype = function_object;

 private:
  /// A mailbox that was once full gives its memory back when it is empty.
  static constexpr std::size_t kKeptMax = 1024;

  void schedule() {
    intrusive_ptr_add_ref_impl();  // The job's.
    home_system().scheduler().enqueue(this);
  }

  /// False: it has run empty, and the next frame schedules it.
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
  std::vector<Frame> taken_;  // From the mailbox. Where it is resumed.
  std::size_t next_ = 0;      // Of them; those before it were handled.
  std::mutex mutex_;
  std::vector<Frame> arrived_;  // Guarded by mutex_, as what follows.
  bool is_scheduled_ = false;   // It is a job, or is being resumed.
  bool has_ended_ = false;
};

/// Of an actor that an engine has spawned.
inline CafShell& shell_of(const caf::actor& actor) {
  return *static_cast<CafShell*>(caf::actor_cast<caf::abstract_actor*>(actor));
}

}  // namespace seaway::actor
