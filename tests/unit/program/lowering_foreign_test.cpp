// Lowering calls of foreign functions: each value on the device of its shard.

#include <gtest/gtest.h>

#include "program/codec.hpp"
#include "program/lowering.hpp"
#include "unit/program/program_fixture.hpp"

namespace seaway::program {
namespace {

ArraySpec on(const Mesh& mesh, const PartitionSpec& spec, TensorType type = f32({8})) {
  return {std::move(type), NamedSharding(mesh, spec)};
}

/// A foreign function over devices 2 and 0 of a slice: each value is one shard's.
ProgramBuilder foreign_program() {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {4, 5, 6}).part({2, 0});
  const auto at = [&mesh](std::uint32_t shard) { return on(mesh.device(shard), P()); };
  const ValueRef v = b.parameter(at(0), true), w = b.parameter(at(1));
  FunctionInfo function;
  function.id = 100;
  function.name = "foreign";
  function.parameters = function.outputs = {f32({8}), f32({8})};
  function.shards = 2;
  function.scratch_bytes = 64;
  function.in_place = {{0, 0}, {1, 1}};
  b.functions[100] = function;
  Node node;
  node.function = 100;
  node.mesh = mesh;
  node.operands = {v, w};
  node.in_specs = {P(), P()};
  node.outputs = {at(0), at(1)};
  b.graph.nodes = {node};
  b.graph.outputs = {{0, 0}, {0, 1}};
  return b;
}

TEST(LoweringForeign, LaysEachValueOfAForeignFunctionOnTheDeviceOfItsShard) {
  const ProgramBuilder b = foreign_program();

  const LoweredProgram lowered = b.lower().value();

  const PartPlan& part = lowered.segments.at(0).parts.at(0);
  ASSERT_EQ(part.gangs.size(), 1u);  // Nothing is copied.
  EXPECT_EQ(part.groups[part.gangs[0].group].devices, (std::vector<DeviceId>{6, 4}));
  const auto devices = [&part](std::uint32_t value) {
    return part.groups[part.values[value].group].devices;
  };
  EXPECT_EQ(devices(part.gangs[0].operands[0]), std::vector<DeviceId>{6});
  EXPECT_EQ(devices(part.gangs[0].operands[1]), std::vector<DeviceId>{4});
  EXPECT_EQ(devices(part.gangs[0].results[1]), std::vector<DeviceId>{4});
  EXPECT_EQ(part.args[0].donated_to, 0u);
  EXPECT_EQ(part.args[1].donated_to, kNone);
  EXPECT_TRUE(validate(part).ok());
  EXPECT_TRUE(decode_program_graph(encode_frame(b.graph)).value().nodes[0].outputs ==
              b.graph.nodes[0].outputs);
}

TEST(LoweringForeign, RefusesAForeignFunctionOnAnotherNumberOfDevices) {
  for (const std::uint32_t shards : {1u, 2u}) {
    ProgramBuilder b = foreign_program();
    b.functions.begin()->second.shards = shards;
    b.graph.nodes[0].mesh = Mesh(1, {{"x", 3}});

    const Status status = b.lower().status();

    EXPECT_NE(status.message().find("the function runs on " + std::to_string(shards) +
                                    " devices but is called on mesh(x=3)"),
              std::string::npos)
        << status.to_string();
  }
}

}  // namespace
}  // namespace seaway::program
