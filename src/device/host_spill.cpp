// Arrays in host room that memory has no room for: to the file, and back before they are needed.

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using events::EventKind;
using store::SpillTiers;

/// It has just been moved off the devices.
void HostCore::join_spill_room(ArrayId id, const ArrayRecord& record) {
  const std::uint64_t bytes = record.desc->group.devices.size() * record.desc->shard_bytes;
  if (!spilled_.tiers || bytes == 0) return;
  std::vector<Stamp> readers;
  for (const auto& [stamp, part] : parts_) {
    if (std::ranges::find(part->args, id) != part->args.end()) readers.push_back(stamp);
  }
  spilled_.tiers->add(id, bytes, readers);
}

/// It is loaded, freed or poison. What is still being written stays where it is read from.
void HostCore::leave_spill_room(ArrayId id, ArrayRecord& record) {
  if (!spilled_.tiers || spilled_.tiers->place_of(id) == SpillTiers::Place::kNowhere) return;
  for (auto& [ticket, transfer] : spilled_.transfers) {
    if (transfer.job->array != id || !transfer.what.is_write) continue;
    transfer.job->is_cancelled = true;
    if (!transfer.memory.has_value()) transfer.memory = std::move(record.memory);
  }
  spilled_.sums.erase(id);
  spilled_.tiers->remove(id);
}

/// Its bytes are in the file, or on their way from there.
bool HostCore::is_away(ArrayId id) const {
  if (!spilled_.tiers) return false;
  const SpillTiers::Place place = spilled_.tiers->place_of(id);
  return place == SpillTiers::Place::kFile || place == SpillTiers::Place::kReading;
}

/// Calls `look` for each array that `gang` is the first of its part to use.
void HostCore::look_at_arrays(const PartRun& part, std::uint32_t gang,
                              const std::function<void(ArrayId)>& look) const {
  const program::PartPlan& shape = *part.plan->part;
  const std::size_t args = shape.blocks.size(), outputs = args + shape.args.size();
  for (const std::uint32_t table : part.plan->gangs[gang].tables) {
    if (part.is_bound[table] || table < args || table >= part.plan->nothing) continue;
    if (table < outputs) {
      look(part.args[table - args]);
      continue;
    }
    for (std::size_t a = 0; a < shape.args.size(); ++a) {
      const program::Arg& arg = shape.args[a];
      if (arg.donated && arg.donated_to == table - outputs) look(part.args[a]);
    }
  }
}

/// Whether all arrays that `gang` is to load are in memory. If not, they are read now: those that
/// come first stay until the others are there.
bool HostCore::has_arrays(const PartRun& part, std::uint32_t gang) {
  if (spilled_.tiers->array_count() == 0) return true;
  bool has_all = true;
  look_at_arrays(part, gang, [this, &has_all](ArrayId id) {
    const SpillTiers::Place place = spilled_.tiers->place_of(id);
    has_all =
        has_all && (place == SpillTiers::Place::kNowhere || place == SpillTiers::Place::kMemory);
  });
  if (has_all) return true;
  look_at_arrays(part, gang, [this, &part](ArrayId id) {
    spilled_.tiers->want(id, part.stamp);
    // A gang may overwrite what it has loaded: not while it is written to the file.
    for (auto& [ticket, transfer] : spilled_.transfers) {
      if (transfer.job->array == id && transfer.what.is_write) transfer.job->is_cancelled = true;
    }
  });
  SEAWAY_PROBE("a gang waits for an array from the file");
  return false;
}

void HostCore::await_array(ArrayId id, const Waiter& waiter) {
  SEAWAY_PROBE("a client waits for an array from the file");
  arrays_.find(id)->second.has_waiters = true;
  waiters_[id].push_back(late(waiter));
  spilled_.tiers->want(id, 0);
}

void HostCore::move_spilled() {
  while (auto transfer = spilled_.tiers->next(clock_.now_ns()))
    begin_spill_transfer(*std::move(transfer));
  // Devices may give away their room no faster than the file takes what lay there.
  if (spilled_.unsaid.empty()) return;
  if (spilled_.tiers->is_over()) {
    SEAWAY_PROBE("a spill is said when the file has made room");
    return;
  }
  for (const ArrayId id : spilled_.unsaid) {
    outbox_.dones.push_back({HostOutbox::Done::Kind::kSpilled, id, 0, 0});
  }
  spilled_.unsaid.clear();
}

void HostCore::begin_spill_transfer(SpillTiers::Transfer what) {
  const ArrayRecord& record = arrays_.find(what.array)->second;
  const ArrayDesc& desc = *record.desc;
  const std::size_t shards = desc.group.devices.size();
  SpillTransfer& transfer = spilled_.transfers[what.ticket];
  transfer.job = std::make_shared<store::SpillJob>();
  transfer.job->array = what.array;
  if (!what.is_write) transfer.memory = make_memory(shards, desc.shard_bytes);
  const function::ShardedBuffer bytes =
      what.is_write ? record.memory.buffer() : transfer.memory.buffer();
  transfer.job->shards = store::deal_shards(what.extents, bytes.base, bytes.stride, shards,
                                            desc.data_bytes, desc.shard_bytes);
  transfer.what = std::move(what);
  const auto end = [this, ticket = transfer.what.ticket](Status status) {
    end_spill_transfer(ticket, std::move(status));
  };
  if (transfer.what.is_write) {
    spilled_.file->write(transfer.job, end);
  } else {
    spilled_.file->read(transfer.job, end);
  }
}

void HostCore::end_spill_transfer(std::uint64_t ticket, Status status) {
  begin_turn();  // The file has told it, not a message.
  const auto found = spilled_.transfers.find(ticket);
  SEAWAY_CHECK(found != spilled_.transfers.end(), ticket);
  SpillTransfer ended = std::move(found->second);
  spilled_.transfers.erase(found);
  if (ended.what.is_write) {
    end_spill_write(ended, status);
  } else {
    end_spill_read(std::move(ended), std::move(status));
  }
  spilled_.on_progress();
}

void HostCore::end_spill_write(const SpillTransfer& ended, const Status& status) {
  const bool is_cancelled = status.code() == StatusCode::kCancelled;
  const SpillTiers::Ended what =
      spilled_.tiers->end(ended.what.ticket,
                          status.ok()    ? SpillTiers::Outcome::kOk
                          : is_cancelled ? SpillTiers::Outcome::kCancelled
                                         : SpillTiers::Outcome::kFailed,
                          clock_.now_ns());
  SEAWAY_PROBE_IF(!status.ok() && !is_cancelled, "an array cannot be written to the file");
  // Of those that follow one another the first is told.
  if (what.is_first_failure) record_transfer(EventKind::kSpillWrite, ended, status.code());
  if (what.place != SpillTiers::Place::kFile) return;
  ShardSums& sums = spilled_.sums[what.array];
  for (const store::SpillShard& shard : ended.job->shards) sums.push_back(shard.sum);
  arrays_.find(what.array)->second.memory.reset();
  record_transfer(EventKind::kSpillWrite, ended, StatusCode::kOk);
}

void HostCore::end_spill_read(SpillTransfer ended, Status status) {
  const ArrayId id = ended.job->array;
  const bool is_gone = spilled_.tiers->place_of(id) != SpillTiers::Place::kReading;
  if (!status.ok()) {
    status = input_lost("array " + std::to_string(sequence_of(id)) +
                        " cannot be read back from the file of island " +
                        std::to_string(options_.island) + ": " + status.to_string());
  } else if (!is_gone) {
    status = compare_sums(ended);
  }
  spilled_.tiers->end(ended.what.ticket,
                      status.ok() ? SpillTiers::Outcome::kOk : SpillTiers::Outcome::kFailed,
                      clock_.now_ns());
  if (is_gone) return;
  spilled_.sums.erase(id);
  record_transfer(EventKind::kSpillRead, ended, status.code());
  ArrayRecord& record = arrays_.find(id)->second;
  if (status.ok()) {
    record.memory = std::move(ended.memory);
  } else {
    SEAWAY_PROBE("an array is lost in the file");
    poison_array(id, status);
  }
  if (!record.has_waiters || !record.is_settled) return;
  serve_waiters(id);
  spilled_.tiers->let_go(id, 0);
  if (record.is_dropped) erase_array(id);
}

/// Why what was read is not what was written.
Status HostCore::compare_sums(const SpillTransfer& ended) const {
  const ShardSums& sums = spilled_.sums.at(ended.job->array);
  for (std::size_t shard = 0; shard < sums.size(); ++shard) {
    const std::uint32_t sum = ended.job->shards[shard].sum;
    if (sum == sums[shard]) continue;
    return {StatusCode::kDataCorruption,
            "array " + std::to_string(sequence_of(ended.job->array)) +
                " has changed in the file of island " + std::to_string(options_.island) +
                ", in shard " + std::to_string(shard) + ": its CRC-32C was " + hex(sums[shard]) +
                " and is " + hex(sum) +
                "; make it again from what it was made of, and have the disk tested"};
  }
  return {};
}

void HostCore::record_transfer(EventKind kind, const SpillTransfer& ended, StatusCode code) {
  events_.record({.time_ns = turn_clock_.now_ns(),
                  .object = ended.job->array,
                  .value = ended.what.bytes,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = kind,
                  .code = code});
}

}  // namespace seaway::device
