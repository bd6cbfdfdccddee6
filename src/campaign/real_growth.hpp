// Whether processes of a campaign need more and more, the longer it goes on.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace seaway::campaign {

/// What a process had at some time.
struct RealSample {
  std::uint64_t at_ns = 0;
  std::string name;          // "host 1"; lives of one have the same,
  std::int64_t process = 0;  // and different numbers.
  std::uint64_t bytes = 0;   // Resident.
  std::uint64_t descriptors = 0;
};

struct RealGrowthOptions {
  /// Lives that are shorter are judged with others of their name, at equal ages.
  std::uint64_t life_ns = 60'000'000'000;
  std::uint64_t age_from_ns = 4'000'000'000, age_to_ns = 12'000'000'000;
  std::size_t samples_min = 8;  // In each of the quarters that are compared.
  /// The median of a last quarter is at most that of the second one times this, plus that.
  double factor = 1.1;
  std::uint64_t slack_bytes = std::uint64_t{8} << 20, slack_descriptors = 16;
};

/// A line for each that has grown: of each long life by itself, and of all lives of a name where
/// they were as old. Empty also where there is too little to compare. Pure. `samples`: by time.
std::vector<std::string> judge_growth(const std::vector<RealSample>& samples,
                                      const RealGrowthOptions& options = {});

}  // namespace seaway::campaign
