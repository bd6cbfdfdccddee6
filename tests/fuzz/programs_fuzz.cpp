// Any bytes as a program, a part plan, an array spec, a function's description, a foreign program
// or what became of it: an error, or what is the same once it is written and read again. A program
// that validates is lowered, and all its parts are what hosts take.

#include <map>

#include "base/check.hpp"
#include "program/codec.hpp"
#include "program/lowering.hpp"
#include "target.hpp"

namespace seaway::fuzz {
namespace {

constexpr std::int64_t kDevicesMax = 64;

template <class Item>
void expect_stable(const Item& item, Result<Item> (*decode)(const Frame&)) {
  const Frame once = program::encode_frame(item);
  const auto again = decode(once);
  SEAWAY_CHECK(again.ok(), again.status().to_string());
  const Frame twice = program::encode_frame(*again);
  SEAWAY_CHECK(std::ranges::equal(once.words(), twice.words()));
}

/// What would make each node of `graph` a correct call, as far as that is possible.
std::map<FunctionId, program::FunctionInfo> functions_for(const program::ProgramGraph& graph) {
  std::map<FunctionId, program::FunctionInfo> functions;
  for (const program::Node& node : graph.nodes) {
    program::FunctionInfo info;
    info.id = node.function;
    info.name = "f";
    info.irregular = node.function % 5 == 4;
    const auto add = [&](const TensorType& type, const PartitionSpec& spec,
                         std::vector<TensorType>& types) {
      const NamedSharding sharding(node.mesh, spec);
      types.push_back(sharding.validate(type).ok() ? sharding.shard_type(type) : type);
    };
    for (std::size_t i = 0; i < node.operands.size() && i < node.in_specs.size(); ++i) {
      add(graph.spec_of(node.operands[i]).type, node.in_specs[i], info.parameters);
    }
    for (const ArraySpec& output : node.outputs) {
      add(output.type, output.sharding.spec(), info.outputs);
    }
    functions.emplace(node.function, std::move(info));
  }
  return functions;
}

/// Each slice on the first devices of an island of its own; no slice when it is too large.
std::map<SliceId, program::Binding> bindings_for(const program::ProgramGraph& graph) {
  std::map<SliceId, program::Binding> bindings;
  const auto bind = [&bindings](const Mesh& mesh) {
    program::Binding binding;
    binding.island = static_cast<IslandId>(mesh.slice() % 3);
    for (std::int64_t i = 0; i < std::min(mesh.device_count(), kDevicesMax); ++i) {
      binding.devices.push_back(static_cast<DeviceId>(i));
    }
    bindings.emplace(mesh.slice(), std::move(binding));
  };
  for (const ArraySpec& spec : graph.parameters) bind(spec.sharding.mesh());
  for (const program::Node& node : graph.nodes) bind(node.mesh);
  return bindings;
}

void lower(const program::ProgramGraph& graph) {
  const auto functions = functions_for(graph);
  const Status valid = program::validate(graph, functions);
  SEAWAY_CHECK(valid.ok() || valid.code() == StatusCode::kInvalidArgument, valid.to_string());
  auto lowered = program::lower(graph, functions, bindings_for(graph));
  if (!lowered.ok()) return;
  SEAWAY_CHECK(valid.ok(), valid.to_string());
  for (const program::Segment& segment : lowered->segments) {
    for (const program::PartPlan& part : segment.parts) {
      expect_stable(part, program::decode_part_plan);
    }
  }
}

template <class Item>
void read(const Frame& frame, Result<Item> (*decode)(const Frame&), auto&& use) {
  const auto item = decode(frame);
  if (!item.ok()) {
    SEAWAY_CHECK(item.status().code() == StatusCode::kProtocolError, item.status().to_string());
    return;
  }
  expect_stable(*item, decode);
  use(*item);
}

}  // namespace

void programs(std::span<const std::uint8_t> input) {
  if (input.size() < Sayings::kHead) return;
  const Frame frame = frame_of(input.subspan(Sayings::kHead));
  const auto nothing = [](const auto&) {};
  switch (input[0] % 6) {
    case 0:
      return read(frame, program::decode_program_graph, lower);
    case 1:
      return read(frame, program::decode_part_plan, nothing);
    case 2:
      return read(frame, program::decode_array_spec, nothing);
    case 3:
      return read(frame, program::decode_function_info, nothing);
    case 4:
      return read(frame, program::decode_foreign_program, nothing);
    default:
      return read(frame, program::decode_foreign_compiled, nothing);
  }
}

}  // namespace seaway::fuzz
