// `seaway chaos`: random programs in the simulated cluster, each replayed from its seed.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "base/clock.hpp"
#include "chaos_range.hpp"
#include "chaos_workers.hpp"
#include "sim/app_world.hpp"
#include "sim/chaos.hpp"
#include "sim/fault_catalogue.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint32_t kJobsMax = 256;

struct Arguments {
  std::string seeds = "1..100";
  sim::ChaosOptions options;
  std::uint64_t replay = 0;
  double time_budget_s = 0;
  std::uint32_t jobs = 1;
  std::uint64_t every = 0;  // Not 0: a process of --jobs.
  std::string trace_path;
  std::string faults;
  std::string range_path;
};

/// Returns whether the whole file could be written.
bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  return !file.fail();
}

/// Reads "A..B" or "A"; false when it is neither, or when A > B.
bool parse_seeds(std::string_view text, std::uint64_t& first, std::uint64_t& last) {
  const char* const end = text.data() + text.size();
  const auto [middle, error] = std::from_chars(text.data(), end, first);
  last = first;
  if (error != std::errc()) return false;
  if (middle == end) return true;
  if (end - middle < 3 || middle[0] != '.' || middle[1] != '.') return false;
  const auto [stop, second_error] = std::from_chars(middle + 2, end, last);
  return second_error == std::errc() && stop == end && first <= last;
}

/// A crash leaves the seed and its last events behind. The process is over anyway: a second crash
/// in here ends it without them.
void on_crash(int) {
  std::signal(SIGABRT, SIG_DFL);
  std::signal(SIGSEGV, SIG_DFL);
  const auto seed = static_cast<unsigned long long>(sim::current_seed());
  const std::string of_apps = sim::app_story_so_far(40);
  std::fprintf(stderr, "\nseed %llu: crash\n  replay: seaway chaos %s--replay %llu\n", seed,
               of_apps.empty() ? "" : "--apps ", seed);
  std::fprintf(stderr, "  last events:\n%s",
               of_apps.empty() ? sim::story_so_far(400).c_str() : of_apps.c_str());
  _exit(sim::kChaosCrash);
}

}  // namespace

void add_chaos(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("chaos", "Test random programs under a random order");
  const auto arguments = std::make_shared<Arguments>();
  CLI::Option* const seeds =
      verb->add_option("--seeds", arguments->seeds, "the seeds A..B, or one seed")
          ->capture_default_str()
          ->check([](const std::string& text) {
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            return parse_seeds(text, first, last) ? std::string()
                                                  : "'" + text + "' is not of the form A..B";
          });
  CLI::Option* const replay =
      verb->add_option("--replay", arguments->replay, "run one seed again, and tell its story");
  replay->excludes(seeds);
  verb->add_flag("--json", arguments->options.json, "one JSON object a seed");
  verb->add_option("--time-budget", arguments->time_budget_s,
                   "stop after so many seconds; 0: when all seeds are done")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--jobs", arguments->jobs, "processes that share the seeds; prints the same")
      ->capture_default_str()
      ->check(CLI::Range(1u, kJobsMax))
      ->excludes(replay);
  CLI::Option* const apps =
      verb->add_flag("--apps", arguments->options.apps, "worlds of actors, whose hosts die");
  verb->add_flag("--processes", arguments->options.processes,
                 "worlds whose roles are processes that fail")
      ->excludes(apps);
  verb->add_option("--trace", arguments->trace_path,
                   "write the replayed seed to a file for https://ui.perfetto.dev")
      ->needs(replay)
      ->excludes(apps);
  CLI::Option* const range =
      verb->add_option("--range", arguments->range_path,
                       "a file that keeps which seeds were clean, and is gone on from")
          ->excludes(replay);
  verb->add_flag("--must-cover", arguments->options.must_cover,
                 "exit 2 when the seeds leave out something that they are there to do")
      ->excludes(apps)
      ->excludes(range);
  verb->add_flag("--bare", arguments->options.bare,
                 "measure a bare scheduler too, and print its figure beside the others");
  CLI::Option* const faults =
      verb->add_option("--faults", arguments->faults,
                       "list: which faults there are, and which worlds they are simulated in")
          ->check(CLI::IsMember({"list"}))
          ->excludes(seeds)
          ->excludes(replay)
          ->excludes(range);
  verb->add_option("--every", arguments->every)->group("");  // For processes of --jobs alone.
  verb->footer(
      "example: seaway chaos --seeds 1..1000 --jobs 4\n"
      "         seaway chaos --apps --seeds 1..1000\n"
      "         seaway chaos --replay 123 --trace seed.json\n"
      "         seaway chaos --range clean.txt --seeds 1..50000 --time-budget 60\n"
      "         seaway chaos --faults list");
  verb->callback([arguments, replay, faults, &exit_code] {
    if (faults->count() > 0) {
      std::fputs(sim::fault_table().c_str(), stdout);
      exit_code = kDone;
      return;
    }
    sim::ChaosOptions& options = arguments->options;
    parse_seeds(arguments->seeds, options.first_seed, options.last_seed);
    if (replay->count() > 0) {
      options.first_seed = options.last_seed = arguments->replay;
      options.replay = true;
    }
    options.time_budget_s = arguments->time_budget_s;
    std::signal(SIGABRT, on_crash);
    std::signal(SIGSEGV, on_crash);
    if (arguments->every > 0) {
      exit_code = run_chaos_worker(options, arguments->every);
      return;
    }
    options.shows_progress = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
    bool is_written = true;
    if (!arguments->trace_path.empty()) {
      options.on_trace = [&](const std::string& trace) {
        is_written = write_file(arguments->trace_path, trace);
      };
    }
    const RealClock clock;
    const auto run = [&](const sim::ChaosOptions& wanted) {
      // A count outlives a seed that crashes: such a seed takes a process of its own with it.
      const bool is_alone = arguments->jobs == 1 && arguments->range_path.empty();
      return is_alone ? sim::run_chaos(wanted, clock)
                      : run_chaos_workers(wanted, arguments->jobs, clock);
    };
    exit_code = arguments->range_path.empty()
                    ? run(options)
                    : run_chaos_range(arguments->range_path, options, clock, run);
    if (is_written) return;
    std::fprintf(stderr, "seaway: cannot write the trace to %s; choose another file with --trace\n",
                 arguments->trace_path.c_str());
    exit_code = kCheckFailed;
  });
}

}  // namespace seaway::tools
