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
  /// P1: an outcome comes so long after its request, or after the end of the last fault before it.
  std::uint64_t settle_ns = 15'000'000'000;
  /// I3: an error that says that something was lost follows a loss at most so long before.
  std::uint64_t blame_ns = 30'000'000'000;
  std::size_t examples_max = 10;
};

struct RealVerdict {
  std::uint64_t requests = 0, values = 0, errors = 0, given_up = 0;  // The last: of killed clients.
  std::uint64_t wrong = 0;    // I1: values that are not what they must be,
  std::uint64_t twice = 0;    // I2: requests with several outcomes, or one before they were made,
  std::uint64_t pending = 0;  // P1: with none,
  std::uint64_t late = 0;     // or too late;
  std::uint64_t unexplained =
      0;  // I3: errors that nothing has caused, or that are none of the set.
  std::map<std::string, std::uint64_t> codes;  // Of the errors.
  std::uint64_t longest_ns = 0;                // From a request to its outcome.
  std::vector<std::string> examples;           // Of what is wrong, in words.

  bool is_clean() const { return wrong + twice + pending + late + unexplained == 0; }
};

/// Pure. `done`: by their begins.
RealVerdict judge_real(const std::vector<RealHistory>& histories, const std::vector<RealDone>& done,
                       const RealJudgeOptions& options = {});

}  // namespace seaway::campaign
