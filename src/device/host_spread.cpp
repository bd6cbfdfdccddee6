// Gangs and values that are on several hosts: who runs what, and copies from and to annexes.

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using function::ShardedBuffer;

namespace {

bool has_exchange(const function::Executable& executable, bool has_conflict) {
  for (std::size_t stage = 0; stage < executable.stages(has_conflict); ++stage) {
    if (executable.exchange_at(stage, has_conflict)) return true;
  }
  return false;
}

}  // namespace

ShardMemory HostCore::make_device_memory(const std::vector<DeviceId>& devices,
                                         std::uint64_t shard_bytes, store::SlabOwner owner) {
  ShardMemory memory = make_memory(devices.size(), shard_bytes, owner);
  memory.spread(annexes_.make(devices, shard_bytes, owner));
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

/// On all its hosts at once, each of which runs its own shards to their end.
/// `ahead`: begins on each host when that one has ended there; null: at once.
SpreadGang& HostCore::start_spread(std::uint64_t sequence, std::uint32_t gang,
                                   const SpreadGang* ahead) {
  SEAWAY_PROBE("a gang runs on several hosts");
  PartRun& part = *entry_at(sequence).part;
  const GangPlan& plan = part.plan->gangs[gang];
  const GangWork work = work_of(part, gang);
  const std::span<const DeviceId> devices = work.devices();
  SpreadGang& spread = spread_[{sequence, gang}];
  spread.number = ++last_spread_;
  spread.is_behind = ahead != nullptr;
  spread.cost_ns = plan.cost_ns * plan.shards;
  const auto place = [&part](const ValueSlot& slot) {
    const Room* const room = part.rooms[slot.table];
    return room ? RoomPlace{room->id(), slot.offset} : RoomPlace();
  };
  RunGang run;
  run.gang = spread.number;
  run.behind = ahead ? ahead->number : 0;
  run.function = part.plan->part->gangs[gang].function;
  run.has_conflict =
      work.executable->has_conflict([&work](std::uint32_t output, std::uint32_t operand) {
        return work.outputs[output].base == work.operands[operand].base;
      });
  if (has_exchange(*work.executable, run.has_conflict)) spread.limit_ns = time_limit_ns(plan);
  run.hosts = annexes_.shares_of({devices.begin(), devices.end()});
  run.tenant = part.tenant;
  for (const ValueSlot& slot : plan.operands) run.operands.push_back(place(slot));
  for (const ValueSlot& slot : plan.results) run.outputs.push_back(place(slot));
  if (plan.scratch_block != program::kNone) run.scratch = place(plan.scratch);
  const auto end = [this, sequence, gang](const Status& status) {
    end_spread(sequence, gang, status);
  };
  const bool is_here = run.hosts.front().host == 0;
  spread.open = is_here ? 2 : 1;
  // What is offered to annexes may be read for a while when the gang has failed.
  using Kept = std::vector<std::shared_ptr<const void>>;
  GangStages::Work own{.gang = run.gang,
                       .behind = run.behind,
                       .executable = work.executable,
                       .has_conflict = run.has_conflict,
                       .operands = {work.operands.begin(), work.operands.end()},
                       .outputs = {work.outputs.begin(), work.outputs.end()},
                       .scratch = work.scratch,
                       .hosts = run.hosts,
                       .own = run.hosts.front(),
                       .tenant = part.tenant,
                       .owner = std::make_shared<Kept>(keep_work(part, gang))};
  annexes_.run(std::move(run), wanted_by(part, gang), end);
  if (is_here) stages_.start(std::move(own), end);
  return spread;
}

/// Of what `gang` makes, that which other islands get: it comes here with the gang's end, to where
/// it lies as a whole then, and nobody asks annexes for it once more.
std::vector<Annexes::Wanted> HostCore::wanted_by(const PartRun& part, std::uint32_t gang) const {
  std::vector<Annexes::Wanted> wanted;
  for (const std::uint32_t send : part.plan->gangs[gang].sends) {
    const std::uint32_t value = part.plan->part->sends[send].value;
    const Room* const room = remote_room(part, value);
    if (!room || part.sends[send].state != SendState::State::kWaiting) continue;
    const ValueSlot slot = part.plan->slots[value];
    wanted.push_back({room, slot.offset, part.plan->data_bytes[value], buffer_at(part, slot)});
  }
  return wanted;
}

void HostCore::end_spread(std::uint64_t sequence, std::uint32_t gang, const Status& status) {
  SpreadGang& spread = spread_.at({sequence, gang});
  if (spread.status.ok()) spread.status = status;
  if (--spread.open > 0) return;
  const SpreadGang ended = std::move(spread);
  spread_.erase({sequence, gang});
  // On each host they are over in their order.
  SEAWAY_CHECK(entry_at(sequence).gang == gang, sequence, gang);
  PartRun& part = *entry_at(sequence).part;
  for (const std::uint32_t send : part.plan->gangs[gang].sends) {
    part.sends[send].is_here = ended.status.ok();
  }
  if (ended.has_begun) {
    finish_async(sequence, ended.status, ended.begin_ns, clock_.now_ns());
  } else {
    // One ahead of it has failed: what it has worked with means nothing.
    begin_turn();
    events::Event event = gang_event(events::EventKind::kGangNoop, part, gang);
    event.place = part.plan->part->gangs[gang].group;
    event.code = part.failure.code();
    events_.record(event);
    complete(sequence, 0, 0, false);
  }
  begin_next(sequence);
  if (ended.follower) begin_follower(*ended.follower);
}

/// The first gang of an entry that is on several hosts goes on alone from here.
void HostCore::begin_next(std::uint64_t sequence) {
  const Entry& entry = entry_at(sequence);
  if (entry.state != Entry::State::kRunning || entry.part->has_failed()) return;
  const auto next = spread_.find({sequence, entry.gang});
  if (next == spread_.end()) return;
  next->second.has_begun = true;
  next->second.begin_ns = clock_.now_ns();
  if (next->second.is_behind && events_.enabled(events::EventKind::kGangStart)) {
    events::Event event = gang_event(events::EventKind::kGangStart, *entry.part, entry.gang);
    event.place = entry.part->plan->part->gangs[entry.gang].group;
    events_.record(event);
  }
  start_ahead(sequence);
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
  annexes_.read(room, offset, bytes, to, false,
                [copy, take = std::move(take)](const Status&) { take(std::move(*copy)); });
}

void HostCore::copy_out(const ArrayRecord& record, TakeCopy take) {
  copy_out(*record.memory.room(), 0, record.memory.buffer(), record.desc->group.devices.size(),
           record.desc->data_bytes, std::move(take));
}

/// What was copied into the shards of a value is brought to those that annexes hold.
void HostCore::write_out(PartRun& part, std::uint32_t value) {
  const Room* const room = remote_room(part, value);
  if (!room) return;
  const ValueSlot slot = part.plan->slots[value];
  // Nothing is written here, at shards of annexes, before a gang of theirs has read it there.
  const bool is_own = slot.table < part.blocks.size();
  annexes_.write(*room, slot.offset, part.plan->data_bytes[value], buffer_at(part, slot),
                 is_own ? part.blocks[slot.table].share() : nullptr);
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
  annexes_.write(*loaded.room(), 0, desc.data_bytes, from, record.memory.share());
  record.memory = std::move(loaded);
}

/// Whether annexes hold a part of what is to be sent: then it is on its way here, and goes on, or
/// counts as moved, when it has come.
bool HostCore::read_send(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  if (state.is_read) return true;
  if (state.is_here) return false;
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
