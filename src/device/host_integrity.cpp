// Checksums: taken as soon as the bytes of a value are complete, compared before they are used.

#include <algorithm>
#include <set>

#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using events::EventKind;
using program::Gang;
using program::Value;

void HostCore::take_sums(PartRun& part, std::uint32_t index) {
  const program::PartPlan& plan = *part.plan->part;
  const Value& value = plan.values[index];
  part.sums[index] = sums_of(buffer_at(part, part.plan->slots[index]),
                             plan.groups[value.group].devices.size(), part.plan->data_bytes[index]);
  if (value.place != Value::Place::kOutput) return;
  const auto found = arrays_.find(part.outputs[value.index]);
  if (found != arrays_.end()) found->second.sums = std::make_unique<ShardSums>(part.sums[index]);
}

void HostCore::take_sums(ArrayRecord& record) {
  record.sums = std::make_unique<ShardSums>(
      sums_of(record.memory.buffer(), record.desc->group.devices.size(), record.desc->data_bytes));
}

/// The words about a value, `name`, of which a shard on `device` has changed.
Status HostCore::damaged(const std::string& name, const Damage& damage, DeviceId device) const {
  return {StatusCode::kDataCorruption,
          name + " has changed by itself in shard " + std::to_string(damage.shard) +
              ", on device " + std::to_string(device) + " of island " +
              std::to_string(options_.island) + ": its CRC-32 was " + hex(damage.sum_before) +
              " and is " + hex(damage.sum_now) +
              "; make it again from what it was made of, and have the memory tested"};
}

/// Why `bytes`, which hold a value of `part` or a copy of it, are not what was made.
Status HostCore::check_value(const PartRun& part, std::uint32_t index,
                             function::ShardedBuffer bytes) {
  const auto damage = find_damage(part.sums[index], bytes, part.plan->data_bytes[index]);
  if (!damage) return {};
  const program::PartPlan& plan = *part.plan->part;
  const Value& value = plan.values[index];
  const DeviceId device = plan.groups[value.group].devices[damage->shard];
  const bool is_array = value.place != Value::Place::kBlock;
  const ArrayId array = value.place == Value::Place::kArg      ? part.args[value.index]
                        : value.place == Value::Place::kOutput ? part.outputs[value.index]
                                                               : 0;
  events_.record({.time_ns = clock_.now_ns(),
                  .stamp = is_array ? 0 : part.stamp,
                  .object = array,
                  .position = is_array ? 0 : index,
                  .place = device,
                  .tenant = part.tenant,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kDamage,
                  .code = StatusCode::kDataCorruption});
  if (value.place != Value::Place::kArg) {
    std::string name = "array " + std::to_string(sequence_of(array));
    if (!is_array) {
      const auto is_maker = [index](const Gang& gang) {
        return std::count(gang.results.begin(), gang.results.end(), index) > 0;
      };
      const auto maker = std::find_if(plan.gangs.begin(), plan.gangs.end(), is_maker);
      name = maker == plan.gangs.end() ? "a value that came from another island"
             : maker->node == program::kNone
                 ? "a copy at position " + std::to_string(maker->position)
                 : "a value of node " + std::to_string(maker->node);
    }
    SEAWAY_PROBE("a value of a part has changed");
    return damaged(name + " of run " + std::to_string(sequence_of(part.run)), *damage, device);
  }
  const Status cause = damaged("array " + std::to_string(sequence_of(array)), *damage, device);
  SEAWAY_PROBE("an argument has changed");
  poison_array(array, cause);
  return poisoned_argument(part, value.index, cause);
}

/// The same for all that `gang` reads. What another island waits for is looked at when it leaves.
Status HostCore::check_operands(PartRun& part, std::uint32_t gang) {
  const Gang& shape = part.plan->part->gangs[gang];
  if (shape.kind == Gang::Kind::kSend) return {};
  for (const std::uint32_t operand : shape.operands) {
    const function::ShardedBuffer bytes = buffer_at(part, part.plan->slots[operand]);
    if (Status damage = check_value(part, operand, bytes); !damage.ok()) return damage;
  }
  return {};
}

/// Why `bytes`, which hold an array or a copy of it, are not what was made. OK for what has no
/// sums.
Status HostCore::check_array(ArrayId id, const ArrayRecord& record, function::ShardedBuffer bytes) {
  if (!record.sums || !record.memory.has_value()) return {};
  const auto damage = find_damage(*record.sums, bytes, record.desc->data_bytes);
  if (!damage) return {};
  SEAWAY_PROBE("an array has changed at rest");
  const DeviceId device = record.desc->group.devices[damage->shard];
  events_.record({.time_ns = clock_.now_ns(),
                  .object = id,
                  .place = device,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kDamage,
                  .code = StatusCode::kDataCorruption});
  return damaged("array " + std::to_string(sequence_of(id)), *damage, device);
}

std::vector<HostCore::ValueAtRest> HostCore::values_at_rest() const {
  std::set<ArrayId> busy;
  std::map<Stamp, std::set<std::uint32_t>> wanted, used;  // Values of parts, by their numbers.
  for (std::size_t i = pending_begin_; i < pending_.size(); ++i) {
    const Entry& entry = pending_[i];
    if (!entry.part || entry.state == Entry::State::kDone) continue;
    const bool runs = entry.state == Entry::State::kRunning;
    const auto& gangs = entry.part->plan->part->gangs;
    for (std::uint32_t gang = entry.gang; gang < entry.last; ++gang) {
      auto& values = runs && gang == entry.gang ? used : wanted;
      values[entry.part->stamp].insert(gangs[gang].operands.begin(), gangs[gang].operands.end());
      if (!runs || gang != entry.gang) continue;
      used[entry.part->stamp].insert(gangs[gang].results.begin(), gangs[gang].results.end());
    }
  }
  std::vector<ValueAtRest> values;
  std::vector<ValueAtRest> in_parts;
  std::map<Stamp, const PartRun*> parts;
  for (const auto& [stamp, part] : parts_) parts[stamp] = part.get();
  for (const auto& [stamp, part] : parts) {
    const program::PartPlan& plan = *part->plan->part;
    for (std::uint32_t gang = part->gangs_placed; gang < plan.gangs.size(); ++gang) {
      const auto& operands = plan.gangs[gang].operands;
      if (!part->is_cancelled) wanted[stamp].insert(operands.begin(), operands.end());
    }
    for (std::size_t s = 0; s < part->sends.size(); ++s) {
      const SendState::State state = part->sends[s].state;
      if (state == SendState::State::kSent) used[stamp].insert(plan.sends[s].value);
      if (state == SendState::State::kWaiting) wanted[stamp].insert(plan.sends[s].value);
    }
    for (const std::uint32_t index : used[stamp]) {
      const Value& value = plan.values[index];
      if (value.place == Value::Place::kArg) busy.insert(part->args[value.index]);
      if (value.place == Value::Place::kOutput) busy.insert(part->outputs[value.index]);
      wanted[stamp].erase(index);
    }
    if (part->has_failed() || part->sums.empty()) continue;
    for (const std::uint32_t index : wanted[stamp]) {
      const Value& value = plan.values[index];
      if (value.place != Value::Place::kBlock || part->sums[index].empty()) continue;
      if (part->plan->data_bytes[index] == 0) continue;
      in_parts.push_back({0, stamp, index, &plan.groups[value.group].devices,
                          buffer_at(*part, part->plan->slots[index]),
                          part->plan->data_bytes[index]});
    }
  }
  for (const auto& [id, record] : arrays_) {
    const bool is_there =
        record.state == ArrayRecord::State::kReady || record.state == ArrayRecord::State::kOnHost;
    if (!is_there || !record.sums || !record.memory.has_value()) continue;
    if (record.memory.is_borrowed() || record.desc->data_bytes == 0 || busy.contains(id)) continue;
    values.push_back(
        {id, 0, 0, &record.desc->group.devices, record.memory.buffer(), record.desc->data_bytes});
  }
  std::ranges::sort(values, {}, &ValueAtRest::array);
  values.insert(values.end(), in_parts.begin(), in_parts.end());
  return values;
}

}  // namespace seaway::device
