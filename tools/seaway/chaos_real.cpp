// The plan's events at their times, and the report.

#include "chaos_real.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/random.hpp"
#include "benchmarks/support/measure.hpp"
#include "campaign/real_judge.hpp"
#include "real_cluster.hpp"

namespace seaway::tools {

using campaign::RealDone;
using campaign::RealEvent;
using campaign::RealFault;
using campaign::RealProcess;
using campaign::RealRole;

namespace {

constexpr int kClean = 0, kUsage = 1, kLiveness = 128, kCorrectness = 129;
constexpr std::uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;
constexpr auto kStep = std::chrono::milliseconds(2);
/// After the last fault clients go on for so long, and then have so long for what is left.
constexpr std::uint64_t kHealNs = 3 * kSecond;
constexpr double kEndS = 25;

class Campaign {
 public:
  Campaign(RealCluster& cluster, bool is_quiet) : cluster_(cluster), is_quiet_(is_quiet) {}

  /// Errors: those of a cluster that is not there any more.
  Status run(const std::vector<RealEvent>& plan) {
    begin_ns_ = benchmarks::now_ns();
    for (std::size_t next = 0; next < plan.size() || !later_.empty();) {
      const std::uint64_t now_ns = benchmarks::now_ns();
      while (!later_.empty() && later_.begin()->first <= now_ns) {
        const auto deed = std::move(later_.begin()->second);
        later_.erase(later_.begin());
        deed();
      }
      if (next < plan.size() && begin_ns_ + plan[next].at_ns <= now_ns) begin(plan[next++]);
      if (Status status = cluster_.look_after(); !status.ok()) return status;
      std::this_thread::sleep_for(kStep);
    }
    const std::uint64_t until_ns = benchmarks::now_ns() + kHealNs;
    while (benchmarks::now_ns() < until_ns) {
      if (Status status = cluster_.look_after(); !status.ok()) return status;
      std::this_thread::sleep_for(kStep);
    }
    return {};
  }

  const std::vector<RealDone>& done() const { return done_; }
  std::uint64_t skipped() const { return skipped_; }
  std::uint64_t kills_of(RealRole role) const {
    const auto found = kills_.find(role);
    return found == kills_.end() ? 0 : found->second;
  }

 private:
  void after(std::uint64_t ns, std::function<void()> deed) {
    later_.emplace(benchmarks::now_ns() + ns, std::move(deed));
  }
  bool kill(const RealProcess& process) {
    const bool is_done = cluster_.kill(process, benchmarks::now_ns());
    if (is_done) ++kills_[process.role];
    return is_done;
  }
  /// Killed as soon as it is another process than `before`, or there is none to be seen.
  void kill_again(const RealProcess& process, pid_t before, int times, std::size_t entry) {
    if (times == 0) return;
    after(10 * kMs, [=, this] {
      const pid_t now = cluster_.process_of(process);
      done_[entry].end_ns = benchmarks::now_ns();
      if (now == 0 || now == before) return kill_again(process, before, times, entry);
      if (kill(process)) kill_again(process, now, times - 1, entry);
    });
  }

  void begin(const RealEvent& event) {
    const std::size_t entry = done_.size();
    const std::uint64_t now_ns = benchmarks::now_ns();
    done_.push_back({event, now_ns, now_ns + event.for_ns});
    if (make(event, entry)) {
      if (!is_quiet_) std::printf("%s\n", to_string(event).c_str());
      std::fflush(stdout);
      return;
    }
    done_.pop_back();
    ++skipped_;
  }

  bool make(const RealEvent& event, std::size_t entry) {
    switch (event.fault) {
      case RealFault::kKill:
        return kill(event.target);
      case RealFault::kAgain: {
        if (!kill(event.target)) return false;
        after(event.amount, [this, peer = *event.peer, entry] {
          kill(peer);
          done_[entry].end_ns = benchmarks::now_ns();
        });
        return true;
      }
      case RealFault::kMachine: {
        const bool is_done = kill(event.target);
        return kill({RealRole::kScheduler, event.target.index}) || is_done;
      }
      case RealFault::kLoop: {
        const pid_t before = cluster_.process_of(event.target);
        if (!kill(event.target)) return false;
        kill_again(event.target, before, 2, entry);
        return true;
      }
      case RealFault::kStop:
        return stop(event.target, event.for_ns);
      case RealFault::kStraggle:
        straggle(event.target, benchmarks::now_ns() + event.for_ns, event.amount);
        return true;
      case RealFault::kMemory:
      case RealFault::kFiles:
        if (!cluster_.bound(event.target, event.fault, true)) return false;
        after(event.for_ns, [this, event] { cluster_.bound(event.target, event.fault, false); });
        return true;
      case RealFault::kDisk:
        if (!cluster_.fill_disk(true)) return false;
        after(event.for_ns, [this] { cluster_.fill_disk(false); });
        return true;
      case RealFault::kStranger:
        return say_nonsense(event);
      case RealFault::kFlood:
        return flood(event);
      default:
        return cluster_.proxy() && make_on_links(event, entry);
    }
  }

  bool make_on_links(const RealEvent& event, std::size_t entry) {
    FaultProxy& proxy = *cluster_.proxy();
    FaultProxy::Where all{to_string(event.target)};
    FaultProxy::Where link = all;
    if (event.peer) link.other = to_string(*event.peer);
    FaultProxy::Where way = link;
    (event.from_peer ? way.says : way.hears) = false;
    using Blow = FaultProxy::Blow;
    const auto strike = [&](Blow blow, std::uint64_t behind, std::uint64_t count) {
      // Of two that do not talk, one does with somebody.
      all.says = way.says;
      all.hears = way.hears;
      return proxy.strike(way, blow, behind, count) || proxy.strike(all, blow, behind, count);
    };
    switch (event.fault) {
      case RealFault::kIsolate:
        proxy.hold(all, event.for_ns);
        return true;
      case RealFault::kDeafen:
        all.says = false;
        proxy.hold(all, event.for_ns);
        return true;
      case RealFault::kMute:
        all.hears = false;
        proxy.hold(all, event.for_ns);
        return true;
      case RealFault::kSever:
        proxy.hold(link, event.for_ns);
        return true;
      case RealFault::kSwizzle:
        swizzle(to_string(event.target), event.for_ns, entry);
        return true;
      case RealFault::kDelay:
        proxy.delay(way, event.amount, event.for_ns);
        return true;
      case RealFault::kCut:
        return strike(Blow::kCut, event.amount, 0);
      case RealFault::kReset:
        return strike(Blow::kReset, event.amount, 0);
      case RealFault::kHalfOpen:
        return strike(Blow::kHalfOpen, 0, 0);
      case RealFault::kLose:
        return strike(Blow::kLose, 0, event.amount);
      case RealFault::kReplay:
        return strike(Blow::kReplay, event.amount, 0);
      case RealFault::kFlip:
        return strike(Blow::kFlip, event.amount, event.amount);
      default:
        return false;
    }
  }
  /// Each link for another time, which begin one after the other.
  void swizzle(const std::string& name, std::uint64_t for_ns, std::size_t entry) {
    RandomStream draws(for_ns, 2);
    std::uint64_t last_ns = 0;
    for (const std::string& other : cluster_.names()) {
      const std::uint64_t begin_ns = draws.below(for_ns), held_ns = 1 + draws.below(for_ns);
      last_ns = std::max(last_ns, begin_ns + held_ns);
      after(begin_ns, [this, name, other, held_ns] {
        cluster_.proxy()->hold({name, other}, held_ns);
      });
    }
    done_[entry].end_ns = done_[entry].begin_ns + last_ns;
  }

  bool stop(const RealProcess& process, std::uint64_t for_ns) {
    const pid_t number = cluster_.process_of(process);
    if (number == 0 || !cluster_.signal(process, SIGSTOP)) return false;
    after(for_ns, [number] { ::kill(number, SIGCONT); });
    return true;
  }
  void straggle(const RealProcess& process, std::uint64_t until_ns, std::uint64_t period_ns) {
    if (benchmarks::now_ns() >= until_ns) return;
    stop(process, period_ns);
    after(2 * period_ns, [=, this] { straggle(process, until_ns, period_ns); });
  }

  /// Bytes that are no message, half of one, or one of far too many segments.
  bool say_nonsense(const RealEvent& event) {
    const int socket = cluster_.connect_to(event.target);
    if (socket < 0) return false;
    RandomStream draws(event.amount, 1);
    std::vector<std::uint32_t> words(1 + draws.below(1024));
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(draws.next());
    if (draws.below(2) == 0) words[0] = static_cast<std::uint32_t>(draws.below(3));
    static_cast<void>(!::send(socket, words.data(), words.size() * 4, MSG_NOSIGNAL));
    after(draws.below(2) * kSecond, [socket] { ::close(socket); });
    return true;
  }
  bool flood(const RealEvent& event) {
    auto sockets = std::make_shared<std::vector<int>>();
    for (std::uint64_t i = 0; i < event.amount; ++i) {
      const int socket = cluster_.connect_to(event.target);
      if (socket >= 0) sockets->push_back(socket);
    }
    if (sockets->empty()) return false;
    after(event.for_ns / 2, [sockets] {
      const char byte = 0;
      static_cast<void>(!::send(sockets->front(), &byte, 1, MSG_NOSIGNAL));
    });
    after(event.for_ns, [sockets] {
      for (const int socket : *sockets) ::close(socket);
    });
    return true;
  }

  RealCluster& cluster_;
  const bool is_quiet_;
  std::uint64_t begin_ns_ = 0, skipped_ = 0;
  std::vector<RealDone> done_;
  std::map<RealRole, std::uint64_t> kills_;
  std::multimap<std::uint64_t, std::function<void()>> later_;
};

std::string mib(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", static_cast<double>(bytes) / (1 << 20));
  return text;
}

}  // namespace

int run_chaos_real(const ChaosRealOptions& options) {
  const std::vector<RealEvent> plan = campaign::draw_real_plan(options.plan);
  if (plan.empty()) {
    std::fprintf(stderr,
                 "seaway: nothing would happen within %.1f s: name some of --kill, --stop and "
                 "--strangers, or let it take longer\n",
                 static_cast<double>(options.plan.duration_ns) / 1e9);
    return kUsage;
  }
  auto cluster = RealCluster::start(options.plan);
  if (!cluster.ok()) {
    std::fprintf(stderr, "seaway: chaos real: %s\n", cluster.status().message().c_str());
    return kUsage;
  }
  const auto resident_before = (*cluster)->resident();
  Campaign campaign(**cluster, options.is_quiet || options.is_json);
  if (Status status = campaign.run(plan); !status.ok()) {
    std::fprintf(stderr, "seaway: chaos real: the cluster is gone: %s\n", status.message().c_str());
    return kLiveness;
  }
  (*cluster)->end_clients(kEndS);
  const FaultProxy* const proxy = (*cluster)->proxy();
  const FaultProxy::Counts links = proxy ? proxy->counts() : FaultProxy::Counts();
  const auto resident_after = (*cluster)->resident();
  const campaign::RealVerdict verdict = judge_real((*cluster)->histories(), campaign.done());
  const std::vector<std::string> left = (*cluster)->end();

  std::map<std::string, std::uint64_t> faults;
  for (const RealDone& one : campaign.done()) ++faults[std::string(to_string(one.event.fault))];
  nlohmann::json json;
  json["seed"] = options.plan.seed;
  json["faults"] = faults;
  json["skipped"] = campaign.skipped();
  json["links"] = {{"connections", links.connections}, {"bytes", links.bytes},
                   {"flipped", links.flipped},         {"lost", links.lost},
                   {"replayed", links.replayed},       {"ended", links.ended}};
  for (const RealRole role :
       {RealRole::kController, RealRole::kScheduler, RealRole::kHost, RealRole::kClient}) {
    json["kills"][std::string(to_string(role))] = campaign.kills_of(role);
  }
  json["requests"] = verdict.requests;
  json["values"] = verdict.values;
  json["errors"] = verdict.codes;
  json["of_killed_clients"] = verdict.given_up;
  json["wrong"] = verdict.wrong;
  json["twice"] = verdict.twice;
  json["pending"] = verdict.pending;
  json["late"] = verdict.late;
  json["unexplained"] = verdict.unexplained;
  json["longest_ms"] = verdict.longest_ns / kMs;
  json["left"] = left;
  for (const auto& [name, bytes] : resident_before) json["resident_before"][name] = bytes;
  for (const auto& [name, bytes] : resident_after) json["resident_after"][name] = bytes;
  json["examples"] = verdict.examples;
  if (options.is_json) {
    std::printf("%s\n", json.dump().c_str());
  } else {
    std::printf("\nseed %llu\n", static_cast<unsigned long long>(options.plan.seed));
    for (const auto& [name, count] : faults) {
      std::printf("  %-12s %6llu\n", name.c_str(), static_cast<unsigned long long>(count));
    }
    std::printf("kills: %s; skipped: %llu\n", json["kills"].dump().c_str(),
                static_cast<unsigned long long>(campaign.skipped()));
    if (proxy) std::printf("links: %s\n", json["links"].dump().c_str());
    std::printf("requests: %llu, values %llu, errors %s, of killed clients %llu\n",
                static_cast<unsigned long long>(verdict.requests),
                static_cast<unsigned long long>(verdict.values), json["errors"].dump().c_str(),
                static_cast<unsigned long long>(verdict.given_up));
    std::printf(
        "wrong %llu, twice %llu, pending %llu, late %llu, unexplained %llu; longest %llu ms\n",
        static_cast<unsigned long long>(verdict.wrong),
        static_cast<unsigned long long>(verdict.twice),
        static_cast<unsigned long long>(verdict.pending),
        static_cast<unsigned long long>(verdict.late),
        static_cast<unsigned long long>(verdict.unexplained),
        static_cast<unsigned long long>(verdict.longest_ns / kMs));
    for (const auto& [name, bytes] : resident_after) {
      const auto before = resident_before.find(name);
      const std::string was = before == resident_before.end() ? "?" : mib(before->second);
      std::printf("  %-14s %s MiB resident, %s at first\n", name.c_str(), mib(bytes).c_str(),
                  was.c_str());
    }
    for (const std::string& one : left) std::printf("left behind: %s\n", one.c_str());
    for (const std::string& one : verdict.examples) std::printf("broken: %s\n", one.c_str());
    std::printf("%s\n", verdict.is_clean() && left.empty() ? "clean" : "not clean");
  }
  if (verdict.wrong + verdict.twice + verdict.unexplained > 0 || !left.empty()) return kCorrectness;
  if (verdict.pending + verdict.late > 0) return kLiveness;
  return kClean;
}

}  // namespace seaway::tools
