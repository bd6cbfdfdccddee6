// The figures of dispatch: chains of 128 dependent gangs on 1, 8, 64 and 512 devices.

#include "benchmarks/dispatch/dispatch.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/dispatch/caf_request.hpp"
#include "benchmarks/dispatch/chains.hpp"
#include "benchmarks/dispatch/multi_controller.hpp"
#include "benchmarks/dispatch/parity.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/pairs.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::uint32_t kNodes = 128;
constexpr double kTurnNs = 1e7, kQuickTurnNs = 1e6;
constexpr std::uint32_t kRequests = 2'000;  // Of a turn.
constexpr double kRunAtMostUs = 1.2;        // One of one node, on one device.

/// What a node-shard that is dispatched in parallel may cost of one CAF request.
Bound bound_over_request(std::uint32_t devices) {
  if (devices == 1) return Bound::at_most(0.10);
  return Bound::at_most(devices == 8 ? 0.03 : 0.015);
}

/// Chains of one kind, warm, and how many of them make a turn.
class Turns {
 public:
  static Result<Turns> make(const ChainOptions& options, const BenchOptions& bench) {
    auto chain = Chain::make(options);
    if (!chain.ok()) return chain.status();
    Turns turns(*std::move(chain));
    const std::uint32_t chains_min = bench.quick ? 2 : options.chains_ahead;
    // The first round compiles; the second says how long one takes.
    double each_ns = 0;
    for (int warm = 0; warm < 2; ++warm) {
      auto warm_ns = turns.chain_.run_ns(chains_min);
      if (!warm_ns.ok()) return warm_ns.status();
      each_ns = *warm_ns / chains_min;
    }
    turns.chains_ = static_cast<std::uint32_t>(
        std::clamp((bench.quick ? kQuickTurnNs : kTurnNs) / each_ns, double{kChainsMin}, 1e6));
    return turns;
  }

  /// Nanoseconds of one chain, over a turn.
  Result<double> chain_ns() {
    auto elapsed_ns = chain_.run_ns(chains_);
    if (!elapsed_ns.ok()) return elapsed_ns.status();
    return *elapsed_ns / chains_;
  }

 private:
  static constexpr std::uint32_t kChainsMin = 2;
  explicit Turns(Chain chain) : chain_(std::move(chain)) {}

  Chain chain_;
  std::uint32_t chains_ = kChainsMin;
};

BenchReport::Params chain_params(std::uint32_t devices, const std::string& mode) {
  return {{"devices", std::to_string(devices)}, {"nodes", std::to_string(kNodes)}, {"mode", mode}};
}

int pairs_of(const BenchOptions& options) {
  return options.quick ? 1 : static_cast<int>(kPairsMin);
}

/// Programs of many nodes, dispatched in parallel: beside the same one by one, and beside requests
/// of CAF.
Status measure_parallel(std::uint32_t devices, const BenchOptions& options, BenchReport& report) {
  const double node_shards = static_cast<double>(kNodes) * devices;
  auto parallel = Turns::make({.devices = devices, .mode = ChainMode::kParallel}, options);
  if (!parallel.ok()) return parallel.status();
  auto sequential = Turns::make({.devices = devices, .mode = ChainMode::kSequential}, options);
  if (!sequential.ok()) return sequential.status();
  const auto of_parallel = [&parallel] { return parallel->chain_ns(); };
  const auto beside = measure_pairs(
      pairs_of(options), [&sequential] { return sequential->chain_ns(); }, of_parallel);
  if (!beside.ok()) return beside.status();
  const auto over_request = measure_pairs(
      pairs_of(options), of_parallel,
      [node_shards]() -> Result<double> { return caf_request_ns(kRequests, 1) * node_shards; });
  if (!over_request.ok()) return over_request.status();
  report.add("dispatch.ns_per_node_shard", median(beside->second) / node_shards, "ns",
             chain_params(devices, to_string(ChainMode::kParallel)));
  report.add("dispatch.ns_per_node_shard", median(beside->first) / node_shards, "ns",
             chain_params(devices, to_string(ChainMode::kSequential)));
  report.add_ratio("dispatch.over_caf_request", interval_of(over_request->ratio),
                   chain_params(devices, to_string(ChainMode::kParallel)),
                   bound_over_request(devices));
  report.add_ratio("dispatch.parallel_over_sequential", interval_of(beside->ratio),
                   {{"devices", std::to_string(devices)}},
                   devices <= 8 ? Bound::at_least(8) : Bound());
  return {};
}

/// One run a node, and one node with the whole chain in it.
Status measure_alone(std::uint32_t devices, const BenchOptions& options, BenchReport& report) {
  const double node_shards = static_cast<double>(kNodes) * devices;
  for (const ChainMode mode : {ChainMode::kOpByOp, ChainMode::kFused}) {
    auto turns = Turns::make({.devices = devices, .mode = mode}, options);
    if (!turns.ok()) return turns.status();
    std::vector<double> chains_ns;
    for (int turn = 0; turn < pairs_of(options); ++turn) {
      const auto chain_ns = turns->chain_ns();
      if (!chain_ns.ok()) return chain_ns.status();
      chains_ns.push_back(*chain_ns);
    }
    const double chain_ns = median(std::move(chains_ns));
    report.add("dispatch.ns_per_node_shard", chain_ns / node_shards, "ns",
               chain_params(devices, to_string(mode)));
    if (mode != ChainMode::kOpByOp) continue;
    report.add("dispatch.us_per_run", chain_ns / kNodes / 1e3, "us",
               with_bound(chain_params(devices, to_string(mode)),
                          devices == 1 ? Bound::at_most(kRunAtMostUs).to_string() : ""));
  }
  return {};
}

Status measure_devices(std::uint32_t devices, const BenchOptions& options, BenchReport& report) {
  if (Status status = measure_parallel(devices, options, report); !status.ok()) return status;
  if (Status status = measure_alone(devices, options, report); !status.ok()) return status;
  const double loop_ns = multi_controller_ns(devices, kNodes, options.quick ? 4 : 20);
  report.add("dispatch.ns_per_node_shard", loop_ns / (static_cast<double>(kNodes) * devices), "ns",
             chain_params(devices, "multi_controller"));
  return {};
}

}  // namespace

Status run_dispatch(const BenchOptions& options, BenchReport& report) {
  report.add("dispatch.caf_request_ns", caf_request_ns(kRequests, options.quick ? 3 : 500), "ns");
  const std::vector<std::uint32_t> all =
      options.quick ? std::vector<std::uint32_t>{1, 8} : std::vector<std::uint32_t>{1, 8, 64, 512};
  for (const std::uint32_t devices : all) {
    if (Status status = measure_devices(devices, options, report); !status.ok()) {
      return status;
    }
  }
  return measure_parity(8, options, report);
}

}  // namespace seaway::benchmarks
