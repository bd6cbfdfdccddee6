// two_clients: two tenants who want the same devices all the time; one has three times the weight.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "demos/list.hpp"
#include "demos/support/report.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/host_main.hpp"
#include "seaway/inspect.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {
namespace {

constexpr std::uint64_t kGangNs = 50'000;
constexpr std::size_t kGangsWanted = 1000;

/// What a tenant's gangs do: nothing, for so long. Hosts in other processes have it by its name.
NativeFunction work() {
  NativeFunction work;
  work.parameters = work.outputs = {f32({1})};
  work.cost_ns = kGangNs;
  work.body = [](auto operands, auto outputs, std::byte*) {
    const RealClock clock;
    const std::uint64_t end_ns = clock.now_ns() + kGangNs;
    while (clock.now_ns() < end_ns) {
    }
    std::copy_n(operands[0], sizeof(float), outputs[0]);
    return Status();
  };
  return work;
}

/// In which order the runs of both have ended, as their clients heard of it, a letter each: for
/// clusters of other processes, whose gangs are not to be looked at. All take the same time.
class Ended {
 public:
  /// This object outlives the run.
  void hear(const Run& run, char letter) {
    const Future<void> status = run.status();
    status.state()->then(inline_executor(), [this, letter] {
      std::lock_guard guard(mutex_);
      order_ += letter;
    });
  }
  std::string order() const {
    std::lock_guard guard(mutex_);
    return order_;
  }

 private:
  mutable std::mutex mutex_;  // Guards what follows.
  std::string order_;
};

/// A client with one program, a gang that keeps its device busy for kGangNs.
struct Tenant {
  std::string name;
  std::uint32_t weight = 1;
  Client client = {};
  Program program = {};
  Array input = {};
  std::vector<Run> runs = {};

  Status open(const Cluster& cluster) {
    auto connected = cluster.connect({.tenant = name, .weight = weight});
    if (!connected.ok()) return connected.status();
    client = *connected;
    const auto slice = client.acquire_slice({.devices = 1});
    if (!slice.ok()) return slice.status();
    const NamedSharding whole(slice->mesh(), P());
    const auto function = client.native(name, work());
    if (!function.ok()) return function.status();
    auto made = client.program(name, [&](const Traced& x) { return function->on(*slice)(x); },
                               {ArraySpec{f32({1}), whole}});
    if (!made.ok()) return made.status();
    program = *made;
    input = client.put<float>({1}, whole);
    return {};
  }

  /// `ended`: hears of each run that has.
  Status enqueue(int count, Ended& ended) {
    for (int i = 0; i < count; ++i) {
      runs.push_back(program.execute({input}));
      if (Status status = runs.back().error(); !status.ok()) return status;
      ended.hear(runs.back(), name[0]);
    }
    return {};
  }
};

/// Device time of both while both wanted the devices all the time.
struct Shares {
  double ns[2] = {0, 0};
  std::size_t gangs = 0;
  std::string order;  // One letter a gang.

  double share(int tenant) const { return ns[tenant] / std::max(ns[0] + ns[1], 1.0); }
};

Shares measure(const std::vector<GangRecord>& gangs, const Tenant (&tenants)[2],
               std::uint64_t from_ns) {
  std::uint64_t first_ns[2] = {0, 0}, last_ns[2] = {0, 0};
  for (const GangRecord& gang : gangs) {
    const int t = gang.tenant == tenants[0].name ? 0 : 1;
    if (first_ns[t] == 0) first_ns[t] = gang.begin_ns;
    last_ns[t] = std::max(last_ns[t], gang.end_ns);
  }
  // What a tenant had in flight while it was alone is done before the other one's first gang.
  from_ns = std::max({from_ns, first_ns[0], first_ns[1]});
  const std::uint64_t until_ns = std::min(last_ns[0], last_ns[1]);
  Shares shares;
  std::vector<double> took_ns[2];
  for (const GangRecord& gang : gangs) {
    if (gang.begin_ns < from_ns || gang.end_ns > until_ns) continue;
    const int t = gang.tenant == tenants[0].name ? 0 : 1;
    took_ns[t].push_back(static_cast<double>(gang.end_ns - gang.begin_ns));
    shares.order += tenants[t].name[0];
    ++shares.gangs;
  }
  // As many as there were, of the usual time: what a machine is busy with meanwhile is no share.
  for (int t = 0; t < 2; ++t) {
    if (took_ns[t].empty()) continue;
    const auto middle = took_ns[t].begin() + static_cast<std::ptrdiff_t>(took_ns[t].size() / 2);
    std::nth_element(took_ns[t].begin(), middle, took_ns[t].end());
    shares.ns[t] = *middle * static_cast<double>(took_ns[t].size());
  }
  return shares;
}

/// The same where runs are all that is seen: what is usual in kWindow of them. Now and then the
/// runs of one are held up on their way to another process, or while devices move, and the other
/// one has the devices alone.
Shares measure(const std::string& order, const Tenant (&tenants)[2]) {
  constexpr std::size_t kWindow = 40;
  const auto first = [&](int t) { return order.find(tenants[t].name[0]); };
  const auto last = [&](int t) { return order.rfind(tenants[t].name[0]); };
  const std::size_t begin = std::max(first(0), first(1)), end = std::min(last(0), last(1));
  Shares shares;
  if (begin == std::string::npos || end < begin + kWindow) return shares;
  shares.order = order.substr(begin, end - begin);
  shares.gangs = shares.order.size();
  std::vector<std::ptrdiff_t> of_first;  // In each window.
  for (std::size_t at = 0; at + kWindow <= shares.gangs; at += kWindow) {
    const std::string window = shares.order.substr(at, kWindow);
    of_first.push_back(std::count(window.begin(), window.end(), tenants[0].name[0]));
  }
  const auto middle = of_first.begin() + static_cast<std::ptrdiff_t>(of_first.size() / 2);
  std::nth_element(of_first.begin(), middle, of_first.end());
  shares.ns[0] = static_cast<double>(*middle);
  shares.ns[1] = static_cast<double>(kWindow) - shares.ns[0];
  return shares;
}

void print_picture(const Shares& shares, const Tenant (&tenants)[2]) {
  const Screen screen = standard_screen();
  std::vector<BarRow> rows;
  for (int t = 0; t < 2; ++t) {
    char note[64];
    std::snprintf(note, sizeof(note), "%.1f %% of device time", 100 * shares.share(t));
    rows.push_back(
        {tenants[t].name + ", weight " + std::to_string(tenants[t].weight), shares.share(t), note});
  }
  std::printf("Two tenants on one island, each with more work than there is time (%zu gangs):\n%s",
              shares.gangs, bar_picture(rows, 40, screen.ink).c_str());
  const auto middle = shares.order.substr(shares.order.size() / 2, 64);
  std::printf("order in the middle: %s\n", middle.c_str());
}

Status two_clients(const DemoOptions& options) {
  const int runs = options.quick ? 1200 : 2500;
  const bool is_elsewhere = !options.cluster.empty();
  const auto cluster = Cluster::start(
      is_elsewhere ? options.cluster : "embedded:islands=1,devices=1,policy=shares,events=262144");
  if (!cluster.ok()) return cluster.status();
  Ended ended;  // Outlives the runs, which tell it.
  Tenant tenants[2] = {{.name = "amber", .weight = 1}, {.name = "blue", .weight = 3}};
  for (Tenant& tenant : tenants) {
    if (Status status = tenant.open(*cluster); !status.ok()) return status;
  }
  for (Tenant& tenant : tenants) {
    if (Status status = tenant.enqueue(runs, ended); !status.ok()) return status;
  }
  std::uint64_t start_ns = 0;
  if (!is_elsewhere) {
    const auto start = stats(*cluster);
    if (!start.ok()) return start.status();
    start_ns = start->time_ns;
  }
  for (Tenant& tenant : tenants) {
    for (const Run& run : tenant.runs) {
      if (const auto outcome = run.status().get(); !outcome.ok()) return outcome.status();
    }
  }

  Shares shares;
  if (is_elsewhere) {
    shares = measure(ended.order(), tenants);
    print_picture(shares, tenants);
  } else {
    const auto gangs = recent_gangs(*cluster);
    if (!gangs.ok()) return gangs.status();
    shares = measure(*gangs, tenants, start_ns);
    print_picture(shares, tenants);
    if (Status status = write_trace(*cluster, "two_clients", options); !status.ok()) return status;
  }
  if (shares.gangs < kGangsWanted) {
    return Status(StatusCode::kDataCorruption, "only " + std::to_string(shares.gangs) +
                                                   " gangs ran while both had work; " +
                                                   std::to_string(kGangsWanted) + " are wanted");
  }
  // A tenant whose next run is late on its way to another process loses its turn.
  const double allowed = is_elsewhere ? 0.25 : 0.1;
  for (int t = 0; t < 2; ++t) {
    const double fair = tenants[t].weight / 4.0;
    if (std::abs(shares.share(t) - fair) <= allowed * fair) continue;
    return Status(StatusCode::kDataCorruption,
                  tenants[t].name + " got " + std::to_string(shares.share(t)) +
                      " of the device time; " + std::to_string(fair) + " is its share" +
                      (is_elsewhere ? "; was the cluster started with `--options policy=shares` "
                                      "and one device?"
                                    : ""));
  }
  return {};
}

}  // namespace

void register_two_clients(Registry& registry) {
  registry.native("amber", work()).native("blue", work());
}

int run_two_clients(const DemoOptions& options) {
  return finish("two_clients", two_clients(options));
}

}  // namespace seaway::demos
