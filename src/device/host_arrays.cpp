// Arrays on a host: making, loading, spilling, poisoning, freeing, and reading them out.

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using events::EventKind;
using program::kNone;

/// Nothing of another owner's is there.
ShardMemory HostCore::make_memory(std::size_t shards, std::uint64_t shard_bytes,
                                  store::SlabOwner owner) {
  auto slab = slabs_.make(static_cast<std::uint32_t>(shards), shard_bytes, owner);
  // The budgets are within the machine's memory, so this is the machine failing, not a caller.
  SEAWAY_CHECK(slab.ok(), slab.status().to_string());
  return ShardMemory(std::move(slab).value());
}

void HostCore::charge(const std::vector<DeviceId>& devices, std::uint64_t bytes) {
  for (const DeviceId device : devices) {
    DeviceState& state = devices_[device];
    state.used_bytes += bytes;
    // The scheduler reserves what it lets be used.
    if (state.used_bytes > state.budget_bytes) {
      refuse_order("device " + std::to_string(device) + " has " +
                   std::to_string(state.budget_bytes) + " bytes, and " +
                   std::to_string(state.used_bytes) + " are used");
    }
    if (state.used_bytes > state.peak_bytes) state.peak_bytes = state.used_bytes;
    if (state.used_bytes > state.most_bytes) state.most_bytes = state.used_bytes;
  }
  is_room_changed_ = true;
}

void HostCore::uncharge(const std::vector<DeviceId>& devices, std::uint64_t bytes) {
  for (const DeviceId device : devices) {
    SEAWAY_CHECK(devices_[device].used_bytes >= bytes, options_.island, device, bytes);
    devices_[device].used_bytes -= bytes;
  }
  is_room_changed_ = true;
}

void HostCore::record_room() {
  if (!is_room_changed_ || !events_.enabled(EventKind::kRoom)) return;
  is_room_changed_ = false;
  events::Event event{.time_ns = clock_.now_ns(),
                      .island = static_cast<std::uint16_t>(options_.island),
                      .kind = EventKind::kRoom};
  for (DeviceState& state : devices_) {
    const std::uint64_t before = state.recorded_bytes;
    const std::uint64_t used = state.used_bytes, most = state.most_bytes;
    if (used != before || most > before) {
      state.recorded_bytes = state.most_bytes = used;
      event.object = std::max(most, before);
      event.value = used;
      events_.record(event);
    }
    ++event.place;
  }
}

void HostCore::put(ArrayId array, std::uint64_t spec, const std::vector<DeviceId>& devices) {
  auto& desc = upload_descs_[spec];
  if (!desc || desc->group.devices != devices) {
    const auto found = specs_.find(spec);
    const auto is_none = [this](DeviceId device) { return device >= options_.devices; };
    if (found == specs_.end() || std::ranges::any_of(devices, is_none) ||
        static_cast<std::int64_t>(devices.size()) != found->second.sharding.mesh().device_count()) {
      return refuse(
          actor::Role::kController, 0,
          "put of array " + std::to_string(array) + " as spec " + std::to_string(spec) + " on " +
              std::to_string(devices.size()) + " devices: " +
              (found == specs_.end() ? "the spec is not defined" : "its mesh has other devices"));
    }
    auto made = std::make_shared<ArrayDesc>();
    made->type = found->second.type;
    made->spec = found->second.sharding.spec();
    made->group = {devices, found->second.sharding.mesh().axes()};
    made->mask = mask_of(devices, options_.devices);
    made->data_bytes = found->second.sharding.shard_type(made->type).bytes();
    made->shard_bytes = (made->data_bytes + 63) / 64 * 64;
    desc = std::move(made);
  }
  ArrayRecord& record = arrays_[array];
  record.desc = desc;
  record.is_upload = true;
  auto payload = bulk_.take_upload(array);
  if (!payload && options_.is_process) {
    outbox_.pulls.push_back(array);
    return;
  }
  record.is_settled = true;
  record.state = ArrayRecord::State::kOnHost;
  if (!payload) {
    poison_array(array, cancelled("upload of array " + std::to_string(sequence_of(array)) +
                                  " was withdrawn"));
    return;
  }
  move_in(array, record, *std::move(payload));
}

Status HostCore::check_upload(ArrayId array, std::uint64_t bytes, std::uint64_t stride) const {
  const auto found = arrays_.find(array);
  if (found == arrays_.end() || !found->second.is_upload) return {};  // Nobody wants it any more.
  const ArrayDesc& desc = *found->second.desc;
  const std::uint64_t shards = desc.group.devices.size();
  // Kernels want each shard where its numbers are aligned.
  const bool is_apart =
      shards < 2 || (stride % 64 == 0 && stride >= desc.data_bytes && stride <= bytes);
  const std::uint64_t needed =
      is_apart ? (shards < 2 ? 0 : stride * (shards - 1)) + desc.data_bytes : 0;
  if (is_apart && needed <= bytes) return {};
  return protocol_error("array " + std::to_string(sequence_of(array)) + " of client " +
                        std::to_string(client_of(array)) + " has come as " + std::to_string(bytes) +
                        " bytes, each shard " + std::to_string(stride) +
                        " behind the last; it has " + std::to_string(shards) + " shards of " +
                        std::to_string(desc.data_bytes));
}

void HostCore::upload_arrived(ArrayId array) {
  auto payload = bulk_.take_upload(array);
  const auto found = arrays_.find(array);
  // It may have been freed meanwhile.
  if (!payload || found == arrays_.end() || !found->second.is_upload) return;
  if (found->second.state != ArrayRecord::State::kPending) return;
  found->second.state = ArrayRecord::State::kOnHost;
  move_in(array, found->second, *std::move(payload));
  outbox_.arrived.push_back(array);
  settle(array);
}

/// `record` is given its bytes.
void HostCore::move_in(ArrayId array, ArrayRecord& record, transport::Payload payload) {
  // A small one moves in with the others: what the heap adds to it would be more than itself.
  const std::shared_ptr<const ArrayDesc>& desc = record.desc;
  const std::size_t shards = desc->group.devices.size();
  const bool is_small = shards * desc->shard_bytes <= store::SlabCache::kSmallBytes;
  if (payload.owner && is_small && !payload.file) {
    record.memory = make_memory(shards, desc->shard_bytes);
    const function::ShardedBuffer target = record.memory.buffer();
    // Behind the last shard there may be nothing, not even what rounds it up.
    const std::size_t bytes = std::min<std::size_t>(desc->data_bytes, payload.stride);
    for (std::size_t shard = 0; bytes > 0 && shard < shards; ++shard) {
      std::memcpy(target.shard(shard), payload.base + shard * payload.stride, bytes);
    }
  } else {
    if (payload.file) file_arrays_.insert(array);
    record.memory = ShardMemory(std::move(payload));
  }
  note_upload(array, record);
}

/// The bytes of `record` are complete.
void HostCore::note_upload(ArrayId array, ArrayRecord& record) {
  if (has_sums()) take_sums(record);
  events_.record({.time_ns = clock_.now_ns(),
                  .object = array,
                  .value = record.desc->shard_bytes * record.desc->group.devices.size(),
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kUpload});
}

bool HostCore::bind_arg(PartRun& part, std::uint32_t arg) {
  const ArrayId id = part.args[arg];
  const auto found = arrays_.find(id);
  const bool is_there =
      found != arrays_.end() && (found->second.state != ArrayRecord::State::kPending ||
                                 // What a gang makes that runs ahead has its place.
                                 found->second.memory.has_value());
  if (!is_there) {
    const std::string why = "array " + std::to_string(sequence_of(id)) + ", argument " +
                            std::to_string(arg) + " of stamp " + std::to_string(part.stamp) +
                            ", was freed or is not made, and a gang that reads it is placed";
    refuse_order(why);
    fail(part, input_lost(why));
    return false;
  }
  ArrayRecord& record = found->second;
  if (record.state == ArrayRecord::State::kPoisoned) {
    fail(part, poisoned_argument(part, arg, *record.poison));
    return false;
  }
  // What is copied off a slice with a lost device is read where it lies: there is nowhere to load
  // it.
  const bool is_loaded =
      record.state == ArrayRecord::State::kOnHost && !is_any_lost(record.desc->mask);
  if (is_loaded) {
    // The built-in devices share the host's memory: loading hands the bytes over.
    charge(record.desc->group.devices, record.desc->shard_bytes);
    load_spread(record);
    leave_spill_room(id, record);
    record.state = ArrayRecord::State::kReady;
    record.is_spilled = false;
    events_.record({.time_ns = clock_.now_ns(),
                    .object = id,
                    .value = record.desc->shard_bytes,
                    .island = static_cast<std::uint16_t>(options_.island),
                    .kind = EventKind::kArrayLoad});
  }
  if (spilled_.tiers) spilled_.tiers->want(id, part.stamp);  // It may be read in host room.
  bind(part, static_cast<std::uint32_t>(part.plan->part->blocks.size()) + arg, record.memory);
  if (has_sums()) part.sums[part.plan->part->args[arg].value] = *record.sums;
  return true;
}

/// What a run fails with that reads an array that is poison: down a chain of runs the root cause is
/// passed on as it is.
Status HostCore::poisoned_argument(const PartRun& part, std::uint32_t arg, const Status& cause) {
  if (cause.code() == StatusCode::kInputLost) return cause;
  return input_lost("array " + std::to_string(sequence_of(part.args[arg])) + ", argument " +
                    std::to_string(part.plan->part->args[arg].parameter) + " of run " +
                    std::to_string(sequence_of(part.run)) + ": " + cause.to_string());
}

void HostCore::record_array(EventKind kind, ArrayId id, std::uint64_t bytes) {
  events_.record({.time_ns = turn_clock_.now_ns(),
                  .object = id,
                  .value = bytes,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = kind});
}

void HostCore::record_allocation(const PartRun& part, std::uint32_t output) {
  const program::PartPlan& shape = *part.plan->part;
  const program::Output& made = shape.outputs[output];
  events_.record({.time_ns = turn_clock_.now_ns(),
                  .stamp = part.stamp,
                  .object = part.outputs[output],
                  .value = shape.values[made.value].shard_bytes,
                  .position = shape.gangs[made.gang].position,
                  .place = shape.values[made.value].group,
                  .tenant = part.tenant,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kArrayAllocate});
}

void HostCore::make_output(PartRun& part, std::uint32_t output) {
  const program::PartPlan& shape = *part.plan->part;
  const ArrayId id = part.outputs[output];
  ArrayRecord& record = arrays_[id];
  if (!record.desc) record.desc = part.plan->outputs[output];  // A wrong order has freed it.
  for (std::size_t a = 0; a < shape.args.size(); ++a) {
    if (!shape.args[a].donated || shape.args[a].donated_to != output) continue;
    const auto donor = arrays_.find(part.args[a]);
    if (donor == arrays_.end()) break;
    if (donor->second.state == ArrayRecord::State::kOnHost) {
      const bool is_bound = bind_arg(part, static_cast<std::uint32_t>(a));
      SEAWAY_CHECK(is_bound, part.stamp, a);
    }
    // Who asked for the value before it was given away still gets it.
    if (donor->second.has_waiters) serve_waiters(part.args[a]);
    // What a user lent was charged like any other, and so is what a client still reads; the output
    // has that room for its own.
    ShardMemory& given = donor->second.memory;
    given.let_go();
    const bool is_for_reading = given.is_for_reading();
    if (is_for_reading) part.donors.push_back({output, given.share()});  // The gang reads it, too.
    record.memory = is_for_reading || given.is_borrowed()
                        ? make_device_memory(record.desc->group.devices, record.desc->shard_bytes,
                                             owner_of(part.tenant))
                        : std::move(given);
    record_array(EventKind::kArrayFree, part.args[a], record.desc->shard_bytes);
    record_allocation(part, output);
    file_arrays_.erase(part.args[a]);
    erase_array(part.args[a]);
    break;
  }
  if (!record.memory.has_value()) {
    charge(record.desc->group.devices, record.desc->shard_bytes);
    record.memory = make_device_memory(record.desc->group.devices, record.desc->shard_bytes,
                                       owner_of(part.tenant));
    record_allocation(part, output);
  }
  bind(part, static_cast<std::uint32_t>(shape.blocks.size() + shape.args.size()) + output,
       record.memory);
}

/// What was given away for outputs of `gang`, and could not be written to: it has been read.
void HostCore::drop_donors(PartRun& part, std::uint32_t gang) {
  const program::PartPlan& shape = *part.plan->part;
  std::erase_if(part.donors,
                [&](const Donor& donor) { return shape.outputs[donor.output].gang == gang; });
}

/// What the backend holds of arrays stays with them.
void HostCore::hold_operands(PartRun& part, std::uint32_t gang,
                             std::vector<std::shared_ptr<void>>& held) {
  const std::span<const ValueSlot> operands = part.plan->gangs[gang].operands;
  const std::size_t blocks = part.plan->part->blocks.size(), args = part.args.size();
  SEAWAY_CHECK(held.size() == operands.size(), held.size(), operands.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::size_t table = operands[i].table;
    if (!held[i] || table < blocks || table >= blocks + args) continue;
    const ArrayId id = part.args[table - blocks];
    const auto found = arrays_.find(id);  // Not there: it was donated.
    if (found == arrays_.end() || file_arrays_.contains(id)) continue;
    ShardMemory& memory = found->second.memory;
    if (memory.is_borrowed() || memory.buffer().base != buffer_at(part, operands[i]).base) continue;
    SEAWAY_PROBE("a backend holds an array");
    memory.hold(std::move(held[i]));
  }
}

/// Whoever reads arrays of other processes finds them in the host's own memory: large ones are
/// worth a copy there.
bool HostCore::may_keep_outputs(const PartRun& part, std::uint32_t gang) const {
  constexpr std::uint64_t kNearBytes = 64 << 10;
  if (!may_hold_operands() || !part.plan->gangs[gang].makes_arrays) return false;
  if (!near_) return true;
  const program::PartPlan& shape = *part.plan->part;
  return std::ranges::all_of(shape.gangs[gang].results, [&](std::uint32_t value) {
    return part.plan->data_bytes[value] <= kNearBytes;
  });
}

/// They lie where the backend has made them; the rooms that they were meant for are free.
void HostCore::keep_outputs(PartRun& part, std::uint32_t gang,
                            std::vector<transport::Payload>& made) {
  const program::PartPlan& shape = *part.plan->part;
  const std::vector<std::uint32_t>& results = shape.gangs[gang].results;
  SEAWAY_CHECK(made.size() == results.size(), made.size(), results.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i].owner) continue;
    ShardMemory& memory = arrays_.find(part.outputs[shape.values[results[i]].index])->second.memory;
    if (!memory.has_value()) continue;  // It is poison by now.
    SEAWAY_PROBE("an array lies where its backend has made it");
    memory = ShardMemory::kept(std::move(made[i]));
    bind(part, part.plan->slots[results[i]].table, memory);
  }
}

/// What is copied off a slice with a lost device is read in the host's own memory: parts that have
/// begun with that look at `memory` until they are over.
void HostCore::leave_to_readers(ArrayId id, ShardMemory memory) {
  if (!memory.has_value()) return;
  const auto kept = std::make_shared<const ShardMemory>(std::move(memory));
  for (const auto& [stamp, part] : parts_) {
    const std::size_t blocks = part->plan->part->blocks.size();
    for (std::size_t arg = 0; arg < part->args.size(); ++arg) {
      if (part->args[arg] == id && part->is_bound[blocks + arg]) part->kept.push_back(kept);
    }
  }
}

void HostCore::poison_array(ArrayId id, const Status& cause) {
  const auto found = arrays_.find(id);
  if (found == arrays_.end()) return;
  ArrayRecord& record = found->second;
  if (record.state == ArrayRecord::State::kPoisoned) return;
  stop_upload(id);
  leave_spill_room(id, record);
  // A value that exists may be in the hands of a running gang: it goes when it is freed or spilled.
  const bool gives_back = record.state != ArrayRecord::State::kReady;
  if (gives_back) {
    if (record.memory.has_value() && record.state != ArrayRecord::State::kOnHost) {
      uncharge(record.desc->group.devices, record.desc->shard_bytes);
      record_array(EventKind::kArrayFree, id, record.desc->shard_bytes);
    }
    leave_to_readers(id, std::move(record.memory));
  }
  record.state = ArrayRecord::State::kPoisoned;
  record.poison = std::make_unique<Status>(cause);
  events_.record({.time_ns = clock_.now_ns(),
                  .object = id,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kArrayPoison,
                  .code = cause.code()});
}

/// What a gang that did not run leaves, before the next one in its streams looks at it.
void HostCore::poison_outputs(PartRun& part, std::uint32_t gang) {
  const program::PartPlan& shape = *part.plan->part;
  for (const std::uint32_t value : shape.gangs[gang].results) {
    if (shape.values[value].place != program::Value::Place::kOutput) continue;
    poison_array(part.outputs[shape.values[value].index], part.failure);
  }
}

void HostCore::free_array(ArrayId id) {
  const auto found = arrays_.find(id);
  if (found == arrays_.end()) return;
  ArrayRecord& record = found->second;
  stop_upload(id);
  if (!file_arrays_.empty()) file_arrays_.erase(id);
  const bool is_awaited = record.has_waiters && (!record.is_settled || is_away(id));
  if (record.has_waiters && !is_awaited) serve_waiters(id);
  if (record.memory.has_value() && record.state != ArrayRecord::State::kOnHost) {
    uncharge(record.desc->group.devices, record.desc->shard_bytes);
    record_array(EventKind::kArrayFree, id, record.desc->shard_bytes);
  }
  if (is_awaited && record.is_upload && !record.is_settled) {
    // It never arrives, as the controller knows, which has answered whoever waits.
    for (const Waiter& waiter : waiters_[id]) is_due(waiter);  // No more.
    waiters_.erase(id);
  } else if (is_awaited) {
    // Its room is free; its bytes wait in the host's own memory for the outcome of their run.
    if (record.state == ArrayRecord::State::kReady) record.state = ArrayRecord::State::kOnHost;
    record.is_dropped = true;
    if (!record.memory.room()) return;
    copy_out(record, [this, id](ShardMemory copy) {
      const auto still = arrays_.find(id);
      if (still != arrays_.end()) still->second.memory = std::move(copy);
    });
    return;
  }
  erase_array(id);
}

void HostCore::erase_array(ArrayId id) {
  const auto found = arrays_.find(id);
  leave_spill_room(id, found->second);
  arrays_.erase(found);
}

void HostCore::spill(ArrayId id) {
  const auto found = arrays_.find(id);
  if (found == arrays_.end() || is_in_use(id)) {
    return refuse_order("array " + std::to_string(sequence_of(id)) + " cannot be spilled: " +
                        (found == arrays_.end() ? "it is not here" : "a gang reads it"));
  }
  ArrayRecord& record = found->second;
  if (record.state != ArrayRecord::State::kReady) return end_spill(id, {});
  if (record.memory.room()) {
    spilling_ = id;
    copy_out(record, [this, id, view = spill_view_](ShardMemory copy) {
      if (view != spill_view_) return;
      spilling_.reset();
      end_spill(id, std::move(copy));
      follow_held_orders();
    });
    return;
  }
  // Moved, not handed over: device memory is to be free, and on other back ends it is elsewhere.
  const std::size_t shards = record.desc->group.devices.size();
  ShardMemory copy = make_memory(shards, record.desc->shard_bytes);
  const function::ShardedBuffer to = copy.buffer(), from = record.memory.buffer();
  // What rounds a shard up is not there everywhere.
  for (std::size_t shard = 0; shard < shards && record.desc->data_bytes > 0; ++shard) {
    std::memcpy(to.shard(shard), from.shard(shard), record.desc->data_bytes);
  }
  end_spill(id, std::move(copy));
}

/// `copy` is in host room; of an array that is not on devices it is nothing.
void HostCore::end_spill(ArrayId id, ShardMemory copy) {
  const auto found = arrays_.find(id);
  SEAWAY_CHECK(found != arrays_.end(), id);
  ArrayRecord& record = found->second;
  if (file_arrays_.contains(id)) static_cast<void>(check_file(id));
  file_arrays_.erase(id);
  if (record.state == ArrayRecord::State::kReady) {
    // The copy is looked at, for it is what is kept.
    if (Status damage = check_array(id, record, copy.buffer()); !damage.ok()) {
      poison_array(id, damage);
    }
    if (record.state == ArrayRecord::State::kReady) record.memory = std::move(copy);
  }
  if (record.state == ArrayRecord::State::kReady) {
    record.state = ArrayRecord::State::kOnHost;
    record.is_spilled = true;
    uncharge(record.desc->group.devices, record.desc->shard_bytes);
    events_.record({.time_ns = clock_.now_ns(),
                    .object = id,
                    .value = record.desc->shard_bytes,
                    .island = static_cast<std::uint16_t>(options_.island),
                    .kind = EventKind::kArraySpill});
    join_spill_room(id, record);
  }
  if (record.state == ArrayRecord::State::kPoisoned && record.memory.has_value()) {
    uncharge(record.desc->group.devices, record.desc->shard_bytes);
    record_array(EventKind::kArrayFree, id, record.desc->shard_bytes);
    record.memory.reset();
  }
  if (spilled_.tiers) {
    spilled_.unsaid.push_back(id);
  } else {
    outbox_.dones.push_back({HostOutbox::Done::Kind::kSpilled, id, 0, 0});
  }
}

void HostCore::fetch(ArrayId array, ClientId client, std::uint64_t request, bool streams) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) {
    outbox_.fetched.push_back(
        {client, request,
         invalid_argument("array " + std::to_string(sequence_of(array)) + " is not on island " +
                          std::to_string(options_.island) + "; it was freed or donated")});
    return;
  }
  if (!found->second.is_settled) {
    found->second.has_waiters = true;
    waiters_[array].push_back(late({client, request, streams}));
    return;
  }
  serve(array, found->second, {client, request, streams});
}

/// What a run makes is read only once its part here has ended well, or failed: a value that
/// somebody has read is never taken back.
void HostCore::settle(ArrayId id) {
  const auto found = arrays_.find(id);
  if (found == arrays_.end()) return;
  found->second.is_settled = true;
  serve_waiters(id);
  if (found->second.is_dropped && !found->second.has_waiters) erase_array(id);
}

void HostCore::serve_waiters(ArrayId id) {
  const auto found = arrays_.find(id);
  if (found == arrays_.end() || !found->second.has_waiters) return;
  found->second.has_waiters = false;
  const auto waiting = waiters_.find(id);
  const std::vector<Waiter> waiters = std::move(waiting->second);
  waiters_.erase(waiting);
  for (const Waiter& waiter : waiters) {
    if (is_due(waiter)) serve(id, found->second, waiter);
  }
}

void HostCore::serve(ArrayId id, ArrayRecord& record, const Waiter& waiter) {
  if (is_away(id)) return await_array(id, waiter);
  if (Status damage = check_array(id, record, record.memory.buffer()); !damage.ok()) {
    poison_array(id, damage);
  }
  if (record.state == ArrayRecord::State::kPoisoned) {
    // The value may yet be made elsewhere: its target stays with the client.
    outbox_.fetched.push_back({waiter.client, waiter.request, *record.poison});
    return;
  }
  if (record.state == ArrayRecord::State::kPending) {
    answer(*record.desc, waiter, nullptr);
  } else if (record.memory.room()) {
    copy_out(record, [this, desc = record.desc, waiter = late(waiter)](ShardMemory copy) {
      if (is_due(waiter)) answer_with(*desc, waiter, copy);
    });
  } else if (file_arrays_.contains(id)) {
    auto copy = copy_from_file(id, record);
    if (!copy.ok())
      return outbox_.fetched.push_back({waiter.client, waiter.request, copy.status()});
    answer_with(*record.desc, waiter, *copy);
  } else {
    answer_with(*record.desc, waiter, record.memory);
  }
}

void HostCore::answer_with(const ArrayDesc& desc, const Waiter& waiter, ShardMemory& memory) {
  if (waiter.streams && offer_read(desc, waiter, memory)) return;
  const function::ShardedBuffer bytes = memory.buffer();
  answer(desc, waiter, &bytes);
}

/// `bytes` null: it was never made.
void HostCore::answer(const ArrayDesc& desc, const Waiter& waiter,
                      const function::ShardedBuffer* bytes) {
  HostOutbox::Fetched answer{waiter.client, waiter.request, {}};
  std::optional<std::span<std::byte>> target;
  if (options_.is_process) {
    if (bytes) answer.value.resize(desc.type.bytes());
    target = answer.value;
  } else {
    target = bulk_.take_target(waiter.client, waiter.request);
  }
  if (!target) return;  // Withdrawn: its deadline passed, and nobody waits any more.
  if (!bytes) {
    answer.status = cancelled("the run that makes this array ended without making it");
  } else if (target->size() != desc.type.bytes()) {
    answer.status = invalid_argument("a buffer of " + std::to_string(target->size()) +
                                     " bytes cannot hold " + to_string(desc.type));
  } else if (desc.group.devices.size() == 1) {
    if (!target->empty()) std::memcpy(target->data(), bytes->base, target->size());
  } else {
    const transfer::ReshardPlan plan(desc.type, {desc.group.axes, desc.spec, {}},
                                     {{}, PartitionSpec(), {}});
    for (const transfer::Copy& copy : plan.copies(0)) {
      transfer::copy_region(bytes->shard(copy.source_shard), target->data(), copy);
    }
  }
  outbox_.fetched.push_back(std::move(answer));
}

}  // namespace seaway::device
