// Small worlds of two islands: two devices each, up to three runs, and just enough memory.

#include <memory>
#include <utility>

#include "sim/exhaustive/island_world.hpp"
#include "sim/exhaustive/plan_maker.hpp"
#include "sim/exhaustive/small_worlds.hpp"

namespace seaway::exhaustive {
namespace {

using Spec = std::shared_ptr<IslandSpec>;

Spec make_spec(std::uint64_t memory_bytes, std::uint64_t send_room_bytes) {
  auto spec = std::make_shared<IslandSpec>();
  for (CoreOptions& options : spec->options) {
    options.devices = kDevices;
    options.memory_bytes = memory_bytes;
    options.spill_bytes = 1000;
    options.send_room_bytes = send_room_bytes;
    options.manual = true;
  }
  return spec;
}
void add(IslandSpec& spec, std::uint32_t run, std::uint32_t island, const PlanMaker& maker) {
  spec.parts[run][island].plan = maker.make();
}

/// Runs 2 and 3 go from island 0 to island 1, where run 2 fills the memory; run 3 may overtake.
Spec overtaking() {
  Spec spec = make_spec(2, 1);
  add(*spec, 0, 0, PlanMaker({0, 1}, 1).gangs(1));
  add(*spec, 1, 0, PlanMaker({0}, 1).gangs(1).send(0, 1, 1, 1));
  add(*spec, 1, 1, PlanMaker({0, 1}, 1).gangs(1).receive(0, 1, 0, 1));
  add(*spec, 2, 0, PlanMaker({0}).gangs(1).send(0, 1, 1, 1));
  add(*spec, 2, 1, PlanMaker({0}).gangs(1).receive(0, 1, 0, 1));
  spec->edges = {{1, 1, 0, 0, 1}, {2, 1, 0, 0, 1}};
  return spec;
}

/// Two runs in opposite directions, and a third one that joins the devices they do not share.
Spec crossing() {
  Spec spec = make_spec(3, 0);
  add(*spec, 0, 0, PlanMaker({0}).gangs(1).send(0, 1, 1, 1));
  add(*spec, 0, 1, PlanMaker({0}).gangs(1).receive(0, 1, 0, 1));
  add(*spec, 1, 1, PlanMaker({0}).gangs(1).send(0, 1, 0, 1));
  add(*spec, 1, 0, PlanMaker({1}).gangs(1).receive(0, 1, 1, 1));
  add(*spec, 2, 0, PlanMaker({0, 1}, 1).gangs(1));
  spec->edges = {{0, 1, 0, 0, 1}, {1, 1, 1, 0, 1}};
  return spec;
}

/// An upload and what is made of it do not fit beside the third run: it spills, loads, and is freed
/// on each device by itself.
Spec spilling() {
  Spec spec = make_spec(3, 0);
  spec->arrays = {{100, 0, kRuns, 0, 1, {0, 1}, true, false},
                  {101, 0, 0, 0, 1, {0, 1}, true, false},
                  {102, 0, 2, 0, 1, {0, 1}, false, false}};
  add(*spec, 0, 0, PlanMaker({0, 1}).gangs(1).arg(0, 1).output(0, 1));
  spec->parts[0][0].args = {100};
  spec->parts[0][0].outputs = {101};
  add(*spec, 1, 0, PlanMaker({0, 1}, 3).gangs(2));
  add(*spec, 2, 0, PlanMaker({0, 1}).gangs(1).arg(0, 1).arg(0, 1).output(0, 1));
  spec->parts[2][0].args = {100, 101};
  spec->parts[2][0].outputs = {102};
  return spec;
}

/// A run whose gangs alternate between the islands, and which may be cancelled; one that gives its
/// argument away, and one that is in the way.
Spec back_and_forth() {
  Spec spec = make_spec(4, 2);
  spec->arrays = {{100, 1, kRuns, 0, 1, {0, 1}, false, true},
                  {101, 1, 1, 0, 1, {0, 1}, true, false}};
  program::PartPlan there = PlanMaker({0, 1}).gangs(2).send(0, 1, 1, 1).receive(1, 2, 1, 1).plan();
  there.gangs[1].position = 2;
  program::PartPlan back = PlanMaker({0, 1}).gangs(1).receive(0, 1, 0, 1).send(0, 2, 0, 1).plan();
  back.gangs[0].position = 1;
  spec->parts[0][0].plan = std::make_shared<program::PartPlan>(std::move(there));
  spec->parts[0][1].plan = std::make_shared<program::PartPlan>(std::move(back));
  spec->edges = {{0, 1, 0, 0, 1}, {0, 2, 1, 0, 1}};
  add(*spec, 1, 1, PlanMaker({0, 1}).gangs(1).arg(0, 1).output(0, 1).donate(0, 0));
  spec->parts[1][1].args = {100};
  spec->parts[1][1].outputs = {101};
  add(*spec, 2, 1, PlanMaker({0}, 1).gangs(1));
  spec->cancels = 0;
  spec->prompt = bit(static_cast<std::uint32_t>(IslandMove::Kind::kExists)) |
                 bit(static_cast<std::uint32_t>(IslandMove::Kind::kFree));
  return spec;
}

SmallWorld make(std::string name, std::string about, Spec spec, std::uint32_t schedulers_lost_max,
                std::uint32_t devices_lost_max) {
  spec->schedulers_lost_max = schedulers_lost_max;
  spec->devices_lost_max = devices_lost_max;
  // Its cancels reach islands at any time; so what else is said arrives at once.
  if (devices_lost_max > 0) {
    spec->prompt |= bit(static_cast<std::uint32_t>(IslandMove::Kind::kExists)) |
                    bit(static_cast<std::uint32_t>(IslandMove::Kind::kTransfer));
    spec->cancels = kRuns;
  }
  return {std::move(name), std::move(about),
          [spec](Limits limits) { return explore(*spec, limits.states_max); }};
}

}  // namespace

std::vector<SmallWorld> island_worlds() {
  std::vector<SmallWorld> worlds;
  const auto add_faults = [&worlds](const std::string& name, const std::string& about,
                                    const auto& spec) {
    worlds.push_back(make("islands-" + name, about, spec(), 0, 0));
    worlds.push_back(
        make("islands-" + name + "-scheduler", "the same; a scheduler begins anew", spec(), 1, 0));
    if (name == "turning") return;  // Its cancel is fault enough.
    worlds.push_back(
        make("islands-" + name + "-device", "the same; a device is lost", spec(), 0, 1));
  };
  add_faults("overtaking", "3 runs on 2 islands of 2 devices; one may overtake", overtaking);
  add_faults("crossing", "3 runs on 2 islands of 2 devices, in opposite directions", crossing);
  add_faults("spilling", "3 runs on an island of 2 devices; what is kept has to spill", spilling);
  add_faults("turning",
             "3 runs on 2 islands of 2 devices; one goes to and fro, and may be cancelled",
             back_and_forth);
  return worlds;
}

}  // namespace seaway::exhaustive
