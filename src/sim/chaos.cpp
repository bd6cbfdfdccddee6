// The loop over seeds, and its output.

#include "sim/chaos.hpp"

#include <atomic>
#include <cstdio>

#include "base/random.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kAgainStream = 0x616761696e000000;
constexpr std::size_t kEventsShown = 40;
constexpr std::uint64_t kProgressNs = 500'000'000;

std::atomic<std::uint64_t> running_seed = 0;

const char* name_of(Breach breach) {
  switch (breach) {
    case Breach::kNone:
      return "clean";
    case Breach::kLiveness:
      return "liveness";
    case Breach::kCorrectness:
      return "correctness";
    case Breach::kDeterminism:
      return "non-determinism";
  }
  return "unknown";
}

int exit_code_of(Breach breach) {
  switch (breach) {
    case Breach::kNone:
      return kChaosClean;
    case Breach::kLiveness:
      return kChaosLiveness;
    case Breach::kCorrectness:
      return kChaosCorrectness;
    case Breach::kDeterminism:
      return kChaosNondeterminism;
  }
  return kChaosCrash;
}

std::string hex(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

SeedReport run_one(std::uint64_t seed, const ChaosOptions& options) {
  running_seed = seed;
  SeedReport report = run_seed(seed, options.replay);
  const bool again =
      options.replay || RandomStream(seed, kAgainStream).below(100) < options.again_percent;
  if (again && report.breach == Breach::kNone) check_repeats(report, run_seed(seed));
  return report;
}

struct Totals {
  std::uint64_t seeds = 0, steps = 0, virtual_ns = 0;
  Counts counts;
  Coverage coverage;

  void add(const SeedReport& report) {
    ++seeds;
    steps += report.steps;
    virtual_ns += report.virtual_ns;
    counts.runs += report.counts.runs;
    counts.ok += report.counts.ok;
    counts.failed += report.counts.failed;
    counts.cancelled += report.counts.cancelled;
    counts.values_checked += report.counts.values_checked;
    coverage += report.coverage;
  }
  void print(const char* end, double seconds) const {
    std::printf(
        "%llu seeds, %llu steps, %llu runs (%llu ok, %llu failed, %llu cancelled), %llu "
        "values compared; %.0f seeds/s, %.0f steps/s, virtual time %.1fx%s",
        static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(steps),
        static_cast<unsigned long long>(counts.runs), static_cast<unsigned long long>(counts.ok),
        static_cast<unsigned long long>(counts.failed),
        static_cast<unsigned long long>(counts.cancelled),
        static_cast<unsigned long long>(counts.values_checked),
        static_cast<double>(seeds) / seconds, static_cast<double>(steps) / seconds,
        static_cast<double>(virtual_ns) / 1e9 / seconds, end);
    std::fflush(stdout);
  }
};

}  // namespace

std::uint64_t current_seed() { return running_seed; }

void check_repeats(SeedReport& report, const SeedReport& second) {
  if (second.hash == report.hash) return;
  report.breach = Breach::kDeterminism;
  report.violations.push_back({Breach::kDeterminism, "I25",
                               "two runs of seed " + std::to_string(report.seed) +
                                   " differ: " + hex(report.hash) + " after " +
                                   std::to_string(report.steps) + " steps, " + hex(second.hash) +
                                   " after " + std::to_string(second.steps)});
}

std::string to_json(const SeedReport& report) {
  const auto field = [](const char* name, std::uint64_t value) {
    return "\"" + std::string(name) + "\":" + std::to_string(value) + ",";
  };
  return "{" + field("seed", report.seed) + field("steps", report.steps) +
         field("virtual_ns", report.virtual_ns) + field("runs", report.counts.runs) +
         field("ok", report.counts.ok) + field("failed", report.counts.failed) +
         field("cancelled", report.counts.cancelled) + field("events", report.events) +
         "\"hash\":\"" + hex(report.hash) + "\",\"verdict\":\"" + name_of(report.breach) + "\"}";
}

std::string to_text(const SeedReport& report) {
  std::string text = "seed " + std::to_string(report.seed) + ": " + name_of(report.breach) + ", " +
                     std::to_string(report.steps) + " steps, hash " + hex(report.hash) +
                     "\n  world: " + report.world + "\n  schedule: " + report.policy + "\n";
  for (const Violation& violation : report.violations) {
    text += "  " + violation.invariant + " broken: " + violation.text + "\n";
  }
  const std::size_t size = report.last_events.size();
  const std::size_t first = size > kEventsShown ? size - kEventsShown : 0;
  if (size > 0) text += "  last events:\n";
  for (std::size_t i = first; i < size; ++i) {
    text += "    " + events::to_string(report.last_events[i]) + "\n";
  }
  if (!report.waiting.empty()) text += "  who waits for what:\n" + report.waiting;
  return text + "  replay: seaway chaos --replay " + std::to_string(report.seed) + "\n";
}

int run_chaos(const ChaosOptions& options, const Clock& clock) {
  const std::uint64_t begin_ns = clock.now_ns();
  std::uint64_t printed_ns = begin_ns;
  const auto elapsed_s = [&] { return static_cast<double>(clock.now_ns() - begin_ns + 1) / 1e9; };
  Totals totals;
  for (std::uint64_t seed = options.first_seed; seed <= options.last_seed; ++seed) {
    if (options.time_budget_s > 0 && elapsed_s() >= options.time_budget_s) break;
    const SeedReport report = run_one(seed, options);
    totals.add(report);
    if (options.json) std::printf("%s\n", to_json(report).c_str());
    if (report.breach != Breach::kNone) {
      // With --json standard output is for machines alone.
      std::fprintf(options.json ? stderr : stdout, "\n%s", to_text(report).c_str());
      return exit_code_of(report.breach);
    }
    if (options.replay && !options.json) std::printf("%s", to_text(report).c_str());
    const std::uint64_t now_ns = clock.now_ns();
    if (!options.json && !options.quiet && !options.replay && now_ns - printed_ns > kProgressNs) {
      printed_ns = now_ns;
      std::printf("\rseed %llu of %llu..%llu, %.0f seeds/s ", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(options.first_seed),
                  static_cast<unsigned long long>(options.last_seed),
                  static_cast<double>(totals.seeds) / elapsed_s());
      std::fflush(stdout);
    }
  }
  if (!options.json) {
    std::printf("\r");
    totals.print(", clean\n", elapsed_s());
    std::printf("covered: %s\n", totals.coverage.to_string().c_str());
  }
  return kChaosClean;
}

}  // namespace seaway::sim
