// Random launches for a RestoreWorld: several gangs, edges, donations, outputs that are sent.

#include <algorithm>

#include "unit/island/plans.hpp"
#include "unit/island/restore_world.hpp"

namespace seaway::island {
namespace {

std::uint64_t peak_of(const program::PartPlan& plan) {
  std::uint64_t peak = plan.blocks[0].steps.front().bytes;
  for (const program::Arg& arg : plan.args)
    if (arg.donated_to == program::kNone) peak += plan.values[arg.value].shard_bytes;
  for (const program::Output& output : plan.outputs) peak += plan.values[output.value].shard_bytes;
  return peak;
}

}  // namespace

RestoreWorld::RestoreWorld(std::uint64_t seed) : random_(seed, 1), core_({}) {
  options_.devices = static_cast<std::uint32_t>(1 + random_.below(3));
  options_.spill_bytes = 1000;
  options_.send_room_bytes = random_.below(9);
  options_.manual = random_.chance(50);
  options_.policy = random_.chance(50) ? Policy::kFifo : Policy::kShares;
  options_.early = random_.chance(50) ? EarlyPlacement::kOneWaits : EarlyPlacement::kAlways;
  options_.window_ns = 2500;
  poison_keeps_room_ = random_.chance(70);
  cancels_ = random_.chance(50);
  streams_.resize(options_.devices);
  make_launches(static_cast<std::uint32_t>(4 + random_.below(7)));
  for (const Launch& launch : launches_)
    options_.memory_bytes = std::max(options_.memory_bytes, peak_of(*launch.plan));
  options_.memory_bytes += random_.below(6);
  core_ = SchedulerCore(options_);
}

void RestoreWorld::make_launches(std::uint32_t count) {
  Stamp stamp = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    stamp += 1 + random_.below(3);
    launches_.push_back(make_launch(stamp));
    for (const ArrayId arg : launches_.back().args) last_use_[arg] = i;
    for (const ArrayId output : launches_.back().outputs) last_use_[output] = i;
  }
}

Launch RestoreWorld::make_launch(Stamp stamp) {
  std::vector<DeviceId> devices;
  for (DeviceId device = 0; device < options_.devices; ++device)
    if (random_.chance(60)) devices.push_back(device);
  if (devices.empty()) devices.push_back(static_cast<DeviceId>(random_.below(options_.devices)));
  const auto gangs = static_cast<std::uint32_t>(1 + random_.below(4));
  const std::uint64_t work = random_.below(3);
  const auto any_gang = [&] { return static_cast<std::uint32_t>(random_.below(gangs)); };
  PlanMaker maker(devices, work);
  maker.gangs(gangs);
  Launch launch;
  launch.stamp = launch.run = stamp;
  launch.tenant = static_cast<TenantId>(stamp % 3);
  std::set<std::uint32_t> busy{gangs - 1};  // Gangs that run on all devices.
  std::uint32_t edge = 0, outputs = 0;
  std::uint64_t values = 0;
  const auto new_array = [&](std::uint64_t bytes) {
    const ArrayId id = 100 + shapes_.size();
    shapes_[id] = {devices, bytes};
    return id;
  };
  const auto output = [&](std::uint32_t gang, std::uint64_t bytes) {
    maker.output(gang, bytes);
    busy.insert(gang);
    launch.outputs.push_back(new_array(bytes));
    return outputs++;
  };
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (random_.chance(30)) {
      const std::uint64_t bytes = 1 + random_.below(2);
      maker.receive(any_gang(), ++edge, 1, bytes);
      values += bytes;
    }
    if (random_.chance(35)) {
      const std::uint64_t bytes = 1 + random_.below(2);
      maker.send(any_gang(), ++edge, 1, bytes);
      values += bytes;
    }
  }
  std::vector<ArrayId> candidates;
  for (const auto& [id, shape] : shapes_)
    if (shape.first == devices && !given_.contains(id)) candidates.push_back(id);
  if (random_.chance(40)) {
    candidates.push_back(new_array(1 + random_.below(2)));
    uploads_.insert(candidates.back());
  }
  std::vector<std::uint32_t> kept;  // Arguments that are not donated.
  for (const ArrayId id : candidates) {
    const bool is_new = uploads_.contains(id) && !last_use_.contains(id);
    if (launch.args.size() == 3 || !(is_new || random_.chance(50))) continue;
    const std::uint32_t gang = any_gang();
    const auto arg = static_cast<std::uint32_t>(launch.args.size());
    maker.arg(gang, shapes_[id].second);
    busy.insert(gang);
    launch.args.push_back(id);
    if (!random_.chance(30)) {
      kept.push_back(arg);
      continue;
    }
    given_.insert(id);
    maker.donate(arg, random_.chance(70) ? output(gang, shapes_[id].second) : program::kNone);
  }
  for (std::uint32_t gang = 0; gang < gangs; ++gang)
    if (random_.chance(25)) output(gang, 1 + random_.below(2));
  if (work > 0 && gangs > 1 && random_.chance(50)) {
    const auto gang = static_cast<std::uint32_t>(1 + random_.below(gangs - 1));
    maker.step(gang, values);
    busy.insert(gang - 1);
  }
  program::PartPlan plan = maker.plan();
  const auto send_array = [&](std::uint32_t value, std::uint32_t gang) {
    program::Send send;
    send.edge = ++edge;
    send.peer = 1;
    send.value = value;
    send.gang = gang;
    plan.sends.push_back(send);
    plan.send_bytes += plan.values[value].shard_bytes * devices.size();
  };
  if (outputs > 0 && random_.chance(30)) send_array(plan.outputs[0].value, plan.outputs[0].gang);
  if (!kept.empty() && random_.chance(20))
    send_array(plan.args[kept[0]].value, plan.args[kept[0]].last_gang);
  std::stable_sort(plan.sends.begin(), plan.sends.end(),
                   [](const program::Send& a, const program::Send& b) { return a.gang < b.gang; });
  for (std::uint32_t gang = 0; gang < gangs; ++gang) {
    if (busy.contains(gang) || devices.size() == 1 || !random_.chance(50)) continue;
    // On one device alone: gangs of a part may end out of order.
    plan.gangs[gang].group = static_cast<std::uint32_t>(plan.groups.size());
    plan.groups.push_back({{devices[random_.below(devices.size())]}, {}});
  }
  launch.plan = std::make_shared<program::PartPlan>(std::move(plan));
  return launch;
}

}  // namespace seaway::island
