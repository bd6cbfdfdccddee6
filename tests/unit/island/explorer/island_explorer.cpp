// island_explorer --worlds N [--first SEED] [--states-max S]: walks every state of N small worlds.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "unit/island/explorer/world.hpp"

int main(int count, char** words) {
  using namespace seaway::island;
  std::uint64_t worlds = 10'000, first = 1, states_max = 200'000;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::uint64_t value = std::strtoull(words[i + 1], nullptr, 10);
    if (std::strcmp(words[i], "--worlds") == 0) worlds = value;
    if (std::strcmp(words[i], "--first") == 0) first = value;
    if (std::strcmp(words[i], "--states-max") == 0) states_max = value;
  }
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t states = 0, cut = 0;
  for (std::uint64_t done = 0; done < worlds; ++done) {
    const std::uint64_t seed = first + done;
    const WorldSpec spec = make_world(seed, Weakening::kNone, HostWeakening::kNone);
    const Exploration found = explore(spec, states_max);
    states += found.states;
    cut += !found.complete;
    if (!found.failure.empty()) {
      std::printf("%s\nreplay: island_explorer --first %llu --worlds 1\n", found.failure.c_str(),
                  static_cast<unsigned long long>(seed));
      return 1;
    }
    if ((done + 1) % 10'000 == 0 || done + 1 == worlds) {
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
