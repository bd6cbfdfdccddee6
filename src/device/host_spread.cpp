// Gangs and values that are on several hosts: stages, exchanges, and copies from and to annexes.

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using function::Exchange;
using function::ShardedBuffer;
using function::ValuePlace;

ShardMemory HostCore::make_device_memory(const std::vector<DeviceId>& devices,
                                         std::uint64_t shard_bytes) {
  ShardMemory memory = make_memory(devices.size(), shard_bytes);
  memory.spread(annexes_.make(devices, shard_bytes));
  return memory;
}

void HostCore::bind(PartRun& part, std::uint32_t table, const ShardMemory& memory) const {
  part.tables[table] = memory.buffer();
  if (annexes_.any()) part.rooms[table] = memory.room();
}

/// Where annexes hold their shards of `value`; null: nothing of it is there.
const Room* HostCore::remote_room(const PartRun& part, std::uint32_t value) const {
  if (!annexes_.any() || part.plan->data_bytes[value] == 0) return nullptr;
  return part.rooms[part.plan->slots[value].table];
}

void HostCore::start_spread(std::uint64_t sequence) {
  SEAWAY_PROBE("a gang runs on several hosts");
  const GangWork work = spread_work(sequence);
  const std::span<const DeviceId> devices = work.devices();
  SpreadGang& spread = spread_[sequence];
  spread.begin_ns = clock_.now_ns();
  spread.operands.assign(work.operands.begin(), work.operands.end());
  spread.outputs.assign(work.outputs.begin(), work.outputs.end());
  spread.scratch = work.scratch;
  spread.shares = annexes_.shares_of({devices.begin(), devices.end()});
  spread.has_conflict =
      work.executable->has_conflict([&work](std::uint32_t output, std::uint32_t operand) {
        return work.outputs[output].base == work.operands[operand].base;
      });
  run_stage(sequence);
}

void HostCore::run_stage(std::uint64_t sequence) {
  SpreadGang& spread = spread_.at(sequence);
  const Entry& entry = entry_at(sequence);
  const function::Executable& executable = *entry.part->plan->gangs[entry.gang].executable;
  if (!spread.status.ok() || spread.stage == executable.stages(spread.has_conflict)) {
    const SpreadGang ended = std::move(spread);
    spread_.erase(sequence);
    return finish_async(sequence, ended.status, ended.begin_ns, clock_.now_ns());
  }
  const Exchange* const exchange = executable.exchange_at(spread.stage, spread.has_conflict);
  exchange ? run_exchange(sequence, *exchange) : run_on_all(sequence);
}

RunStage HostCore::order_of(const PartRun& part, std::uint32_t gang,
                            const SpreadGang& spread) const {
  const GangPlan& plan = part.plan->gangs[gang];
  const auto place = [&part](const ValueSlot& slot) {
    const Room* const room = part.rooms[slot.table];
    return room ? RoomPlace{room->id(), slot.offset} : RoomPlace();
  };
  RunStage run;
  run.function = part.plan->part->gangs[gang].function;
  run.stage = static_cast<std::uint32_t>(spread.stage);
  run.has_conflict = spread.has_conflict;
  run.shards.count = plan.shards;
  run.cost_ns = plan.cost_ns / plan.executable->stages(spread.has_conflict);
  for (const ValueSlot& slot : plan.operands) run.operands.push_back(place(slot));
  for (const ValueSlot& slot : plan.results) run.outputs.push_back(place(slot));
  if (plan.scratch_block != program::kNone) run.scratch = place(plan.scratch);
  return run;
}

void HostCore::run_on_all(std::uint64_t sequence) {
  SpreadGang& spread = spread_.at(sequence);
  const Entry& entry = entry_at(sequence);
  const RunStage run = order_of(*entry.part, entry.gang, spread);
  const auto end = [this, sequence](const Status& status) { end_stage(sequence, status); };
  spread.open = 2;
  annexes_.run(run, spread.shares, end);
  const HostShare own = spread.shares.front();
  if (own.host != 0) return end_stage(sequence, {});
  backend_.start_stage({.executable = entry.part->plan->gangs[entry.gang].executable,
                        .stage = spread.stage,
                        .has_conflict = spread.has_conflict,
                        .operands = spread.operands,
                        .outputs = spread.outputs,
                        .scratch = spread.scratch,
                        .shards = {own.begin, own.end, run.shards.count}},
                       run.cost_ns * (own.end - own.begin),
                       [end](const GangEnd& ended) { end(ended.status); });
}

void HostCore::end_stage(std::uint64_t sequence, const Status& status) {
  SpreadGang& spread = spread_.at(sequence);
  if (spread.status.ok()) spread.status = status;
  if (--spread.open > 0) return;
  ++spread.stage;
  run_stage(sequence);
}

/// The room of a value of a running gang, and how far into it.
std::pair<const Room*, std::uint64_t> HostCore::find_place(std::uint64_t sequence,
                                                           const ValuePlace& place) const {
  const Entry& entry = entry_at(sequence);
  const GangPlan& plan = entry.part->plan->gangs[entry.gang];
  if (place.table == ValuePlace::Table::kConstant) return {nullptr, 0};
  const ValueSlot slot = place.table == ValuePlace::Table::kOperand  ? plan.operands[place.index]
                         : place.table == ValuePlace::Table::kOutput ? plan.results[place.index]
                                                                     : plan.scratch;
  return {entry.part->rooms[slot.table], slot.offset + place.offset};
}

/// All that the shards of annexes give is brought here, and what they get is brought there: a star.
void HostCore::run_exchange(std::uint64_t sequence, const Exchange& exchange) {
  const SpreadGang& spread = spread_.at(sequence);
  const auto [room, offset] = find_place(sequence, exchange.in);
  if (!room || exchange.in_bytes == 0) return compute_exchange(sequence, exchange);
  ShardedBuffer in =
      exchange.in.table == ValuePlace::Table::kOperand  ? spread.operands[exchange.in.index]
      : exchange.in.table == ValuePlace::Table::kOutput ? spread.outputs[exchange.in.index]
                                                        : spread.scratch;
  in.base += exchange.in.offset;
  annexes_.read(*room, offset, exchange.in_bytes, in, [this, sequence, &exchange](const Status&) {
    compute_exchange(sequence, exchange);
  });
}

void HostCore::compute_exchange(std::uint64_t sequence, const Exchange& exchange) {
  SpreadGang& spread = spread_.at(sequence);
  const Entry& entry = entry_at(sequence);
  const GangPlan& plan = entry.part->plan->gangs[entry.gang];
  spread.open = 1;
  backend_.start_stage({.executable = plan.executable,
                        .stage = spread.stage,
                        .has_conflict = spread.has_conflict,
                        .operands = spread.operands,
                        .outputs = spread.outputs,
                        .scratch = spread.scratch,
                        .shards = {0, plan.shards, plan.shards}},
                       plan.cost_ns / plan.executable->stages(spread.has_conflict) * plan.shards,
                       [this, sequence, &exchange](const GangEnd& end) {
                         const SpreadGang& at = spread_.at(sequence);
                         const auto [room, offset] = find_place(sequence, exchange.out);
                         ShardedBuffer out = exchange.out.table == ValuePlace::Table::kOutput
                                                 ? at.outputs[exchange.out.index]
                                                 : at.scratch;
                         out.base += exchange.out.offset;
                         if (room) annexes_.write(*room, offset, exchange.out_bytes, out);
                         end_stage(sequence, end.status);
                       });
}

GangWork HostCore::spread_work(std::uint64_t sequence) {
  const Entry& entry = entry_at(sequence);
  return work_of(*entry.part, entry.gang);
}

/// Gives a copy of `bytes` bytes of each shard in host room: as they are now, whatever becomes of
/// their memory. `here`: where those of this host lie.
void HostCore::copy_out(const Room& room, std::uint64_t offset, ShardedBuffer here,
                        std::size_t shards, std::uint64_t bytes, TakeCopy take) {
  const auto copy = std::make_shared<ShardMemory>(make_memory(shards, (bytes + 63) / 64 * 64));
  const ShardedBuffer to = copy->buffer();
  const std::size_t away = room.shares().front().begin;  // Those of this host come first.
  for (std::size_t shard = 0; shard < away; ++shard) {
    std::memcpy(to.shard(shard), here.shard(shard), bytes);
  }
  annexes_.read(room, offset, bytes, to,
                [copy, take = std::move(take)](const Status&) { take(std::move(*copy)); });
}

void HostCore::copy_out(const ArrayRecord& record, TakeCopy take) {
  copy_out(*record.memory.room(), 0, record.memory.buffer(), record.desc->group.devices.size(),
           record.desc->data_bytes, std::move(take));
}

/// What was copied into the shards of a value is brought to those that annexes hold.
void HostCore::write_out(const PartRun& part, std::uint32_t value) {
  const Room* const room = remote_room(part, value);
  if (!room) return;
  const ValueSlot slot = part.plan->slots[value];
  annexes_.write(*room, slot.offset, part.plan->data_bytes[value], buffer_at(part, slot));
}

/// From host room, where all shards lie here, to devices.
void HostCore::load_spread(ArrayRecord& record) {
  const ArrayDesc& desc = *record.desc;
  if (!annexes_.has_some_of(desc.mask) || desc.data_bytes == 0) return;
  ShardMemory loaded = make_device_memory(desc.group.devices, desc.shard_bytes);
  const ShardedBuffer from = record.memory.buffer(), to = loaded.buffer();
  const std::size_t away = loaded.room()->shares().front().begin;
  for (std::size_t shard = 0; shard < away; ++shard) {
    std::memcpy(to.shard(shard), from.shard(shard), desc.data_bytes);
  }
  annexes_.write(*loaded.room(), 0, desc.data_bytes, from);
  record.memory = std::move(loaded);
}

/// Whether annexes hold a part of what is to be sent: then it is on its way here, and goes on, or
/// counts as moved, when it has come.
bool HostCore::read_send(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  if (state.is_read) return true;
  const std::uint32_t index = part.plan->part->sends[send].value;
  const Room* const room = remote_room(part, index);
  if (!room || state.moved.has_value()) return false;
  const program::Value& value = part.plan->part->values[index];
  const ValueSlot slot = part.plan->slots[index];
  state.is_read = true;
  copy_out(*room, slot.offset, buffer_at(part, slot),
           part.plan->part->groups[value.group].devices.size(), part.plan->data_bytes[index],
           [this, stamp = part.stamp, send](ShardMemory copy) {
             PartRun* const found = find(stamp);
             if (!found) return;
             SendState& sent = found->sends[send];
             sent.is_read = false;
             if (sent.state == SendState::State::kWaiting) sent.moved = std::move(copy);
             try_send(*found, send);
             report_moved(*found);
           });
  return true;
}

}  // namespace seaway::device
