// Medians of quarters.

#include "campaign/real_growth.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace seaway::campaign {
namespace {

using Samples = std::vector<const RealSample*>;
using Figure = std::uint64_t RealSample::*;

/// Of those within [from_ns, to_ns); nothing of too few.
bool find_median(const Samples& samples, Figure figure, std::uint64_t from_ns, std::uint64_t to_ns,
                 std::size_t least, std::uint64_t& median) {
  std::vector<std::uint64_t> values;
  for (const RealSample* const sample : samples) {
    if (sample->at_ns >= from_ns && sample->at_ns < to_ns) values.push_back(sample->*figure);
  }
  if (values.empty() || values.size() < least) return false;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  median = *middle;
  return true;
}

class Growth {
 public:
  explicit Growth(const RealGrowthOptions& options) : options_(options) {}

  /// Within the time from `from_ns` to `to_ns`.
  void check(const std::string& whose, const Samples& samples, std::uint64_t from_ns,
             std::uint64_t to_ns) {
    check(whose, samples, from_ns, to_ns, &RealSample::bytes, options_.slack_bytes, "bytes");
    check(whose, samples, from_ns, to_ns, &RealSample::descriptors, options_.slack_descriptors,
          "descriptors");
  }

  std::vector<std::string> lines;

 private:
  void check(const std::string& whose, const Samples& samples, std::uint64_t from_ns,
             std::uint64_t to_ns, Figure figure, std::uint64_t slack, const char* unit) {
    const std::uint64_t quarter_ns = (to_ns - from_ns) / 4;
    std::uint64_t before = 0, after = 0;
    const bool is_known =
        find_median(samples, figure, from_ns + quarter_ns, from_ns + 2 * quarter_ns,
                    options_.samples_min, before) &&
        find_median(samples, figure, to_ns - quarter_ns, to_ns + 1, options_.samples_min, after);
    if (!is_known) return;
    const double most = static_cast<double>(before) * options_.factor + static_cast<double>(slack);
    if (static_cast<double>(after) <= most) return;
    lines.push_back(whose + " had " + std::to_string(before) + " " + unit +
                    " in the second quarter and " + std::to_string(after) + " in the last");
  }

  const RealGrowthOptions& options_;
};

}  // namespace

std::vector<std::string> judge_growth(const std::vector<RealSample>& samples,
                                      const RealGrowthOptions& options) {
  std::map<std::pair<std::string, std::int64_t>, Samples> lives;
  for (const RealSample& sample : samples) {
    lives[{sample.name, sample.process}].push_back(&sample);
  }
  Growth growth(options);
  std::map<std::string, Samples> as_old;
  for (const auto& [key, life] : lives) {
    const std::uint64_t begin_ns = life.front()->at_ns, end_ns = life.back()->at_ns;
    const auto& [name, process] = key;
    if (end_ns - begin_ns >= options.life_ns) {
      growth.check(name + " (process " + std::to_string(process) + ")", life, begin_ns, end_ns);
    }
    for (const RealSample* const sample : life) {
      const std::uint64_t age_ns = sample->at_ns - begin_ns;
      if (age_ns >= options.age_from_ns && age_ns < options.age_to_ns) {
        as_old[name].push_back(sample);
      }
    }
  }
  for (const auto& [name, all] : as_old) {
    growth.check(name + ", as old,", all, samples.front().at_ns, samples.back().at_ns);
  }
  return std::move(growth.lines);
}

}  // namespace seaway::campaign
