// Starts clusters of four hosts, and looks at them in /proc.

#include "benchmarks/up/up.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/up_cluster.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::uint32_t kHosts = 4;

std::uint64_t processor_ns(const UpCluster& cluster) {
  std::uint64_t all_ns = 0;
  for (const auto& [name, process] : cluster.processes()) {
    all_ns += benchmarks::processor_ns(process);
  }
  return all_ns;
}

}  // namespace

Status run_up(const BenchOptions& options, BenchReport& report) {
  std::vector<double> first_ms;
  std::unique_ptr<UpCluster> cluster;
  const BenchReport::Params hosts = {{"hosts", std::to_string(kHosts)}};
  for (int i = 0; i < (options.quick ? 1 : 7); ++i) {
    cluster.reset();
    const std::uint64_t begin_ns = now_ns();
    auto started = UpCluster::start(kHosts, 1, {}, UpCluster::Silence::kDefault);
    if (!started.ok()) return started.status();
    cluster = std::move(*started);
    const auto worker = Worker::make(cluster->address(), kHosts - 1, 2, 1);
    if (!worker.ok()) return worker.status();
    if (Status status = worker->call(); !status.ok()) return status;
    first_ms.push_back(static_cast<double>(now_ns() - begin_ns) / 1e6);
  }
  report.add("up.first_result_ms", median(first_ms), "ms", with_bound(hosts, "1000"));
  std::uint64_t bytes = 0;
  for (const auto& [name, process] : cluster->processes()) bytes += proportional_bytes(process);
  report.add("up.memory_mb", static_cast<double>(bytes) / 1e6, "MB", with_bound(hosts, "100"));
  // The client has gone; what is left are heartbeats.
  const std::uint64_t before_ns = processor_ns(*cluster), begin_ns = now_ns();
  std::this_thread::sleep_for(std::chrono::seconds(options.quick ? 2 : 10));
  const auto used_ns = static_cast<double>(processor_ns(*cluster) - before_ns);
  // The kernel counts in hundredths of a second: less than one reads as half of one.
  const double percent = 100 * std::max(used_ns, 5e6) / static_cast<double>(now_ns() - begin_ns);
  report.add("up.idle_core_percent", percent, "%", with_bound(hosts, "1"));
  return {};
}

}  // namespace seaway::benchmarks
