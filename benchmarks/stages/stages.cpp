// The stages of Figure 7 of the PATHWAYS paper, over host processes: empty kernels, one number that
// goes from island to island.

#include "benchmarks/stages/stages.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/stages/slow_cluster.hpp"
#include "benchmarks/support/command.hpp"
#include "benchmarks/support/interval.hpp"
#include "benchmarks/support/measure.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::uint32_t kStagesMax = 16;
constexpr double kReadyS = 60;
constexpr double kBound = 3;
constexpr std::uint32_t kAhead = 64;  // Calls without a known outcome, at most.
/// One way, between each two processes: what is measured, and so much that what the processes do
/// meanwhile takes less than one of it.
constexpr std::uint64_t kDelayNs = 500'000;
constexpr std::uint64_t kHopDelayNs = 50'000'000;

/// One program whose node s adds one on the device of island s.
class Pipeline {
 public:
  static Result<Pipeline> make(const Client& client, const std::vector<Slice>& slices,
                               DispatchMode mode) {
    const auto step = client.function("step", [](Tensor x) { return x + 1; }, {i32({})});
    if (!step.ok()) return step.status();
    const NamedSharding first(slices.front().mesh(), P());
    ProgramOptions options;
    options.dispatch = mode;
    auto program = client.program(
        "stages",
        [&](Traced x) {
          for (const Slice& slice : slices) x = step->on(slice)(x);
          return x;
        },
        {ArraySpec{i32({}), first}}, options);
    if (!program.ok()) return program.status();
    Pipeline pipeline;
    pipeline.program_ = *program;
    pipeline.stages_ = static_cast<std::int32_t>(slices.size());
    pipeline.input_ = client.put<std::int32_t>({0}, {}, first);
    return pipeline;
  }

  /// From the first of so many calls until the value of the last is there, by their number.
  Result<double> run_us(std::uint32_t chains) const {
    const std::uint32_t half = kAhead / 2;
    std::optional<Future<void>> half_back;
    Run run;
    const std::uint64_t begin_ns = now_ns();
    for (std::uint32_t chain = 1; chain <= chains; ++chain) {
      run = program_.execute({input_});
      if (Status status = run.error(); !status.ok()) return status;
      if (chain % half != 0) continue;
      if (half_back) {
        if (const auto done = half_back->get(); !done.ok()) return done.status();
      }
      half_back = run.status();
    }
    const auto value = run.output(0).to_host<std::int32_t>().get();
    const auto elapsed_ns = static_cast<double>(now_ns() - begin_ns) / chains;
    if (!value.ok()) return value.status();
    if (value->at(0) != stages_) {
      return Status(StatusCode::kDataCorruption,
                    std::to_string(stages_) + " stages gave " + std::to_string(value->at(0)));
    }
    return elapsed_ns / 1e3;
  }

 private:
  Pipeline() = default;

  Program program_;
  Array input_;
  std::int32_t stages_ = 0;
};

Result<std::vector<Slice>> acquire(const Client& client, std::uint32_t stages) {
  std::vector<Slice> slices;
  for (std::uint32_t island = 0; island < stages; ++island) {
    auto slice = client.acquire_slice({.island = static_cast<std::int32_t>(island)});
    if (!slice.ok()) return slice.status();
    slices.push_back(*slice);
  }
  return slices;
}

/// Both modes of one chain: dispatched in parallel, and one by one.
using BothModes = std::array<Pipeline, 2>;
const char* name_of_mode(std::size_t mode) { return mode == 0 ? "parallel" : "sequential"; }

Result<BothModes> make_both(const Client& client, const std::vector<Slice>& slices) {
  auto parallel = Pipeline::make(client, slices, DispatchMode::kParallel);
  if (!parallel.ok()) return parallel.status();
  auto sequential = Pipeline::make(client, slices, DispatchMode::kSequential);
  if (!sequential.ok()) return sequential.status();
  return BothModes{*parallel, *sequential};
}

/// What a table of figures was measured in.
struct Setting {
  BenchReport::Params params;
  std::function<std::uint64_t()> wakes;  // Of all roles so far; empty: not counted.
};

struct Measured {
  std::vector<double> chains_us;
  std::uint64_t wakes = 0;
  std::uint64_t chains = 0;
};

Status run(const Pipeline& pipeline, std::uint32_t chains, const Setting& setting,
           Measured& measured) {
  const std::uint64_t wakes = setting.wakes ? setting.wakes() : 0;
  const auto chain_us = pipeline.run_us(chains);
  if (!chain_us.ok()) return chain_us.status();
  if (setting.wakes) measured.wakes += setting.wakes() - wakes;
  measured.chains_us.push_back(*chain_us);
  measured.chains += chains;
  return {};
}

/// `chains`: calls ahead of each value. Both modes in turn, so that both see the same machine.
Status measure(const BothModes& modes, std::size_t stages, std::uint32_t chains,
               const Setting& setting, const BenchOptions& options, BenchReport& report) {
  const int warm = options.quick ? 1 : 3;
  const int rounds = options.quick ? 2 : (chains == 1 ? 100 : static_cast<int>(kPairsMin));
  std::array<Measured, 2> both;
  std::vector<double> ratios;
  for (int round = 0; round < warm + rounds; ++round) {
    if (round == warm) both = {};
    for (std::size_t mode = 0; mode < 2; ++mode) {
      if (Status status = run(modes[mode], chains, setting, both[mode]); !status.ok()) {
        return status;
      }
    }
    if (round >= warm) ratios.push_back(both[1].chains_us.back() / both[0].chains_us.back());
  }
  const std::string ahead = chains == 1 ? "1" : std::to_string(kAhead);
  const auto with_setting = [&setting](BenchReport::Params params) {
    params.insert(params.end(), setting.params.begin(), setting.params.end());
    return params;
  };
  for (std::size_t mode = 0; mode < 2; ++mode) {
    const auto params = with_setting(
        {{"stages", std::to_string(stages)}, {"mode", name_of_mode(mode)}, {"ahead", ahead}});
    report.add("stages.chain_us", median(both[mode].chains_us), "us", params);
    if (!setting.wakes) continue;
    report.add(
        "stages.wakes_per_stage",
        static_cast<double>(both[mode].wakes) / static_cast<double>(both[mode].chains * stages),
        "wakes", params);
  }
  report.add_ratio("stages.parallel_over_sequential", interval_of(ratios),
                   with_setting({{"stages", std::to_string(stages)}, {"ahead", ahead}}),
                   stages == kStagesMax && chains > 1 ? Bound::at_least(kBound) : Bound());
  return {};
}

Status measure(const BothModes& modes, std::size_t stages, const Setting& setting,
               const BenchOptions& options, BenchReport& report) {
  for (const std::uint32_t chains : {1u, options.quick ? kAhead : 4 * kAhead}) {
    Status status = measure(modes, stages, chains, setting, options, report);
    if (!status.ok()) return status;
  }
  return {};
}

/// How many frames have followed one another when the value is there, and how many delays that has
/// taken. Both are at least as many as had to follow one another: the least of some rounds counts.
Status count_hops(const BothModes& modes, std::size_t stages, SlowCluster& cluster,
                  const BenchOptions& options, BenchReport& report) {
  SlowLinks& links = cluster.links();
  links.delay(kHopDelayNs);
  for (std::size_t mode = 0; mode < 2; ++mode) {
    double hops = std::numeric_limits<double>::infinity(), delays = hops;
    for (int round = 0; round < (options.quick ? 1 : 5); ++round) {
      if (Status status = links.wait_for_quiet(4 * kHopDelayNs, kReadyS); !status.ok())
        return status;
      links.begin_counting();
      const auto chain_us = modes[mode].run_us(1);
      if (!chain_us.ok()) return chain_us.status();
      hops = std::min<double>(hops, links.depth_of(cluster.client()));
      delays = std::min(delays, *chain_us * 1e3 / double{kHopDelayNs});
    }
    const BenchReport::Params params = {{"stages", std::to_string(stages)},
                                        {"mode", name_of_mode(mode)}};
    report.add("stages.hops", hops, "frames", params);
    report.add("stages.link_delays", delays, "delays", params);
  }
  return {};
}

Status run_beside_one_another(std::uint32_t most, const BenchOptions& options,
                              BenchReport& report) {
  const ScratchDirectory directory;
  auto cluster = Command::start({"up", "--directory", directory.path(), "--islands",
                                 std::to_string(most), "--devices", "1", "--threads", "1"});
  if (!cluster.ok()) return cluster.status();
  if (Status ready = cluster->wait_for("ready", kReadyS); !ready.ok()) return ready;
  auto client = connect("unix:" + directory.path() + "/ctl.sock");
  if (!client.ok()) return client.status();
  const auto slices = acquire(*client, most);
  if (!slices.ok()) return slices.status();
  const Setting setting{{}, [&cluster] { return cluster->wakes_of_children(); }};
  for (std::uint32_t stages = 1; stages <= most; stages *= 2) {
    const auto modes = make_both(*client, {slices->begin(), slices->begin() + stages});
    if (!modes.ok()) return modes.status();
    Status status = measure(*modes, stages, setting, options, report);
    if (!status.ok()) return status;
  }
  return {};
}

Status run_apart(std::uint32_t most, const BenchOptions& options, BenchReport& report) {
  auto cluster = SlowCluster::start(most);
  if (!cluster.ok()) return cluster.status();
  auto client = connect(SlowCluster::address());
  if (!client.ok()) return client.status();
  const auto slices = acquire(*client, most);
  if (!slices.ok()) return slices.status();
  const Setting setting{{{"link_delay_us", std::to_string(kDelayNs / 1000)}}, {}};
  for (std::uint32_t stages = 1; stages <= most; stages *= 2) {
    const auto modes = make_both(*client, {slices->begin(), slices->begin() + stages});
    if (!modes.ok()) return modes.status();
    (*cluster)->links().delay(kDelayNs);
    Status status = measure(*modes, stages, setting, options, report);
    if (status.ok()) status = count_hops(*modes, stages, **cluster, options, report);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status run_stages(const BenchOptions& options, BenchReport& report) {
  const std::uint32_t most = options.quick ? 2 : kStagesMax;
  if (Status status = run_beside_one_another(most, options, report); !status.ok()) return status;
  return run_apart(most, options, report);
}

}  // namespace seaway::benchmarks
