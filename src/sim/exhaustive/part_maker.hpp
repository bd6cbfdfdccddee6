// PartMaker: part plans that a host can run, written as a few lines each.

#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/part_plan.hpp"

namespace seaway::exhaustive {

/// Bytes of every value of a PartMaker on each device: one f32 vector of 16.
constexpr std::uint64_t kShardBytes = 64;

/// The kernel of `parameters` and `outputs` has this id.
constexpr FunctionId kernel_id(std::size_t parameters, std::size_t outputs) {
  return 1 + parameters * 16 + outputs;
}

struct GangOptions {
  std::uint32_t group = 0;
  std::uint64_t cost_ns = 100;
  std::string site = {};
};

/// Values are vectors split over a group of devices. Position == index of a gang. Blocks have room
/// until the last gang, unless ends() says otherwise.
class PartMaker {
 public:
  PartMaker(PlanId id, std::vector<DeviceId> devices) {
    plan_.id = id;
    group(std::move(devices));
  }

  std::uint32_t group(std::vector<DeviceId> devices) {
    const auto size = static_cast<std::int64_t>(devices.size());
    plan_.groups.push_back({std::move(devices), {{"x", size}}});
    blocks_.emplace_back();
    return static_cast<std::uint32_t>(plan_.groups.size() - 1);
  }
  std::uint32_t arg(std::uint32_t group = 0) {
    const auto index = static_cast<std::uint32_t>(plan_.args.size());
    const std::uint32_t value = add_value(program::Value::Place::kArg, index, group);
    plan_.args.push_back({index, value, 0, program::kNone, false});
    return value;
  }
  std::uint32_t output(std::uint32_t group = 0) {
    const auto index = static_cast<std::uint32_t>(plan_.outputs.size());
    const std::uint32_t value = add_value(program::Value::Place::kOutput, index, group);
    plan_.outputs.push_back({index, value, 0});
    return value;
  }
  /// A value that does not outlive the part.
  std::uint32_t inner(std::uint32_t group = 0) {
    const std::uint32_t value = add_value(program::Value::Place::kBlock, 0, group);
    plan_.values[value].offset = blocks_[group].bytes;
    blocks_[group].bytes += kShardBytes;
    return value;
  }
  /// Runs on the devices of `options.group`.
  PartMaker& gang(std::vector<std::uint32_t> operands, std::vector<std::uint32_t> results,
                  GangOptions options = {}) {
    program::Gang gang;
    gang.function = kernel_id(operands.size(), results.size());
    return add_gang(std::move(gang), std::move(operands), std::move(results), std::move(options));
  }
  /// Copies between groups; runs on the devices of both.
  PartMaker& reshard(std::uint32_t source, std::uint32_t target) {
    program::Gang gang;
    gang.kind = program::Gang::Kind::kReshard;
    gang.source_group = plan_.values[source].group;
    return add_gang(std::move(gang), {source}, {target}, {.group = plan_.values[target].group});
  }
  /// An argument becomes ready for the sends that name it.
  PartMaker& announce(std::uint32_t arg) {
    program::Gang gang;
    gang.kind = program::Gang::Kind::kSend;
    return add_gang(std::move(gang), {arg}, {}, {.group = plan_.values[arg].group});
  }
  /// Comes from an island that holds it on as many devices.
  std::uint32_t receive(std::uint32_t edge, IslandId peer, std::uint32_t group = 0) {
    program::Receive receive;
    receive.edge = edge;
    receive.peer = peer;
    receive.value = inner(group);
    receive.source_group = plan_.groups[group];
    receive.source_spec = P("x");
    plan_.receives.push_back(receive);
    return receive.value;
  }
  PartMaker& send(std::uint32_t value, std::uint32_t edge, IslandId peer) {
    program::Send send;
    send.edge = edge;
    send.peer = peer;
    send.value = value;
    plan_.sends.push_back(send);
    plan_.send_bytes += kShardBytes * plan_.groups[plan_.values[value].group].devices.size();
    return *this;
  }
  /// Argument number `arg` becomes output number `output`; kNone: it is only consumed.
  PartMaker& donate(std::uint32_t arg, std::uint32_t output = program::kNone) {
    plan_.args[arg].donated = true;
    plan_.args[arg].donated_to = output;
    return *this;
  }
  /// Work space of the block of `group`, behind its values.
  PartMaker& work(std::uint64_t bytes, std::uint32_t group = 0) {
    blocks_[group].work = bytes;
    return *this;
  }
  /// The block of `group` needs only `bytes` behind all gangs so far.
  PartMaker& shrinks(std::uint32_t group, std::uint64_t bytes = 0) {
    blocks_[group].steps.push_back({static_cast<std::uint32_t>(plan_.gangs.size()), bytes});
    return *this;
  }

  program::PartPlanPtr make() const {
    auto made = std::make_shared<program::PartPlan>(plan_);
    const auto gangs = static_cast<std::uint32_t>(made->gangs.size());
    for (std::uint32_t g = 0; g < blocks_.size(); ++g) {
      const std::uint64_t bytes = blocks_[g].bytes + blocks_[g].work;
      if (bytes == 0) continue;
      program::Block block{g, {{0, bytes}}};
      for (const program::BlockStep& step : blocks_[g].steps) block.steps.push_back(step);
      if (block.steps.back().bytes > 0) block.steps.push_back({gangs, 0});
      made->blocks.push_back(block);
    }
    for (std::uint32_t i = gangs; i-- > 0;) {
      const program::Gang& gang = made->gangs[i];
      for (program::Receive& receive : made->receives) {
        if (names(gang.operands, receive.value)) receive.first_gang = i;
      }
      for (program::Output& output : made->outputs) {
        if (names(gang.results, output.value)) output.gang = i;
      }
      for (program::Send& send : made->sends) {
        const bool is_announced = gang.kind == program::Gang::Kind::kSend;
        if (names(is_announced ? gang.operands : gang.results, send.value)) send.gang = i;
      }
    }
    for (std::uint32_t i = 0; i < gangs; ++i) {
      for (program::Arg& arg : made->args) {
        if (names(made->gangs[i].operands, arg.value)) arg.last_gang = i;
      }
    }
    return made;
  }

 private:
  struct BlockRoom {
    std::uint64_t bytes = 0, work = 0;
    std::vector<program::BlockStep> steps = {};
  };

  static bool names(const std::vector<std::uint32_t>& values, std::uint32_t value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  }
  std::uint32_t add_value(program::Value::Place place, std::uint32_t index, std::uint32_t group) {
    program::Value value;
    value.place = place;
    value.index = index;
    value.group = group;
    value.shard_bytes = kShardBytes;
    value.type = f32({16 * static_cast<std::int64_t>(plan_.groups[group].devices.size())});
    value.spec = P("x");
    plan_.values.push_back(std::move(value));
    return static_cast<std::uint32_t>(plan_.values.size() - 1);
  }
  PartMaker& add_gang(program::Gang gang, std::vector<std::uint32_t> operands,
                      std::vector<std::uint32_t> results, GangOptions options) {
    gang.position = static_cast<std::uint32_t>(plan_.gangs.size());
    gang.group = options.group;
    gang.cost_ns = options.cost_ns;
    gang.operands = std::move(operands);
    gang.results = std::move(results);
    plan_.gangs.push_back(std::move(gang));
    plan_.site_of_gang.push_back(static_cast<std::uint32_t>(plan_.sites.size()));
    plan_.sites.push_back(std::move(options.site));
    return *this;
  }

  program::PartPlan plan_;
  std::vector<BlockRoom> blocks_;
};

}  // namespace seaway::exhaustive
