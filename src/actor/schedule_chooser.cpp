// The policies: which of all that could run runs next.

#include "actor/schedule_chooser.hpp"

#include <algorithm>

namespace seaway::actor {
namespace {

/// Names of the streams of random numbers; each concern has its own.
constexpr std::uint64_t kPolicyStream = 0x706f6c6963790000;
constexpr std::uint64_t kScheduleStream = 0x7363686564756c65;

/// Most change points of kPriorities, and the steps over which they are spread.
constexpr std::uint64_t kChangesMax = 5;
constexpr std::uint64_t kChangeSpan = 4'000;
/// kSticky stays with the same one in so many of 100 steps.
constexpr unsigned kStickPercent = 85;
/// kStarveOne starves those of one class of names out of so many.
constexpr std::uint64_t kStarvedClasses = 24;

}  // namespace

ScheduleChooser::ScheduleChooser(std::uint64_t seed, std::optional<SchedulePolicy> policy,
                                 std::optional<std::uint64_t> choices_max)
    : seed_(seed),
      choices_max_(choices_max),
      setup_(seed, kPolicyStream),
      random_(seed, kScheduleStream) {
  const auto drawn = static_cast<SchedulePolicy>(setup_.below(5));
  policy_ = policy.value_or(drawn);
  starved_ = setup_.below(kStarvedClasses);
  const std::uint64_t changes = 1 + setup_.below(kChangesMax);
  for (std::uint64_t i = 0; i < changes; ++i) changes_.push_back(setup_.below(kChangeSpan));
  std::sort(changes_.begin(), changes_.end());
}

std::size_t ScheduleChooser::choose(const std::vector<Candidate>& all, std::uint64_t step) {
  if (all.size() == 1 && policy_ != SchedulePolicy::kPriorities) return 0;
  // As under kFifo: others get their turns, or nothing would ever come of them.
  if (choices_max_ && choices_++ >= *choices_max_) {
    return turn_++ % all.size() == 0 ? all.size() - 1 : 0;
  }
  switch (policy_) {
    case SchedulePolicy::kUniform:
      return random_.below(all.size());
    case SchedulePolicy::kFifo:
      return turn_++ % all.size() == 0 ? all.size() - 1 : 0;
    case SchedulePolicy::kStarveOne:
      return choose_starving(all);
    case SchedulePolicy::kPriorities:
      return choose_highest(all, step);
    case SchedulePolicy::kSticky:
      return choose_sticky(all);
  }
  return 0;
}

std::size_t ScheduleChooser::choose_starving(const std::vector<Candidate>& all) {
  const std::size_t chosen = random_.below(all.size());
  if (all[chosen].name % kStarvedClasses != starved_) return chosen;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::size_t other = (chosen + i) % all.size();
    if (all[other].name % kStarvedClasses != starved_) return other;
  }
  return chosen;
}

std::size_t ScheduleChooser::choose_highest(const std::vector<Candidate>& all, std::uint64_t step) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (priority(all[i]) > priority(all[best])) best = i;
  }
  if (!changes_.empty() && step >= changes_.front()) {
    changes_.erase(changes_.begin());
    lowered_.push_back(all[best].name);
  }
  return best;
}

std::size_t ScheduleChooser::choose_sticky(const std::vector<Candidate>& all) {
  if (random_.chance(kStickPercent)) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].name == last_) return i;
    }
  }
  const std::size_t chosen = random_.below(all.size());
  last_ = all[chosen].name;
  return chosen;
}

std::uint64_t ScheduleChooser::priority(const Candidate& candidate) const {
  const auto found = std::find(lowered_.begin(), lowered_.end(), candidate.name);
  // The one that was lowered last is the lowest.
  if (found != lowered_.end()) return static_cast<std::uint64_t>(lowered_.end() - found) - 1;
  return mix64(seed_ ^ candidate.name) | std::uint64_t{1} << 63;
}

std::string_view to_string(SchedulePolicy policy) {
  switch (policy) {
    case SchedulePolicy::kUniform:
      return "uniform";
    case SchedulePolicy::kFifo:
      return "fifo";
    case SchedulePolicy::kStarveOne:
      return "starve one";
    case SchedulePolicy::kPriorities:
      return "priorities";
    case SchedulePolicy::kSticky:
      return "sticky";
  }
  return "unknown";
}

}  // namespace seaway::actor
