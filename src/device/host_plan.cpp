// Resolving a plan once, so that running it many times looks nothing up.

#include "device/host_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace seaway::device {
namespace {

using program::Gang;
using program::kNone;
using program::PartPlan;

transfer::Placement placement_of(const program::DeviceGroup& group, const PartitionSpec& spec,
                                 bool with_devices) {
  transfer::Placement placement{group.axes, spec, {}};
  if (with_devices) placement.devices = group.devices;
  return placement;
}

Status check_value(const PartPlan& part, std::uint32_t value) {
  if (value < part.values.size() && part.values[value].group < part.groups.size()) return {};
  return invalid_argument("plan " + std::to_string(part.id) + " names value " +
                          std::to_string(value) + " of " + std::to_string(part.values.size()));
}

Status resolve_compute(
    const PartPlan& part, const Gang& gang, HostPlan& plan, GangPlan& target,
    const std::function<std::shared_ptr<const function::Executable>(FunctionId)>& executable) {
  auto compiled = executable(gang.function);
  if (!compiled) {
    return invalid_argument("plan " + std::to_string(part.id) + " needs function " +
                            std::to_string(gang.function) + ", which this host has not compiled");
  }
  if (compiled->parameter_types().size() != gang.operands.size() ||
      compiled->output_types().size() != gang.results.size()) {
    return invalid_argument("plan " + std::to_string(part.id) + " calls function " +
                            std::to_string(gang.function) + " with " +
                            std::to_string(gang.operands.size()) + " operands and " +
                            std::to_string(gang.results.size()) + " results; it has " +
                            std::to_string(compiled->parameter_types().size()) + " and " +
                            std::to_string(compiled->output_types().size()));
  }
  target.executable = compiled.get();
  if (plan.executables.empty() || plan.executables.back() != compiled) {
    plan.executables.push_back(std::move(compiled));
  }
  return {};
}

void find_slots(const PartPlan& part, HostPlan& plan) {
  const auto blocks = static_cast<std::uint32_t>(part.blocks.size());
  const auto args = static_cast<std::uint32_t>(part.args.size());
  plan.nothing = blocks + args + static_cast<std::uint32_t>(part.outputs.size());
  plan.tables = plan.nothing + 1;
  for (const program::Value& value : part.values) {
    ValueSlot slot;
    switch (value.place) {
      case program::Value::Place::kBlock:
        slot = {plan.block_of_group[value.group], value.offset};
        if (slot.table == kNone) slot = {plan.nothing, 0};  // All that lies there is empty.
        break;
      case program::Value::Place::kArg:
        slot = {blocks + value.index, 0};
        break;
      case program::Value::Place::kOutput:
        slot = {blocks + args + value.index, 0};
        break;
    }
    plan.slots.push_back(slot);
    const NamedSharding sharding(Mesh(0, part.groups[value.group].axes), value.spec);
    plan.data_bytes.push_back(sharding.shard_type(value.type).bytes());
  }
}

/// Gives receives that only gangs read tables of their own.
void find_receive_tables(const PartPlan& part, HostPlan& plan, bool reads_loans) {
  plan.receive_gangs.assign(part.receives.size(), 0);
  plan.receive_tables.assign(part.receives.size(), kNone);
  if (!reads_loans) return;
  std::vector<bool> is_sent(part.values.size(), false);
  for (const program::Send& send : part.sends) is_sent[send.value] = true;
  for (std::size_t r = 0; r < part.receives.size(); ++r) {
    const std::uint32_t index = part.receives[r].value;
    ValueSlot& slot = plan.slots[index];
    if (is_sent[index] || slot.table >= part.blocks.size() || part.values[index].shard_bytes == 0) {
      continue;
    }
    plan.receive_tables[r] = plan.tables++;
    slot = {plan.receive_tables[r], 0};
  }
}

/// What is long enough to go over connections of its own.
void find_streams(const PartPlan& part, HostPlan& plan, std::uint64_t bytes_min) {
  const auto is_long = [bytes_min](const transfer::ValueStream& stream) {
    return stream.bytes() > 0 && stream.bytes() >= bytes_min;
  };
  plan.receive_targets.resize(part.receives.size());
  plan.send_streams.resize(part.sends.size());
  if (bytes_min == UINT64_MAX) return;
  for (std::size_t r = 0; r < part.receives.size(); ++r) {
    const program::Receive& receive = part.receives[r];
    const program::Value& value = part.values[receive.value];
    const auto source = placement_of(receive.source_group, receive.source_spec, false);
    if (!is_long(transfer::ValueStream(value.type, source))) continue;
    plan.receive_targets[r] = std::make_shared<const transfer::StreamTarget>(
        value.type, source, placement_of(part.groups[value.group], value.spec, false));
  }
  for (std::size_t s = 0; s < part.sends.size(); ++s) {
    const program::Value& value = part.values[part.sends[s].value];
    const transfer::ValueStream stream(value.type,
                                       placement_of(part.groups[value.group], value.spec, false));
    if (is_long(stream)) {
      plan.send_streams[s] = std::make_shared<const transfer::ValueStream>(stream);
    }
  }
}

/// The lists of one gang, while they grow.
struct GangLists {
  std::vector<ValueSlot> operands, results;
  std::vector<std::uint32_t> tables, receives, sends;
};

void find_gang_slots(const HostPlan& plan, const Gang& gang, GangPlan& target, GangLists& lists) {
  const auto add_table = [&tables = lists.tables, nothing = plan.nothing](std::uint32_t table) {
    if (table == kNone || table == nothing) return;
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
  };
  for (const std::uint32_t value : gang.operands) {
    lists.operands.push_back(plan.slots[value]);
    add_table(plan.slots[value].table);
  }
  for (const std::uint32_t value : gang.results) {
    lists.results.push_back(plan.slots[value]);
    add_table(plan.slots[value].table);
  }
  target.scratch = {target.scratch_block, gang.scratch_offset};
  add_table(target.scratch_block);
}

/// Rising, each once.
void sort_once(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Lays the lists of all gangs side by side. Chains of short gangs are read much faster so.
void lay_out(const std::vector<GangLists>& lists, HostPlan& plan) {
  std::size_t slots = 0, indices = 0;
  for (const GangLists& one : lists) {
    slots += one.operands.size() + one.results.size();
    indices += one.tables.size() + one.receives.size() + one.sends.size();
  }
  plan.gang_slots.reserve(slots);  // They stay where they are.
  plan.gang_indices.reserve(indices);
  const auto append = [](auto& all, const auto& list) {
    all.insert(all.end(), list.begin(), list.end());
    return std::span(all).last(list.size());
  };
  for (std::size_t i = 0; i < lists.size(); ++i) {
    GangPlan& gang = plan.gangs[i];
    gang.operands = append(plan.gang_slots, lists[i].operands);
    gang.results = append(plan.gang_slots, lists[i].results);
    gang.tables = append(plan.gang_indices, lists[i].tables);
    gang.receives = append(plan.gang_indices, lists[i].receives);
    gang.sends = append(plan.gang_indices, lists[i].sends);
  }
}

void find_step_ends(const PartPlan& part, HostPlan& plan) {
  for (const program::Block& block : part.blocks) {
    for (const program::BlockStep& step : block.steps) {
      if (step.gang > 0) plan.gangs[step.gang - 1].ends_step = true;
    }
  }
}

}  // namespace

DeviceMask mask_of(const std::vector<DeviceId>& devices, std::size_t device_count) {
  DeviceMask mask((device_count + 63) / 64, 0);
  for (const DeviceId device : devices) mask[device / 64] |= std::uint64_t{1} << (device % 64);
  return mask;
}

Result<std::unique_ptr<HostPlan>> make_host_plan(
    program::PartPlanPtr part, std::size_t device_count,
    const std::function<std::shared_ptr<const function::Executable>(FunctionId)>& executable,
    bool reads_loans, std::uint64_t stream_bytes_min) {
  auto plan = std::make_unique<HostPlan>();
  plan->part = part;
  plan->mask = DeviceMask((device_count + 63) / 64, 0);
  for (const program::DeviceGroup& group : part->groups) {
    for (const DeviceId device : group.devices) {
      if (device >= device_count) {
        return invalid_argument("plan " + std::to_string(part->id) + " names device " +
                                std::to_string(device) + "; this island has " +
                                std::to_string(device_count));
      }
    }
    plan->group_masks.push_back(mask_of(group.devices, device_count));
    unite(plan->mask, plan->group_masks.back());
  }
  plan->block_of_group.assign(part->groups.size(), kNone);
  for (std::size_t i = 0; i < part->blocks.size(); ++i) {
    plan->block_of_group[part->blocks[i].group] = static_cast<std::uint32_t>(i);
  }
  find_slots(*part, *plan);
  find_receive_tables(*part, *plan, reads_loans);
  // Receives by their value, the next of the same one behind each.
  std::vector<std::uint32_t> first_receive(part->values.size(), kNone);
  std::vector<std::uint32_t> next_receive(part->receives.size(), kNone);
  for (auto r = static_cast<std::uint32_t>(part->receives.size()); r-- > 0;) {
    next_receive[r] = std::exchange(first_receive[part->receives[r].value], r);
  }
  plan->gangs.resize(part->gangs.size());
  std::vector<GangLists> lists(part->gangs.size());
  for (std::size_t i = 0; i < part->gangs.size(); ++i) {
    const Gang& gang = part->gangs[i];
    GangPlan& target = plan->gangs[i];
    target.mask = plan->group_masks[gang.group];
    target.shards = static_cast<std::uint32_t>(part->groups[gang.group].devices.size());
    target.cost_ns = gang.cost_ns;
    target.scratch_block = plan->block_of_group[gang.group];
    for (const std::uint32_t value : gang.operands) {
      if (Status status = check_value(*part, value); !status.ok()) return status;
    }
    for (const std::uint32_t value : gang.results) {
      if (Status status = check_value(*part, value); !status.ok()) return status;
      target.makes_outputs |= part->values[value].place == program::Value::Place::kOutput;
    }
    target.makes_arrays = !gang.results.empty();
    for (const std::uint32_t value : gang.results) {
      target.makes_arrays &= part->values[value].place == program::Value::Place::kOutput;
    }
    if (gang.kind == Gang::Kind::kCompute) {
      if (Status status = resolve_compute(*part, gang, *plan, target, executable); !status.ok()) {
        return status;
      }
    } else if (gang.kind == Gang::Kind::kReshard) {
      const program::Value& source = part->values[gang.operands[0]];
      const program::Value& result = part->values[gang.results[0]];
      unite(target.mask, plan->group_masks[gang.source_group]);
      plan->reshards.push_back(std::make_unique<transfer::ReshardPlan>(
          result.type, placement_of(part->groups[source.group], source.spec, true),
          placement_of(part->groups[result.group], result.spec, true)));
      target.reshard = plan->reshards.back().get();
    }
    plan->is_uniform &= target.mask == plan->gangs[0].mask;
    find_gang_slots(*plan, gang, target, lists[i]);
    for (const std::uint32_t value : gang.operands) {
      for (std::uint32_t r = first_receive[value]; r != kNone; r = next_receive[r]) {
        lists[i].receives.push_back(r);
      }
    }
    sort_once(lists[i].receives);
    for (const std::uint32_t r : lists[i].receives) ++plan->receive_gangs[r];
  }
  for (std::size_t s = 0; s < part->sends.size(); ++s) {
    lists[part->sends[s].gang].sends.push_back(static_cast<std::uint32_t>(s));
  }
  lay_out(lists, *plan);
  for (const program::Receive& receive : part->receives) {
    const program::Value& value = part->values[receive.value];
    plan->receive_plans.push_back(std::make_unique<transfer::ReshardPlan>(
        value.type, placement_of(receive.source_group, receive.source_spec, false),
        placement_of(part->groups[value.group], value.spec, false)));
  }
  find_streams(*part, *plan, stream_bytes_min);
  for (const program::Output& output : part->outputs) {
    const program::Value& value = part->values[output.value];
    auto desc = std::make_shared<ArrayDesc>();
    *desc = {value.type,
             value.spec,
             part->groups[value.group],
             plan->group_masks[value.group],
             value.shard_bytes,
             plan->data_bytes[output.value]};
    plan->outputs.push_back(std::move(desc));
  }
  find_step_ends(*part, *plan);
  return plan;
}

}  // namespace seaway::device
