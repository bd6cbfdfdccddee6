// Lines about seeds, in the order of the seeds.

#include "sim/chaos_report.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "sim/bare_schedule.hpp"

namespace seaway::sim {
namespace {

/// Enough of them for all policies of the schedule.
constexpr std::uint64_t kBareSeeds = 20;
constexpr std::uint64_t kBareSteps = 50'000;
/// So many seeds should have had each fault point.
constexpr std::uint64_t kPointSeeds = 1'000;
/// So many, of all kinds, should have come by each probe.
constexpr std::uint64_t kProbeSeeds = 10'000;
constexpr std::uint64_t kProgressNs = 500'000'000;
constexpr int kBarColumns = 24;
constexpr const char* kBarDone = "########################";
constexpr const char* kBarLeft = "........................";
/// To the first column, and away with what stood there.
constexpr const char* kFreshLine = "\r\x1b[K";

using ULongLong = unsigned long long;  // What printf calls 64 bits.

}  // namespace

ChaosReport::ChaosReport(const ChaosOptions& options, const Clock& clock)
    : options_(options), clock_(clock), begin_ns_(clock.now_ns()) {}

double ChaosReport::elapsed_s() const {
  return static_cast<double>(clock_.now_ns() - begin_ns_ + 1) / 1e9;
}

bool ChaosReport::is_out_of_time() const {
  return options_.time_budget_s > 0 && elapsed_s() >= options_.time_budget_s;
}

bool ChaosReport::add(const SeedLine& line) {
  ++seeds_;
  steps_ += line.steps;
  virtual_ns_ += line.virtual_ns;
  counts_.runs += line.counts.runs;
  counts_.ok += line.counts.ok;
  counts_.failed += line.counts.failed;
  counts_.cancelled += line.counts.cancelled;
  counts_.values_checked += line.counts.values_checked;
  coverage_ += line.coverage;
  fault_points_ += line.fault_points;
  sim::add(probes_, line.probes);
  if (options_.json) {
    std::printf("%s\n", line.json.c_str());
    std::fflush(stdout);  // A later seed may end the process.
  }
  if (options_.on_seed) options_.on_seed(exit_code_of(line.breach), line.steps);
  if (line.breach != Breach::kNone) {
    clear_progress();
    // With --json standard output is for machines alone.
    std::fprintf(options_.json ? stderr : stdout, "%s", line.text.c_str());
    return add_failure(line.invariant + " at " + line.place, line.seed, line.steps,
                       exit_code_of(line.breach));
  }
  if (options_.replay && !options_.json) std::printf("%s", line.text.c_str());
  show_progress(line.seed);
  return true;
}

bool ChaosReport::add_failure(const std::string& kind, std::uint64_t seed, std::uint64_t steps,
                              int exit_code) {
  if (exit_code_ == kChaosClean) exit_code_ = exit_code;
  Group& group = groups_[kind];
  if (group.seeds++ == 0) {
    group.first_seed = seed;
    group.exit_code = exit_code;
  }
  // Of a crash nobody knows how many there were.
  if (group.least_seed == 0 || steps < group.least_steps) {
    group.least_steps = steps;
    group.least_seed = seed;
  }
  ++failures_;
  return options_.failures_max == 0 || failures_ < options_.failures_max;
}

/// The largest group first: most likely the easiest one to look at.
void ChaosReport::print_groups() {
  if (options_.failures_max == 1) return;
  std::vector<std::pair<std::string, Group>> groups(groups_.begin(), groups_.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.seeds > b.second.seeds; });
  std::FILE* const out = options_.json ? stderr : stdout;
  std::fprintf(out, "%llu of %llu seeds failed, in %zu groups:\n",
               static_cast<ULongLong>(failures_), static_cast<ULongLong>(seeds_), groups.size());
  for (const auto& [kind, group] : groups) {
    std::fprintf(out, "  %llu x %s (exit %d): first seed %llu; fewest steps, %llu: seed %llu\n",
                 static_cast<ULongLong>(group.seeds), kind.c_str(), group.exit_code,
                 static_cast<ULongLong>(group.first_seed),
                 static_cast<ULongLong>(group.least_steps),
                 static_cast<ULongLong>(group.least_seed));
  }
}

/// Of "../src/island/order.cpp:41: bug in Seaway: ..": "order.cpp:41".
std::string place_of_crash(const std::string& text) {
  const std::size_t at = text.find(": bug in Seaway:");
  if (at == std::string::npos) return "";
  const std::size_t begin = text.find_last_of("/\n", at);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     at - (begin == std::string::npos ? 0 : begin + 1));
}

bool ChaosReport::add_crash(std::uint64_t seed, const std::string& text) {
  clear_progress();
  if (text.find("seed " + std::to_string(seed) + ": crash") == std::string::npos) {
    std::fprintf(stderr, "seed %llu: crash\n  replay: %s\n", static_cast<ULongLong>(seed),
                 replay_line(options_, options_.kind, seed).c_str());
  }
  std::fprintf(stderr, "%s", text.c_str());
  if (options_.on_seed) options_.on_seed(kChaosCrash, 0);
  ++seeds_;
  const std::string place = place_of_crash(text);
  return add_failure("crash at " + (place.empty() ? "an unknown place" : place), seed, 0,
                     kChaosCrash);
}

void ChaosReport::show_progress(std::uint64_t seed) {
  if (!options_.shows_progress || options_.json || options_.replay) return;
  const std::uint64_t now_ns = clock_.now_ns();
  if (shown_ns_ != 0 && now_ns - shown_ns_ < kProgressNs) return;
  shown_ns_ = now_ns;
  const double rate = static_cast<double>(seeds_) / elapsed_s();
  const auto all = static_cast<double>(options_.last_seed - options_.first_seed + 1);
  double left_s = (all - static_cast<double>(seeds_)) / rate;
  double share = static_cast<double>(seeds_) / all;
  if (options_.time_budget_s > 0 && options_.time_budget_s - elapsed_s() < left_s) {
    left_s = std::max(options_.time_budget_s - elapsed_s(), 0.0);
    share = std::min(elapsed_s() / options_.time_budget_s, 1.0);
  }
  const auto done = static_cast<int>(share * kBarColumns);
  std::printf("%s[%.*s%.*s] %3.0f %%, seed %llu, %.0f seeds/s, %.0f s left", kFreshLine, done,
              kBarDone, kBarColumns - done, kBarLeft, share * 100, static_cast<ULongLong>(seed),
              rate, left_s);
  std::fflush(stdout);
}

void ChaosReport::clear_progress() {
  if (shown_ns_ == 0) return;
  std::printf("%s", kFreshLine);
  std::fflush(stdout);
  shown_ns_ = 0;
}

void ChaosReport::print_bare(double steps_per_s) const {
  const std::uint64_t begin_ns = clock_.now_ns();
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 1; seed <= kBareSeeds; ++seed) steps += run_bare(seed, kBareSteps);
  const double bare_per_s =
      static_cast<double>(steps) / (static_cast<double>(clock_.now_ns() - begin_ns + 1) / 1e9);
  std::printf("%.0f steps/s of a bare scheduler (%u actors that pass empty frames): %.1f times\n",
              bare_per_s, kBareActors, bare_per_s / steps_per_s);
}

std::vector<std::string> ChaosReport::missing() const {
  std::vector<std::string> names;
  if (options_.kind != WorldKind::kApps) {
    for (const Feature feature : coverage_.missing()) names.emplace_back(to_string(feature));
  }
  if (seeds_ >= kPointSeeds) {
    for (const std::string& name : missing_points(fault_points_, options_.kind)) {
      names.push_back("fault point \"" + name + "\"");
    }
  }
  if (seeds_ >= kProbeSeeds && options_.kind == WorldKind::kMixed) {
    for (const std::string& name : missing_probes(probes_)) {
      names.push_back("probe \"" + name + "\"");
    }
  }
  return names;
}

int ChaosReport::finish() {
  clear_progress();
  if (exit_code_ != kChaosClean) {
    print_groups();
    return exit_code_;
  }
  const bool is_of_apps = options_.kind == WorldKind::kApps;
  // What a user's body does nobody counts.
  const bool is_of_user = options_.kind == WorldKind::kUser;
  if (!options_.json && is_of_user) {
    std::printf("%llu seeds (%llu..%llu), %llu steps, clean\n", static_cast<ULongLong>(seeds_),
                static_cast<ULongLong>(options_.first_seed),
                static_cast<ULongLong>(options_.first_seed + seeds_ - 1),
                static_cast<ULongLong>(steps_));
    std::printf("%.0f seeds/s\n", static_cast<double>(seeds_) / elapsed_s());
  } else if (!options_.json) {
    std::printf(
        "%llu seeds (%llu..%llu), %llu steps, %llu %s (%llu ok, %llu failed, %llu cancelled), %llu "
        "values compared, clean\n",
        static_cast<ULongLong>(seeds_), static_cast<ULongLong>(options_.first_seed),
        static_cast<ULongLong>(options_.first_seed + seeds_ - 1), static_cast<ULongLong>(steps_),
        static_cast<ULongLong>(counts_.runs), is_of_apps ? "calls" : "runs",
        static_cast<ULongLong>(counts_.ok), static_cast<ULongLong>(counts_.failed),
        static_cast<ULongLong>(counts_.cancelled), static_cast<ULongLong>(counts_.values_checked));
    if (!options_.replay && !is_of_apps)
      std::printf("covered: %s\n", coverage_.to_string().c_str());
    const std::string points = to_string(fault_points_, options_.kind);
    if (!points.empty()) std::printf("fault points: %s\n", points.c_str());
    if (options_.counts_probes) std::printf("%s", probe_table(probes_).c_str());
    const double seconds = elapsed_s();
    if (options_.bare) print_bare(static_cast<double>(steps_) / seconds);
    std::printf("%.0f seeds/s, %.0f steps/s with all checks, virtual : wall = %.1f : 1\n",
                static_cast<double>(seeds_) / seconds, static_cast<double>(steps_) / seconds,
                static_cast<double>(virtual_ns_) / 1e9 / seconds);
  }
  if (!options_.must_cover) return kChaosClean;
  std::string text;
  for (const std::string& name : missing()) text += (text.empty() ? "" : ", ") + name;
  if (text.empty()) return kChaosClean;
  std::fprintf(stderr, "not covered: %s; change the worlds or add seeds\n", text.c_str());
  return kChaosUncovered;
}

}  // namespace seaway::sim
