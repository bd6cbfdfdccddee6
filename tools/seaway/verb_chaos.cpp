// `seaway chaos`: random programs in the simulated cluster, each replayed from its seed.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>

#include "base/clock.hpp"
#include "sim/chaos.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

struct Arguments {
  std::string seeds = "1..100";
  sim::ChaosOptions options;
  std::uint64_t replay = 0;
  double time_budget_s = 0;
};

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
  std::fprintf(stderr, "\nseed %llu: crash\n  replay: seaway chaos --replay %llu\n", seed, seed);
  std::fprintf(stderr, "  last events:\n%s", sim::story_so_far(40).c_str());
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
  verb->footer("example: seaway chaos --seeds 1..1000\n         seaway chaos --replay 123");
  verb->callback([arguments, replay, &exit_code] {
    sim::ChaosOptions& options = arguments->options;
    parse_seeds(arguments->seeds, options.first_seed, options.last_seed);
    if (replay->count() > 0) {
      options.first_seed = options.last_seed = arguments->replay;
      options.replay = true;
    }
    options.time_budget_s = arguments->time_budget_s;
    std::signal(SIGABRT, on_crash);
    std::signal(SIGSEGV, on_crash);
    exit_code = sim::run_chaos(options, RealClock());
  });
}

}  // namespace seaway::tools
