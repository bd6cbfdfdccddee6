// A user's program as `seaway chaos user` meets it: three explorations, or none.

#include <cstdio>
#include <cstring>

#include "counter.hpp"

namespace {

using namespace seaway;

int wrong = 0;

void explore(const char* name, std::uint64_t seeds, bool is_once) {
  const auto report =
      sim::explore({.name = name, .seeds = seeds, .repro_directory = ""}, {},
                   [is_once](Simulation& world) { campaign::count_to_ten(world, is_once); });
  std::printf("%s: %s\n", name, report.to_string().c_str());
  wrong += !report.ok;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count > 1 && std::strcmp(arguments[1], "nothing") == 0) return 0;
  std::printf("this program says much else\n");
  explore("once", 50, true);
  explore("again and again", 500, false);
  // Worlds that depend on more than their seed.
  const auto drifts = [](Simulation& world) {
    static int worlds = 0;
    world.sleep(std::chrono::nanoseconds(1 + reinterpret_cast<std::uintptr_t>(&worlds)));
  };
  wrong += !sim::explore({.name = "drifting", .seeds = 1}, {}, drifts).ok;
  return wrong;
}
