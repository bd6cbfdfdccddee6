// Runs the demo as anybody would, and reads what it says of its speed.

#include "benchmarks/collectives/digits.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/support/command.hpp"
#include "benchmarks/support/interval.hpp"
#include "benchmarks/support/pairs.hpp"
#include "benchmarks/support/up_cluster.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kLearnS = 120;
constexpr const char* kSpeed = "speed ";

/// Steps a second.
Result<double> learn(std::vector<std::string> words, int batch) {
  words.insert(words.end(), {"--size", std::to_string(batch)});
  auto command = Command::start(words);
  if (!command.ok()) return command.status();
  const auto line = command->line(kSpeed, kLearnS);
  if (!line.ok()) return line.status();
  command->wait_for_end(kLearnS);
  return std::strtod(line->c_str() + std::string(kSpeed).size(), nullptr);
}

}  // namespace

Status run_digits(const BenchOptions& options, BenchReport& report) {
  const int batch = options.quick ? 96 : 512;
  const auto cluster = UpCluster::start(2, 4, {"--hosts", "2"});
  if (!cluster.ok()) return cluster.status();
  // A cluster's first client finds it without memory and functions, which others find: the pair
  // that does not count.
  const auto pairs = measure_pairs(
      options.quick ? 1 : static_cast<int>(kPairsMin),
      [&] {
        return learn({"run", "digits", "--cluster", (*cluster)->address()}, batch);
      },
      [&] {
        return learn({"demo", "digits"}, batch);
      });
  if (!pairs.ok()) return pairs.status();
  const BenchReport::Params params = {{"batch", std::to_string(batch)}};
  report.add_interval("collectives.digits_embedded", interval_of(pairs->second), "steps/s", params);
  report.add_interval("collectives.digits_two_by_two", interval_of(pairs->first), "steps/s",
                      params);
  report.add_ratio("collectives.digits_over_embedded", interval_of(pairs->ratio), params,
                   Bound::at_least(0.8));
  return {};
}

}  // namespace seaway::benchmarks
