// Users' actors on one worker, beside CAF's.

#include "benchmarks/actors/actors.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actor/timer_wheel.hpp"
#include "benchmarks/actors/driver.hpp"
#include "benchmarks/actors/raw_caf.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/pairs.hpp"
#include "seaway/app.hpp"

namespace seaway::benchmarks {
namespace {

/// Sums the numbers of its leaves: each actor asks ten children of its own.
class Skynet {
 public:
  static void describe(ActorType<Skynet>& type) { type.on(&Skynet::sum); }
  Skynet(Self self, std::uint64_t first, std::uint64_t size)
      : self_(std::move(self)), first_(first + self_.index() * size), size_(size) {}

  Task<Reply<Done>> sum(Request<Ready>) {
    std::uint64_t sum = first_;
    if (size_ > 1) {
      auto children =
          co_await self_.spawn<Skynet>(self_.here().each("child", 10), first_, size_ / 10);
      if (!children.ok()) co_return children.status();
      auto sums = co_await children->call(&Skynet::sum).all();
      sum = 0;
      for (const auto& one : *sums) {
        if (!one.ok()) co_return one.status();
        sum += one.value()->getNumber();
      }
      // They have done what they were for.
      static_cast<void>(co_await children->stop());
    }
    co_return make<Done>([sum](Done::Builder done) { done.setNumber(sum); });
  }

 private:
  Self self_;
  std::uint64_t first_, size_;
};

/// What the deadline of one request costs while `pending` others are: set, and given up.
double deadline_ns(std::uint32_t pending, int rounds) {
  actor::TimerWheel wheel;
  std::vector<actor::TimerNode> nodes(pending);
  const auto due_ns = [](std::uint32_t i) { return (i % 30'000 + 1) * std::uint64_t{1'000'000}; };
  for (std::uint32_t i = 0; i < pending; ++i) wheel.add(nodes[i], due_ns(i));
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t begin_ns = now_ns();
    // Not one after the other in memory, as requests do not end in the order of their beginning.
    for (std::uint32_t i = 0, at = 0; i < pending; ++i, at = (at + 7919) % pending) {
      wheel.remove(nodes[at]);
      wheel.add(nodes[at], due_ns(i));
    }
    times.push_back(static_cast<double>(now_ns() - begin_ns) / pending);
  }
  for (actor::TimerNode& node : nodes) wheel.remove(node);
  return quantile(std::move(times), 0.1);
}

class Bench {
 public:
  Bench(const BenchOptions& options, BenchReport& report, std::string pinning)
      : quick_(options.quick), report_(report), params_{{"pinning", std::move(pinning)}} {}

  Status run() {
    auto connected = connect("embedded:islands=1,devices=1");
    if (!connected.ok()) return connected.status();
    client_ = *std::move(connected);
    auto servers = client_.spawn<Server>(client_.hosts().each("server", kHops));
    if (!servers.ok()) return servers.status();
    servers_ = *servers;
    auto sinks = client_.spawn<Sink>(client_.hosts().each("sink", kMembers));
    if (!sinks.ok()) return sinks.status();
    auto driver = client_.spawn<Driver>(client_.hosts(), *servers, *sinks);
    if (!driver.ok()) return driver.status();
    driver_ = *driver;
    for (const auto part : {&Bench::calls, &Bench::sends, &Bench::deadlines, &Bench::chain,
                            &Bench::spawns, &Bench::skynet}) {
      if (Status status = (this->*part)(); !status.ok()) return status;
    }
    return {};
  }

 private:
  static constexpr std::uint32_t kMembers = 128;

  /// One round, in nanoseconds for each of `count`.
  Result<double> drive(Driver::Kind kind, std::uint32_t count) {
    const auto time = driver_
                          .call_one(&Driver::go,
                                    [=](Go::Builder go) {
                                      go.setKind(kind);
                                      go.setCount(count);
                                    })
                          .get();
    if (!time.ok()) return time.status();
    return time.value()->getNanoseconds();
  }
  /// Medians of one operation in each turn of `own` and of `raw`, and the ratio.
  struct Both {
    double raw_ns = 0, own_ns = 0;
    Interval ratio;
  };
  template <class Raw, class Own>
  Result<Both> compare(Raw&& raw, Own&& own) {
    const auto pairs = measure_pairs(rounds(), own, [&raw] { return Result<double>(raw()); });
    if (!pairs.ok()) return pairs.status();
    return Both{median(pairs->second), median(pairs->first), interval_of(pairs->ratio)};
  }
  int rounds() const { return quick_ ? 2 : static_cast<int>(kPairsMin); }
  std::uint32_t count(std::uint32_t full) const { return quick_ ? 64 : full; }

  void add(const std::string& metric, double value, const std::string& unit,
           const std::string& bound = {}) {
    report_.add(metric, value, unit, bound.empty() ? params_ : with_bound(params_, bound));
  }

  Status calls() {
    const auto both = compare([this] { return caf_call_ns(count(20000)); },
                              [this] { return drive(Driver::kCall, count(20000)); });
    if (!both.ok()) return both.status();
    add("actors.call_ns", both->own_ns, "ns");
    add("actors.raw_caf_call_ns", both->raw_ns, "ns");
    report_.add_ratio("actors.call_over_raw_caf", both->ratio, params_, Bound::at_most(1.3));
    return {};
  }

  Status sends() {
    const auto one = compare([this] { return caf_broadcast_ns(1, count(20000)); },
                             [this] { return drive(Driver::kSend, count(20000)); });
    if (!one.ok()) return one.status();
    add("actors.oneway_ns", one->own_ns, "ns");
    add("actors.raw_caf_oneway_ns", one->raw_ns, "ns");
    report_.add_ratio("actors.oneway_over_raw_caf", one->ratio, params_, Bound::at_most(1.25));
    const auto of_member = [this]() -> Result<double> {
      const auto all_ns = drive(Driver::kBroadcast, count(400));
      if (!all_ns.ok()) return all_ns.status();
      return *all_ns / kMembers;
    };
    const auto over_one = compare([this] { return caf_broadcast_ns(1, count(20000)); }, of_member);
    if (!over_one.ok()) return over_one.status();
    const auto over_all =
        compare([this] { return caf_broadcast_ns(kMembers, count(400)); }, of_member);
    if (!over_all.ok()) return over_all.status();
    add("actors.broadcast_ns_per_member", over_one->own_ns, "ns");
    report_.add_ratio("actors.broadcast_over_raw_caf_oneway", over_one->ratio, params_,
                      Bound::at_most(2.5));
    report_.add_ratio("actors.broadcast_over_raw_caf_broadcast", over_all->ratio, params_);
    return {};
  }

  Status deadlines() {
    const std::uint32_t pending = quick_ ? 1000 : 100'000;
    add("actors.deadline_ns", deadline_ns(pending, rounds()), "ns", "200");
    std::vector<double> sleeps_ns;
    for (int round = 0; round < rounds(); ++round) {
      const auto ns = drive(Driver::kSleep, pending);
      if (!ns.ok()) return ns.status();
      sleeps_ns.push_back(*ns);
    }
    add("actors.sleep_ns", quantile(std::move(sleeps_ns), 0.1), "ns");
    return {};
  }

  /// 128 calls of an actor, each on the result of the one before; and the same from a client, whose
  /// thread and the worker take turns on the core.
  Status chain() {
    const auto both = compare([this] { return drive(Driver::kSend, kHops * 16).value(); },
                              [this] { return drive(Driver::kChain, kHops * 16); });
    if (!both.ok()) return both.status();
    auto params = params_;
    params.emplace_back("caller", "actor");
    report_.add("actors.chain_hop_ns", both->own_ns, "ns", params);
    report_.add_ratio("actors.chain_hop_over_oneway", both->ratio, params, Bound::at_most(2));
    std::vector<double> hops_ns;
    for (int round = 0; round < rounds() * 10; ++round) {
      const std::uint64_t begin_ns = now_ns();
      const auto end = chain_of(servers_).get();
      hops_ns.push_back(static_cast<double>(now_ns() - begin_ns) / kHops);
      if (!end.ok()) return end.status();
      if ((*end)->getNumber() != kHops) return invalid_argument("the chain lost a hop");
    }
    params.back().second = "client";
    const double hop_ns = quantile(std::move(hops_ns), 0.1);
    report_.add("actors.chain_hop_ns", hop_ns, "ns", params);
    report_.add("actors.chain_hop_over_oneway", hop_ns / both->raw_ns, "ratio", params);
    return {};
  }

  Status spawns() {
    const std::uint32_t members = quick_ ? 1000 : 100'000;
    const std::uint64_t before = resident_bytes();
    const std::uint64_t begin_ns = now_ns();
    auto mesh = client_.spawn<Server>(client_.hosts().each("member", members));
    if (!mesh.ok()) return mesh.status();
    const auto elapsed_ns = static_cast<double>(now_ns() - begin_ns);
    const std::uint64_t after = resident_bytes();
    add("actors.spawn_us", elapsed_ns / members / 1e3, "us", "3");
    add("actors.member_bytes", after > before ? static_cast<double>(after - before) / members : 1,
        "bytes", "2048");
    // They are all there.
    std::uint32_t answers = 0;
    for (std::uint32_t i = 0; i < members; i += members / 10) {
      const auto done = mesh->at(i).call(&Server::relay, [](Done::Builder m) { m.setNumber(1); });
      answers += done.get().ok();
    }
    if (answers != 10) return invalid_argument("a member does not answer");
    return mesh->stop().get().status();
  }

  Status skynet() {
    const std::uint64_t leaves = quick_ ? 1000 : 1'000'000;
    const std::uint64_t begin_ns = now_ns();
    auto root = client_.spawn<Skynet>(client_.hosts(), std::uint64_t{0}, leaves);
    if (!root.ok()) return root.status();
    const auto sum =
        root->call_one(&Skynet::sum, CallOptions{.deadline = std::chrono::minutes(5)}).get();
    if (!sum.ok()) return sum.status();
    if (sum.value()->getNumber() != leaves * (leaves - 1) / 2) {
      return invalid_argument("skynet's sum is " + std::to_string(sum.value()->getNumber()));
    }
    const double own_ns = static_cast<double>(now_ns() - begin_ns) / static_cast<double>(leaves);
    if (Status status = root->stop().get().status(); !status.ok()) return status;
    const double raw_ns = caf_skynet_ns(leaves);
    add("actors.skynet_ns_per_leaf", own_ns, "ns");
    add("actors.raw_caf_skynet_ns_per_leaf", raw_ns, "ns");
    add("actors.skynet_over_raw_caf", own_ns / raw_ns, "ratio");
    return {};
  }

  const bool quick_;
  BenchReport& report_;
  const BenchReport::Params params_;
  Client client_;
  ActorMesh<Server> servers_;
  ActorMesh<Driver> driver_;
};

}  // namespace

Status run_actors(const BenchOptions& options, BenchReport& report) {
  const PinnedToOneCore pin;
  return Bench(options, report, pin.pinned() ? "one core" : "none").run();
}

}  // namespace seaway::benchmarks
