// PlanMaker: small part plans for worlds and tests, written as a few lines each.

#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "program/part_plan.hpp"

namespace seaway::exhaustive {

/// Gangs run on all of `devices`; position == index. The block has `work` bytes from admission
/// until the last gang is placed, beside what receives and sends need.
class PlanMaker {
 public:
  explicit PlanMaker(std::vector<DeviceId> devices, std::uint64_t work = 0) : work_(work) {
    plan_.groups.push_back({std::move(devices), {}});
  }

  PlanMaker& gangs(std::uint32_t count, std::uint64_t cost_ns = 1000) {
    for (std::uint32_t i = 0; i < count; ++i) {
      program::Gang gang;
      gang.position = static_cast<std::uint32_t>(plan_.gangs.size());
      gang.cost_ns = cost_ns;
      plan_.gangs.push_back(gang);
    }
    return *this;
  }
  PlanMaker& arg(std::uint32_t gang, std::uint64_t bytes) {
    const std::uint32_t value = add_value(program::Value::Place::kArg, plan_.args.size(), bytes);
    plan_.gangs[gang].operands.push_back(value);
    program::Arg arg;
    arg.parameter = static_cast<std::uint32_t>(plan_.args.size());
    arg.value = value;
    arg.last_gang = gang;
    plan_.args.push_back(arg);
    return *this;
  }
  PlanMaker& output(std::uint32_t gang, std::uint64_t bytes) {
    const std::uint32_t value =
        add_value(program::Value::Place::kOutput, plan_.outputs.size(), bytes);
    plan_.gangs[gang].results.push_back(value);
    plan_.outputs.push_back({static_cast<std::uint32_t>(plan_.outputs.size()), value, gang});
    return *this;
  }
  /// Argument `arg` becomes output `output`; kNone: it is only consumed.
  PlanMaker& donate(std::uint32_t arg, std::uint32_t output = program::kNone) {
    plan_.args[arg].donated = true;
    plan_.args[arg].donated_to = output;
    return *this;
  }
  PlanMaker& receive(std::uint32_t gang, std::uint32_t edge, IslandId peer, std::uint64_t bytes) {
    program::Receive receive;
    receive.edge = edge;
    receive.peer = peer;
    receive.value = add_block_value(bytes);
    receive.first_gang = gang;
    plan_.gangs[gang].operands.push_back(receive.value);
    plan_.receives.push_back(receive);
    return *this;
  }
  PlanMaker& send(std::uint32_t gang, std::uint32_t edge, IslandId peer, std::uint64_t bytes) {
    program::Send send;
    send.edge = edge;
    send.peer = peer;
    send.value = add_block_value(bytes);
    send.gang = gang;
    plan_.gangs[gang].results.push_back(send.value);
    plan_.sends.push_back(send);
    plan_.send_bytes += bytes * plan_.groups[0].devices.size();
    return *this;
  }
  /// The block shrinks to `bytes` when gang `gang` begins.
  PlanMaker& step(std::uint32_t gang, std::uint64_t bytes) {
    steps_.push_back({gang, bytes});
    return *this;
  }

  program::PartPlan plan() const {
    program::PartPlan made = plan_;
    program::Block block;
    block.steps.push_back({0, work_ + block_values_});
    for (const program::BlockStep& step : steps_) block.steps.push_back(step);
    block.steps.push_back({static_cast<std::uint32_t>(made.gangs.size()), 0});
    made.blocks.push_back(block);
    return made;
  }
  program::PartPlanPtr make() const { return std::make_shared<program::PartPlan>(plan()); }

 private:
  std::uint32_t add_value(program::Value::Place place, std::size_t index, std::uint64_t bytes) {
    program::Value value;
    value.place = place;
    value.index = static_cast<std::uint32_t>(index);
    value.shard_bytes = bytes;
    plan_.values.push_back(value);
    return static_cast<std::uint32_t>(plan_.values.size() - 1);
  }
  std::uint32_t add_block_value(std::uint64_t bytes) {
    const std::uint32_t value = add_value(program::Value::Place::kBlock, 0, bytes);
    plan_.values[value].offset = block_values_;
    block_values_ += bytes;
    return value;
  }

  program::PartPlan plan_;
  std::uint64_t work_ = 0, block_values_ = 0;
  std::vector<program::BlockStep> steps_;
};

}  // namespace seaway::exhaustive
