// The host of a RestoreWorld: streams, rooms that begin in stream order, loads, spills, fences.

#include <algorithm>

#include "unit/island/restore_world.hpp"

namespace seaway::island {

using Place = ArrayState::Place;

void RestoreWorld::launch_at_host(const Launch& launch) {
  HostPart& part = parts_[launch.stamp];
  part.launch = &launch;
  part.state.stamp = launch.stamp;
  part.started.resize(launch.plan->gangs.size());
  part.done.resize(launch.plan->gangs.size());
  for (const ArrayId id : launch.outputs) {
    HostArray& array = arrays_[id];
    array.state.id = id;
    array.state.devices = shapes_[id].first;
    array.state.bytes_per_device = shapes_[id].second;
  }
  last_at_host_ = launch.stamp;
}

void RestoreWorld::apply(const Action& action) {
  const auto found = parts_.find(action.stamp);
  HostPart* const part = found == parts_.end() ? nullptr : &found->second;
  switch (action.kind) {
    case Action::Kind::kAdmit:
      if (!part || part->state.admitted) return fail("admitted twice, or after its end");
      part->state.admitted = true;
      part->state.overtakes = action.overtakes;
      part->state.beside = action.beside;
      for (const DeviceId device : part->launch->plan->groups[0].devices)
        streams_[device].push_back({Item::Kind::kAdmit, action.stamp, 0});
      break;
    case Action::Kind::kPlace:
      if (!part || !part->state.admitted || part->state.gangs_placed != action.first)
        return fail("gangs placed twice, or out of order");
      part->state.gangs_placed = action.last;
      for (std::uint32_t gang = action.first; gang < action.last; ++gang)
        for (const DeviceId device : devices_of(*part, gang))
          streams_[device].push_back({Item::Kind::kGang, action.stamp, gang});
      break;
    case Action::Kind::kFree:
      if (const auto array = arrays_.find(action.array); array != arrays_.end())
        for (const DeviceId device : array->second.state.devices)
          streams_[device].push_back({Item::Kind::kFree, action.array, 0});
      break;
    case Action::Kind::kSpill:
      if (!arrays_.contains(action.array)) return fail("an array is spilled that is not here");
      arrays_[action.array].state.place = Place::kSpilling;
      break;
    case Action::Kind::kCancel:
      cancel_at_host(action.stamp);
      break;
    case Action::Kind::kMoveSends:
      if (!part)
        from_host_.push_back({Word::Kind::kMoved, action.stamp});
      else
        part->state.moving = true;
      break;
    case Action::Kind::kExists:
    case Action::Kind::kFinished:
      break;
  }
  settle_streams();
}

void RestoreWorld::cancel_at_host(Stamp stamp) {
  const auto found = parts_.find(stamp);
  if (found == parts_.end()) {
    from_host_.push_back({Word::Kind::kFenced, stamp});
    return;
  }
  HostPart& part = found->second;
  if (part.state.cancelled) return;
  part.state.cancelled = part.state.fencing = true;
  const program::PartPlan& plan = *part.launch->plan;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i)
    if (const auto array = arrays_.find(part.launch->outputs[i]);
        plan.outputs[i].gang >= part.state.gangs_placed && array != arrays_.end())
      array->second.state.poison = true;
  if (part.state.admitted) vanish(part);
  if (!plan.sends.empty() || !plan.receives.empty()) return;
  part.state.fencing = false;  // There is no transfer to wait for.
  from_host_.push_back({Word::Kind::kFenced, stamp});
  end_if_over(stamp);
}

/// Its room ends behind the gangs that are placed; loads that have not ended do not go on.
void RestoreWorld::vanish(const HostPart& part) {
  for (const DeviceId device : part.launch->plan->groups[0].devices)
    streams_[device].push_back({Item::Kind::kVanish, part.state.stamp, 0});
  for (const ArrayId id : part.launch->args) {
    const auto array = arrays_.find(id);
    if (array == arrays_.end() || (array->second.state.place != Place::kUploadRoom &&
                                   array->second.state.place != Place::kSpillRoom))
      continue;
    // Its load does not begin any more, or goes no further, unless others want it too.
    array->second.present.clear();
    array->second.behind = true;
    for (const auto& [other, reader] : parts_)
      if (!reader.state.cancelled && uses(reader, id))
        array->second.present.insert(reader.begun.begin(), reader.begun.end());
  }
}

/// Passes everything in the streams that is no gang.
void RestoreWorld::settle_streams() {
  for (DeviceId device = 0; device < options_.devices; ++device) {
    auto& stream = streams_[device];
    while (!stream.empty() && stream.front().kind != Item::Kind::kGang) {
      const Item item = stream.front();
      stream.pop_front();
      pass(device, item);
    }
  }
  check_memory();
}

void RestoreWorld::pass(DeviceId device, const Item& item) {
  if (item.kind == Item::Kind::kFree) {
    const auto found = arrays_.find(item.id);
    if (found == arrays_.end()) return;
    found->second.present.erase(device);
    for (const auto& stream : streams_)
      for (const Item& other : stream)
        if (other.kind == Item::Kind::kFree && other.id == item.id) return;
    arrays_.erase(found);
    return;
  }
  const auto found = parts_.find(item.id);
  if (found == parts_.end()) return;  // Cancelled, and over.
  HostPart& part = found->second;
  const program::PartPlan& plan = *part.launch->plan;
  if (item.kind == Item::Kind::kVanish) {
    part.vanished.insert(device);
    if (!part.state.fencing) part.begun.erase(device);
    for (std::size_t i = 0; i < plan.outputs.size(); ++i)
      if (const auto array = arrays_.find(part.launch->outputs[i]);
          array != arrays_.end() && plan.outputs[i].gang >= part.state.gangs_placed)
        array->second.present.erase(device);
    return;
  }
  part.begun.insert(device);
  for (std::uint32_t i = 0; i < plan.outputs.size(); ++i) {
    const bool is_donated = std::any_of(plan.args.begin(), plan.args.end(),
                                        [i](const auto& arg) { return arg.donated_to == i; });
    const bool vanishes = part.state.cancelled && plan.outputs[i].gang >= part.state.gangs_placed;
    if (!is_donated && !vanishes) arrays_[part.launch->outputs[i]].present.insert(device);
  }
  for (const ArrayId id : part.launch->args) {
    const auto array = arrays_.find(id);
    if (part.state.cancelled || array == arrays_.end()) continue;
    ArrayState& state = array->second.state;
    if (state.place != Place::kUploadRoom && state.place != Place::kSpillRoom) continue;
    array->second.present.insert(device);
    if (array->second.present.size() < state.devices.size()) continue;
    state.spill_copy = state.place == Place::kSpillRoom;
    state.place = Place::kDevices;
    array->second.unsure_copy |= array->second.behind;  // Of a load that was given up before.
    array->second.behind = false;
  }
}

bool RestoreWorld::can_start(const HostPart& part, std::uint32_t gang) const {
  for (const DeviceId device : devices_of(part, gang)) {
    const auto& stream = streams_[device];
    if (stream.empty() || stream.front().kind != Item::Kind::kGang ||
        stream.front().id != part.state.stamp || stream.front().gang != gang)
      return false;
  }
  if (part.started[gang] || part.state.cancelled) return !part.started[gang];
  const program::PartPlan& plan = *part.launch->plan;
  for (const program::Receive& receive : plan.receives) {
    const auto& operands = plan.gangs[gang].operands;
    const bool reads = std::find(operands.begin(), operands.end(), receive.value) != operands.end();
    const auto& here = part.state.values_here;
    if (reads && std::find(here.begin(), here.end(), receive.edge) == here.end()) return false;
  }
  return true;
}

void RestoreWorld::start(HostPart& part, std::uint32_t gang) {
  part.started[gang] = true;
  const program::PartPlan& plan = *part.launch->plan;
  for (std::size_t i = 0; i < plan.args.size(); ++i) {
    const ArrayId id = part.launch->args[i];
    const auto& operands = plan.gangs[gang].operands;
    if (std::find(operands.begin(), operands.end(), plan.args[i].value) == operands.end()) continue;
    const auto found = arrays_.find(id);
    if (found == arrays_.end()) return fail("array " + std::to_string(id) + " is gone too early");
    HostArray& array = found->second;
    part.failed |= array.state.poison;
    const bool is_here =
        array.present.size() == array.state.devices.size() && array.state.place == Place::kDevices;
    if (!is_here && !part.failed && !part.state.cancelled)
      return fail("array " + std::to_string(id) + " is read where it is not");
    const std::uint32_t to = plan.args[i].donated_to;
    if (to == program::kNone || plan.outputs[to].gang != gang) continue;
    HostArray& taker = arrays_[part.launch->outputs[to]];
    taker.behind = array.behind || array.state.spill_copy || array.unsure_copy || !is_here;
    taker.present = is_here ? array.present : std::set<DeviceId>();
    taker.state.place = is_here ? Place::kDevices : Place::kNowhere;
    taker.state.poison = !is_here;
    arrays_.erase(found);
  }
}

void RestoreWorld::finish(HostPart& part, std::uint32_t gang) {
  const program::PartPlan& plan = *part.launch->plan;
  for (const DeviceId device : devices_of(part, gang)) streams_[device].pop_front();
  part.done[gang] = true;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    if (plan.outputs[i].gang != gang) continue;
    const auto found = arrays_.find(part.launch->outputs[i]);
    if (found == arrays_.end()) {
      fail("an output is gone before it is made");
      continue;
    }
    HostArray& array = found->second;
    if (array.state.poison) continue;  // Made in the buffer of poison.
    array.behind = false;
    array.state.place = Place::kDevices;
    array.state.poison = part.failed || part.state.cancelled;
    if (!array.state.poison || poison_keeps_room_) continue;
    array.state.place = Place::kNowhere;
    array.present.clear();
    array.behind = true;
  }
  from_host_.push_back({Word::Kind::kDone, part.state.stamp, gang});
  end_if_over(part.state.stamp);
  settle_streams();
}

bool RestoreWorld::uses(const HostPart& part, ArrayId array) const {
  if (!part.state.admitted) return false;
  const program::PartPlan& plan = *part.launch->plan;
  for (std::size_t i = 0; i < plan.args.size(); ++i) {
    if (part.launch->args[i] != array) continue;
    if (!part.done[plan.args[i].last_gang]) return true;
    for (const program::Send& send : plan.sends)
      if (send.value == plan.args[i].value && !part.state.moved &&
          (!part.state.cancelled || part.state.fencing) &&
          std::count(part.state.sends_closed.begin(), part.state.sends_closed.end(), send.edge) ==
              0)
        return true;
  }
  return false;
}

/// A copy in spill room is kept while gangs read the array that was loaded from it.
void RestoreWorld::give_back_copies() {
  for (auto& [id, array] : arrays_) {
    if (!array.state.spill_copy) continue;
    bool is_used = false;
    for (const auto& [stamp, part] : parts_) is_used |= uses(part, id);
    if (is_used && array.state.place == Place::kDevices) continue;
    array.state.spill_copy = false;
    array.unsure_copy = true;
  }
}

void RestoreWorld::end_if_over(Stamp stamp) {
  const HostPart& part = parts_.at(stamp);
  const auto done =
      static_cast<std::uint32_t>(std::count(part.done.begin(), part.done.end(), true));
  if (part.state.fencing || done != part.state.gangs_placed) return;
  if (!part.state.cancelled && done != part.done.size()) return;
  const program::PartPlan& plan = *part.launch->plan;
  if (!part.state.cancelled && part.state.sends_closed.size() != plan.sends.size()) return;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i)
    if (const auto array = arrays_.find(part.launch->outputs[i]);
        array != arrays_.end() && plan.outputs[i].gang >= part.state.gangs_placed)
      array->second.present.clear();
  parts_.erase(stamp);
}

std::uint64_t RestoreWorld::block_bytes(const HostPart& part) const {
  const program::PartPlan& plan = *part.launch->plan;
  const auto executed = static_cast<std::uint32_t>(
      std::find(part.done.begin(), part.done.end(), false) - part.done.begin());
  std::uint64_t bytes = 0, hold = 0;
  for (const program::BlockStep& step : plan.blocks[0].steps)
    if (step.gang <= executed) bytes = step.bytes;
  std::size_t open = 0;
  for (const program::Send& send : plan.sends) {
    const program::Value& value = plan.values[send.value];
    if (value.place != program::Value::Place::kBlock) continue;
    hold = std::max(hold, value.offset + value.shard_bytes);
    open +=
        std::count(part.state.sends_closed.begin(), part.state.sends_closed.end(), send.edge) == 0;
  }
  return open > 0 && !part.state.moved ? std::max(bytes, hold) : bytes;
}

const std::vector<DeviceId>& RestoreWorld::devices_of(const HostPart& part,
                                                      std::uint32_t gang) const {
  const program::PartPlan& plan = *part.launch->plan;
  return plan.groups[plan.gangs[gang].group].devices;
}

void RestoreWorld::check_memory() {
  for (DeviceId device = 0; device < options_.devices; ++device) {
    std::uint64_t bytes = 0;
    for (const auto& [stamp, part] : parts_)
      if (part.begun.contains(device)) bytes += block_bytes(part);
    for (const auto& [id, array] : arrays_)
      if (array.present.contains(device)) bytes += array.state.bytes_per_device;
    if (bytes > options_.memory_bytes)
      fail("device " + std::to_string(device) + " holds " + std::to_string(bytes) + " of " +
           std::to_string(options_.memory_bytes) + " bytes");
  }
}

void RestoreWorld::host_steps(std::vector<Step>& out, std::vector<Step>& late) const {
  for (const auto& [stamp, part] : parts_) {
    const program::PartPlan& plan = *part.launch->plan;
    for (std::uint32_t gang = 0; gang < part.state.gangs_placed; ++gang) {
      if (part.done[gang]) continue;
      if (part.started[gang]) out.push_back({Step::Kind::kFinish, stamp, gang});
      if (can_start(part, gang)) out.push_back({Step::Kind::kStart, stamp, gang});
    }
    for (const program::Receive& receive : plan.receives) {
      const auto& here = part.state.values_here;
      if (!part.state.cancelled && part.begun.size() == plan.groups[0].devices.size() &&
          said_.contains({stamp, receive.edge}) &&
          std::count(here.begin(), here.end(), receive.edge) == 0)
        out.push_back({Step::Kind::kValue, stamp, receive.edge});
    }
    for (const program::Send& send : plan.sends) {
      const auto& closed = part.state.sends_closed;
      if (part.done[send.gang] && std::count(closed.begin(), closed.end(), send.edge) == 0 &&
          (!part.state.cancelled || part.state.fencing))
        late.push_back({Step::Kind::kClose, stamp, send.edge});
    }
    if (part.state.moving && !part.state.moved) out.push_back({Step::Kind::kMove, stamp});
    if (part.state.fencing) out.push_back({Step::Kind::kFence, stamp});
  }
  for (const auto& [id, array] : arrays_)
    if (array.state.place == Place::kSpilling) out.push_back({Step::Kind::kSpill, id});
}

}  // namespace seaway::island
