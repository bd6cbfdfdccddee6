// island_explorer: walks every state of many small worlds.

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "sim/exhaustive/island_world.hpp"

namespace {

using seaway::exhaustive::Exploration;
using seaway::exhaustive::explore;
using seaway::exhaustive::HostWeakening;
using seaway::exhaustive::IslandSpec;
using seaway::exhaustive::make_island_world;
using seaway::exhaustive::Weakening;

constexpr const char* kUsage =
    R"(usage: island_explorer [--worlds N] [--first SEED] [--states-max S]

Walks every state of small worlds around real scheduler cores: 2 islands, 1-2 devices each, 3 runs.
Every choice that the rules allow is a branch. It stops at the first deadlock, overwrite or
overrun, and prints the world, the moves that led there and who waits for whom.

  --worlds N      how many worlds, made from seeds SEED, SEED + 1, ..; default 10000
  --first SEED    the first of them; default 1
  --states-max S  gives a world up after so many states, and counts it as cut short;
                  default 200000
  --help          prints this, and runs nothing

exit codes: 0 nothing found; 1 something found; 2 the command line was not understood
example: island_explorer --first 4711 --worlds 1
)";

struct Options {
  std::uint64_t worlds = 10'000, first = 1, states_max = 200'000;
};

/// False when a word is not known, or its number is none.
bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; i += 2) {
    std::uint64_t* target = nullptr;
    if (std::strcmp(words[i], "--worlds") == 0) target = &options.worlds;
    if (std::strcmp(words[i], "--first") == 0) target = &options.first;
    if (std::strcmp(words[i], "--states-max") == 0) target = &options.states_max;
    const char* const value = i + 1 < count ? words[i + 1] : "";
    const char* const end = value + std::strlen(value);
    if (target != nullptr && end != value) {
      const auto [stop, error] = std::from_chars(value, end, *target);
      if (error == std::errc() && stop == end) continue;
    }
    std::fprintf(stderr, "island_explorer: '%s %s' is not understood\n\n%s", words[i], value,
                 kUsage);
    return false;
  }
  return true;
}

int run(const Options& options) {
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t states = 0, cut = 0;
  for (std::uint64_t done = 0; done < options.worlds; ++done) {
    const std::uint64_t seed = options.first + done;
    const IslandSpec spec = make_island_world(seed, Weakening::kNone, HostWeakening::kNone);
    const Exploration found = explore(spec, options.states_max);
    states += found.states;
    cut += !found.complete;
    if (!found.failure.empty()) {
      std::printf("%s\nreplay: island_explorer --first %llu --worlds 1\n", found.failure.c_str(),
                  static_cast<unsigned long long>(seed));
      return 1;
    }
    if ((done + 1) % 10'000 == 0 || done + 1 == options.worlds) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
      std::printf("%llu worlds, %llu states, %llu worlds cut short, %.1f s: no deadlock\n",
                  static_cast<unsigned long long>(done + 1),
                  static_cast<unsigned long long>(states), static_cast<unsigned long long>(cut),
                  seconds.count());
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--help") != 0 && std::strcmp(words[i], "-h") != 0) continue;
    std::fputs(kUsage, stdout);
    return 0;
  }
  Options options;
  return parse(count, words, options) ? run(options) : 2;
}
