// A campaign from its begin to its report.

#include "chaos_real.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "benchmarks/support/measure.hpp"
#include "campaign/real_judge.hpp"
#include "campaign/real_totals.hpp"
#include "real_campaign.hpp"
#include "real_cluster.hpp"
#include "totals_file.hpp"

namespace seaway::tools {

using campaign::RealDone;
using campaign::RealFault;
using campaign::RealRole;

namespace {

constexpr int kClean = 0, kUsage = 1, kCrash = 127, kLiveness = 128, kCorrectness = 129;
constexpr std::uint64_t kMs = 1'000'000, kMarginNs = 2'000'000'000;
constexpr std::size_t kSampleColumns = 12;

std::atomic<bool> is_interrupted = false;
std::atomic<int> which_signal = 0;

/// Ends of processes by a terminal or a supervisor: what was made is removed first.
void listen_to_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::signal(number, [](int which) {
      which_signal = which;
      is_interrupted = true;
    });
  }
}

/// All that is known at the end.
struct Report {
  std::map<std::string, std::uint64_t> faults, kills;
  std::uint64_t skipped = 0, stops = 0, link_faults = 0;
  std::uint64_t surrenders = 0;  // Of roles, for what was done to others.
  FaultProxy::Counts links;
  bool has_proxy = false;
  campaign::RealVerdict verdict;
  std::vector<RealCrash> crashes;
  std::vector<std::string> hanging, left, grown;
  std::vector<campaign::RealSample> samples;
  std::string kept;    // Where logs and histories are.
  std::string broken;  // The cluster, in words.

  int exit_code() const {
    if (!crashes.empty()) return kCrash;
    if (verdict.wrong + verdict.twice + verdict.unexplained > 0) return kCorrectness;
    if (!left.empty() || !grown.empty()) return kCorrectness;
    const bool is_live =
        verdict.pending + verdict.late + verdict.stalled == 0 && hanging.empty() && broken.empty();
    return is_live ? kClean : kLiveness;
  }
};

/// At equal distances, of the lives that there were.
std::map<std::string, std::vector<std::uint64_t>> columns_of(
    const std::vector<campaign::RealSample>& samples) {
  std::map<std::string, std::vector<std::uint64_t>> columns;
  if (samples.empty()) return columns;
  const std::uint64_t begin_ns = samples.front().at_ns;
  const std::uint64_t step_ns = (samples.back().at_ns - begin_ns) / kSampleColumns + 1;
  for (const campaign::RealSample& sample : samples) {
    std::vector<std::uint64_t>& row = columns[sample.name];
    const std::size_t column = (sample.at_ns - begin_ns) / step_ns;
    if (row.size() <= column) row.resize(column + 1, row.empty() ? sample.bytes : row.back());
    row.back() = sample.bytes;
  }
  return columns;
}

nlohmann::json to_json(const Report& report, std::uint64_t seed) {
  const campaign::RealVerdict& verdict = report.verdict;
  const FaultProxy::Counts& links = report.links;
  nlohmann::json json;
  json["seed"] = seed;
  json["faults"] = report.faults;
  json["skipped"] = report.skipped;
  json["stops"] = report.stops;
  json["link_faults"] = report.link_faults;
  json["links"] = {{"connections", links.connections}, {"bytes", links.bytes},
                   {"flipped", links.flipped},         {"lost", links.lost},
                   {"replayed", links.replayed},       {"ended", links.ended}};
  json["kills"] = report.kills;
  json["requests"] = verdict.requests;
  json["values"] = verdict.values;
  json["errors"] = verdict.codes;
  json["of_killed_clients"] = verdict.given_up;
  json["wrong"] = verdict.wrong;
  json["twice"] = verdict.twice;
  json["pending"] = verdict.pending;
  json["late"] = verdict.late;
  json["stalled"] = verdict.stalled;
  json["unexplained"] = verdict.unexplained;
  json["longest_ms"] = verdict.longest_ns / kMs;
  json["settled_ms"] = verdict.settled_ns / kMs;
  json["crashes"] = nlohmann::json::array();
  for (const RealCrash& one : report.crashes) {
    json["crashes"].push_back({{"what", one.what}, {"last_words", one.last_words}});
  }
  json["surrenders"] = report.surrenders;
  json["hanging"] = report.hanging;
  json["left"] = report.left;
  json["grown"] = report.grown;
  json["resident"] = columns_of(report.samples);
  json["examples"] = verdict.examples;
  json["kept"] = report.kept;
  return json;
}

void print(const Report& report, const nlohmann::json& json) {
  const campaign::RealVerdict& verdict = report.verdict;
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("\nseed %s\n", json["seed"].dump().c_str());
  for (const auto& [name, count] : report.faults) {
    std::printf("  %-12s %6llu\n", name.c_str(), number(count));
  }
  std::printf(
      "kills: %s; stops: %llu; link faults: %llu; skipped: %llu; "
      "roles that could not begin: %llu\n",
      json["kills"].dump().c_str(), number(report.stops), number(report.link_faults),
      number(report.skipped), number(report.surrenders));
  if (report.has_proxy) std::printf("links: %s\n", json["links"].dump().c_str());
  std::printf("requests: %llu, values %llu, errors %s, of killed clients %llu\n",
              number(verdict.requests), number(verdict.values), json["errors"].dump().c_str(),
              number(verdict.given_up));
  std::printf("wrong %llu, twice %llu, pending %llu, late %llu, stalled %llu, unexplained %llu\n",
              number(verdict.wrong), number(verdict.twice), number(verdict.pending),
              number(verdict.late), number(verdict.stalled), number(verdict.unexplained));
  std::printf("longest %llu ms, of that at rest %llu ms\n", number(verdict.longest_ns / kMs),
              number(verdict.settled_ns / kMs));
  std::printf("resident, MiB, from begin to end:\n");
  for (const auto& [name, row] : columns_of(report.samples)) {
    std::printf("  %-12s", name.c_str());
    for (const std::uint64_t bytes : row) {
      std::printf(" %.1f", static_cast<double>(bytes) / (1 << 20));
    }
    std::printf("\n");
  }
  for (const RealCrash& one : report.crashes) {
    std::printf("crash: %s\n", one.what.c_str());
    for (const std::string& line : one.last_words) std::printf("    %s\n", line.c_str());
  }
  for (const std::string& one : report.hanging) std::printf("hanging: %s\n", one.c_str());
  for (const std::string& one : report.left) std::printf("left behind: %s\n", one.c_str());
  for (const std::string& one : report.grown) std::printf("grown: %s\n", one.c_str());
  for (const std::string& one : verdict.examples) std::printf("broken: %s\n", one.c_str());
  if (!report.broken.empty()) std::printf("broken: %s\n", report.broken.c_str());
  if (!report.kept.empty()) std::printf("logs and histories: %s\n", report.kept.c_str());
  std::printf("%s\n", report.exit_code() == kClean ? "clean" : "not clean");
}

campaign::RealTotals totals_of(const Report& report) {
  const campaign::RealVerdict& verdict = report.verdict;
  campaign::RealTotals totals = {{"runs", 1},
                                 {"runs.clean", report.exit_code() == kClean ? 1 : 0},
                                 {"stops", report.stops},
                                 {"link_faults", report.link_faults},
                                 {"links.flipped", report.links.flipped},
                                 {"requests", verdict.requests},
                                 {"values", verdict.values},
                                 {"wrong", verdict.wrong},
                                 {"twice", verdict.twice},
                                 {"pending", verdict.pending + report.hanging.size()},
                                 {"late", verdict.late + verdict.stalled},
                                 {"unexplained", verdict.unexplained},
                                 {"crashes", report.crashes.size()},
                                 {"left", report.left.size()},
                                 {"grown", report.grown.size()}};
  for (const auto& [name, count] : report.kills) totals["kills." + name] = count;
  for (const auto& [name, count] : report.faults) totals["faults." + name] = count;
  return totals;
}

/// Of a cluster that was harmed; what it is judged by.
Report judge(RealCluster& cluster, const RealCampaign& campaign,
             campaign::RealJudgeOptions bounds) {
  Report report;
  bounds.end_ns = benchmarks::now_ns();
  auto hanging = cluster.end_clients(static_cast<double>(bounds.settle_ns) / 1e9);
  if (hanging.ok()) {
    report.hanging = *std::move(hanging);
  } else {
    report.broken = hanging.status().message();
  }
  const std::vector<RealDone> done = campaign.done();
  for (const RealDone& one : done) {
    ++report.faults[std::string(to_string(one.event.fault))];
    report.link_faults += is_of_links(one.event.fault) ? 1 : 0;
    const bool is_stop =
        one.event.fault == RealFault::kStop || one.event.fault == RealFault::kStraggle;
    report.stops += is_stop ? 1 : 0;
  }
  report.skipped = campaign.skipped();
  for (int i = 0; i <= static_cast<int>(campaign::kLastRealRole); ++i) {
    const auto role = static_cast<RealRole>(i);
    report.kills[std::string(to_string(role))] = cluster.kills_of(role);
  }
  report.has_proxy = cluster.proxy() != nullptr;
  if (report.has_proxy) report.links = cluster.proxy()->counts();
  report.samples = campaign.samples();
  report.grown = judge_growth(report.samples);
  report.verdict = judge_real(cluster.histories(), done, bounds);
  report.left = campaign.left();
  for (const std::string& one : cluster.memory_of_dead_hosts()) report.left.push_back(one);
  return report;
}

void add_crashes(const RealCluster& cluster, const std::vector<RealDone>& done,
                 const campaign::RealJudgeOptions& bounds, Report& report) {
  report.crashes = cluster.crashes();
  for (const RealCrash& one : cluster.surrenders()) {
    may_give_up(one.at_ns, done, bounds) ? static_cast<void>(++report.surrenders)
                                         : report.crashes.push_back(one);
  }
}

int refuse(const std::string& why) {
  std::fprintf(stderr, "seaway: chaos real: %s\n", why.c_str());
  return kUsage;
}

/// With all that it has made gone at its end.
int run(const ChaosRealOptions& options, const std::vector<campaign::RealEvent>& plan) {
  auto started = RealCluster::start(options.plan, is_interrupted);
  if (!started.ok()) return refuse(started.status().message());
  RealCluster& cluster = **started;
  campaign::RealJudgeOptions bounds;
  bounds.settle_ns = options.bound_ns + kMarginNs;
  bounds.death_settle_ns = options.bound_ns / 2 + kMarginNs;
  RealCampaign campaign(cluster, bounds, options.is_quiet || options.is_json);
  const Status status = campaign.run(plan);
  if (is_interrupted) return refuse("interrupted; nothing is judged");
  Report report = judge(cluster, campaign, bounds);
  if (is_interrupted) return refuse("interrupted; nothing is judged");
  if (!status.ok()) report.broken = status.message();
  add_crashes(cluster, campaign.done(), bounds, report);
  for (std::string& one : cluster.end()) report.left.push_back(std::move(one));
  if (report.exit_code() != kClean) report.kept = cluster.keep();

  const nlohmann::json json = to_json(report, options.plan.seed);
  options.is_json ? static_cast<void>(std::printf("%s\n", json.dump().c_str()))
                  : print(report, json);
  if (options.add_file.empty()) return report.exit_code();
  const auto totals = add_to_file(options.add_file, totals_of(report));
  if (!totals.ok()) return std::max(report.exit_code(), refuse(totals.status().message()));
  if (!options.is_json) {
    std::printf("in all:\n%s", campaign::to_text(*totals).c_str());
  }
  return report.exit_code();
}

}  // namespace

int run_chaos_real(const ChaosRealOptions& options) {
  const std::vector<campaign::RealEvent> plan = campaign::draw_real_plan(options.plan);
  if (plan.empty()) {
    std::fprintf(stderr,
                 "seaway: nothing would happen within %.1f s: name some of --kill, --stop and "
                 "--strangers, or let it take longer\n",
                 static_cast<double>(options.plan.duration_ns) / 1e9);
    return kUsage;
  }
  listen_to_signals();
  const int exit_code = run(options, plan);
  if (which_signal == 0) return exit_code;
  ::signal(which_signal, SIG_DFL);
  ::raise(which_signal);
  return exit_code;
}

}  // namespace seaway::tools
