// Worlds of a user's, one after another, each in a process of its own.

#include "seaway/app/explore.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "campaign/seed_process.hpp"
#include "campaign/shrinking.hpp"
#include "campaign/user_campaign.hpp"
#include "campaign/user_words.hpp"
#include "sim/user_world.hpp"

namespace seaway::sim {
namespace {

/// Why there can be no world of that kind. OK: there can.
Status check(const ExploreOptions& options, const ExploreWorld& world) {
  if (options.seeds > 0 &&
      options.first_seed > std::numeric_limits<std::uint64_t>::max() - (options.seeds - 1)) {
    return invalid_argument("there are no " + std::to_string(options.seeds) + " seeds from " +
                            std::to_string(options.first_seed) + " on");
  }
  if (options.time_budget.count() < 0 || options.shrink_time.count() < 0) {
    return invalid_argument("time_budget is " + std::to_string(options.time_budget.count()) +
                            " ns and shrink_time " + std::to_string(options.shrink_time.count()) +
                            " ns; neither is less than 0");
  }
  return make_user_world(options.first_seed, world).status();
}

/// Says to the tool which exploration the program has come by.
void tell_name(const campaign::UserWords& words, bool is_meant, const std::string& name) {
  static std::set<std::string> told;
  if (words.names < 0 || !told.insert(name).second) return;
  const std::string line = (is_meant ? "+" : "-") + name + "\n";
  static_cast<void>(!write(words.names, line.data(), line.size()));
}

/// The process is the tool's, from the exploration on that it has asked for.
void obey(const campaign::UserWords& words, const ExploreOptions& options, const RunSeed& run,
          const Clock& clock) {
  const bool is_meant = !words.lists && (words.test.empty() || words.test == options.name);
  tell_name(words, is_meant, options.name);
  if (!is_meant) return;
  const std::uint64_t last = options.first_seed + std::max<std::uint64_t>(options.seeds, 1) - 1;
  const int exit_code =
      campaign::run_user_campaign(words, options.name, run, options.first_seed, last, clock);
  std::fflush(nullptr);
  std::_Exit(exit_code);  // Nothing else of the program was asked for.
}

ExploreReport refused(const Status& status) {
  ExploreReport report;
  report.ok = false;
  report.invariant = "setup";
  report.text = status.message() + "\n";
  return report;
}

/// The failure of the seed that `line` is about, or that has ended its process.
void tell(const SeedLine* line, campaign::SeedProcess& process, ExploreReport& report) {
  report.ok = false;
  if (line) {
    report.invariant = line->invariant;
    report.text = line->text;
    return;
  }
  const std::string words = process.last_words();
  const std::string end = process.end();
  report.invariant = process.was_endless() ? "hang" : "crash";
  report.text = "the process of the world ended: " + end + "\n" + words;
}

/// How small a world there is that fails as that seed does.
void shrink(const ExploreOptions& options, const RunSeed& run, const Clock& clock,
            ExploreReport& report) {
  const double seconds = std::chrono::duration<double>(options.shrink_time).count();
  if (seconds <= 0) return;
  const auto found =
      campaign::shrink_world({options.name,
                              "",
                              report.failed_seed,
                              {},
                              [&](const SeedOptions& how) { return run(report.failed_seed, how); }},
                             seconds, clock);
  if (!found) return;
  report.text = report.text.substr(0, report.text.find('\n') + 1);
  if (found->least.failure->exit_code != kChaosCrash) report.text.clear();
  report.text += found->least.text + found->words;
  report.faults = found->repro.faults;
  if (options.repro_directory.empty()) return;
  const std::string path = options.repro_directory + "/" + found->repro.file_name();
  if (campaign::write_repro(path, found->repro)) {
    report.repro_path = path;
  } else {
    report.text += "  cannot write " + path + "\n";
  }
}

}  // namespace

std::string ExploreReport::to_string() const {
  if (ok) return std::to_string(seeds) + " worlds, clean";
  if (seeds == 0) return invariant + ": " + text;
  std::string all = invariant + " does not hold in world " + std::to_string(failed_seed) +
                    ", after " + std::to_string(seeds - 1) + " where it did\n" + text;
  for (const std::string& fault : faults) all += "  what went wrong: " + fault + "\n";
  if (faults.empty()) all += "  nothing had to go wrong for it, or it was not shrunk\n";
  if (!repro_path.empty()) {
    all += "  replay: seaway chaos user PROGRAM --replay " + repro_path + "\n";
  }
  return all;
}

ExploreReport explore(const ExploreOptions& options, const ExploreWorld& world,
                      const std::function<void(Simulation& simulation)>& body,
                      const std::function<void(Explored& explored)>& checks) {
  const RealClock clock;
  const RunSeed run = [&](std::uint64_t seed, const SeedOptions& how) {
    return run_user_seed(seed, world, body, checks, how);
  };
  if (const char* const text = std::getenv(campaign::kUserWordsVariable)) {
    const auto words = campaign::parse_user_words(text);
    if (words.ok()) {
      obey(*words, options, run, clock);
      return {};
    }
    return refused(words.status());
  }
  if (const Status status = check(options, world); !status.ok()) return refused(status);
  ExploreReport report;
  if (options.seeds == 0) return report;
  ChaosOptions seeds;
  seeds.kind = WorldKind::kUser;
  seeds.run = run;
  seeds.command = "seaway chaos user PROGRAM";
  seeds.first_seed = options.first_seed;
  seeds.last_seed = options.first_seed + options.seeds - 1;
  const auto process = campaign::SeedProcess::fork(
      [&seeds](int records) { campaign::write_seeds(seeds, 1, records); });
  if (!process->is_started()) {
    return refused(
        resource_exhausted(std::string("no process for its worlds: ") + std::strerror(errno)));
  }
  const std::uint64_t begin_ns = clock.now_ns();
  const auto budget_ns = static_cast<std::uint64_t>(options.time_budget.count());
  while (report.seeds < options.seeds) {
    const auto line = process->next();
    ++report.seeds;
    if (!line || line->breach != Breach::kNone) {
      report.failed_seed = options.first_seed + report.seeds - 1;
      tell(line ? &*line : nullptr, *process, report);
      shrink(options, run, clock, report);
      break;
    }
    if (budget_ns > 0 && clock.now_ns() - begin_ns >= budget_ns) break;
  }
  return report;
}

}  // namespace seaway::sim
