// Migration: the arrays of a slice follow it to its new devices, as ordinary runs of copies.

#include "base/check.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

namespace {

using program::Block;
using program::DeviceGroup;
using program::Gang;
using program::PartPlan;
using program::Value;

Value make_value(Value::Place place, const ArraySpec& spec, std::uint32_t group) {
  Value value;
  value.place = place;
  value.group = group;
  value.type = spec.type;
  value.spec = spec.sharding.spec();
  value.shard_bytes = (spec.sharding.shard_type(spec.type).bytes() + 63) / 64 * 64;
  return value;
}

Gang make_copy_gang(std::uint32_t position, std::uint32_t source_group, std::uint32_t group) {
  Gang gang;
  gang.kind = Gang::Kind::kReshard;
  gang.position = position;
  gang.node = program::kNone;
  gang.source_group = source_group;
  gang.group = group;
  gang.operands = {0};
  gang.results = {1};
  gang.cost_ns = 1000;
  return gang;
}

/// One part if both bindings are on one island, else a sending and a receiving one.
std::vector<PartPlan> copy_parts(const ArraySpec& spec, const program::Binding& slice,
                                 const program::Binding& to_slice) {
  const program::Binding source = program::part_of(slice, spec.sharding.mesh());
  const program::Binding target = program::part_of(to_slice, spec.sharding.mesh());
  const DeviceGroup from{source.devices, spec.sharding.mesh().axes()};
  const DeviceGroup to{target.devices, spec.sharding.mesh().axes()};
  program::Arg arg;
  program::Output output;
  output.value = 1;
  if (source.island == target.island) {
    PartPlan part;
    part.island = source.island;
    part.groups = {from, to};
    part.values = {make_value(Value::Place::kArg, spec, 0),
                   make_value(Value::Place::kOutput, spec, 1)};
    part.gangs = {make_copy_gang(0, 0, 1)};
    part.args = {arg};
    part.outputs = {output};
    return {part};
  }
  PartPlan sender;
  sender.island = source.island;
  sender.groups = {from};
  sender.values = {make_value(Value::Place::kArg, spec, 0)};
  Gang gang;
  gang.kind = Gang::Kind::kSend;
  gang.node = program::kNone;
  gang.operands = {0};
  sender.gangs = {gang};
  sender.args = {arg};
  program::Send send;
  send.peer = target.island;
  send.target_group = to;
  send.target_spec = spec.sharding.spec();
  sender.sends = {send};
  sender.send_bytes = sender.values[0].shard_bytes * from.devices.size();
  PartPlan receiver;
  receiver.island = target.island;
  receiver.groups = {to};
  receiver.values = {make_value(Value::Place::kBlock, spec, 0),
                     make_value(Value::Place::kOutput, spec, 0)};
  receiver.gangs = {make_copy_gang(1, 0, 0)};
  receiver.outputs = {output};
  program::Receive receive;
  receive.peer = source.island;
  receive.source_group = from;
  receive.source_spec = spec.sharding.spec();
  receiver.receives = {receive};
  Block block;
  block.steps = {{0, receiver.values[0].shard_bytes}, {1, 0}};
  receiver.blocks = {block};
  return {sender, receiver};
}

}  // namespace

std::size_t ControllerCore::moves_unfinished() const {
  std::size_t moves = 0;
  for (const auto& [id, slice] : slices_) moves += slice->moves_in_flight;
  return moves;
}

/// A donated one moves too: the run that takes it has not begun, or it would hold the slice.
bool ControllerCore::can_move(const Array& array) {
  return array.state == Array::State::kReady && !array.is_freed && !array.is_taken;
}

std::uint64_t ControllerCore::bytes_to_move(const Slice& slice) {
  std::uint64_t bytes = 0;
  for (const ArrayId id : arrays_on(slice.id)) {
    const Array& array = *find_array(id);
    if (can_move(array)) bytes += array.kept_bytes;
  }
  return bytes;
}

/// While it moves to another island an array is kept there and where it was. False, and it is lost,
/// when there is no room for it.
bool ControllerCore::keep_at(const program::Binding& target, ArrayId id, Array& array) {
  if (target.island == array.island) return true;
  Client& client = owner(id);
  if (has_room(client, target.island, array.kept_bytes)) {
    keep(client, target.island, array.kept_bytes);
    return true;
  }
  array.is_freed = true;
  outbox_.islands[array.island].frees.push_back(array.physical);
  array.state = Array::State::kFailed;
  array.failure = new Status(
      input_lost("array " + std::to_string(sequence_of(id)) +
                 " cannot move off lost devices: it needs " + std::to_string(array.kept_bytes) +
                 " bytes, and " + quota_text(*client.tenant, target.island) +
                 "; drop handles of arrays there, or raise host_memory, and make it again"));
  return false;
}

void ControllerCore::migrate(Slice& slice, const program::Binding& target) {
  for (const ArrayId id : arrays_on(slice.id)) {
    Array& array = *find_array(id);
    if (!can_move(array) || !keep_at(target, id, array)) continue;
    auto program = std::make_unique<Program>();
    program->graph.name = "move of array " + std::to_string(sequence_of(id));
    program::Segment segment;
    segment.parts = copy_parts(*array.spec, slice.binding, target);
    segment.args = {{program::SegmentArray::Kind::kProgram, 0, *array.spec, false}};
    segment.outputs = {{program::SegmentArray::Kind::kProgram, 0, *array.spec, false}};
    program::LoweredProgram lowered;
    lowered.segments.push_back(std::move(segment));
    install(*program,
            make_plans(std::move(lowered), program->graph, *last_plan_, options_.plan_bytes_max));
    Run& run = *new_run();
    run.id = 0;
    run.client = nullptr;
    run.program = program.get();
    run.args = {{id, &array}};
    run.first_output = ++last_internal_array_;
    run.migration = &slice;
    ++array.references;
    migrations_[run.first_output] = std::move(program);
    ++slice.moves_in_flight;
    run.cost_ns = 0;
    count_in_windows(run);
    ++runs_unfinished_;
    launch_segment(run);
  }
}

void ControllerCore::finish_migration(Run& run) {
  Slice& slice = *run.migration;
  const ArrayId id = run.args[0].id;
  Array& array = *run.args[0].array;
  if (!array.is_freed) outbox_.islands[array.island].frees.push_back(array.physical);
  SEAWAY_PROBE_IF(array.island != slice.target.island, "an array has moved to another island");
  if (array.island != slice.target.island) {
    const IslandId left = run.failure.ok() ? array.island : slice.target.island;
    give_back(owner(id), left, array.kept_bytes);
  }
  SEAWAY_PROBE_IF(array.is_freed, "an array is let go while it moves");
  if (run.failure.ok()) {
    array.is_freed = false;  // If its handle went meanwhile, it was freed where it was before.
    array.physical = run.first_output;
    array.island = static_cast<std::uint16_t>(slice.target.island);
  } else {
    array.state = Array::State::kFailed;
    SEAWAY_PROBE("a move fails");
    delete array.failure;  // It may have been lost where it came from, too.
    outbox_.islands[slice.target.island].frees.push_back(run.first_output);
    // Down a chain the root cause is passed on as it is.
    array.failure = run.failure.code() == StatusCode::kInputLost
                        ? new Status(run.failure)
                        : new Status(input_lost("the move to other devices failed: " +
                                                run.failure.to_string()));
  }
  leave_windows(run);
  forget_plans(*run.program);
  migrations_.erase(run.first_output);
  --slice.moves_in_flight;
  --runs_unfinished_;
  recycle(run);
  if (slice.moves_in_flight == 0) end_rebind(slice, {});
  drop_reference(id, array);
}

}  // namespace seaway::controller
