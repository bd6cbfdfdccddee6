// The loop over seeds, and its output.

#include "sim/chaos.hpp"

#include <atomic>
#include <cstdio>
#include <vector>

#include "base/random.hpp"
#include "sim/app_world.hpp"
#include "sim/chaos_report.hpp"
#include "sim/narrative.hpp"
#include "sim/process_run.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kAgainStream = 0x616761696e000000;
constexpr std::size_t kStoryLines = 40;

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

std::string hex(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

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
  std::vector<Violation> told = report.violations;
  // Of a hang, whoever is in its chain is what it is about.
  if (!report.chain.empty()) told.push_back({report.breach, "", report.chain});
  const std::string story = narrate(report.last_events, told, kStoryLines);
  if (!story.empty()) text += "  last events:\n" + story;
  if (!report.chain.empty()) text += "  what holds it up:\n" + report.chain;
  if (!report.story.empty()) text += "  last events:\n" + report.story;
  if (!report.waiting.empty()) text += "  who waits for what:\n" + report.waiting;
  return text + "  replay: seaway chaos " +
         (report.is_of_apps        ? "--apps "
          : report.is_of_processes ? "--processes "
                                   : "") +
         "--replay " + std::to_string(report.seed) + "\n";
}

namespace {

/// The world of the seed, of one kind or the other.
SeedReport run_world(std::uint64_t seed, const ChaosOptions& options, const SeedOptions& wanted) {
  if (options.processes) return run_process_seed(seed, wanted);
  return options.apps ? run_app_seed(seed, wanted.keep_events).seed : run_seed(seed, wanted);
}

}  // namespace

SeedLine run_one(std::uint64_t seed, const ChaosOptions& options) {
  running_seed = seed;
  const bool is_traced = options.on_trace != nullptr;
  SeedReport report = run_world(seed, options,
                                {.keep_events = options.replay,
                                 .trace = is_traced,
                                 .replace_backend = options.replace_backend});
  if (is_traced) options.on_trace(report.trace);
  const bool again =
      options.replay || RandomStream(seed, kAgainStream).below(100) < options.again_percent;
  if (again && report.breach == Breach::kNone) {
    check_repeats(report, run_world(seed, options, {.replace_backend = options.replace_backend}));
  }
  const bool is_told = options.replay || report.breach != Breach::kNone;
  return {.seed = seed,
          .steps = report.steps,
          .virtual_ns = report.virtual_ns,
          .counts = report.counts,
          .coverage = report.coverage,
          .breach = report.breach,
          .json = to_json(report),
          .text = is_told ? to_text(report) : ""};
}

int run_chaos(const ChaosOptions& options, const Clock& clock) {
  ChaosReport report(options, clock);
  for (std::uint64_t seed = options.first_seed; !report.is_out_of_time(); ++seed) {
    if (!report.add(run_one(seed, options)) || seed == options.last_seed) break;
  }
  return report.finish();
}

}  // namespace seaway::sim
