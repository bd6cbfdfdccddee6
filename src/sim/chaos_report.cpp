// Lines about seeds, in the order of the seeds.

#include "sim/chaos_report.hpp"

#include <cstdio>

#include "sim/bare_schedule.hpp"

namespace seaway::sim {
namespace {

/// Enough of them for all policies of the schedule.
constexpr std::uint64_t kBareSeeds = 20;
constexpr std::uint64_t kBareSteps = 50'000;
constexpr std::uint64_t kProgressNs = 500'000'000;
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
  if (options_.json) {
    std::printf("%s\n", line.json.c_str());
    std::fflush(stdout);  // A later seed may end the process.
  }
  if (options_.on_seed) options_.on_seed(exit_code_of(line.breach), line.steps);
  if (line.breach != Breach::kNone) {
    clear_progress();
    // With --json standard output is for machines alone.
    std::fprintf(options_.json ? stderr : stdout, "%s", line.text.c_str());
    exit_code_ = exit_code_of(line.breach);
    return false;
  }
  if (options_.replay && !options_.json) std::printf("%s", line.text.c_str());
  show_progress(line.seed);
  return true;
}

void ChaosReport::add_crash(std::uint64_t seed, const std::string& text) {
  clear_progress();
  const auto number = static_cast<ULongLong>(seed);
  if (text.find("seed " + std::to_string(seed) + ": crash") == std::string::npos) {
    std::fprintf(stderr, "seed %llu: crash\n  replay: seaway chaos %s--replay %llu\n", number,
                 options_.apps ? "--apps " : "", number);
  }
  std::fprintf(stderr, "%s", text.c_str());
  if (options_.on_seed) options_.on_seed(kChaosCrash, 0);
  exit_code_ = kChaosCrash;
}

void ChaosReport::show_progress(std::uint64_t seed) {
  if (!options_.shows_progress || options_.json || options_.replay) return;
  const std::uint64_t now_ns = clock_.now_ns();
  if (shown_ns_ != 0 && now_ns - shown_ns_ < kProgressNs) return;
  shown_ns_ = now_ns;
  std::printf("%sseed %llu of %llu..%llu, %.0f seeds/s", kFreshLine, static_cast<ULongLong>(seed),
              static_cast<ULongLong>(options_.first_seed),
              static_cast<ULongLong>(options_.last_seed),
              static_cast<double>(seeds_) / elapsed_s());
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

int ChaosReport::finish() {
  clear_progress();
  if (exit_code_ != kChaosClean) return exit_code_;
  std::string missing;
  for (const Feature feature : coverage_.missing()) {
    missing += (missing.empty() ? "" : ", ") + std::string(to_string(feature));
  }
  if (!options_.json) {
    std::printf(
        "%llu seeds, %llu steps, %llu %s (%llu ok, %llu failed, %llu cancelled), %llu "
        "values compared, clean\n",
        static_cast<ULongLong>(seeds_), static_cast<ULongLong>(steps_),
        static_cast<ULongLong>(counts_.runs), options_.apps ? "calls" : "runs",
        static_cast<ULongLong>(counts_.ok), static_cast<ULongLong>(counts_.failed),
        static_cast<ULongLong>(counts_.cancelled), static_cast<ULongLong>(counts_.values_checked));
    if (!options_.replay && !options_.apps)
      std::printf("covered: %s\n", coverage_.to_string().c_str());
    const double seconds = elapsed_s();
    if (options_.bare) print_bare(static_cast<double>(steps_) / seconds);
    std::printf("%.0f seeds/s, %.0f steps/s with all checks, virtual : wall = %.1f : 1\n",
                static_cast<double>(seeds_) / seconds, static_cast<double>(steps_) / seconds,
                static_cast<double>(virtual_ns_) / 1e9 / seconds);
  }
  if (!options_.must_cover || missing.empty()) return kChaosClean;
  std::fprintf(stderr, "not covered: %s; change the worlds or add seeds\n", missing.c_str());
  return kChaosUncovered;
}

}  // namespace seaway::sim
