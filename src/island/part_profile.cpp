// Derives a PartProfile: device classes, waits from outside, and events by gang.

#include "island/part_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace seaway::island {
namespace {

using program::PartPlan;
using program::Value;

std::string named(const PartPlan& plan) {
  return "part of plan " + std::to_string(plan.id) + " on island " + std::to_string(plan.island);
}

/// Bytes of the blocks that are still needed when all gangs are placed and sends are not received.
std::vector<std::uint64_t> hold_by_group(const PartPlan& plan) {
  std::vector<std::uint64_t> hold(plan.groups.size());
  for (const program::Send& send : plan.sends) {
    const Value& value = plan.values[send.value];
    if (value.place != Value::Place::kBlock) continue;
    hold[value.group] = std::max(hold[value.group], value.offset + value.shard_bytes);
  }
  return hold;
}

/// What `blocks` need together, each at least what `hold` says for its group.
std::vector<program::BlockStep> sum_of_steps(const std::vector<const program::Block*>& blocks,
                                             const std::vector<std::uint64_t>& hold) {
  // All steps in the order of their gangs, with what each changes.
  struct Change {
    std::uint32_t gang = 0;
    std::size_t block = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Change> changes;
  std::vector<std::uint64_t> own(blocks.size(), 0);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // A block whose first step is later needs that room from admission on all the same.
    const std::vector<program::BlockStep>& steps = blocks[i]->steps;
    own[i] = std::max(steps.empty() ? 0 : steps.front().bytes, hold[blocks[i]->group]);
    bytes += own[i];
    for (const program::BlockStep& step : steps) {
      changes.push_back({step.gang, i, std::max(step.bytes, hold[blocks[i]->group])});
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.gang < b.gang; });
  std::vector<program::BlockStep> sum;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    bytes = bytes - own[change.block] + change.bytes;
    own[change.block] = change.bytes;
    if (i + 1 < changes.size() && changes[i + 1].gang == change.gang) continue;
    if (sum.empty() || sum.back().bytes != bytes) sum.push_back({change.gang, bytes});
  }
  return sum;
}

void add_classes(PartProfile& profile, std::uint32_t device_count) {
  const PartPlan& plan = *profile.plan;
  std::map<DeviceId, std::vector<std::uint32_t>> groups_of;
  for (std::uint32_t group = 0; group < plan.groups.size(); ++group)
    for (DeviceId device : plan.groups[group].devices) groups_of[device].push_back(group);
  const std::vector<std::uint64_t> hold = hold_by_group(plan);
  std::map<std::vector<std::uint32_t>, std::size_t> class_of;
  profile.device_mask.resize((device_count + 63) / 64);
  for (const auto& [device, groups] : groups_of) {
    profile.devices.push_back(device);
    profile.device_mask[device / 64] |= std::uint64_t{1} << (device % 64);
    const auto [found, is_new] = class_of.try_emplace(groups, profile.classes.size());
    if (is_new) {
      DeviceClass made;
      std::vector<const program::Block*> blocks;
      const auto in = [&groups = groups](std::uint32_t group) {
        return std::find(groups.begin(), groups.end(), group) != groups.end();
      };
      for (const program::Block& block : plan.blocks)
        if (in(block.group)) blocks.push_back(&block);
      made.steps = sum_of_steps(blocks, std::vector<std::uint64_t>(plan.groups.size()));
      made.held_steps = sum_of_steps(blocks, hold);
      for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
        const Value& value = plan.values[plan.outputs[i].value];
        if (profile.donated_from[i] == program::kNone && in(value.group))
          made.output_bytes += value.shard_bytes;
      }
      profile.classes.push_back(std::move(made));
    }
    profile.classes[found->second].devices.push_back(device);
  }
}

void add_waits(PartProfile& profile) {
  const PartPlan& plan = *profile.plan;
  std::unordered_map<std::uint32_t, std::uint32_t> receive_of, arg_of;  // By value.
  for (std::uint32_t i = 0; i < plan.receives.size(); ++i) receive_of[plan.receives[i].value] = i;
  for (std::uint32_t i = 0; i < plan.args.size(); ++i) arg_of[plan.args[i].value] = i;
  std::set<std::uint32_t> args_seen;
  for (std::uint32_t gang = 0; gang < profile.gangs; ++gang) {
    for (std::uint32_t operand : plan.gangs[gang].operands) {
      // Every reader of a received value waits for it: rule 2 may have placed an earlier one
      // before it existed.
      if (const auto found = receive_of.find(operand); found != receive_of.end())
        profile.waits.push_back({gang, Wait::Kind::kReceive, found->second});
      // An argument that is made stays made, so only its first reader waits.
      if (const auto found = arg_of.find(operand); found != arg_of.end())
        if (args_seen.insert(found->second).second)
          profile.waits.push_back({gang, Wait::Kind::kArg, found->second});
    }
  }
  for (std::uint32_t i = 0; i < plan.args.size(); ++i) {
    const program::Arg& arg = plan.args[i];
    if (arg.donated_to != program::kNone)
      profile.waits.push_back({plan.outputs[arg.donated_to].gang, Wait::Kind::kDonation, i});
  }
  std::stable_sort(profile.waits.begin(), profile.waits.end(),
                   [](const Wait& a, const Wait& b) { return a.gang < b.gang; });
}

void sort_by_key(std::vector<Keyed>& keyed) {
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
}

/// Most bytes that a part holds on each device when it is alone: all of it at its first gang.
std::vector<std::uint64_t> peak_by_device(const PartPlan& plan, std::uint32_t devices) {
  std::vector<std::uint64_t> peak(devices);
  const auto add = [&](std::uint32_t group, std::uint64_t bytes) {
    for (DeviceId device : plan.groups[group].devices) peak[device] += bytes;
  };
  for (const program::Block& block : plan.blocks)
    add(block.group, block.steps.empty() ? 0 : block.steps.front().bytes);
  for (const program::Arg& arg : plan.args)
    if (arg.donated_to == program::kNone)
      add(plan.values[arg.value].group, plan.values[arg.value].shard_bytes);
  for (const program::Output& output : plan.outputs)
    add(plan.values[output.value].group, plan.values[output.value].shard_bytes);
  return peak;
}

}  // namespace

std::uint64_t DeviceClass::block_bytes(std::uint32_t gang, bool held) const {
  const std::vector<program::BlockStep>& needs = held ? held_steps : steps;
  if (needs.empty()) return 0;
  const auto after = std::upper_bound(
      needs.begin(), needs.end(), gang,
      [](std::uint32_t wanted, const program::BlockStep& step) { return wanted < step.gang; });
  return after == needs.begin() ? needs.front().bytes : std::prev(after)->bytes;
}

bool PartProfile::shares_device_with(const PartProfile& other) const {
  for (std::size_t word = 0; word < device_mask.size(); ++word)
    if (device_mask[word] & other.device_mask[word]) return true;
  return false;
}

Status validate(const PartPlan& plan, std::uint32_t devices, std::uint64_t memory_bytes) {
  if (plan.gangs.empty()) return invalid_argument(named(plan) + " has no gangs");
  for (const program::DeviceGroup& group : plan.groups) {
    std::set<DeviceId> seen;
    for (DeviceId device : group.devices) {
      if (device >= devices)
        return invalid_argument(named(plan) + " names device " + std::to_string(device) +
                                "; the island has " + std::to_string(devices));
      if (!seen.insert(device).second)
        return invalid_argument(named(plan) + " names device " + std::to_string(device) +
                                " twice in one group");
    }
  }
  for (const program::Arg& arg : plan.args) {
    if (arg.donated_to == program::kNone) continue;
    const Value& from = plan.values[arg.value];
    const Value& to = plan.values[plan.outputs[arg.donated_to].value];
    if (from.group != to.group || from.shard_bytes != to.shard_bytes)
      return invalid_argument(named(plan) + ": output " + std::to_string(arg.donated_to) +
                              " cannot take the buffer of parameter " +
                              std::to_string(arg.parameter) + ": " +
                              std::to_string(from.shard_bytes) + " against " +
                              std::to_string(to.shard_bytes) + " bytes, or other devices");
  }
  const std::vector<std::uint64_t> peak = peak_by_device(plan, devices);
  for (DeviceId device = 0; device < devices; ++device) {
    if (peak[device] > memory_bytes)
      return resource_exhausted(named(plan) + " can never run: it needs " +
                                std::to_string(peak[device]) + " bytes on device " +
                                std::to_string(device) + ", which has " +
                                std::to_string(memory_bytes) +
                                "; split it over more devices, donate arguments, or raise the "
                                "device memory");
  }
  return {};
}

std::shared_ptr<const PartProfile> make_profile(program::PartPlanPtr plan_pointer,
                                                std::uint32_t devices) {
  auto profile = std::make_shared<PartProfile>();
  profile->plan = std::move(plan_pointer);
  const PartPlan& plan = *profile->plan;
  profile->gangs = static_cast<std::uint32_t>(plan.gangs.size());
  profile->donated_from.assign(plan.outputs.size(), program::kNone);
  for (std::uint32_t i = 0; i < plan.args.size(); ++i) {
    std::uint32_t end = plan.args[i].last_gang;
    if (const std::uint32_t output = plan.args[i].donated_to; output != program::kNone) {
      profile->donated_from[output] = i;
      end = std::max(end, plan.outputs[output].gang);  // Until then the buffer is the argument's.
    }
    profile->arg_ends.push_back({end, i});
  }
  for (std::uint32_t i = 0; i < plan.outputs.size(); ++i)
    profile->outputs_made.push_back({plan.outputs[i].gang, i});
  profile->output_ends = profile->outputs_made;
  for (std::uint32_t gang = 0; gang < plan.gangs.size(); ++gang) {
    for (const std::uint32_t operand : plan.gangs[gang].operands) {
      const program::Value& value = plan.values[operand];
      if (value.place != program::Value::Place::kOutput) continue;
      Keyed& end = profile->output_ends[value.index];
      end.key = std::max(end.key, gang);
    }
  }
  for (std::uint32_t i = 0; i < plan.sends.size(); ++i) {
    profile->sends_by_gang.push_back({plan.sends[i].gang, i});
    profile->sends_by_edge.push_back({plan.sends[i].edge, i});
  }
  for (std::uint32_t i = 0; i < plan.receives.size(); ++i)
    profile->receives_by_edge.push_back({plan.receives[i].edge, i});
  for (std::vector<Keyed>* keyed :
       {&profile->arg_ends, &profile->outputs_made, &profile->output_ends, &profile->sends_by_gang,
        &profile->sends_by_edge, &profile->receives_by_edge})
    sort_by_key(*keyed);
  profile->cost_before.push_back(0);
  for (const program::Gang& gang : plan.gangs)
    profile->cost_before.push_back(profile->cost_before.back() + gang.cost_ns);
  add_classes(*profile, devices);
  add_waits(*profile);
  return profile;
}

}  // namespace seaway::island
