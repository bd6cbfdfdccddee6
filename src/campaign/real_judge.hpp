// Whether a cluster of real processes has kept its promises while it was harmed.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "campaign/real_history.hpp"
#include "campaign/real_plan.hpp"

namespace seaway::campaign {

/// A fault that was made, and when it was over.
struct RealDone {
  RealEvent event;
  std::uint64_t begin_ns = 0, end_ns = 0;
};

struct RealJudgeOptions {
  /// P1, with a margin for a busy machine: so long may a request be open while nothing is done to
  /// anybody; where processes have only been killed before, and where more has happened.
  std::uint64_t death_settle_ns = 7'000'000'000, settle_ns = 12'000'000'000;
  /// Where nothing is done for longer than that and this, each client gets values in the end.
  std::uint64_t quiet_ns = 2'000'000'000;
  /// Until when clients were to ask. 0: as long as they did.
  std::uint64_t end_ns = 0;
  /// Islands that clients use: the first ones.
  std::uint32_t islands = 2;
  std::size_t examples_max = 10;
};

struct RealVerdict {
  std::uint64_t requests = 0, values = 0, errors = 0, given_up = 0;  // The last: of killed clients.
  std::uint64_t wrong = 0;    // I1: values that are not what they must be,
  std::uint64_t twice = 0;    // I2: requests with several outcomes, or one before they were made,
  std::uint64_t pending = 0;  // P1: with none,
  std::uint64_t late = 0;     // or too late;
  std::uint64_t stalled = 0;  // clients without a value long behind all faults;
  std::uint64_t unexplained = 0;  // I3: errors that nothing has caused, or none of the set.
  std::map<std::string, std::uint64_t> codes;  // Of the errors.
  std::uint64_t longest_ns = 0;                // From a request to its outcome,
  std::uint64_t settled_ns = 0;                // and of that, while nothing was done to anybody.
  std::vector<std::string> examples;           // Of what is wrong, in words.

  bool is_clean() const { return wrong + twice + pending + late + stalled + unexplained == 0; }
};

/// Whether an error of that client may come of it: not what is done to another client, nor to an
/// island that nobody uses; and nobody notices that a scheduler is another one.
bool may_cost(const RealEvent& event, std::uint32_t client, std::uint32_t islands);

/// Whether a role may have found at that time that it cannot begin: something was done to somebody,
/// and it is not long over.
bool may_give_up(std::uint64_t at_ns, const std::vector<RealDone>& done,
                 const RealJudgeOptions& options = {});

/// Pure. `done`: by their begins.
RealVerdict judge_real(const std::vector<RealHistory>& histories, const std::vector<RealDone>& done,
                       const RealJudgeOptions& options = {});

}  // namespace seaway::campaign
