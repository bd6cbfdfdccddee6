// Walking small worlds, and what is printed about each.

#include "chaos_exhaustive.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <vector>

#include "sim/chaos.hpp"
#include "sim/exhaustive/small_worlds.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

using exhaustive::Exploration;
using exhaustive::SmallWorld;

/// A check inside product code ends the process: what led to it is known all the same.
void on_crash(int) {
  std::signal(SIGABRT, SIG_DFL);
  std::signal(SIGSEGV, SIG_DFL);
  std::fprintf(stderr, "%s", exhaustive::story_so_far().c_str());
  _exit(sim::kChaosCrash);
}

unsigned long long number(std::uint64_t value) { return value; }

void print_line(const SmallWorld& world, const Exploration& found, double seconds) {
  const char* const end = !found.failure.empty() ? "FAILED"
                          : found.complete       ? "complete"
                                                 : "CUT SHORT";
  std::printf("%-30s %9llu states %10llu moves %4llu deep %9llu faults %7llu ends %6.1f s  %s\n",
              world.name.c_str(), number(found.states), number(found.moves), number(found.deepest),
              number(found.faults), number(found.ends), seconds, end);
}

void print_json(const SmallWorld& world, const Exploration& found, double seconds) {
  std::string story;
  for (const char letter : found.failure) {
    if (letter == '"' || letter == '\\') story += '\\';
    story += letter == '\n' ? std::string("\\n") : std::string(1, letter);
  }
  std::printf(
      "{\"world\":\"%s\",\"states\":%llu,\"moves\":%llu,\"deepest\":%llu,\"faults\":%llu,"
      "\"ends\":%llu,\"seconds\":%.3f,\"complete\":%s,\"violations\":%d,\"story\":\"%s\"}\n",
      world.name.c_str(), number(found.states), number(found.moves), number(found.deepest),
      number(found.faults), number(found.ends), seconds, found.complete ? "true" : "false",
      found.failure.empty() ? 0 : 1, story.c_str());
}

}  // namespace

CLI::Option* add_exhaustive(CLI::App& verb, ExhaustiveArguments& arguments) {
  CLI::Option* const word = verb.add_option(
      "--exhaustive", arguments.world,
      "walk all orders of events of a small world: its name; all; or list, for their names");
  word->check([](const std::string& name) {
    bool is_known = name == "all" || name == "list";
    for (const SmallWorld& world : exhaustive::small_worlds()) is_known |= world.name == name;
    return is_known ? std::string()
                    : "there is no small world '" + name + "'; --exhaustive list names them";
  });
  verb.add_option("--states-max", arguments.states_max,
                  "give a small world up after so many states: then it exits with 2")
      ->capture_default_str()
      ->needs(word);
  return word;
}

int run_exhaustive(const ExhaustiveArguments& arguments, bool is_json, const Clock& clock) {
  std::signal(SIGABRT, on_crash);
  std::signal(SIGSEGV, on_crash);
  int exit_code = kDone;
  std::uint64_t worlds = 0, states = 0, cut = 0;
  const std::uint64_t began_ns = clock.now_ns();
  const auto seconds_since = [&clock](std::uint64_t then_ns) {
    return static_cast<double>(clock.now_ns() - then_ns) / 1e9;
  };
  for (const SmallWorld& world : exhaustive::small_worlds()) {
    if (arguments.world == "list")
      std::printf("%-30s %s\n", world.name.c_str(), world.about.c_str());
    if (arguments.world != "all" && arguments.world != world.name) continue;
    const std::uint64_t world_ns = clock.now_ns();
    const Exploration found = world.explore({arguments.states_max});
    (is_json ? print_json : print_line)(world, found, seconds_since(world_ns));
    ++worlds;
    states += found.states;
    if (!found.failure.empty()) {
      if (!is_json) std::printf("%s\n", found.failure.c_str());
      std::fprintf(is_json ? stderr : stdout, "replay: seaway chaos --exhaustive %s\n",
                   world.name.c_str());
      return sim::kChaosCorrectness;
    }
    if (found.complete) continue;
    ++cut;
    exit_code = sim::kChaosUncovered;
  }
  if (worlds < 2 || is_json) return exit_code;
  std::printf("%llu worlds, %llu states, %llu worlds cut short, %.1f s: nothing is broken\n",
              number(worlds), number(states), number(cut), seconds_since(began_ns));
  return exit_code;
}

}  // namespace seaway::tools
