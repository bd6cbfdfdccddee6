// A gang of one island makes a value and writes down when it was done; one of another island, whose
// host is another process of the machine, says how long ago that was.

#include "benchmarks/bulk/bulk.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bulk/resharding.hpp"
#include "benchmarks/bulk/wire_speed.hpp"
#include "benchmarks/support/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/pairs.hpp"
#include "benchmarks/support/tcp_cluster.hpp"
#include "benchmarks/support/up_cluster.hpp"
#include "benchmarks/wire/round_trips.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr std::array<std::int64_t, 5> kBytes = {4 * kKiB, kMiB, 16 * kMiB, 128 * kMiB, 512 * kMiB};
constexpr std::int64_t kWords = 4;  // Of what goes in and comes out.
constexpr double kBound = 3;        // Control round trips.
constexpr double kExtraBound = 0.125;
constexpr double kRawBound = 0.9;  // Of the speed of a bare socket.

TensorType words(std::int64_t count) { return i32({count}); }
std::int32_t last_word(std::int32_t seed) { return seed * 31 + 7; }

/// The time goes into the value's first two words, and one that tells whether it is whole into its
/// last.
NativeFunction maker(std::int64_t bytes) {
  const std::int64_t count = bytes / 4;
  return {.parameters = {words(kWords)},
          .outputs = {words(count)},
          .cost_ns = static_cast<std::uint64_t>(1000 + bytes / 8),
          .body = [count](auto in, auto out, std::byte*) {
            const std::int32_t seed = *reinterpret_cast<const std::int32_t*>(in[0]);
            std::memset(out[0], seed & 0x7f, static_cast<std::size_t>(count) * 4);
            reinterpret_cast<std::int32_t*>(out[0])[count - 1] = last_word(seed);
            const std::uint64_t made_ns = now_ns();
            std::memcpy(out[0], &made_ns, sizeof(made_ns));
            return Status();
          }};
}

/// Gives how many nanoseconds ago the value was made, and its last word.
NativeFunction reader(std::int64_t bytes) {
  const std::int64_t count = bytes / 4;
  return {.parameters = {words(count)},
          .outputs = {words(kWords)},
          .cost_ns = 1000,
          .body = [count](auto in, auto out, std::byte*) {
            const std::uint64_t read_ns = now_ns();
            std::uint64_t made_ns = 0;
            std::memcpy(&made_ns, in[0], sizeof(made_ns));
            const std::int32_t found[kWords] = {
                static_cast<std::int32_t>(std::min<std::uint64_t>(read_ns - made_ns, INT32_MAX)),
                reinterpret_cast<const std::int32_t*>(in[0])[count - 1], 0, 0};
            std::memcpy(out[0], found, sizeof(found));
            return Status();
          }};
}

std::string name_of(const char* what, std::int64_t bytes) {
  return std::string("bench.bulk.") + what + "." + std::to_string(bytes);
}

/// A value that one island makes and the other one reads.
class HandOvers {
 public:
  static Result<HandOvers> make(const UpCluster& cluster, std::int64_t bytes) {
    HandOvers made;
    made.bytes_ = bytes;
    auto client = connect(cluster.address());
    if (!client.ok()) return client.status();
    made.client_ = *std::move(client);
    const auto here = made.client_.acquire_slice({.devices = 1, .mesh = {{"x", 1}}, .island = 0});
    if (!here.ok()) return here.status();
    const auto there = made.client_.acquire_slice({.devices = 1, .mesh = {{"x", 1}}, .island = 1});
    if (!there.ok()) return there.status();
    const auto make = made.client_.native(name_of("make", bytes), maker(bytes));
    if (!make.ok()) return make.status();
    const auto read = made.client_.native(name_of("read", bytes), reader(bytes));
    if (!read.ok()) return read.status();
    made.whole_ = NamedSharding(here->mesh(), P());
    auto program = made.client_.program(
        "hand over", [&](Traced x) { return read->on(*there)(make->on(*here)(x)); },
        {ArraySpec{words(kWords), made.whole_}});
    if (!program.ok()) return program.status();
    made.program_ = *std::move(program);
    return made;
  }

  /// Microseconds from the end of the gang that makes a value to the begin of the one that reads
  /// it: the median of `runs`.
  Result<double> measure_us(int runs) {
    std::vector<double> samples;
    for (int run = 0; run < runs; ++run) {
      const std::int32_t number = ++last_;
      const std::vector<std::int32_t> seed(kWords, number);
      const Array input = client_.put(seed, {kWords}, whole_);
      const auto value = program_.execute({input}).output(0).to_host<std::int32_t>().get();
      if (!value.ok()) return value.status();
      if ((*value)[1] != last_word(number)) {
        return Status(StatusCode::kDataCorruption, "a value of " + std::to_string(bytes_) +
                                                       " bytes was not whole when it was read");
      }
      samples.push_back((*value)[0] / 1e3);
    }
    return median(std::move(samples));
  }

 private:
  std::int64_t bytes_ = 0;
  Client client_;
  NamedSharding whole_;
  Program program_;
  std::int32_t last_ = 0;
};

/// To write where a child shares memory costs a copy of each page.
void keep_from_children(std::vector<char>& value) {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(value.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t last = (begin + value.size()) / kPage * kPage;
  if (last > first) ::madvise(value.data() + (first - begin), last - first, MADV_DONTFORK);
}

/// A message from one actor to another and back. Its sender has just written as many bytes as a
/// value has: what was in the caches is gone, and the other end has slept as long. Forks: not while
/// other threads run.
class ControlRoundTrips {
 public:
  ControlRoundTrips(const std::string& directory, std::int64_t bytes_max)
      : value_(static_cast<std::size_t>(bytes_max), 1) {  // All of its pages are there.
    keep_from_children(value_);
    ActorRoundTrips::Options options = {.echo_core = cores().back()};
    options.before = [this] { std::memset(value_.data(), ++run_ & 0x7f, bytes_); };
    const PinnedToOneCore pinned;
    trips_ = std::make_unique<ActorRoundTrips>("unix", directory, std::move(options));
  }
  /// In microseconds, the median of `runs` behind values of `bytes`.
  Result<double> measure_us(std::int64_t bytes, int runs) {
    bytes_ = static_cast<std::size_t>(bytes);
    return median(trips_->measure_us(runs));
  }

 private:
  std::vector<char> value_;
  std::size_t bytes_ = 0;
  int run_ = 0;
  std::unique_ptr<ActorRoundTrips> trips_;
};

std::vector<std::int64_t> sizes(const BenchOptions& options) {
  return {kBytes.begin(), options.quick ? kBytes.begin() + 2 : kBytes.end()};
}
int runs(std::int64_t bytes, const BenchOptions& options) {
  return options.quick ? 3 : bytes > 64 * kMiB ? static_cast<int>(kPairsMin) : 200;
}
BenchReport::Params with_size(std::int64_t bytes) { return {{"bytes", std::to_string(bytes)}}; }

/// Beside a bare socket, from 1 MiB on. The speed within TLS has no bound: it is what AES costs.
Status add_wire_speed(const BenchOptions& options, BenchReport& report, double& fetch_gb_per_s) {
  Status status;
  for (const char* const socket : {"tcp", "tls"}) {
    for (const std::int64_t bytes : sizes(options)) {
      if (bytes < kMiB) continue;
      const WireSpeed speed =
          wire_speed(socket, static_cast<std::uint64_t>(bytes), runs(bytes, options));
      if (speed.fetch_us.empty())
        return Status(StatusCode::kHostLost, "two processes did not meet");
      std::vector<double> ratios;
      for (std::size_t i = 0; i < speed.fetch_us.size(); ++i) {
        ratios.push_back(speed.raw_us[i] / speed.fetch_us[i]);
      }
      const auto with_socket = [&](BenchReport::Params params) {
        params.push_back({"socket", socket});
        return params;
      };
      const double gb_per_s = static_cast<double>(bytes) / median(speed.fetch_us) / 1e3;
      const bool is_bound = std::string_view(socket) == "tcp";
      if (is_bound) fetch_gb_per_s = gb_per_s;  // Of the largest one in the end.
      report.add("bulk.fetch_gb_per_s", gb_per_s, "GB/s", with_socket(with_size(bytes)));
      const auto params = with_socket(with_size(bytes));
      report.add_ratio("bulk.over_raw_tcp", interval_of(ratios), params,
                       is_bound ? Bound::at_least(kRawBound) : Bound());
    }
  }
  const ControlDelay delay =
      control_delay("tcp", options.quick ? kMiB : 64 * kMiB, options.quick ? 50 : 3000);
  if (delay.busy_us.empty()) return Status(StatusCode::kHostLost, "two processes did not meet");
  const double idle = median(delay.idle_us), busy = quantile(delay.busy_us, 0.99);
  report.add("bulk.control_idle_p50_us", idle, "us");
  report.add("bulk.control_busy_p99_us", busy, "us");
  report.add("bulk.control_p99_over_idle", busy / idle, "ratio", with_bound({}, "10"));
  report.add("bulk.control_busy_gb_per_s", delay.bytes_per_second / 1e9, "GB/s");
  if (!options.quick && busy > 10 * idle) {
    status = resource_exhausted("bulk.control_p99_over_idle is " + std::to_string(busy / idle) +
                                "; the bound is 10");
  }
  return status;
}

/// Beside what a value of this size is fetched with.
Status add_resharding(const BenchOptions& options, double fetch_gb_per_s, BenchReport& report) {
  auto cluster = TcpCluster::start(2, 4);
  if (!cluster.ok()) return cluster.status();
  stay_on((*cluster)->host(0), cores().front());
  stay_on((*cluster)->host(1), cores().back());
  std::array<Resident, 2> before;
  for (std::uint32_t i = 0; i < 2; ++i) before[i] = resident_of((*cluster)->host(i));
  const auto samples = resharding_us((*cluster)->address(), options.quick ? 1 : 9);
  if (!samples.ok()) return samples.status();
  double extra = 0;  // Beside the array, at the worse of both ends, of the array.
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Resident after = resident_of((*cluster)->host(i));
    const double used = static_cast<double>(after.most_bytes - before[i].now_bytes);
    extra = std::max(extra, used / kReshardedBytes - 1);
  }
  report.add("bulk.resharding_extra", extra, "of the array", with_bound({}, "0.125"));
  const double rate = kReshardedBytes / median(*samples) / 1e3;
  report.add("bulk.resharding_gb_per_s", rate, "GB/s");
  if (options.quick) return {};
  report.add("bulk.resharding_over_fetch", rate / fetch_gb_per_s, "ratio", with_bound({}, "0.8"));
  if (extra > kExtraBound) {
    return resource_exhausted("bulk.resharding_extra is " + std::to_string(extra) +
                              "; the bound is 0.125");
  }
  if (rate >= 0.8 * fetch_gb_per_s) return {};
  return resource_exhausted("bulk.resharding_over_fetch is " +
                            std::to_string(rate / fetch_gb_per_s) + "; the bound is 0.8");
}

}  // namespace

void register_bulk(Registry& registry) {
  register_resharding(registry);
  for (const std::int64_t bytes : kBytes) {
    registry.native(name_of("make", bytes), maker(bytes));
    registry.native(name_of("read", bytes), reader(bytes));
  }
}

Status run_bulk(const BenchOptions& options, BenchReport& report) {
  const ScratchDirectory directory;
  if (directory.path().empty()) return resource_exhausted("cannot make a directory for sockets");
  double fetch_gb_per_s = 0;
  Status wire = add_wire_speed(options, report, fetch_gb_per_s);
  if (wire.code() == StatusCode::kHostLost) return wire;
  if (Status reshards = add_resharding(options, fetch_gb_per_s, report); !reshards.ok()) {
    wire = reshards;
  }
  const std::vector<std::int64_t> all = sizes(options);
  ControlRoundTrips control(directory.path(), all.back());
  auto cluster = UpCluster::start(2, 1);
  if (!cluster.ok()) return cluster.status();
  stay_on((*cluster)->process_of("host 0"), cores().front());
  stay_on((*cluster)->process_of("host 1"), cores().back());
  for (const std::int64_t bytes : all) {
    auto hand_overs = HandOvers::make(**cluster, bytes);
    if (!hand_overs.ok()) return hand_overs.status();
    const int each = std::max(1, runs(bytes, options) / static_cast<int>(kPairsMin));
    const auto pairs = measure_pairs(
        options.quick ? 1 : static_cast<int>(kPairsMin),
        [&] { return hand_overs->measure_us(each); },
        [&] { return control.measure_us(bytes, each); });
    if (!pairs.ok()) return pairs.status();
    report.add("bulk.control_round_trip_us", median(pairs->second), "us", with_size(bytes));
    report.add("bulk.hand_over_us", median(pairs->first), "us", with_size(bytes));
    report.add_ratio("bulk.hand_over_in_round_trips", interval_of(pairs->ratio), with_size(bytes),
                     Bound::at_most(kBound));
  }
  return wire;
}

}  // namespace seaway::benchmarks
