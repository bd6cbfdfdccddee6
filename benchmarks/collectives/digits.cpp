// Runs the demo as anybody would, and reads what it says of its speed.

#include "benchmarks/collectives/digits.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/support/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/up_cluster.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kLearnS = 120, kShareMin = 0.8;
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
  std::vector<double> here, there, shares;
  // A cluster's first client finds it without memory and functions, which others find: not counted.
  const int pairs = options.quick ? 1 : 8;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto one = learn({"demo", "digits"}, batch);
    if (!one.ok()) return one.status();
    const auto other = learn({"run", "digits", "--cluster", (*cluster)->address()}, batch);
    if (!other.ok()) return other.status();
    if (pair == 0 && pairs > 1) continue;
    here.push_back(*one);
    there.push_back(*other);
    shares.push_back(*other / *one);
  }
  const BenchReport::Params params = {{"batch", std::to_string(batch)}};
  report.add("collectives.digits_embedded", median(here), "steps/s", params);
  report.add("collectives.digits_two_by_two", median(there), "steps/s", params);
  const double share = median(shares);
  report.add("collectives.digits_over_embedded", share, "x", with_bound(params, ">= 0.8"));
  if (options.quick || share >= kShareMin) return {};
  return Status(StatusCode::kResourceExhausted,
                "two islands of two hosts learn too slowly beside one process");
}

}  // namespace seaway::benchmarks
