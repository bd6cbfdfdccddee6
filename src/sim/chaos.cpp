// The loop over seeds, and its output.

#include "sim/chaos.hpp"

#include <algorithm>
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
constexpr std::uint64_t kKindStream = 0x6b696e6400000000;
constexpr std::size_t kStoryLines = 40;

/// Written between seeds, and read by signal handlers of the same thread.
RunningSeed running;

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

/// "wire":2: how many faults of each family the world had, the inside of an object of JSON.
std::string families_of(const std::vector<FaultLine>& faults) {
  std::string text;
  for (const FaultFamily& family : fault_families()) {
    const auto count =
        std::count_if(faults.begin(), faults.end(),
                      [&family](const FaultLine& fault) { return fault.family == family.name; });
    if (count == 0) continue;
    text +=
        (text.empty() ? "\"" : ",\"") + std::string(family.name) + "\":" + std::to_string(count);
  }
  return text;
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

RunningSeed running_seed() { return running; }

void check_repeats(SeedReport& report, const SeedReport& second) {
  if (second.hash == report.hash) return;
  report.breach = Breach::kDeterminism;
  report.violations.push_back({Breach::kDeterminism, "I25",
                               "two runs of seed " + std::to_string(report.seed) +
                                   " differ: " + hex(report.hash) + " after " +
                                   std::to_string(report.steps) + " steps, " + hex(second.hash) +
                                   " after " + std::to_string(second.steps),
                               "the second run"});
}

std::string to_json(const SeedReport& report) {
  const auto field = [](const char* name, std::uint64_t value) {
    return "\"" + std::string(name) + "\":" + std::to_string(value) + ",";
  };
  return "{" + field("seed", report.seed) + field("steps", report.steps) +
         field("virtual_ns", report.virtual_ns) + field("runs", report.counts.runs) +
         field("ok", report.counts.ok) + field("failed", report.counts.failed) +
         field("cancelled", report.counts.cancelled) + field("events", report.events) +
         "\"kind\":\"" + std::string(to_string(report.kind)) + "\",\"faults\":{" +
         families_of(report.faults) + "},\"fault_points\":{" + to_json(report.fault_points) +
         "},\"hash\":\"" + hex(report.hash) + "\",\"verdict\":\"" + name_of(report.breach) + "\"}";
}

std::string to_text(const SeedReport& report) {
  std::string text = "seed " + std::to_string(report.seed) + ": " + name_of(report.breach) + ", " +
                     std::to_string(report.steps) + " steps, hash " + hex(report.hash) +
                     "\n  world: " + report.world + "\n  schedule: " + report.policy + "\n";
  for (const Violation& violation : report.violations) {
    text += "  " + violation.invariant + " broken: " + violation.text;
    text += violation.place.empty() ? "\n" : " (" + violation.place + ")\n";
  }
  std::vector<Violation> told = report.violations;
  // Of a hang, whoever is in its chain is what it is about.
  if (!report.chain.empty()) told.push_back({report.breach, "", report.chain});
  const std::string story =
      narrate(report.last_events, told, kStoryLines, report.events - report.last_events.size() + 1);
  if (!story.empty()) text += "  last events:\n" + story;
  if (!report.chain.empty()) text += "  what holds it up:\n" + report.chain;
  if (!report.story.empty()) text += "  last events:\n" + report.story;
  if (!report.waiting.empty()) text += "  who waits for what:\n" + report.waiting;
  if (report.is_cut) text += "  it was stopped at event " + std::to_string(report.events) + "\n";
  return text;
}

std::string replay_line(const ChaosOptions& options, WorldKind kind, std::uint64_t seed) {
  if (options.command.empty()) return replay_line(kind, seed);
  return options.command + " --replay " + std::to_string(seed);
}

std::string replay_line(WorldKind kind, std::uint64_t seed) {
  const std::string flag(flag_of(kind));
  return "seaway chaos " + flag + (flag.empty() ? "" : " ") + "--replay " + std::to_string(seed);
}

std::string story_of_crash() {
  return running.kind == WorldKind::kApps ? app_story_so_far(kStoryLines)
                                          : story_so_far(kStoryLines);
}

WorldKind kind_of(std::uint64_t seed, const ChaosOptions& options) {
  if (options.kind != WorldKind::kMixed) return options.kind;
  constexpr WorldKind kKinds[] = {WorldKind::kPrograms, WorldKind::kApps, WorldKind::kProcesses};
  return kKinds[RandomStream(seed, kKindStream).below(std::size(kKinds))];
}

SeedReport run_world(std::uint64_t seed, const ChaosOptions& options, const SeedOptions& wanted) {
  if (options.run) return options.run(seed, wanted);
  switch (kind_of(seed, options)) {
    case WorldKind::kPrograms:
      return run_seed(seed, wanted);
    case WorldKind::kApps:
      return run_app_seed(seed, wanted).seed;
    case WorldKind::kProcesses:
      return run_process_seed(seed, wanted);
    case WorldKind::kMixed:
    case WorldKind::kUser:
      break;
  }
  return {};
}

/// Of an edited world a repro file tells.
std::string replayed_by(const SeedReport& report, const ChaosOptions& options) {
  if (!options.edits.is_empty()) return "";
  return "  replay: " + replay_line(options, report.kind, report.seed) + "\n";
}

SeedReport report_one(std::uint64_t seed, const ChaosOptions& options) {
  running = {seed, kind_of(seed, options)};
  static_cast<void>(take_probe_counts());  // What was before is of no seed.
  const bool is_traced = options.on_trace != nullptr;
  SeedReport report = run_world(seed, options,
                                {.keep_events = options.replay,
                                 .trace = is_traced,
                                 .replace_backend = options.replace_backend,
                                 .edits = options.edits,
                                 .until_event = options.until_event});
  if (is_traced) options.on_trace(report.trace);
  const bool again =
      options.replay || RandomStream(seed, kAgainStream).below(100) < options.again_percent;
  if (again && report.breach == Breach::kNone) {
    check_repeats(report, run_world(seed, options,
                                    {.replace_backend = options.replace_backend,
                                     .edits = options.edits,
                                     .until_event = options.until_event}));
  }
  return report;
}

SeedLine run_one(std::uint64_t seed, const ChaosOptions& options) {
  const SeedReport report = report_one(seed, options);
  const bool is_told = options.replay || report.breach != Breach::kNone;
  return {.seed = seed,
          .steps = report.steps,
          .virtual_ns = report.virtual_ns,
          .counts = report.counts,
          .coverage = report.coverage,
          .fault_points = report.fault_points,
          .probes = take_probe_counts(),
          .breach = report.breach,
          .hash = report.hash,
          .invariant = report.violations.empty() ? "" : report.violations.front().invariant,
          .place = report.violations.empty() ? "" : report.violations.front().place,
          .json = to_json(report),
          .text = is_told ? to_text(report) + replayed_by(report, options) : ""};
}

int run_chaos(const ChaosOptions& options, const Clock& clock) {
  ChaosReport report(options, clock);
  for (std::uint64_t seed = options.first_seed; !report.is_out_of_time(); ++seed) {
    if (!report.add(run_one(seed, options)) || seed == options.last_seed) break;
  }
  return report.finish();
}

}  // namespace seaway::sim
