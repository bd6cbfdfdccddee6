// Codecs: every field there and back; broken bytes are refused and nothing else.

#include "program/codec.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/random.hpp"
#include "program/lowering.hpp"
#include "unit/program/program_fixture.hpp"
#include "wire/frame_builder.hpp"

namespace seaway::program {
namespace {

function::Graph make_graph() {
  function::Graph graph;
  graph.name = "attention";
  function::Instruction parameter;
  parameter.type = f32({2, 3});
  function::Instruction all;
  all.op = function::Op::kAxisIndex;
  all.type = i32({2});
  all.operands = {0};
  all.dims = {1, 2};
  all.starts = {-3};
  all.limits = {4, 5};
  all.strides = {6};
  all.dot = {{1}, {2}, {3, 4}, {5}};
  all.number = -0.25;
  all.compare = function::Compare::kGe;
  all.reduce = function::Reduce::kArgmax;
  all.axis = "model";
  all.pairs = {{0, 1}, {1, 0}};
  all.parameter = 9;
  graph.instructions = {parameter, all};
  graph.parameters = {0};
  graph.outputs = {1, 0};
  return graph;
}

FunctionInfo make_info() {
  FunctionInfo info;
  info.id = 77;
  info.name = "step";
  info.parameters = {f32({4}), boolean({})};
  info.outputs = {i32({0, 2})};
  info.axes = {{"data", 2}, {"model", 4}};
  info.scratch_bytes = 4096;
  info.cost_ns = 123;
  info.idempotent = false;
  info.irregular = true;
  info.in_place = {{0, 0}, {0, 1}};
  info.shards = 1;
  info.donated = {1};
  return info;
}

/// Two islands, a reshard, a donated argument, an argument that is sent.
ProgramBuilder make_program() {
  ProgramBuilder b;
  const Mesh here = b.slice(1, 0, {0, 1}), there = b.slice(2, 1, {4, 5}, {{"x", 2}, {"y", 1}});
  const ValueRef v = b.parameter({f32({8}), NamedSharding(here, P("x"))}, true);
  const ValueRef w = b.parameter({f32({8}), NamedSharding(here, P())});
  const ValueRef x = b.call(here, {.operands = {v}, .scratch_bytes = 100});
  const ValueRef y = b.call(there, {.operands = {x, w}, .in_specs = {P("x"), P("y")}});
  const ValueRef z = b.call(here, {.operands = {x, y}, .in_specs = {P(), P("x")}});
  b.graph.outputs = {z, y};
  return b;
}

bool equal(const ProgramGraph& a, const ProgramGraph& b) {
  if (a.id != b.id || a.name != b.name || a.dispatch != b.dispatch || a.donated != b.donated ||
      a.parameters != b.parameters || a.outputs != b.outputs || a.nodes.size() != b.nodes.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const Node &x = a.nodes[i], &y = b.nodes[i];
    if (x.function != y.function || !(x.mesh == y.mesh) || x.operands != y.operands ||
        x.in_specs != y.in_specs || x.outputs != y.outputs || x.site != y.site) {
      return false;
    }
  }
  return true;
}

std::vector<PartPlan> make_parts() {
  LoweredProgram lowered = make_program().lower().value();
  return std::move(lowered.segments.at(0).parts);
}

TEST(Codec, CarriesEveryFieldOfAFunction) {
  const function::Graph graph = make_graph();

  EXPECT_EQ(decode_function_graph(encode_frame(graph)).value(), graph);
}

TEST(Codec, CarriesEveryFieldOfAFunctionsDescription) {
  const FunctionInfo info = make_info();

  const FunctionInfo back = decode_function_info(encode_frame(info)).value();

  EXPECT_EQ(back.id, info.id);
  EXPECT_EQ(back.name, info.name);
  EXPECT_EQ(back.parameters, info.parameters);
  EXPECT_EQ(back.outputs, info.outputs);
  EXPECT_EQ(back.axes, info.axes);
  EXPECT_EQ(back.scratch_bytes, info.scratch_bytes);
  EXPECT_EQ(back.cost_ns, info.cost_ns);
  EXPECT_EQ(back.idempotent, info.idempotent);
  EXPECT_EQ(back.irregular, info.irregular);
  EXPECT_EQ(back.in_place, info.in_place);
  EXPECT_EQ(back.in_place, info.in_place);
  EXPECT_EQ(back.shards, info.shards);
  EXPECT_EQ(back.donated, info.donated);
}

TEST(Codec, CarriesEveryFieldOfAForeignProgramAndWhatBecameOfIt) {
  const function::ForeignProgram program = {
      .name = {}, .format = "mlir", .code = std::string("a\0b", 3), .options = "o", .shards = 3};
  const ForeignCompiled compiled = {make_info(), "hlo", std::string("\0x", 2)};

  const auto program_back = decode_foreign_program(encode_frame(program)).value();
  const auto compiled_back = decode_foreign_compiled(encode_frame(compiled)).value();

  EXPECT_EQ(program_back.format, program.format);
  EXPECT_EQ(program_back.code, program.code);
  EXPECT_EQ(program_back.options, program.options);
  EXPECT_EQ(program_back.shards, program.shards);
  EXPECT_EQ(compiled_back.info.outputs, compiled.info.outputs);
  EXPECT_EQ(compiled_back.format, compiled.format);
  EXPECT_EQ(compiled_back.description, compiled.description);
}

TEST(Codec, RefusesForeignProgramsAndPartsOfMeshesThatCannotBe) {
  const auto code_of = [](const auto& result) { return result.status().code(); };
  function::ForeignProgram none;
  none.shards = 0;
  EXPECT_EQ(code_of(decode_foreign_program(encode_frame(none))), StatusCode::kProtocolError);
  FunctionInfo uneven = make_info();
  uneven.shards = 2;
  EXPECT_EQ(code_of(decode_function_info(encode_frame(uneven))), StatusCode::kProtocolError);
  FunctionInfo stranger = make_info();
  stranger.donated = {2};
  EXPECT_EQ(code_of(decode_function_info(encode_frame(stranger))), StatusCode::kProtocolError);
  const auto on = [](const Mesh& mesh) {
    return decode_array_spec(encode_frame(ArraySpec{f32({2}), NamedSharding(mesh, P())}));
  };
  const Mesh mesh(5, {{"x", 4}});
  EXPECT_EQ(on(mesh.part({3, 1})).value().sharding.mesh(), mesh.part({3, 1}));
  EXPECT_EQ(code_of(on(mesh.part({1, 1}))), StatusCode::kProtocolError);
  EXPECT_EQ(code_of(on(mesh.part({0, 1}, {{"y", 3}}))), StatusCode::kProtocolError);
}

TEST(Codec, CarriesEveryFieldOfAProgram) {
  ProgramGraph graph = make_program().graph;
  graph.dispatch = Dispatch::kSequential;

  EXPECT_TRUE(equal(decode_program_graph(encode_frame(graph)).value(), graph));
}

TEST(Codec, CarriesAnArraySpec) {
  const ArraySpec spec{i32({4, 6}), NamedSharding(Mesh(9, {{"a", 2}}), P("", "a"))};

  EXPECT_EQ(decode_array_spec(encode_frame(spec)).value(), spec);
}

TEST(Codec, CarriesEveryFieldOfAPart) {
  for (PartPlan plan : make_parts()) {
    plan.id = 5;

    const PartPlan back = decode_part_plan(encode_frame(plan)).value();

    // The text names every field.
    EXPECT_EQ(back.to_string(), plan.to_string());
    const Frame once = encode_frame(plan), twice = encode_frame(back);
    ASSERT_EQ(once.size_bytes(), twice.size_bytes());
    EXPECT_EQ(std::memcmp(once.words().data(), twice.words().data(), once.size_bytes()), 0);
  }
}

void expect_refusal(const Status& status, const std::string& message) {
  EXPECT_EQ(status.code(), StatusCode::kProtocolError);
  EXPECT_EQ(status.message(), message);
}

TEST(Codec, RefusesEnumsAndIndicesOutOfRange) {
  function::Graph graph = make_graph();
  graph.instructions[1].op = static_cast<function::Op>(200);
  expect_refusal(decode_function_graph(encode_frame(graph)).status(),
                 "operation 200 does not exist; the last one is 36");
  graph = make_graph();
  graph.instructions[1].operands = {1};
  expect_refusal(decode_function_graph(encode_frame(graph)).status(),
                 "operand of instruction 1: 1 of 1 does not exist");
  graph = make_graph();
  graph.outputs = {2};
  expect_refusal(decode_function_graph(encode_frame(graph)).status(),
                 "instruction 2 of 2 does not exist");
  graph = make_graph();
  graph.name = std::string(5000, 'x');
  expect_refusal(decode_function_graph(encode_frame(graph)).status(),
                 "function name: 5000 bytes; the limit is 4096");

  ProgramGraph program = make_program().graph;
  program.outputs = {{3, 0}};
  expect_refusal(decode_program_graph(encode_frame(program)).status(),
                 "node 3 of 3 does not exist");
  program.outputs = {{ValueRef::kParameter, 2}};
  expect_refusal(decode_program_graph(encode_frame(program)).status(),
                 "parameter 2 of 2 does not exist");

  ArraySpec spec{f32({8}), NamedSharding(Mesh(1, {{"a", 0}}), P())};
  expect_refusal(decode_array_spec(encode_frame(spec)).status(),
                 "axis \"a\" of mesh(a=0) has size 0; it must be >= 1");
  spec.sharding = NamedSharding(Mesh(1, {{"", 2}}), P());
  expect_refusal(decode_array_spec(encode_frame(spec)).status(),
                 "axis 0 of mesh(=2) has no name; give each axis one");
  spec.sharding = NamedSharding(Mesh(1, {{"a", 2}, {"b", 1}, {"a", 2}}), P());
  expect_refusal(decode_array_spec(encode_frame(spec)).status(),
                 "mesh(a=2, b=1, a=2) has two axes called \"a\"; rename one");
  spec.type.shape = {-1};
  expect_refusal(decode_array_spec(encode_frame(spec)).status(),
                 "type f32[-1] has a negative dimension");
  spec.type.shape = Shape(33, 1);
  expect_refusal(decode_array_spec(encode_frame(spec)).status(),
                 "tensor: 33 dimensions; the limit is 32");
}

TEST(Codec, RefusesPartsThatReachOutOfTheirRoom) {
  const PartPlan good = make_parts()[0];
  ASSERT_TRUE(validate(good).ok());
  const auto refused = [&good](auto&& spoil) {
    PartPlan plan = good;
    spoil(plan);
    return decode_part_plan(encode_frame(plan)).status().code() == StatusCode::kProtocolError;
  };

  EXPECT_TRUE(refused([](PartPlan& plan) { plan.gangs[0].operands = {99}; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.gangs[0].group = 99; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.gangs[0].position = 99; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.groups[0].devices = {1}; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.groups[0].devices = {1, 1}; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.blocks[0].steps.pop_back(); }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.values[0].shard_bytes += 64; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.sends[0].gang = 99; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.receives[0].value = 99; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.args[0].value = plan.outputs[0].value; }));
  EXPECT_TRUE(refused([](PartPlan& plan) { plan.outputs[0].value = plan.args[0].value; }));
  EXPECT_TRUE(refused([](PartPlan& plan) {
    for (Value& value : plan.values) {
      if (value.place == Value::Place::kBlock) value.offset += plan.blocks[0].steps[0].bytes;
    }
  }));
}

/// Flips up to four random bits of `frame` and hands it to `decode`, `rounds` times.
template <class Decode>
void decode_broken(const Frame& frame, std::uint64_t seed, int rounds, Decode&& decode) {
  RandomStream random(seed, 3);
  for (int i = 0; i < rounds; ++i) {
    const Frame broken = Frame::make(frame.words().size(), [&](auto words) {
      std::memcpy(words.data(), frame.words().data(), frame.size_bytes());
      for (std::uint64_t k = 1 + random.below(4); k > 0; --k) {
        words[random.below(words.size())] ^= std::uint64_t{1} << random.below(64);
      }
    });
    const Status status = decode(broken);
    const bool is_expected = status.ok() || status.code() == StatusCode::kProtocolError ||
                             status.code() == StatusCode::kInvalidArgument;
    ASSERT_TRUE(is_expected) << "seed " << seed << " round " << i << ": " << status.to_string();
  }
}

TEST(Codec, SurvivesTenThousandBrokenFrames) {
  const ProgramBuilder b = make_program();
  decode_broken(encode_frame(make_graph()), 1, 2'500,
                [](const Frame& frame) { return decode_function_graph(frame).status(); });
  decode_broken(encode_frame(make_info()), 2, 2'500,
                [](const Frame& frame) { return decode_function_info(frame).status(); });
  decode_broken(encode_frame(b.graph), 3, 5'000, [&b](const Frame& frame) {
    Result<ProgramGraph> graph = decode_program_graph(frame);
    if (!graph.ok()) return graph.status();
    return lower(*graph, b.functions, b.bindings).status();
  });
  for (const PartPlan& plan : make_parts()) {
    decode_broken(encode_frame(plan), 4, 5'000,
                  [](const Frame& frame) { return decode_part_plan(frame).status(); });
  }
}

}  // namespace
}  // namespace seaway::program
