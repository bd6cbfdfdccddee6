// Small worlds of one island with all of its host: memory that is charged, freed, spilled, loaded.

#include <utility>

#include "sim/exhaustive/host_world.hpp"
#include "sim/exhaustive/part_maker.hpp"
#include "sim/exhaustive/small_worlds.hpp"

namespace seaway::exhaustive {

HostSpec spilling_host() {
  HostSpec spec;
  spec.device_bytes = 3 * kShardBytes;
  spec.uploads = {{100, {0, 1}}};
  PartMaker first(1, {0, 1}), second(2, {0, 1}), third(3, {0, 1});
  const std::uint32_t a = first.arg(), b = first.output();
  first.gang({a}, {b});
  // It needs all memory of its devices.
  const std::uint32_t c = second.inner(), d = second.output();
  second.gang({}, {c}).gang({c}, {d}).work(kShardBytes);
  const std::uint32_t e = third.arg(), f = third.arg(), g = third.output();
  third.gang({e, f}, {g}).donate(0, 0);
  spec.runs = {
      {first.make(), {100}, {101}}, {second.make(), {}, {102}}, {third.make(), {101, 100}, {103}}};
  spec.fetched = {102, 103};
  spec.freed = {100, 102, 103};
  spec.has_slow_copies = true;
  return spec;
}

HostSpec sharing_host() {
  HostSpec spec;
  spec.device_bytes = 2 * kShardBytes;
  PartMaker first(1, {0}), second(2, {1}), third(3, {0, 1});
  first.gang({}, {first.output()});
  second.gang({}, {second.output()});
  const std::uint32_t inner = third.inner();
  third.gang({}, {inner}).gang({inner}, {third.output()});
  spec.runs = {{first.make(), {}, {101}}, {second.make(), {}, {102}}, {third.make(), {}, {103}}};
  spec.fetched = {101, 103};
  spec.freed = {101, 102, 103};
  return spec;
}

std::vector<SmallWorld> host_worlds() {
  std::vector<SmallWorld> worlds;
  const auto add = [&worlds](std::string name, std::string about, const HostSpec& spec) {
    worlds.push_back({std::move(name), std::move(about),
                      [spec](Limits limits) { return explore(HostWorld(spec), limits); }});
  };
  const auto add_faults = [&add](const std::string& name, const std::string& about,
                                 const HostSpec& spec) {
    add("host-" + name, about, spec);
    HostSpec faulty = spec;
    faulty.schedulers_lost_max = 1;
    add("host-" + name + "-scheduler", "the same; the scheduler begins anew", faulty);
    faulty = spec;
    faulty.devices_lost_max = 1;
    add("host-" + name + "-device", "the same; a device is lost", faulty);
    faulty = spec;
    faulty.cancels_max = 1;
    add("host-" + name + "-cancel", "the same; a run is cancelled", faulty);
  };
  add_faults("spilling", "a scheduler and its host; what 3 runs on 2 devices keep has to spill",
             spilling_host());
  add_faults("sharing", "the same; 2 runs on a device each, and one on both behind them",
             sharing_host());
  return worlds;
}

}  // namespace seaway::exhaustive
