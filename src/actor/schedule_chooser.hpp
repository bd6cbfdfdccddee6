// ScheduleChooser: picks, by one policy and from one seed, which of all that could run runs next.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "actor/schedule_policy.hpp"
#include "base/random.hpp"

namespace seaway::actor {

class SimulatedProcess;

/// What could run now.
struct Candidate {
  enum class Kind : std::uint8_t { kJob, kPosted, kTimer, kBody };
  Kind kind = Kind::kJob;
  std::size_t index = 0;                // Among those of its kind in its process.
  std::uint64_t name = 0;               // The same in each step in which the same one could run.
  SimulatedProcess* process = nullptr;  // Borrowed for the step.
};

/// Picks one of many. Not thread-safe.
class ScheduleChooser {
 public:
  /// Without a policy: draws one from the seed.
  /// Behind `choices_max` choices, if there is such a number, it goes on as under kFifo.
  ScheduleChooser(std::uint64_t seed, std::optional<SchedulePolicy> policy,
                  std::optional<std::uint64_t> choices_max = std::nullopt);

  /// The index in `all`, which is not empty, of the one that runs in step `step`.
  std::size_t choose(const std::vector<Candidate>& all, std::uint64_t step);

  SchedulePolicy policy() const { return policy_; }

 private:
  std::size_t choose_starving(const std::vector<Candidate>& all);
  std::size_t choose_highest(const std::vector<Candidate>& all, std::uint64_t step);
  std::size_t choose_sticky(const std::vector<Candidate>& all);
  std::uint64_t priority(const Candidate& candidate) const;

  const std::uint64_t seed_;
  const std::optional<std::uint64_t> choices_max_;
  std::uint64_t choices_ = 0;
  RandomStream setup_, random_;
  SchedulePolicy policy_ = SchedulePolicy::kUniform;
  std::uint64_t starved_ = 0, last_ = 0, turn_ = 0;
  std::vector<std::uint64_t> changes_, lowered_;
};

}  // namespace seaway::actor
