// Seeds, one seed, a file, or shrinking: over worlds of a user's.

#include "campaign/user_campaign.hpp"

#include <cstdio>
#include <fstream>

#include "campaign/clean_range.hpp"
#include "campaign/seed_process.hpp"
#include "campaign/shrinking.hpp"

namespace seaway::campaign {
namespace {

constexpr int kCheckFailed = 2;  // Exit code of what could not be done.

int refuse(const std::string& why) {
  std::fprintf(stderr, "seaway: %s\n", why.c_str());
  return sim::kChaosUsage;
}

std::string of_another(const std::string& path, const std::string& world, const std::string& name) {
  return path + " is of \"" + world + "\", not of \"" + name + "\"; choose that one with --test";
}

bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  return !file.fail();
}

int shrink(const UserWords& words, const std::string& name, const sim::ChaosOptions& options,
           const Clock& clock) {
  const std::uint64_t seed = options.first_seed;
  const auto run = [&](const sim::SeedOptions& how) { return options.run(seed, how); };
  const auto found = shrink_world({name, "", seed, options.edits, run}, words.shrink_s, clock);
  if (!found) {
    std::printf("seed %llu: clean, there is nothing to shrink\n",
                static_cast<unsigned long long>(seed));
    return sim::kChaosClean;
  }
  const std::string path = words.repro_directory + "/" + found->repro.file_name();
  std::printf("%s%s", found->least.text.c_str(), found->words.c_str());
  if (!write_repro(path, found->repro)) {
    std::fprintf(stderr, "seaway: cannot write %s; choose another directory with --repro-dir\n",
                 path.c_str());
    return kCheckFailed;
  }
  std::printf("  replay: %s --replay %s\n", words.command.c_str(), path.c_str());
  return found->repro.failure.exit_code;
}

/// Here and not in another process: under a debugger, too.
int replay(const UserWords& words, const std::string& name, sim::ChaosOptions options) {
  const auto seed = parse_seed(words.replay);
  std::optional<Repro> repro;
  if (!seed) {
    auto read = read_repro(words.replay);
    if (!read.ok()) return refuse(read.status().message());
    if (read->world != name) return refuse(of_another(words.replay, read->world, name));
    repro = *std::move(read);
    options.edits = repro->edits;
    const std::string difference = build_difference(words.replay, *repro);
    if (!difference.empty()) std::fprintf(stderr, "seaway: %s\n", difference.c_str());
  }
  options.first_seed = options.last_seed = seed ? *seed : repro->seed;
  options.replay = true;
  bool is_written = true;
  if (!words.trace_path.empty()) {
    options.on_trace = [&](const std::string& trace) {
      is_written = write_file(words.trace_path, trace);
    };
  }
  const sim::SeedLine line = sim::run_one(options.first_seed, options);
  std::printf("%s", options.json ? (line.json + "\n").c_str() : line.text.c_str());
  if (!is_written) return refuse("cannot write the trace to " + words.trace_path);
  if (!repro || options.until_event > 0) return exit_code_of(line.breach);
  std::string text;
  const bool is_it = is_same(*repro, line, text);
  std::fprintf(is_it ? stdout : stderr, "%s\n", text.c_str());
  if (is_it || line.breach != sim::Breach::kNone) return exit_code_of(line.breach);
  return kCheckFailed;
}

}  // namespace

int run_user_campaign(const UserWords& words, const std::string& name, const sim::RunSeed& run,
                      std::uint64_t first, std::uint64_t last, const Clock& clock) {
  sim::ChaosOptions options;
  options.kind = sim::WorldKind::kUser;
  options.run = run;
  options.command = words.command;
  options.first_seed = words.first_seed.value_or(first);
  options.last_seed = words.last_seed.value_or(last);
  options.json = words.json;
  options.shows_progress = words.shows_progress;
  options.time_budget_s = words.time_budget_s;
  options.failures_max = words.failures_max;
  options.edits = words.edits;
  options.until_event = words.until_event;
  if (words.shrinks) {
    if (const auto seed = parse_seed(words.replay)) {
      options.first_seed = *seed;
    } else {
      auto repro = read_repro(words.replay);
      if (!repro.ok()) return refuse(repro.status().message());
      if (repro->world != name) return refuse(of_another(words.replay, repro->world, name));
      options.first_seed = repro->seed;
      options.edits = repro->edits;
    }
    return shrink(words, name, options, clock);
  }
  if (!words.replay.empty()) return replay(words, name, options);
  const auto seeds = [&](const sim::ChaosOptions& wanted) {
    return run_in_processes(wanted, words.jobs, clock, [&](std::uint64_t begin) {
      sim::ChaosOptions some = wanted;
      some.first_seed = begin;
      return SeedProcess::fork(
          [some, &words](int records) { write_seeds(some, words.jobs, records); });
    });
  };
  if (words.range_path.empty()) return seeds(options);
  const std::string kind = "user:" + name + (words.arguments.empty() ? "" : ":" + words.arguments);
  return run_range(words.range_path, kind, options, clock, seeds);
}

bool is_same(const Repro& repro, const sim::SeedLine& line, std::string& words) {
  const FailureKind now = {exit_code_of(line.breach), line.invariant, line.place};
  if (now == repro.failure && (repro.hash == 0 || repro.hash == line.hash)) {
    words = "the same as in the file, step by step: " + now.to_string();
    return true;
  }
  words = "the file has " + repro.failure.to_string() + ", and this run ";
  if (line.breach == sim::Breach::kNone) {
    words += "was clean";
  } else {
    words +=
        now == repro.failure ? "had the same failure in another way" : "had " + now.to_string();
  }
  return false;
}

}  // namespace seaway::campaign
