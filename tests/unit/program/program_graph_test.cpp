// What a program refuses, how it prints, and what it computes on the reference evaluator.

#include "program/program_graph.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "program/reference.hpp"
#include "unit/program/program_fixture.hpp"

namespace seaway::program {
namespace {

ProgramBuilder make_program() {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef v = b.parameter({f32({8}), NamedSharding(mesh, P("x"))}, true);
  const ValueRef x = b.call(mesh, {.operands = {v}});
  b.graph.outputs = {b.call(mesh, {.operands = {x}, .in_specs = {P()}})};
  return b;
}

void expect_refusal(const std::function<void(ProgramBuilder&)>& spoil, const std::string& message) {
  ProgramBuilder b = make_program();
  spoil(b);

  const Status status = validate(b.graph, b.functions);

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), message);
  EXPECT_EQ(b.lower().status(), status);
}

TEST(ProgramGraph, NamesNodeSiteAndBothTypesOfAMismatch) {
  expect_refusal([](ProgramBuilder& b) { b.functions[101].parameters[0] = f32({4}); },
                 "node 1 (f1 at test.cpp:1): operand 0 is f32[8], split as P() over mesh(x=2) into "
                 "f32[8], but the function's shard is f32[4]");
  expect_refusal([](ProgramBuilder& b) { b.functions[100].outputs[0] = i32({4}); },
                 "node 0 (f0 at test.cpp:0): output 0 is f32[8], split as P(\"x\") over mesh(x=2) "
                 "into f32[4], but the function's shard is i32[4]");
  expect_refusal([](ProgramBuilder& b) { b.graph.nodes[0].in_specs[0] = P("z"); },
                 "node 0 (f0 at test.cpp:0): operand 0: P(\"z\") names axis \"z\", which "
                 "mesh(x=2) does not have");
}

TEST(ProgramGraph, RefusesReferencesThatLeadNowhere) {
  expect_refusal(
      [](ProgramBuilder& b) {
        b.graph.nodes[0].operands[0] = {1, 0};
      },
      "node 0 (f0 at test.cpp:0): operand 0 names result 0 of node 1, which does not "
      "come before it");
  expect_refusal([](ProgramBuilder& b) { b.graph.nodes[0].operands[0].output = 7; },
                 "node 0 (f0 at test.cpp:0): operand 0 names parameter 7, which does not come "
                 "before it");
  expect_refusal([](ProgramBuilder& b) { b.graph.outputs[0].output = 3; },
                 "program \"test\" has output 0, which names result 3 of node 1 that does not "
                 "exist");
  expect_refusal([](ProgramBuilder& b) { b.functions.erase(101); },
                 "node 1 (unknown function at test.cpp:1): function 101 is not registered; "
                 "register it before the program");
}

TEST(ProgramGraph, RefusesCountsAndMeshesThatDoNotFit) {
  expect_refusal([](ProgramBuilder& b) { b.graph.nodes[1].in_specs.clear(); },
                 "node 1 (f1 at test.cpp:1): the function takes 1 operands; the call has 1 and 0 "
                 "specs for them");
  expect_refusal([](ProgramBuilder& b) { b.graph.nodes[1].outputs.clear(); },
                 "node 1 (f1 at test.cpp:1): the function has 1 outputs; the call has 0");
  expect_refusal(
      [](ProgramBuilder& b) {
        b.functions[100].axes = {{"y", 2}};
      },
      "node 0 (f0 at test.cpp:0): the function was captured for mesh(y=2) but is "
      "called on mesh(x=2)");
  expect_refusal(
      [](ProgramBuilder& b) {
        b.graph.nodes[0].outputs[0].sharding = NamedSharding(Mesh(9, {{"x", 2}}), P("x"));
      },
      "node 0 (f0 at test.cpp:0): output 0 lies on mesh(x=2) of slice 9, but the node runs on "
      "mesh(x=2) of slice 1");
  expect_refusal([](ProgramBuilder& b) { b.graph.donated.push_back(true); },
                 "program \"test\" has 2 donation marks for 1 parameters");
  expect_refusal(
      [](ProgramBuilder& b) { b.graph.parameters[0].type = f32({7}); },
      "program \"test\" has parameter 0, where dimension 0 of f32[7] has size 7, which P(\"x\") "
      "over mesh(x=2) splits into 2 pieces; 7 is not divisible by 2");
  expect_refusal([](ProgramBuilder& b) { b.graph.nodes.resize(kNodesMax + 1); },
                 "program \"test\" has 1000001 nodes; the limit is 1000000, split the program");
}

TEST(ProgramGraph, PrintsOneNodeALine) {
  EXPECT_EQ(make_program().graph.to_string(),
            "program 7 \"test\", parallel dispatch\n"
            "  p0: f32[8] as P(\"x\") over mesh(x=2), donated\n"
            "  n0: function 100(p0 as P(\"x\")) on mesh(x=2) of slice 1 -> f32[8] as P(\"x\")  "
            "# test.cpp:0\n"
            "  n1: function 101(n0.0 as P()) on mesh(x=2) of slice 1 -> f32[8] as P(\"x\")  "
            "# test.cpp:1\n"
            "  return n1.0\n");
}

TEST(ProgramGraph, PrintsFunctionsByNameWhereItIsKnown) {
  const ProgramGraph graph = make_program().graph;
  const FunctionNames names = [](FunctionId id) { return id == 100 ? "twice" : ""; };

  const nlohmann::json json = nlohmann::json::parse(graph.to_json(names));

  EXPECT_NE(graph.to_string(names).find("  n0: function twice(p0 "), std::string::npos);
  EXPECT_NE(graph.to_string(names).find("  n1: function 101(n0.0 "), std::string::npos);
  EXPECT_NE(graph.to_dot(names).find("label=\"n0 function twice on "), std::string::npos);
  EXPECT_NE(graph.to_dot(names).find("label=\"n1 function 101 on "), std::string::npos);
  EXPECT_EQ(json["nodes"][0]["name"], "twice");
  EXPECT_FALSE(json["nodes"][1].contains("name"));
}

TEST(ProgramGraph, PrintsAsGraphvizAndAsJson) {
  const ProgramGraph graph = make_program().graph;

  const std::string dot = graph.to_dot();
  const nlohmann::json json = nlohmann::json::parse(graph.to_json());

  EXPECT_NE(dot.find("  n0 -> n1 [label=\"f32[8]\"];\n"), std::string::npos) << dot;
  EXPECT_NE(dot.find("  n1 -> output0 [label=\"f32[8]\"];\n"), std::string::npos) << dot;
  EXPECT_EQ(json["nodes"].size(), 2u);
  EXPECT_EQ(json["nodes"][1]["operands"][0]["node"], 0);
  EXPECT_EQ(json["parameters"][0]["type"], "f32[8]");
  EXPECT_EQ(json["parameters"][0]["donated"], true);
}

/// Adds `shard index + 1` to each element of its one operand.
class AddShardIndex final : public function::Executable {
 public:
  explicit AddShardIndex(const FunctionInfo& info) : info_(info) {}
  const std::vector<TensorType>& parameter_types() const override { return info_.parameters; }
  const std::vector<TensorType>& output_types() const override { return info_.outputs; }
  std::size_t scratch_bytes() const override { return 64; }
  std::uint64_t cost_ns() const override { return 1; }
  Status run(std::span<const function::ShardedBuffer> operands,
             std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer scratch,
             std::size_t shards, function::Parallelism*) const override {
    for (std::size_t s = 0; s < shards; ++s) {
      std::memset(scratch.shard(s), 0xff, 64);
      const auto* in = reinterpret_cast<const std::int32_t*>(operands[0].shard(s));
      auto* out = reinterpret_cast<std::int32_t*>(outputs[0].shard(s));
      for (std::int64_t i = 0; i < info_.outputs[0].elements(); ++i) {
        out[i] = in[i] + static_cast<std::int32_t>(s) + 1;
      }
    }
    return fails ? user_function_error("it fails") : Status();
  }
  bool fails = false;

 private:
  FunctionInfo info_;
};

GlobalArray bytes_of(const std::vector<std::int32_t>& numbers) {
  GlobalArray bytes(numbers.size() * 4);
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// One node splits the rows, the next one the columns.
ProgramBuilder make_rows_then_columns() {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef v = b.parameter({i32({2, 2}), NamedSharding(mesh, P())});
  const ValueRef x =
      b.call(mesh, {.operands = {v}, .in_specs = {P("x")}, .out = i32({2, 2}), .out_spec = P("x")});
  const ValueRef y = b.call(
      mesh,
      {.operands = {x}, .in_specs = {P("", "x")}, .out = i32({2, 2}), .out_spec = P("", "x")});
  b.graph.outputs = {y, x, v};
  return b;
}

TEST(Reference, SplitsAndJoinsBetweenNodes) {
  const ProgramBuilder b = make_rows_then_columns();
  const FindExecutable find = [&b](FunctionId id) {
    return std::make_shared<AddShardIndex>(b.functions.at(id));
  };

  const auto outputs = evaluate(b.graph, find, {bytes_of({10, 20, 30, 40})}).value();

  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[1], bytes_of({11, 21, 32, 42}));
  EXPECT_EQ(outputs[0], bytes_of({12, 23, 33, 44}));
  EXPECT_EQ(outputs[2], bytes_of({10, 20, 30, 40}));
}

TEST(Reference, NamesTheNodeThatFails) {
  const ProgramBuilder b = make_rows_then_columns();
  const FindExecutable failing = [&b](FunctionId id) {
    auto executable = std::make_shared<AddShardIndex>(b.functions.at(id));
    executable->fails = id == 101;
    return executable;
  };
  const FindExecutable none = [](FunctionId) { return nullptr; };
  const FindExecutable other = [&b](FunctionId) {
    FunctionInfo info = b.functions.at(100);
    info.parameters[0] = f32({3});
    return std::make_shared<AddShardIndex>(info);
  };
  const GlobalArray input = bytes_of({1, 2, 3, 4});

  EXPECT_EQ(evaluate(b.graph, failing, {input}).status(),
            user_function_error("node 1 (function 101 at test.cpp:1): it fails"));
  EXPECT_EQ(evaluate(b.graph, none, {input}).status(),
            invalid_argument("node 0 (function 100 at test.cpp:0): it has no executable"));
  EXPECT_EQ(evaluate(b.graph, other, {input}).status(),
            invalid_argument("node 0 (function 100 at test.cpp:0): its executable has other types "
                             "than the program says"));
  EXPECT_EQ(evaluate(b.graph, none, {}).status(),
            invalid_argument("program \"test\" takes 1 inputs, not 0"));
  EXPECT_EQ(evaluate(b.graph, none, {bytes_of({1})}).status(),
            invalid_argument("input 0 of program \"test\" is i32[2,2] of 16 bytes, not 4"));
}

}  // namespace
}  // namespace seaway::program
