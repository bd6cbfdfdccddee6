// Supervision: which members of a mesh are stopped and started anew when one of them dies.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "seaway/app/supervision.hpp"
#include "seaway/status.hpp"

namespace seaway::actor {

/// The pure core of supervision, one for each mesh: told of deaths and starts, it decides; stopping
/// and starting is up to its owner. A value without a clock of its own; not thread-safe.
///
/// Each start of a member is another incarnation of it, counted from 1. What is said of an
/// incarnation that is not the member's present one is stale and changes nothing: thus all members
/// of a gang that die of one cause are one restart, and a member that is stopped for a restart is
/// not taken for one that died.
class Supervision {
 public:
  enum class State : std::uint8_t {
    kStarting,  // To be started, perhaps once its predecessor has stopped.
    kRunning,
    kDead,     // Died, and is not started anew (Restart::kNever).
    kGivenUp,  // The mesh was given up.
  };

  /// One life of one member.
  struct Life {
    std::uint32_t member = 0;
    std::uint32_t incarnation = 0;
    friend bool operator==(const Life&, const Life&) = default;
  };

  /// What to do, in this order.
  struct Decision {
    std::vector<Life> stop;   // Those that are alive or being started; they may be dead by now.
    std::vector<Life> start;  // Once all of `stop` are gone, of earlier decisions too.
    Status given_up;          // An error: the mesh is given up, and this says why.
    friend bool operator==(const Decision&, const Decision&) = default;
  };

  /// A mesh of `members`, all in incarnation 1 and being started.
  Supervision(Restart restart, Intensity intensity, std::uint32_t members);

  /// `incarnation` of `member` died. Nothing to do when it is stale. `now_ns` never goes back.
  Decision on_death(std::uint32_t member, std::uint32_t incarnation, std::uint64_t now_ns);
  /// It could not be started: the same as a death.
  Decision on_start_failed(std::uint32_t member, std::uint32_t incarnation, std::uint64_t now_ns);
  /// It runs. False when it is stale: then it is to be stopped.
  [[nodiscard]] bool on_started(std::uint32_t member, std::uint32_t incarnation);

  State state(std::uint32_t member) const;
  /// The present incarnation, or the last one of a member that is not started anew.
  std::uint32_t incarnation(std::uint32_t member) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  bool is_given_up() const { return is_given_up_; }

 private:
  struct Member {
    std::uint32_t incarnation = 1;
    State state = State::kStarting;
  };
  static_assert(sizeof(Member) <= 16, "a mesh may have 100,000 members");

  /// Or about to be.
  static bool is_alive(const Member& member) {
    return member.state == State::kStarting || member.state == State::kRunning;
  }
  Member& at(std::uint32_t member);
  const Member& at(std::uint32_t member) const;
  /// Whether one more restart at `now_ns` is within the intensity; if so, counts it.
  bool count_restart(std::uint64_t now_ns);
  Decision give_up(std::uint32_t member);
  /// All that are alive but `dead`.
  std::vector<Life> others_alive(std::uint32_t dead) const;
  Life begin_anew(std::uint32_t member);

  Restart restart_;
  Intensity intensity_;
  bool is_given_up_ = false;
  std::vector<Member> members_;
  std::deque<std::uint64_t> restarts_ns_;  // Those within the window, at most restarts_max.
};

}  // namespace seaway::actor
