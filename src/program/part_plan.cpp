// A part plan as text: every field, one thing a line.

#include "program/part_plan.hpp"

#include <algorithm>

namespace seaway::program {
namespace {

std::string number(std::uint64_t value) {
  return value == kNone ? std::string("-") : std::to_string(value);
}

template <class Numbers>
std::string list(const Numbers& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ",";
    text += std::to_string(numbers[i]);
  }
  return text + "]";
}

std::string describe(const DeviceGroup& group) {
  return Mesh(0, group.axes).to_string() + " on devices " + list(group.devices);
}

std::string describe(const Value& value) {
  constexpr const char* kPlaces[] = {"block", "arg", "output"};
  std::string text = std::string(kPlaces[static_cast<int>(value.place)]);
  text += value.place == Value::Place::kBlock ? " at " + std::to_string(value.offset)
                                              : " " + std::to_string(value.index);
  return text + ", group " + std::to_string(value.group) + ", " + to_string(value.type) + " as " +
         value.spec.to_string() + ", " + std::to_string(value.shard_bytes) + " bytes a shard";
}

std::string describe(const Gang& gang) {
  constexpr const char* kKinds[] = {"compute", "reshard", "send"};
  std::string text = std::string(kKinds[static_cast<int>(gang.kind)]) + ", position " +
                     std::to_string(gang.position) + ", node " + number(gang.node) + ", function " +
                     std::to_string(gang.function) + ", group " + std::to_string(gang.group);
  if (gang.source_group != kNone) text += " from group " + std::to_string(gang.source_group);
  return text + ", " + list(gang.operands) + " -> " + list(gang.results) + ", scratch at " +
         std::to_string(gang.scratch_offset) + ", " + std::to_string(gang.cost_ns) + " ns";
}

}  // namespace

bool PartPlan::runs_on(const Gang& gang, std::uint32_t group) const {
  const auto includes = [this, group](std::uint32_t other) {
    if (other == group) return true;
    if (other == kNone) return false;
    const std::vector<DeviceId>& all = groups[other].devices;
    return std::all_of(
        groups[group].devices.begin(), groups[group].devices.end(),
        [&all](DeviceId device) { return std::find(all.begin(), all.end(), device) != all.end(); });
  };
  return includes(gang.group) || includes(gang.source_group);
}

std::string PartPlan::to_string() const {
  std::string text = "part of program " + std::to_string(program) + " on island " +
                     std::to_string(island) + ", plan " + std::to_string(id) + ", " +
                     std::to_string(send_bytes) + " bytes to send\n";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    text += "  group " + std::to_string(i) + ": " + describe(groups[i]) + "\n";
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += "  value " + std::to_string(i) + ": " + describe(values[i]) + "\n";
  }
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    text += "  gang " + std::to_string(i) + ": " + describe(gangs[i]) + "\n";
  }
  for (const Receive& receive : receives) {
    text += "  edge " + std::to_string(receive.edge) + ": value " + std::to_string(receive.value) +
            " from island " + std::to_string(receive.peer) + ", for gang " +
            std::to_string(receive.first_gang) + ", lies as " + receive.source_spec.to_string() +
            " over " + describe(receive.source_group) + "\n";
  }
  for (const Send& send : sends) {
    text += "  edge " + std::to_string(send.edge) + ": value " + std::to_string(send.value) +
            " to island " + std::to_string(send.peer) + ", behind gang " +
            std::to_string(send.gang) + ", wanted as " + send.target_spec.to_string() + " over " +
            describe(send.target_group) + "\n";
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    text += "  arg " + std::to_string(i) + ": argument " + std::to_string(args[i].parameter) +
            " of the run, value " + std::to_string(args[i].value) + ", last read by gang " +
            std::to_string(args[i].last_gang);
    if (args[i].donated) text += ", donated to output " + number(args[i].donated_to);
    text += "\n";
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    text += "  output " + std::to_string(i) + ": output " + std::to_string(outputs[i].output) +
            " of the run, value " + std::to_string(outputs[i].value) + ", made by gang " +
            std::to_string(outputs[i].gang) + "\n";
  }
  for (const Block& block : blocks) {
    text += "  block of group " + std::to_string(block.group) + ":";
    for (const BlockStep& step : block.steps) {
      text +=
          " " + std::to_string(step.bytes) + " bytes from gang " + std::to_string(step.gang) + ";";
    }
    text.back() = '\n';
  }
  return text;
}

}  // namespace seaway::program
