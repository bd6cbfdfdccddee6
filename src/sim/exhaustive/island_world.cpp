// The model of hosts and transfers around the real cores.

#include "sim/exhaustive/island_world.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "island/part_profile.hpp"

namespace seaway::exhaustive {

using island::Action;
using island::Choice;

namespace {

std::uint64_t block_bytes(const program::PartPlan& plan, std::uint32_t gang, bool held) {
  std::uint64_t bytes = 0, hold = 0;
  for (const program::BlockStep& step : plan.blocks[0].steps)
    if (step.gang <= gang) bytes = step.bytes;
  for (const program::Send& send : plan.sends)
    hold = std::max(hold, plan.values[send.value].offset + plan.values[send.value].shard_bytes);
  return held ? std::max(bytes, hold) : bytes;
}

/// The argument whose buffer `array` gets; 0: it has one of its own.
ArrayId donor_of(const IslandSpec& spec, const IslandSpec::Array& array) {
  if (array.run == kRuns) return 0;
  const IslandSpec::PartSpec& part = spec.parts[array.run][array.island];
  for (std::size_t i = 0; i < part.plan->args.size(); ++i) {
    const std::uint32_t output = part.plan->args[i].donated_to;
    if (output != program::kNone && part.outputs[output] == array.id) return part.args[i];
  }
  return 0;
}

}  // namespace

IslandWorld::IslandWorld(const IslandSpec& spec) : spec_(&spec) {
  for (std::uint32_t island = 0; island < kIslands; ++island)
    islands_.push_back({SchedulerCore(spec.options[island]), {}, {}, 0});
  for (std::uint32_t i = 0; i < spec.arrays.size(); ++i) {
    if (spec.arrays[i].run != kRuns) continue;
    in_host_ |= bit(i);
    known_ |= bit(i);
    islands_[spec.arrays[i].island].core.put(spec.arrays[i].id, spec.arrays[i].devices,
                                             spec.arrays[i].bytes);
  }
}

// ---- Memory, counted from what lies there and not from what the core believes
// --------------------

std::uint64_t IslandWorld::in_use(std::uint32_t island, DeviceId device) const {
  std::uint64_t bytes = 0;
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    const PartState& part = islands_[island].parts[run];
    if (has(part.begun, device))
      bytes += block_bytes(*part_spec(run, island).plan, part.executed, part.held);
  }
  for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
    if (spec_->arrays[i].island == island && has(present_[device], i))
      bytes += spec_->arrays[i].bytes;
  for (std::uint32_t e = 0; e < spec_->edges.size(); ++e) {
    const IslandSpec::Edge& edge = spec_->edges[e];
    const PartState& part = islands_[island].parts[edge.run];
    if (edge.source_island == island || !has(transferred_, e) || part.finished) continue;
    const auto& devices = part_spec(edge.run, island).plan->groups[0].devices;
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) continue;
    if (spec_->weakening == HostWeakening::kRoomWithoutOwner) bytes += edge.bytes;
    if (spec_->weakening == HostWeakening::kReceiveBeforeRoom && !has(part.begun, device))
      bytes += edge.bytes;
  }
  return bytes;
}

void IslandWorld::check_memory(std::uint32_t island) {
  for (DeviceId device = 0; device < kDevices; ++device)
    if (in_use(island, device) > spec_->options[island].memory_bytes && violation_.empty())
      violation_ = "island " + std::to_string(island) + " device " + std::to_string(device) +
                   " holds " + std::to_string(in_use(island, device)) + " of " +
                   std::to_string(spec_->options[island].memory_bytes) + " bytes";
}

// ---- What the core orders -----------------------------------------------------------------------

void IslandWorld::drain(std::uint32_t at) {
  Island& island = islands_[at];
  std::vector<Action> actions;
  actions.swap(island.core.actions());
  for (const Action& action : actions) {
    const std::uint32_t run = action.stamp == 0 ? 0 : static_cast<std::uint32_t>(action.stamp - 1);
    PartState& part = island.parts[run];
    const auto append = [&](const std::vector<DeviceId>& devices, const Item& item) {
      for (DeviceId device : devices) island.streams[device].push_back(item);
    };
    std::uint32_t array = 0;
    while (action.array != 0 && spec_->arrays[array].id != action.array) ++array;
    switch (action.kind) {
      case Action::Kind::kAdmit:
        part.admitted = true;
        part.overtakes = action.overtakes;
        part.beside = action.beside;
        for (ArrayId id : part_spec(run, at).args)
          for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
            if (spec_->arrays[i].id == id && has(in_host_, i)) part.loads |= bit(i);
        in_host_ &= ~part.loads;
        append(part_spec(run, at).plan->groups[0].devices, {Item::Kind::kAdmit, run, 0});
        break;
      case Action::Kind::kPlace:
        for (std::uint32_t gang = action.first; gang < action.last; ++gang) {
          if (gang != part.placed++) violation_ = "gang placed twice or out of order";
          append(part_spec(run, at).plan->groups[0].devices, {Item::Kind::kGang, run, gang});
        }
        break;
      case Action::Kind::kFree:
        if (!has(known_, array)) break;
        freeing_ |= bit(array);
        append(spec_->arrays[array].devices, {Item::Kind::kFree, array, 0});
        break;
      case Action::Kind::kSpill:
        spill_pending_ |= bit(array);
        break;
      case Action::Kind::kMoveSends:
        moves_pending_[at] |= bit(run);
        break;
      case Action::Kind::kCancel:
        part.cancelled = true;
        for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
          if (spec_->arrays[i].island == at && spec_->arrays[i].run == run &&
              spec_->arrays[i].gang >= part.placed)
            is_poison_ |= bit(i);
        if (part.admitted)
          append(part_spec(run, at).plan->groups[0].devices, {Item::Kind::kVanish, run, 0});
        break;
      case Action::Kind::kExists:
        for (std::uint32_t e = 0; e < spec_->edges.size(); ++e)
          if (spec_->edges[e].run == run && spec_->edges[e].number == action.edge)
            exists_pending_ |= bit(e);
        break;
      case Action::Kind::kFinished:
        part.finished = true;
        break;
    }
  }
  settle(at);
  check_memory(at);
}

/// Passes everything in the streams that is no gang.
void IslandWorld::settle(std::uint32_t at) {
  for (DeviceId device = 0; device < kDevices; ++device) {
    auto& stream = islands_[at].streams[device];
    while (!stream.empty() && stream.front().kind != Item::Kind::kGang &&
           pass(at, device, stream.front())) {
      const Item item = stream.front();
      stream.erase(stream.begin());
      if (item.kind == Item::Kind::kFree) forget_if_freed(item.run);
    }
  }
}

/// Its host has no record of an array any more that is freed on all its devices.
void IslandWorld::forget_if_freed(std::uint32_t array) {
  for (const auto& stream : islands_[spec_->arrays[array].island].streams)
    for (const Item& item : stream)
      if (item.kind == Item::Kind::kFree && item.run == array) return;
  known_ &= ~bit(array);
  freeing_ &= ~bit(array);
}

bool IslandWorld::pass(std::uint32_t at, DeviceId device, const Item& item) {
  if (item.kind == Item::Kind::kFree) {
    for (DeviceId other = 0; other < kDevices; ++other)
      if (other == device || spec_->weakening == HostWeakening::kFreedAsAWhole)
        present_[other] &= ~bit(item.run);
    return true;
  }
  PartState& part = islands_[at].parts[item.run];
  const std::uint32_t begun_before = part.begun, present_before = present_[device];
  if (item.kind == Item::Kind::kAdmit) {
    part.begun |= bit(device);
    // Outputs have their room from here on.
    const bool outputs = spec_->options[at].weakening != Weakening::kGangByGang;
    for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
      if (has(part.loads, i) ||
          (outputs && spec_->arrays[i].island == at && spec_->arrays[i].run == item.run &&
           donor_of(*spec_, spec_->arrays[i]) == 0))
        present_[device] |= bit(i);
    if (spec_->weakening == HostWeakening::kRoomWithoutOwner &&
        in_use(at, device) > spec_->options[at].memory_bytes) {
      part.begun = begun_before;
      present_[device] = present_before;
      return false;  // Somebody's receive lies in its room: it waits.
    }
    return true;
  }
  part.begun &= ~bit(device);
  for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
    if (spec_->arrays[i].island == at && spec_->arrays[i].run == item.run &&
        spec_->arrays[i].gang >= part.placed)
      present_[device] &= ~bit(i);
  return true;
}

// ---- Steps --------------------------------------------------------------------------------------

bool IslandWorld::can_run(std::uint32_t at, std::uint32_t& run, DeviceId device) const {
  const Island& island = islands_[at];
  if (island.streams[device].empty()) return false;
  const Item& item = island.streams[device].front();
  if (item.kind != Item::Kind::kGang) return false;
  run = item.run;
  const program::PartPlan& plan = *part_spec(run, at).plan;
  if (plan.groups[0].devices.front() != device) return false;  // Counted once.
  for (DeviceId other : plan.groups[0].devices) {
    const auto& stream = island.streams[other];
    if (stream.empty() || stream.front().kind != Item::Kind::kGang || stream.front().run != run ||
        stream.front().gang != item.gang)
      return false;
  }
  if (island.parts[run].cancelled || is_failing(at, run)) return true;  // A no-op.
  for (const program::Receive& receive : plan.receives) {
    if (receive.first_gang != item.gang) continue;
    for (std::uint32_t e = 0; e < spec_->edges.size(); ++e)
      if (spec_->edges[e].run == run && spec_->edges[e].number == receive.edge &&
          !has(transferred_, e))
        return false;
  }
  if (spec_->late_upload == run)
    for (std::uint32_t other = 0; other < kRuns; ++other)
      for (std::uint32_t i = 0; i < kIslands; ++i)
        if (other != run && part_spec(other, i).plan && !islands_[i].parts[other].finished)
          return false;
  return true;
}

void IslandWorld::run_gang(std::uint32_t at, std::uint32_t run) {
  Island& island = islands_[at];
  PartState& part = island.parts[run];
  const program::PartPlan& plan = *part_spec(run, at).plan;
  const std::uint32_t gang = part.executed++;
  for (DeviceId device : plan.groups[0].devices) {
    auto& stream = island.streams[device];
    if (stream.front().gang != gang) violation_ = "gangs run out of order";
    stream.erase(stream.begin());
    for (std::size_t i = 0; i < plan.args.size(); ++i) {
      if (plan.args[i].last_gang != gang) continue;
      for (std::uint32_t a = 0; a < spec_->arrays.size(); ++a) {
        const IslandSpec::Array& array = spec_->arrays[a];
        if (array.id != part_spec(run, at).args[i]) continue;
        if (!has(present_[device], a) && !is_poison(array) && !part.cancelled &&
            !is_failing(at, run))
          violation_ = "run " + std::to_string(run) + " reads array " + std::to_string(array.id) +
                       ", which is not on device " + std::to_string(device);
      }
    }
  }
  if (part.cancelled)
    for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
      if (spec_->arrays[i].island == at && spec_->arrays[i].run == run &&
          spec_->arrays[i].gang == gang)
        is_poison_ |= bit(i);
  hand_over(at, run, gang);
  if (!part.cancelled)
    for (std::uint32_t e = 0; e < spec_->edges.size(); ++e)
      if (spec_->edges[e].run == run && spec_->edges[e].source_island == at &&
          spec_->edges[e].source_gang == gang)
        channel_.push_back(e);
  island.core.done(run + 1, gang, gang + 1);
}

/// What is made in the buffer of poison is poison too: it has no room.
bool IslandWorld::is_poison(const IslandSpec::Array& array) const {
  if (array.run == kRuns) return false;
  if (islands_[array.island].parts[array.run].cancelled) return true;
  const ArrayId donor = donor_of(*spec_, array);
  for (const IslandSpec::Array& other : spec_->arrays)
    if (other.id == donor) return is_poison(other);
  return false;
}

/// The buffers that `gang` overwrites change their names. A gang that does nothing, for its part is
/// cancelled, leaves poison: the buffer is nobody's then.
void IslandWorld::hand_over(std::uint32_t at, std::uint32_t run, std::uint32_t gang) {
  const IslandSpec::PartSpec& part = part_spec(run, at);
  const auto index_of = [this](ArrayId id) {
    std::uint32_t index = 0;
    while (spec_->arrays[index].id != id) ++index;
    return index;
  };
  for (std::size_t i = 0; i < part.plan->args.size(); ++i) {
    const program::Arg& arg = part.plan->args[i];
    if (arg.donated_to == program::kNone || part.plan->outputs[arg.donated_to].gang != gang)
      continue;
    const std::uint32_t from = index_of(part.args[i]);
    const std::uint32_t to = index_of(part.outputs[arg.donated_to]);
    known_ &= ~bit(from);
    if (has(is_poison_, from)) is_poison_ |= bit(to);
    for (std::uint32_t& present : present_) {
      if (!has(present, from)) continue;
      present &= ~bit(from);
      if (!islands_[at].parts[run].cancelled) present |= bit(to);
    }
  }
}

bool IslandWorld::can_transfer(std::uint32_t e) const {
  const IslandSpec::Edge& edge = spec_->edges[e];
  const std::uint32_t target = 1 - edge.source_island;
  const PartState& from = islands_[edge.source_island].parts[edge.run];
  const PartState& to = islands_[target].parts[edge.run];
  if (has(transferred_, e) || from.cancelled || to.cancelled) return false;
  if (from.executed <= edge.source_gang) return false;
  const auto& devices = part_spec(edge.run, target).plan->groups[0].devices;
  if (spec_->weakening == HostWeakening::kReceiveBeforeRoom) return to.admitted;
  for (DeviceId device : devices) {
    if (!has(to.begun, device)) return false;
    if (spec_->weakening == HostWeakening::kRoomWithoutOwner &&
        in_use(target, device) + edge.bytes > spec_->options[target].memory_bytes)
      return false;
  }
  if (spec_->weakening == HostWeakening::kFifoChannels) {
    for (std::uint32_t before : channel_) {
      if (before == e) break;
      if (spec_->edges[before].source_island == edge.source_island && !has(transferred_, before) &&
          !islands_[target].parts[spec_->edges[before].run].cancelled)
        return false;
    }
  }
  return true;
}

bool IslandWorld::may_launch(std::uint32_t at) const { return islands_[at].launched < kRuns; }

void IslandWorld::moves(std::vector<Move>& out) const {
  std::vector<Choice> choices;
  for (std::uint32_t at = 0; at < kIslands; ++at) {
    const Island& island = islands_[at];
    if (may_launch(at)) out.push_back({Move::Kind::kLaunch, at, island.launched, {}});
    choices.clear();
    island.core.choices(choices);
    for (const Choice& choice : choices) out.push_back({Move::Kind::kChoice, at, 0, choice});
    for (DeviceId device = 0; device < kDevices; ++device)
      if (std::uint32_t run = 0; can_run(at, run, device))
        out.push_back({Move::Kind::kRun, at, run, {}});
    for (std::uint32_t run = 0; run < kRuns; ++run) {
      if (has(moves_pending_[at], run)) out.push_back({Move::Kind::kMoved, at, run, {}});
      if (has(cancels_pending_[at], run) && run < island.launched)
        out.push_back({Move::Kind::kCancel, at, run, {}});
    }
  }
  for (std::uint32_t e = 0; e < spec_->edges.size(); ++e) {
    if (has(exists_pending_, e))
      out.push_back({Move::Kind::kExists, 1 - spec_->edges[e].source_island, e, {}});
    if (can_transfer(e))
      out.push_back({Move::Kind::kTransfer, spec_->edges[e].source_island, e, {}});
  }
  for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i) {
    const std::uint32_t at = spec_->arrays[i].island;
    if (has(spill_pending_, i)) out.push_back({Move::Kind::kSpilled, at, i, {}});
    if (spec_->arrays[i].dropped && !has(freed_, i) && islands_[at].launched == kRuns)
      out.push_back({Move::Kind::kFree, at, i, {}});
  }
  for (const Move& move : out) {
    if (!has(spec_->prompt, static_cast<std::uint32_t>(move.kind))) continue;
    const Move first = move;
    out.assign(1, first);
    break;
  }
  if (spec_->cancels < kRuns && !cancel_started_)
    out.push_back({Move::Kind::kStartCancel, 0, spec_->cancels, {}});
  for (std::uint32_t at = 0; at < kIslands && !is_done(); ++at) {
    if (schedulers_lost_ < spec_->schedulers_lost_max)
      out.push_back({Move::Kind::kLoseScheduler, at, 0, {}});
    for (DeviceId device = 0; device < kDevices; ++device)
      if (devices_lost_ < spec_->devices_lost_max && !has(lost_[at], device))
        out.push_back({Move::Kind::kLoseDevice, at, device, {}});
  }
}

void IslandWorld::take(const Move& move) {
  Island& island = islands_[move.island];
  switch (move.kind) {
    case Move::Kind::kLaunch: {
      const IslandSpec::PartSpec& part = part_spec(move.index, move.island);
      ++island.launched;
      if (!part.plan) {
        island.parts[move.index].finished = true;
        break;
      }
      PartState& state = island.parts[move.index];
      state.sends_left = static_cast<std::uint32_t>(part.plan->sends.size());
      state.held = state.sends_left > 0;
      for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
        if (spec_->arrays[i].island == move.island && spec_->arrays[i].run == move.index)
          known_ |= bit(i);
      const Status status = island.core.launch({.stamp = move.index + 1,
                                                .run = move.index + 1,
                                                .tenant = move.index,
                                                .plan = part.plan,
                                                .args = part.args,
                                                .outputs = part.outputs});
      if (!status.ok()) violation_ = status.to_string();
      break;
    }
    case Move::Kind::kChoice:
      island.core.apply(move.choice);
      break;
    case Move::Kind::kRun:
      run_gang(move.island, move.index);
      break;
    case Move::Kind::kExists:
      exists_pending_ &= ~bit(move.index);
      exists_heard_ |= bit(move.index);
      island.core.exists(spec_->edges[move.index].run + 1, spec_->edges[move.index].number);
      break;
    case Move::Kind::kTransfer: {
      const IslandSpec::Edge& edge = spec_->edges[move.index];
      transferred_ |= bit(move.index);
      PartState& from = island.parts[edge.run];
      if (--from.sends_left == 0) from.held = false;
      island.core.received(edge.run + 1, edge.number);
      check_memory(1 - move.island);
      break;
    }
    case Move::Kind::kSpilled: {
      spill_pending_ &= ~bit(move.index);
      in_host_ |= bit(move.index);
      was_spilled_ |= bit(move.index);
      for (auto& present : present_) present &= ~bit(move.index);
      // After a cancel its load may not have begun: then it does not begin any more.
      for (PartState& part : island.parts) part.loads &= ~bit(move.index);
      island.core.spilled(spec_->arrays[move.index].id);
      break;
    }
    case Move::Kind::kMoved:
      moves_pending_[move.island] &= ~bit(move.index);
      island.parts[move.index].held = false;
      island.parts[move.index].moved = true;
      island.core.moved(move.index + 1);
      break;
    case Move::Kind::kFree:
      freed_ |= bit(move.index);
      island.core.free(spec_->arrays[move.index].id);
      break;
    case Move::Kind::kStartCancel:
      cancel_started_ = true;
      for (std::uint32_t at = 0; at < kIslands; ++at)
        if (part_spec(move.index, at).plan) cancels_pending_[at] |= bit(move.index);
      return;
    case Move::Kind::kCancel:
      cancels_pending_[move.island] &= ~bit(move.index);
      island.core.cancel(move.index + 1);
      island.core.fenced(move.index + 1);
      break;
    case Move::Kind::kLoseScheduler:
      lose_scheduler(move.island);
      break;
    case Move::Kind::kLoseDevice:
      lose_device(move.island, static_cast<DeviceId>(move.index));
      return;
  }
  drain(move.island);
}

bool IslandWorld::is_done() const {
  for (std::uint32_t at = 0; at < kIslands; ++at)
    for (const PartState& part : islands_[at].parts)
      if (!part.finished) return false;
  return true;
}

std::uint64_t IslandWorld::hash() const {
  std::uint64_t hash = 1;
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  for (const Island& island : islands_) {
    add(island.core.hash());
    add(island.launched);
    for (const auto& stream : island.streams) {
      add(stream.size());
      for (const Item& item : stream)
        add(static_cast<std::uint64_t>(item.kind) | item.run << 4 | item.gang << 16);
    }
    for (const PartState& part : island.parts)
      add(part.admitted | part.held << 1 | part.cancelled << 2 | part.finished << 3 |
          part.begun << 4 | part.moved << 6 | part.overtakes << 7 | part.placed << 8 |
          part.executed << 16 | std::uint64_t{part.loads} << 32 | part.beside << 60);
  }
  add(transferred_ | std::uint64_t{exists_pending_} << 32);
  add(present_[0] | std::uint64_t{present_[1]} << 32);
  add(in_host_ | std::uint64_t{spill_pending_} << 32);
  add(freed_ | std::uint64_t{cancel_started_} << 32);
  for (std::size_t i = 0; i < kIslands; ++i)
    add(moves_pending_[i] | lost_[i] << 16 | std::uint64_t{cancels_pending_[i]} << 32);
  add(schedulers_lost_ | devices_lost_ << 16);
  if (spec_->schedulers_lost_max > schedulers_lost_) {  // Nobody else asks for these.
    add(known_ | std::uint64_t{was_spilled_} << 32);
    add(exists_heard_ | std::uint64_t{is_poison_} << 32);
    add(freeing_);
  }
  if (spec_->weakening == HostWeakening::kFifoChannels)
    for (std::uint32_t edge : channel_) add(edge);
  return hash;
}

std::string IslandWorld::to_string() const {
  std::string out;
  for (std::uint32_t at = 0; at < kIslands; ++at) {
    out += "island " + std::to_string(at) + ":\n" + islands_[at].core.to_string();
    for (DeviceId device = 0; device < kDevices; ++device)
      if (!islands_[at].streams[device].empty()) {
        const Item& item = islands_[at].streams[device].front();
        out += "stream " + std::to_string(device) + " is at part " + std::to_string(item.run + 1) +
               " gang " + std::to_string(item.gang) + "\n";
      }
  }
  return out;
}

Exploration explore(const IslandSpec& spec, std::uint64_t states_max) {
  return explore(IslandWorld(spec), Limits{states_max});
}

}  // namespace seaway::exhaustive
