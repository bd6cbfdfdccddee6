// What a host may rely on once it has taken a part plan from the wire.

#include <algorithm>

#include "program/codec_lists.hpp"

namespace seaway::program {

using namespace internal;

namespace {

constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 60;

Status check_sharding(const DeviceGroup& group, const PartitionSpec& spec, const TensorType& type) {
  const Status status = NamedSharding(Mesh(0, group.axes), spec).validate(type);
  return status.ok() ? Status() : protocol_error(status.message());
}

/// Checks one plan, list by list; later lists rely on the earlier ones.
class PartChecker {
 public:
  explicit PartChecker(const PartPlan& plan) : plan_(plan) {}

  Status run() {
    for (const DeviceGroup& group : plan_.groups)
      if (Status status = check(group); !status.ok()) return status;
    if (Status status = check_blocks(); !status.ok()) return status;
    for (const Value& value : plan_.values)
      if (Status status = check(value); !status.ok()) return status;
    for (std::size_t i = 0; i < plan_.gangs.size(); ++i) {
      if (Status status = check(plan_.gangs[i]); !status.ok()) return status;
      if (i > 0 && plan_.gangs[i - 1].position >= plan_.gangs[i].position) {
        return protocol_error("gang " + std::to_string(i) + " has position " +
                              std::to_string(plan_.gangs[i].position) + ", not behind " +
                              std::to_string(plan_.gangs[i - 1].position));
      }
    }
    if (Status status = check_falls(); !status.ok()) return status;
    for (const Receive& receive : plan_.receives)
      if (Status status = check(receive); !status.ok()) return status;
    for (const Send& send : plan_.sends)
      if (Status status = check(send); !status.ok()) return status;
    for (std::uint32_t i = 0; i < plan_.args.size(); ++i)
      if (Status status = check_arg(i); !status.ok()) return status;
    for (std::uint32_t i = 0; i < plan_.outputs.size(); ++i) {
      if (Status status = check_output(i); !status.ok()) return status;
    }
    return {};
  }

 private:
  static Status check(const DeviceGroup& group) {
    const std::int64_t devices = Mesh(0, group.axes).device_count();
    if (static_cast<std::int64_t>(group.devices.size()) != devices) {
      return protocol_error("a group has " + std::to_string(group.devices.size()) +
                            " devices, but its axes " + std::to_string(devices));
    }
    std::vector<DeviceId> sorted = group.devices;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      return protocol_error("a group names one device twice");
    }
    return {};
  }

  Status check_blocks() {
    block_bytes_.assign(plan_.groups.size(), 0);
    for (const Block& block : plan_.blocks) {
      if (Status status = check_index(block.group, plan_.groups.size(), "group"); !status.ok())
        return status;
      const std::vector<BlockStep>& steps = block.steps;
      bool is_sound = !steps.empty() && block_bytes_[block.group] == 0 && steps.front().gang == 0 &&
                      steps.front().bytes <= kBlockBytesMax &&
                      steps.back().gang == plan_.gangs.size() && steps.back().bytes == 0;
      for (std::size_t i = 1; i < steps.size(); ++i) {
        is_sound =
            is_sound && steps[i - 1].gang < steps[i].gang && steps[i - 1].bytes >= steps[i].bytes;
      }
      if (!is_sound) {
        return protocol_error("the block of group " + std::to_string(block.group) +
                              " must shrink from gang 0 to the end, once per group");
      }
      block_bytes_[block.group] = steps.front().bytes;
    }
    return {};
  }

  /// Room is free at a place in the streams of its devices, so it ends with a gang that they run.
  Status check_falls() const {
    for (const Block& block : plan_.blocks) {
      for (std::size_t i = 1; i < block.steps.size(); ++i) {
        if (block.steps[i].bytes == block.steps[i - 1].bytes) continue;
        const std::uint32_t last = block.steps[i].gang - 1;
        if (plan_.runs_on(plan_.gangs[last], block.group)) continue;
        return protocol_error("the block of group " + std::to_string(block.group) +
                              " shrinks behind gang " + std::to_string(last) +
                              ", which does not run on its devices");
      }
    }
    return {};
  }

  Status check(const Value& value) const {
    if (Status status = check_index(value.group, plan_.groups.size(), "group"); !status.ok())
      return status;
    const DeviceGroup& group = plan_.groups[value.group];
    if (Status status = check_sharding(group, value.spec, value.type); !status.ok()) return status;
    const std::uint64_t bytes =
        NamedSharding(Mesh(0, group.axes), value.spec).shard_type(value.type).bytes();
    if (value.shard_bytes != (bytes + 63) / 64 * 64) {
      return protocol_error("a shard of " + to_string(value.type) + " takes " +
                            std::to_string(bytes) + " bytes, but the plan gives it " +
                            std::to_string(value.shard_bytes));
    }
    switch (value.place) {
      case Value::Place::kArg:
        return check_index(value.index, plan_.args.size(), "argument");
      case Value::Place::kOutput:
        return check_index(value.index, plan_.outputs.size(), "output");
      case Value::Place::kBlock:
        break;
    }
    const std::uint64_t room = block_bytes_[value.group];
    const bool fits = value.offset % 64 == 0 && value.shard_bytes <= room &&
                      value.offset <= room - value.shard_bytes;
    if (fits || value.shard_bytes == 0) return {};
    return protocol_error("a value at offset " + std::to_string(value.offset) + " with " +
                          std::to_string(value.shard_bytes) + " bytes is not in its block of " +
                          std::to_string(room));
  }

  Status check(const Gang& gang) const {
    if (Status status = check_index(gang.group, plan_.groups.size(), "group"); !status.ok())
      return status;
    for (const auto* list : {&gang.operands, &gang.results}) {
      for (const std::uint32_t value : *list) {
        if (Status status = check_index(value, plan_.values.size(), "value"); !status.ok())
          return status;
      }
    }
    if (gang.scratch_offset % 64 != 0 || gang.scratch_offset > block_bytes_[gang.group]) {
      return protocol_error("scratch at offset " + std::to_string(gang.scratch_offset) +
                            " is not in its block");
    }
    if (gang.kind == Gang::Kind::kCompute) return {};
    if (gang.kind == Gang::Kind::kSend) {
      return gang.operands.size() == 1 && gang.results.empty()
                 ? Status()
                 : protocol_error("a gang that sends has one operand and no result");
    }
    if (Status status = check_index(gang.source_group, plan_.groups.size(), "source group");
        !status.ok())
      return status;
    const bool is_copy = gang.operands.size() == 1 && gang.results.size() == 1 &&
                         plan_.values[gang.operands[0]].type == plan_.values[gang.results[0]].type;
    return is_copy ? Status() : protocol_error("a reshard copies one value to one of its type");
  }

  Status check(const Receive& receive) const {
    if (Status status = check_index(receive.value, plan_.values.size(), "value"); !status.ok())
      return status;
    if (Status status = check_index(receive.first_gang, plan_.gangs.size(), "gang"); !status.ok())
      return status;
    if (Status status = check(receive.source_group); !status.ok()) return status;
    return check_sharding(receive.source_group, receive.source_spec,
                          plan_.values[receive.value].type);
  }

  Status check(const Send& send) const {
    if (Status status = check_index(send.value, plan_.values.size(), "value"); !status.ok())
      return status;
    if (Status status = check_index(send.gang, plan_.gangs.size(), "gang"); !status.ok())
      return status;
    if (Status status = check(send.target_group); !status.ok()) return status;
    return check_sharding(send.target_group, send.target_spec, plan_.values[send.value].type);
  }

  Status check_arg(std::uint32_t index) const {
    const Arg& arg = plan_.args[index];
    if (Status status = check_index(arg.value, plan_.values.size(), "value"); !status.ok())
      return status;
    if (Status status = check_index(arg.last_gang, plan_.gangs.size(), "gang"); !status.ok())
      return status;
    const Value& value = plan_.values[arg.value];
    if (value.place != Value::Place::kArg || value.index != index) {
      return protocol_error("argument " + std::to_string(index) + " names a value that is not its");
    }
    if (arg.donated_to == kNone) return {};
    if (Status status = check_index(arg.donated_to, plan_.outputs.size(), "output"); !status.ok())
      return status;
    const std::uint32_t target = plan_.outputs[arg.donated_to].value;
    if (Status status = check_index(target, plan_.values.size(), "value"); !status.ok())
      return status;
    const bool fits = arg.donated && plan_.values[target].shard_bytes == value.shard_bytes &&
                      plan_.values[target].group == value.group;
    return fits ? Status()
                : protocol_error("argument " + std::to_string(index) +
                                 " is donated to an output that it does not fit");
  }

  Status check_output(std::uint32_t index) const {
    const Output& output = plan_.outputs[index];
    if (Status status = check_index(output.value, plan_.values.size(), "value"); !status.ok())
      return status;
    if (Status status = check_index(output.gang, plan_.gangs.size(), "gang"); !status.ok())
      return status;
    const Value& value = plan_.values[output.value];
    if (value.place == Value::Place::kOutput && value.index == index) return {};
    return protocol_error("output " + std::to_string(index) + " names a value that is not its");
  }

  const PartPlan& plan_;
  std::vector<std::uint64_t> block_bytes_;  // By group.
};

}  // namespace

Status validate(const PartPlan& plan) { return PartChecker(plan).run(); }

}  // namespace seaway::program
