// Liveness, donation and memory of one part.

#include "program/part_builder.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"
#include "program/memory_plan.hpp"

namespace seaway::program {
namespace {

constexpr std::uint64_t kAlignment = 64;

std::uint64_t align(std::uint64_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace

PartBuilder::PartBuilder(ProgramId program, IslandId island, LayoutTable& layouts)
    : layouts_(layouts) {
  plan_.program = program;
  plan_.island = island;
}

std::uint32_t PartBuilder::local_group(std::uint32_t group) {
  const auto next = static_cast<std::uint32_t>(plan_.groups.size());
  const auto [it, is_new] = local_groups_.try_emplace(group, next);
  if (is_new) plan_.groups.push_back(layouts_.group(group).devices);
  return it->second;
}

std::uint32_t PartBuilder::add_value(Value::Place place, const TensorType& type, Layout layout) {
  Value value;
  value.place = place;
  value.group = local_group(layout.group);
  value.type = type;
  value.spec = layouts_.spec(layout.spec);
  const Mesh mesh(0, plan_.groups[value.group].axes);
  value.shard_bytes = align(NamedSharding(mesh, value.spec).shard_type(type).bytes());
  plan_.values.push_back(std::move(value));
  states_.push_back({});
  states_.back().layout = layout;
  return static_cast<std::uint32_t>(plan_.values.size() - 1);
}

void PartBuilder::read(std::uint32_t value, std::uint32_t gang) {
  State& state = states_[value];
  state.last = gang;
  if (!state.is_read && state.receive != kNone) plan_.receives[state.receive].first_gang = gang;
  state.is_read = true;
}

std::uint32_t PartBuilder::add_gang(Gang gang, std::uint64_t scratch_bytes) {
  const auto index = static_cast<std::uint32_t>(plan_.gangs.size());
  gang.group = local_group(gang.group);
  if (gang.source_group != kNone) gang.source_group = local_group(gang.source_group);
  for (const std::uint32_t operand : gang.operands) read(operand, index);
  for (const std::uint32_t result : gang.results) {
    SEAWAY_CHECK(states_[result].maker == kNone, result);
    states_[result].maker = index;
    states_[result].last = index;
  }
  scratch_.push_back(align(scratch_bytes));
  plan_.gangs.push_back(std::move(gang));
  return index;
}

void PartBuilder::add_arg(std::uint32_t value, std::uint32_t parameter, bool is_donated) {
  plan_.values[value].index = static_cast<std::uint32_t>(plan_.args.size());
  Arg arg;
  arg.parameter = parameter;
  arg.value = value;
  arg.donated = is_donated;
  plan_.args.push_back(arg);
}

void PartBuilder::add_receive(std::uint32_t value, std::uint32_t edge, IslandId peer,
                              Layout source) {
  Receive receive;
  receive.edge = edge;
  receive.peer = peer;
  receive.value = value;
  receive.source_group = layouts_.group(source.group).devices;
  receive.source_spec = layouts_.spec(source.spec);
  states_[value].receive = static_cast<std::uint32_t>(plan_.receives.size());
  plan_.receives.push_back(std::move(receive));
}

void PartBuilder::add_send(std::uint32_t value, std::uint32_t edge, IslandId peer, Layout target) {
  SEAWAY_CHECK(is_announced(value), value);
  if (!states_[value].is_sent) {
    plan_.send_bytes +=
        plan_.values[value].shard_bytes * plan_.groups[plan_.values[value].group].devices.size();
  }
  states_[value].is_sent = true;
  Send send;
  send.edge = edge;
  send.peer = peer;
  send.value = value;
  send.gang = states_[value].maker;
  send.target_group = layouts_.group(target.group).devices;
  send.target_spec = layouts_.spec(target.spec);
  plan_.sends.push_back(std::move(send));
}

void PartBuilder::announce_arg(std::uint32_t value, std::uint32_t position) {
  Gang gang;
  gang.kind = Gang::Kind::kSend;
  gang.position = position;
  gang.node = kNone;
  gang.group = states_[value].layout.group;
  gang.operands = {value};
  states_[value].maker = add_gang(std::move(gang), 0);
}

void PartBuilder::set_output(std::uint32_t value, std::uint32_t output) {
  SEAWAY_CHECK(plan_.values[value].place == Value::Place::kBlock, value);
  plan_.values[value].place = Value::Place::kOutput;
  plan_.values[value].index = static_cast<std::uint32_t>(plan_.outputs.size());
  plan_.outputs.push_back({.output = output, .value = value, .gang = states_[value].maker});
}

PartPlan PartBuilder::finish(const std::map<FunctionId, FunctionInfo>& functions) {
  for (Arg& arg : plan_.args) arg.last_gang = states_[arg.value].last;
  std::vector<std::uint32_t> arg_of_value(plan_.values.size(), kNone);
  std::vector<bool> is_taken(plan_.outputs.size(), false);
  donate_in_place(functions, arg_of_value, is_taken);
  donate_to_later(is_taken);
  plan_blocks();
  std::stable_sort(plan_.receives.begin(), plan_.receives.end(),
                   [](const Receive& a, const Receive& b) { return a.first_gang < b.first_gang; });
  std::stable_sort(plan_.sends.begin(), plan_.sends.end(),
                   [](const Send& a, const Send& b) { return a.gang < b.gang; });
  return std::move(plan_);
}

/// An output takes the room of an operand of its own gang only where the function allows it, and
/// where nothing else reads that operand then or later.
void PartBuilder::donate_in_place(const std::map<FunctionId, FunctionInfo>& functions,
                                  std::vector<std::uint32_t>& arg_of_value,
                                  std::vector<bool>& is_taken) {
  for (std::uint32_t i = 0; i < plan_.args.size(); ++i) arg_of_value[plan_.args[i].value] = i;
  for (std::uint32_t o = 0; o < plan_.outputs.size(); ++o) {
    const Output& output = plan_.outputs[o];
    const Gang& gang = plan_.gangs[output.gang];
    if (gang.kind != Gang::Kind::kCompute) continue;
    const auto result =
        std::find(gang.results.begin(), gang.results.end(), output.value) - gang.results.begin();
    for (const auto& [made, read] : functions.at(gang.function).in_place) {
      if (made != result || read >= gang.operands.size()) continue;
      const std::uint32_t operand = gang.operands[read];
      if (arg_of_value[operand] == kNone || states_[operand].is_sent) continue;
      if (std::count(gang.operands.begin(), gang.operands.end(), operand) != 1) continue;
      Arg& arg = plan_.args[arg_of_value[operand]];
      const Value &from = plan_.values[operand], &to = plan_.values[output.value];
      const bool fits = arg.donated && arg.donated_to == kNone && arg.last_gang == output.gang &&
                        from.group == to.group && from.shard_bytes == to.shard_bytes;
      if (!fits) continue;
      arg.donated_to = o;
      is_taken[o] = true;
      break;
    }
  }
}

/// An output that is made behind the last reader of a donated argument takes over its room. The
/// latest reader chooses first and takes the latest output: this matches as many as can be.
void PartBuilder::donate_to_later(std::vector<bool>& is_taken) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint32_t>> open;
  for (std::uint32_t o = 0; o < plan_.outputs.size(); ++o) {
    const Value& value = plan_.values[plan_.outputs[o].value];
    if (!is_taken[o]) open[{value.group, value.shard_bytes}].push_back(o);
  }
  for (auto& [key, outputs] : open) {
    std::stable_sort(outputs.begin(), outputs.end(), [this](std::uint32_t a, std::uint32_t b) {
      return plan_.outputs[a].gang < plan_.outputs[b].gang;
    });
  }
  std::vector<std::uint32_t> donors;
  for (std::uint32_t i = 0; i < plan_.args.size(); ++i) {
    const Arg& arg = plan_.args[i];
    // Sends read the argument at a time of their own, after the gang that makes it ready.
    if (!arg.donated || arg.donated_to != kNone || states_[arg.value].is_sent) continue;
    donors.push_back(i);
  }
  std::stable_sort(donors.begin(), donors.end(), [this](std::uint32_t a, std::uint32_t b) {
    return plan_.args[a].last_gang > plan_.args[b].last_gang;
  });
  for (const std::uint32_t donor : donors) {
    Arg& arg = plan_.args[donor];
    const Value& value = plan_.values[arg.value];
    const auto found = open.find({value.group, value.shard_bytes});
    if (found == open.end() || found->second.empty()) continue;
    if (plan_.outputs[found->second.back()].gang <= arg.last_gang) continue;
    arg.donated_to = found->second.back();
    found->second.pop_back();
  }
}

void PartBuilder::plan_blocks() {
  const auto gangs = static_cast<std::uint32_t>(plan_.gangs.size());
  struct Room {
    std::vector<LiveRange> ranges;
    std::vector<std::uint64_t*> offsets;  // Where the result of each range goes.
  };
  std::vector<Room> rooms(plan_.groups.size());
  for (std::uint32_t v = 0; v < plan_.values.size(); ++v) {
    Value& value = plan_.values[v];
    if (value.place != Value::Place::kBlock) continue;
    const State& state = states_[v];
    const std::uint32_t first = state.receive != kNone ? 0 : state.maker;
    // Nothing else is laid over a value that may still be on its way.
    const std::uint32_t last = state.is_sent ? gangs - 1 : state.last;
    rooms[value.group].ranges.push_back({first, last, value.shard_bytes, 0});
    rooms[value.group].offsets.push_back(&value.offset);
  }
  for (std::uint32_t g = 0; g < gangs; ++g) {
    if (scratch_[g] == 0) continue;
    rooms[plan_.gangs[g].group].ranges.push_back({g, g, scratch_[g], 0});
    rooms[plan_.gangs[g].group].offsets.push_back(&plan_.gangs[g].scratch_offset);
  }
  for (std::uint32_t group = 0; group < rooms.size(); ++group) {
    Room& room = rooms[group];
    std::vector<BlockStep> steps = plan_memory(room.ranges, gangs);
    if (steps.empty()) continue;
    for (std::size_t i = 0; i < room.ranges.size(); ++i) *room.offsets[i] = room.ranges[i].offset;
    plan_.blocks.push_back({group, steps_in_streams(group, steps)});
  }
}

/// Moves each step of a block up to the end of the last gang before it that its devices know of.
/// What is needed beyond that is only kept to be sent.
std::vector<BlockStep> PartBuilder::steps_in_streams(std::uint32_t group,
                                                     const std::vector<BlockStep>& steps) const {
  const auto gangs = static_cast<std::uint32_t>(plan_.gangs.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known;
  const auto runs_on = [&](const Gang& gang) {
    const auto [at, is_new] = known.try_emplace({gang.group, gang.source_group});
    if (is_new) at->second = plan_.runs_on(gang, group);
    return at->second;
  };
  std::vector<BlockStep> moved;
  std::uint32_t passed = 0, behind = 0;  // `behind`: one past the last gang that runs on `group`.
  for (const BlockStep& step : steps) {
    for (; passed < step.gang; ++passed) {
      if (runs_on(plan_.gangs[passed])) behind = passed + 1;
    }
    if (!moved.empty() && moved.back().gang == behind) moved.pop_back();
    moved.push_back({behind, step.bytes});
  }
  if (moved.back().gang != gangs) moved.push_back({gangs, 0});
  return moved;
}

std::uint64_t PartBuilder::peak_bytes(const PartPlan& plan) {
  std::vector<std::uint64_t> group_bytes(plan.groups.size(), 0);
  for (const Block& block : plan.blocks) group_bytes[block.group] += block.steps[0].bytes;
  std::vector<bool> is_in_donated_room(plan.outputs.size(), false);
  for (const Arg& arg : plan.args) {
    if (arg.donated_to != kNone) is_in_donated_room[arg.donated_to] = true;
  }
  for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
    const Value& value = plan.values[plan.outputs[o].value];
    if (!is_in_donated_room[o]) group_bytes[value.group] += value.shard_bytes;
  }
  std::map<DeviceId, std::uint64_t> device_bytes;
  std::uint64_t peak = 0;
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    for (const DeviceId device : plan.groups[group].devices) {
      peak = std::max(peak, device_bytes[device] += group_bytes[group]);
    }
  }
  return peak;
}

}  // namespace seaway::program
