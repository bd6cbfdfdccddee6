// `seaway chaos`: random programs in the simulated cluster, each replayed from its seed.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <set>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "campaign/clean_range.hpp"
#include "campaign/edits_json.hpp"
#include "campaign/repro.hpp"
#include "campaign/shrinking.hpp"
#include "chaos_exhaustive.hpp"
#include "chaos_mutants.hpp"
#include "chaos_shrink.hpp"
#include "chaos_user.hpp"
#include "chaos_workers.hpp"
#include "sim/chaos.hpp"
#include "sim/fault_catalogue.hpp"
#include "sim/fault_points.hpp"
#include "sim/probes.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint32_t kJobsMax = 256;

struct Arguments {
  std::string seeds = "1..100";
  sim::ChaosOptions options;
  std::string replay;       // A seed, or the path of a repro file.
  std::string determinism;  // Seeds.
  std::string profile = "swarm";
  std::string edits;
  ShrinkOptions shrink;
  std::vector<std::string> user;  // "user", a program, its arguments.
  std::string test;
  double time_budget_s = 0;
  std::uint32_t jobs = 1;
  std::uint64_t every = 0;  // Not 0: a process of --jobs.
  std::string trace_path;
  std::string faults;
  std::string mutants;
  std::string probes;
  std::string range_path;
  ExhaustiveArguments exhaustive;
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
  const sim::RunningSeed running = sim::running_seed();
  std::fprintf(stderr, "\nseed %llu: crash\n  replay: %s\n  last events:\n%s",
               static_cast<unsigned long long>(running.seed),
               sim::replay_line(running.kind, running.seed).c_str(), sim::story_of_crash().c_str());
  _exit(sim::kChaosCrash);
}

std::string is_seeds(const std::string& text) {
  std::uint64_t first = 0, last = 0;
  return parse_seeds(text, first, last) ? std::string() : "'" + text + "' is not of the form A..B";
}

/// Words of --faults that print a table; all others are families of faults.
bool is_table(const std::string& faults) { return faults == "list" || faults == "points"; }

/// Reads "kill,wire".
std::string read_families(const std::string& text, std::set<std::string, std::less<>>& families) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const auto& all = sim::fault_families();
    const bool is_known = std::any_of(all.begin(), all.end(),
                                      [&name](const auto& family) { return family.name == name; });
    if (!is_known) {
      std::string names;
      for (const auto& family : all) names += " " + std::string(family.name);
      return "'" + name + "' is no family of faults; there are:" + names;
    }
    families.insert(name);
    begin = end + 1;
  }
  return "";
}

/// What the words say about faults.
Status read_edits(const Arguments& arguments, bool has_faults, sim::Edits& edits) {
  if (!arguments.edits.empty()) {
    auto parsed = campaign::parse_edits(arguments.edits);
    if (!parsed.ok()) return parsed.status();
    edits = *std::move(parsed);
    return {};
  }
  edits.is_wild = arguments.profile == "wild";
  if (arguments.profile == "calm") edits.families.emplace();
  if (!has_faults) return {};
  const std::string why = read_families(arguments.faults, edits.families.emplace());
  return why.empty() ? Status() : invalid_argument(why);
}

/// As it is typed.
std::string shell_word(const std::string& text) {
  const bool is_plain = text.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_-+=./,:@%") == std::string::npos;
  if (is_plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// What a user's program is asked to do. `has_seeds`: they were named.
int run_user(const Arguments& arguments, bool has_seeds, bool shrinks) {
  if (arguments.user.size() < 2 || arguments.user[0] != "user") {
    std::fprintf(stderr, "seaway: '%s' is no word of chaos; there is: user PROGRAM\n",
                 arguments.user[0].c_str());
    return sim::kChaosUsage;
  }
  const std::string& program = arguments.user[1];
  const std::vector<std::string> rest(arguments.user.begin() + 2, arguments.user.end());
  campaign::UserWords words;
  words.command = "seaway chaos user " + shell_word(program);
  for (const std::string& word : rest) {
    words.arguments += (words.arguments.empty() ? "" : " ") + shell_word(word);
    // Those that begin with a dash stand behind "--", and so does nothing of ours.
    if (!word.starts_with('-')) words.command += " " + shell_word(word);
  }
  words.lists = arguments.test == "list";
  words.test = words.lists ? "" : arguments.test;
  if (!words.test.empty()) words.command += " --test " + shell_word(words.test);
  const auto take = [&words](const std::string& seeds) {
    std::uint64_t first = 0, last = 0;
    parse_seeds(seeds, first, last);
    words.first_seed = first;
    words.last_seed = last;
  };
  if (has_seeds) take(arguments.seeds);
  words.jobs = arguments.jobs;
  words.json = arguments.options.json;
  words.shows_progress = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  words.time_budget_s = arguments.time_budget_s;
  words.failures_max = arguments.options.failures_max;
  words.edits = arguments.options.edits;
  words.replay = arguments.replay;
  if (words.test.empty() && !words.replay.empty() && !campaign::parse_seed(words.replay)) {
    // A file says which exploration it is of.
    const auto repro = campaign::read_repro(words.replay);
    if (!repro.ok()) {
      std::fprintf(stderr, "seaway: %s\n", repro.status().message().c_str());
      return sim::kChaosUsage;
    }
    words.test = repro->world;
  }
  words.until_event = arguments.options.until_event;
  words.shrinks = shrinks;
  words.shrink_s = arguments.shrink.seconds;
  words.repro_directory = arguments.shrink.directory;
  words.trace_path = arguments.trace_path;
  words.range_path = arguments.range_path;
  if (arguments.determinism.empty()) return run_user_program(program, rest, words);
  take(arguments.determinism);
  return run_user_program_twice(program, rest, words);
}

/// A seed, or the world of a repro file. Its path is a path: "./7" is one.
Status read_replay(const std::string& text, sim::ChaosOptions& options,
                   std::optional<campaign::Repro>& repro) {
  options.replay = true;
  std::uint64_t last = 0;
  if (parse_seeds(text, options.first_seed, last) && last == options.first_seed) {
    options.last_seed = last;
    return {};
  }
  auto read = read_repro(text);
  if (!read.ok()) return read.status();
  repro = *std::move(read);
  return take_world(*repro, options);
}

/// Runs the world of a file again. Its exit code, or that of a run which is not the same.
int replay_file(const campaign::Repro& repro, const sim::ChaosOptions& options) {
  const sim::SeedLine line = sim::run_one(repro.seed, options);
  std::printf("%s", line.text.c_str());
  if (options.until_event > 0) return sim::kChaosClean;
  if (is_same_failure(repro, line)) return exit_code_of(line.breach);
  return line.breach == sim::Breach::kNone ? kCheckFailed : exit_code_of(line.breach);
}

}  // namespace

void add_chaos(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("chaos", kChaosSummary);
  const auto arguments = std::make_shared<Arguments>();
  CLI::Option* const seeds =
      verb->add_option("--seeds", arguments->seeds, "the seeds A..B, or one seed")
          ->capture_default_str()
          ->check(is_seeds);
  CLI::Option* const replay = verb->add_option(
      "--replay", arguments->replay, "run one seed, or a repro file, again, and tell its story");
  replay->excludes(seeds);
  CLI::Option* const shrink = verb->add_flag("--shrink")
                                  ->description(
                                      "with --replay: leave out what the failure does not need, "
                                      "and write a repro file; with "
                                      "--mutants all: how far that goes for each");
  verb->add_option("--shrink-seconds", arguments->shrink.seconds, "how long it may take")
      ->capture_default_str()
      ->check(CLI::PositiveNumber)
      ->needs(shrink);
  verb->add_option("--repro-dir", arguments->shrink.directory, "where repro files go")
      ->capture_default_str()
      ->needs(shrink);
  verb->add_option("--until-event", arguments->options.until_event,
                   "with --replay: stop at that event, and say who waits for what")
      ->check(CLI::PositiveNumber)
      ->needs(replay)
      ->excludes(shrink);
  CLI::Option* const determinism =
      verb->add_option("--determinism", arguments->determinism,
                       "run each of the seeds A..B in two processes, and compare them")
          ->check(is_seeds)
          ->excludes(seeds)
          ->excludes(replay);
  verb->add_option("--failures", arguments->options.failures_max,
                   "go on until so many seeds have failed, 0: to the end; grouped in the end")
      ->capture_default_str()
      ->excludes(replay);
  verb->add_option("--profile", arguments->profile,
                   "swarm: each seed has some kinds of faults; wild: all kinds; calm: none")
      ->capture_default_str()
      ->check(CLI::IsMember({"swarm", "wild", "calm"}));
  verb->add_option("--edits", arguments->edits)->group("");  // For processes of --jobs alone.
  CLI::Option* const user =
      verb->add_option("user", arguments->user,
                       "`user PROGRAM [ARGUMENTS..]`: worlds that a program of yours explores");
  verb->add_option("--test", arguments->test,
                   "which exploration of the program; list: the names of all")
      ->needs(user);
  verb->add_flag("--json", arguments->options.json, "one JSON object a seed");
  verb->add_option("--time-budget", arguments->time_budget_s,
                   "stop after so many seconds; 0: when all seeds are done")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--jobs", arguments->jobs, "processes that share the seeds; prints the same")
      ->capture_default_str()
      ->check(CLI::Range(1u, kJobsMax))
      ->excludes(replay);
  CLI::Option* const apps =
      verb->add_flag("--apps")->description("worlds of actors, whose hosts die");
  CLI::Option* const processes = verb->add_flag("--processes")
                                     ->description("worlds whose roles are processes that fail")
                                     ->excludes(apps);
  CLI::Option* const mixed = verb->add_flag("--mixed")
                                 ->description("worlds of all kinds: each seed draws which")
                                 ->excludes(apps)
                                 ->excludes(processes);
  verb->add_option("--trace", arguments->trace_path,
                   "write the replayed seed to a file for https://ui.perfetto.dev")
      ->needs(replay);
  CLI::Option* const range =
      verb->add_option("--range", arguments->range_path,
                       "a file that keeps which seeds were clean, and is gone on from")
          ->excludes(replay);
  verb->add_flag("--must-cover", arguments->options.must_cover,
                 "exit 2 when the seeds leave out something that they are there to do")
      ->excludes(range);
  verb->add_flag("--bare", arguments->options.bare,
                 "measure a bare scheduler too, and print its figure beside the others");
  CLI::Option* const faults =
      verb->add_option(
              "--faults", arguments->faults,
              "only these families of faults: "
              "kill,pause,partition,drain,clock,wire,device,hbm,sdc,actor,"
              "point; or list: which faults there are, and which worlds they are simulated in; or "
              "points: where product code makes ordinary things rare")
          ->check([](const std::string& text) {
            std::set<std::string, std::less<>> families;
            return is_table(text) ? std::string() : read_families(text, families);
          });
  verb->add_option("--mutants", arguments->mutants,
                   "all, or the name of one: how many seeds find bugs that are planted; list: "
                   "which there are; NAME with --replay: one seed with it")
      ->excludes(range);
  CLI::Option* const exhaustive = add_exhaustive(*verb, arguments->exhaustive);
  verb->add_option("--probes", arguments->probes,
                   "list: the places in product code that seeds should come by; counts: with how "
                   "often they did, rarest first")
      ->check(CLI::IsMember({"list", "counts"}));
  verb->add_option("--every", arguments->every)->group("");  // For processes of --jobs alone.
  verb->footer(
      "example: seaway chaos --seeds 1..1000 --jobs 4\n"
      "         seaway chaos --apps --seeds 1..1000\n"
      "         seaway chaos --mixed --seeds 1..1000\n"
      "         seaway chaos --replay 123 --trace seed.json\n"
      "         seaway chaos --replay 123 --shrink\n"
      "         seaway chaos --replay repro-3fa21c08.json\n"
      "         seaway chaos user ./my_test --seeds 1..1000 --jobs 4\n"
      "         seaway chaos user ./my_test --range clean.txt --seeds 1..100000\n"
      "         seaway chaos --mixed --determinism 1..5000 --jobs 2\n"
      "         seaway chaos --processes --seeds 1..1000 --faults kill,wire --failures 0\n"
      "         seaway chaos --range clean.txt --seeds 1..50000 --time-budget 60\n"
      "         seaway chaos --exhaustive all\n"
      "         seaway chaos --faults list\n"
      "         seaway chaos --mutants all --seeds 1..10000 --jobs 2");
  verb->callback([arguments, seeds, replay, shrink, determinism, user, faults, exhaustive, apps,
                  processes, mixed, &exit_code] {
    if (exhaustive->count() > 0) {
      exit_code = run_exhaustive(arguments->exhaustive, arguments->options.json, RealClock());
      return;
    }
    if (is_table(arguments->faults) &&
        seeds->count() + replay->count() + determinism->count() > 0) {
      std::fprintf(stderr, "seaway: --faults %s is a table and runs no seeds; leave them out\n",
                   arguments->faults.c_str());
      exit_code = sim::kChaosUsage;
      return;
    }
    if (is_table(arguments->faults)) {
      const bool is_of_points = arguments->faults == "points";
      std::fputs((is_of_points ? sim::fault_point_table() : sim::fault_table()).c_str(), stdout);
      exit_code = kDone;
      return;
    }
    if (arguments->probes == "list") {
      std::fputs(sim::probe_table().c_str(), stdout);
      exit_code = kDone;
      return;
    }
    sim::ChaosOptions& options = arguments->options;
    options.counts_probes = arguments->probes == "counts";
    if (apps->count() > 0) options.kind = sim::WorldKind::kApps;
    if (processes->count() > 0) options.kind = sim::WorldKind::kProcesses;
    if (mixed->count() > 0) options.kind = sim::WorldKind::kMixed;
    parse_seeds(arguments->seeds, options.first_seed, options.last_seed);
    if (determinism->count() > 0) {
      parse_seeds(arguments->determinism, options.first_seed, options.last_seed);
    }
    Status status = read_edits(*arguments, faults->count() > 0, options.edits);
    if (status.ok() && !arguments->range_path.empty() &&
        (options.edits.is_wild || options.edits.families)) {
      status = invalid_argument(
          "--range keeps which seeds were clean with the faults that they draw; leave out "
          "--faults and --profile");
    }
    std::optional<campaign::Repro> repro;
    if (status.ok() && user->count() > 0) {
      exit_code = run_user(*arguments, seeds->count() > 0, shrink->count() > 0);
      return;
    }
    if (status.ok() && replay->count() > 0) {
      status = read_replay(arguments->replay, options, repro);
    }
    if (!status.ok()) {
      std::fprintf(stderr, "seaway: %s\n", printable(status.message()).c_str());
      exit_code = sim::kChaosUsage;
      return;
    }
    const RealClock clock;
    if (!arguments->mutants.empty() && replay->count() == 0 && arguments->every == 0) {
      exit_code = run_chaos_mutants(arguments->mutants, options, arguments->jobs,
                                    shrink->count() > 0 ? &arguments->shrink : nullptr, clock);
      return;
    }
    if (shrink->count() > 0 && replay->count() == 0) {
      std::fprintf(stderr, "seaway: --shrink wants --replay SEED, or --mutants all\n");
      exit_code = sim::kChaosUsage;
      return;
    }
    if (repro && arguments->mutants.empty()) arguments->mutants = repro->mutant;
    if (!plant_mutant(arguments->mutants)) {
      exit_code = kBadUsage;
      return;
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
    if (shrink->count() > 0) {
      exit_code = shrink_seed(options, arguments->mutants, arguments->shrink, clock);
      return;
    }
    if (determinism->count() > 0) {
      exit_code = run_chaos_twice(options, arguments->jobs, clock);
      return;
    }
    const auto run = [&](const sim::ChaosOptions& wanted) {
      // A count outlives a seed that crashes: such a seed takes a process of its own with it.
      const bool is_alone =
          arguments->jobs == 1 && arguments->range_path.empty() && options.failures_max == 1;
      return is_alone ? sim::run_chaos(wanted, clock)
                      : run_chaos_workers(wanted, arguments->jobs, clock);
    };
    exit_code =
        repro ? replay_file(*repro, options)
        : arguments->range_path.empty()
            ? run(options)
            : campaign::run_range(arguments->range_path, std::string(to_string(options.kind)),
                                  options, clock, run);
    if (is_written) return;
    std::fprintf(stderr, "seaway: cannot write the trace to %s; choose another file with --trace\n",
                 arguments->trace_path.c_str());
    exit_code = kCheckFailed;
  });
}

}  // namespace seaway::tools
