// The figures of dispatch: chains of 128 dependent gangs on 1, 8, 64 and 512 devices.

#include "benchmarks/dispatch/dispatch.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "benchmarks/dispatch/caf_request.hpp"
#include "benchmarks/dispatch/chains.hpp"
#include "benchmarks/dispatch/multi_controller.hpp"
#include "benchmarks/dispatch/parity.hpp"
#include "benchmarks/support/measure.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::uint32_t kNodes = 128;
constexpr double kFastShare = 0.1;

/// Most of one CAF request that a node-shard may cost, dispatched in parallel.
std::string bound_over_request(std::uint32_t devices) {
  if (devices == 1) return "0.10";
  return devices == 8 ? "0.03" : "0.015";
}

/// Nanoseconds of one chain in steady state. Rounds are short and the fast ones count: whatever
/// else the machine does only makes rounds slower, and the yardstick is measured likewise.
Result<double> chain_ns(const ChainOptions& options, const BenchOptions& bench) {
  auto chain = Chain::make(options);
  if (!chain.ok()) return chain.status();
  const double round_ns = bench.quick ? 1e6 : 1e7;
  const std::uint32_t chains_min = bench.quick ? 2 : 2 * options.chains_ahead;
  // The first round compiles; the second says how long one takes.
  double each_ns = 0;
  for (int warm = 0; warm < 2; ++warm) {
    auto warm_ns = chain->run_ns(chains_min);
    if (!warm_ns.ok()) return warm_ns.status();
    each_ns = *warm_ns / chains_min;
  }
  const auto chains = static_cast<std::uint32_t>(
      std::clamp(round_ns / each_ns, static_cast<double>(chains_min), 1e6));
  const int rounds_count =
      bench.quick ? 1 : static_cast<int>(std::clamp(1e9 / (each_ns * chains), 5.0, 60.0));
  std::vector<double> rounds;
  for (int round = 0; round < rounds_count; ++round) {
    auto elapsed_ns = chain->run_ns(chains);
    if (!elapsed_ns.ok()) return elapsed_ns.status();
    rounds.push_back(*elapsed_ns / chains);
  }
  return quantile(std::move(rounds), kFastShare);
}

BenchReport::Params chain_params(std::uint32_t devices, const std::string& mode) {
  return {{"devices", std::to_string(devices)}, {"nodes", std::to_string(kNodes)}, {"mode", mode}};
}

Status measure_devices(std::uint32_t devices, double request_ns, const BenchOptions& options,
                       BenchReport& report) {
  const double node_shards = static_cast<double>(kNodes) * devices;
  std::map<ChainMode, double> chains_ns;
  for (const ChainMode mode :
       {ChainMode::kParallel, ChainMode::kSequential, ChainMode::kOpByOp, ChainMode::kFused}) {
    auto elapsed_ns = chain_ns({.devices = devices, .nodes = kNodes, .mode = mode}, options);
    if (!elapsed_ns.ok()) return elapsed_ns.status();
    chains_ns[mode] = *elapsed_ns;
    report.add("dispatch.ns_per_node_shard", *elapsed_ns / node_shards, "ns",
               chain_params(devices, to_string(mode)));
    if (mode == ChainMode::kOpByOp) {
      report.add("dispatch.us_per_run", *elapsed_ns / kNodes / 1e3, "us",
                 with_bound(chain_params(devices, to_string(mode)), devices == 1 ? "1.2" : ""));
    }
  }
  const double loop_ns = multi_controller_ns(devices, kNodes, options.quick ? 4 : 100);
  report.add("dispatch.ns_per_node_shard", loop_ns / node_shards, "ns",
             chain_params(devices, "multi_controller"));
  report.add("dispatch.over_caf_request",
             chains_ns[ChainMode::kParallel] / node_shards / request_ns, "ratio",
             with_bound(chain_params(devices, "parallel"), bound_over_request(devices)));
  report.add("dispatch.parallel_over_sequential",
             chains_ns[ChainMode::kSequential] / chains_ns[ChainMode::kParallel], "ratio",
             with_bound({{"devices", std::to_string(devices)}}, devices <= 8 ? "8" : ""));
  return {};
}

}  // namespace

Status run_dispatch(const BenchOptions& options, BenchReport& report) {
  const double request_ns = caf_request_ns(options.quick ? 1'000 : 2'000, options.quick ? 3 : 500);
  report.add("dispatch.caf_request_ns", request_ns, "ns");
  const std::vector<std::uint32_t> all =
      options.quick ? std::vector<std::uint32_t>{1, 8} : std::vector<std::uint32_t>{1, 8, 64, 512};
  for (const std::uint32_t devices : all) {
    if (Status status = measure_devices(devices, request_ns, options, report); !status.ok()) {
      return status;
    }
  }
  return measure_parity(8, options, report);
}

}  // namespace seaway::benchmarks
