// two_clients: two tenants who want the same devices all the time; one has three times the weight.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "demos/list.hpp"
#include "demos/support/report.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/inspect.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {
namespace {

constexpr std::uint64_t kGangNs = 50'000;
constexpr std::size_t kGangsWanted = 1000;

/// A client with one program, a gang that keeps its device busy for kGangNs.
struct Tenant {
  std::string name;
  std::uint32_t weight = 1;
  Client client = {};
  Program program = {};
  Array input = {};
  std::vector<Run> runs = {};

  Status open(const Cluster& cluster, const Clock& clock) {
    auto connected = cluster.connect({.tenant = name, .weight = weight});
    if (!connected.ok()) return connected.status();
    client = *connected;
    const auto slice = client.acquire_slice({.devices = 1});
    if (!slice.ok()) return slice.status();
    const NamedSharding whole(slice->mesh(), P());
    NativeFunction work;
    work.parameters = work.outputs = {f32({1})};
    work.cost_ns = kGangNs;
    work.body = [&clock](auto operands, auto outputs, std::byte*) {
      const std::uint64_t end_ns = clock.now_ns() + kGangNs;
      while (clock.now_ns() < end_ns) {
      }
      std::copy_n(operands[0], sizeof(float), outputs[0]);
      return Status();
    };
    const auto function = client.native(name, std::move(work));
    if (!function.ok()) return function.status();
    auto made = client.program(name, [&](const Traced& x) { return function->on(*slice)(x); },
                               {ArraySpec{f32({1}), whole}});
    if (!made.ok()) return made.status();
    program = *made;
    input = client.put<float>({1}, whole);
    return {};
  }

  Status enqueue(int count) {
    for (int i = 0; i < count; ++i) {
      runs.push_back(program.execute({input}));
      if (Status status = runs.back().error(); !status.ok()) return status;
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
  for (const GangRecord& gang : gangs) {
    if (gang.begin_ns < from_ns || gang.end_ns > until_ns) continue;
    const int t = gang.tenant == tenants[0].name ? 0 : 1;
    shares.ns[t] += static_cast<double>(gang.end_ns - gang.begin_ns);
    shares.order += tenants[t].name[0];
    ++shares.gangs;
  }
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
  const RealClock clock;
  const auto cluster = Cluster::start("embedded:islands=1,devices=1,policy=shares,events=262144");
  if (!cluster.ok()) return cluster.status();
  Tenant tenants[2] = {{.name = "amber", .weight = 1}, {.name = "blue", .weight = 3}};
  for (Tenant& tenant : tenants) {
    if (Status status = tenant.open(*cluster, clock); !status.ok()) return status;
  }
  for (Tenant& tenant : tenants) {
    if (Status status = tenant.enqueue(runs); !status.ok()) return status;
  }
  const auto start = stats(*cluster);
  if (!start.ok()) return start.status();
  for (Tenant& tenant : tenants) {
    if (Status status = tenant.client.drain(); !status.ok()) return status;
    for (const Run& run : tenant.runs) {
      if (const auto outcome = run.status().get(); !outcome.ok()) return outcome.status();
    }
  }

  const auto gangs = recent_gangs(*cluster);
  if (!gangs.ok()) return gangs.status();
  const Shares shares = measure(*gangs, tenants, start->time_ns);
  print_picture(shares, tenants);
  if (Status status = write_trace(*cluster, "two_clients", options); !status.ok()) return status;
  if (shares.gangs < kGangsWanted) {
    return Status(StatusCode::kDataCorruption, "only " + std::to_string(shares.gangs) +
                                                   " gangs ran while both had work; " +
                                                   std::to_string(kGangsWanted) + " are wanted");
  }
  for (int t = 0; t < 2; ++t) {
    const double fair = tenants[t].weight / 4.0;
    if (std::abs(shares.share(t) - fair) <= 0.1 * fair) continue;
    return Status(StatusCode::kDataCorruption,
                  tenants[t].name + " got " + std::to_string(shares.share(t)) +
                      " of the device time; " + std::to_string(fair) + " is its share");
  }
  return {};
}

}  // namespace

int run_two_clients(const DemoOptions& options) {
  return finish("two_clients", two_clients(options));
}

}  // namespace seaway::demos
