// Graphs of strangers: each way to be wrong is refused with a message.

#include <limits>

#include "base/limits.hpp"
#include "unit/function/evaluate.hpp"

namespace seaway::function {
namespace {

/// %0 = parameter f32[2,3]; %1 = reduce sum over dimension 0; returns %1.
Graph good_graph() {
  Graph graph{.name = "g"};
  graph.instructions.push_back({.op = Op::kParameter, .type = f32({2, 3})});
  graph.instructions.push_back({.op = Op::kReduce, .type = f32({3}), .operands = {0}, .dims = {0}});
  graph.parameters = {0};
  graph.outputs = {1};
  return graph;
}

/// What validate says after `change`, without "function 'g': ".
std::string refused(const std::function<void(Graph&)>& change, const AxisSizes& axes = {}) {
  Graph graph = good_graph();
  change(graph);
  const Status status = validate(graph, axes);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  const std::string prefix = "function 'g': ";
  EXPECT_EQ(status.message().substr(0, prefix.size()), prefix);
  return status.ok() ? "" : status.message().substr(prefix.size());
}

TEST(Validate, AcceptsAGoodGraph) { EXPECT_TRUE(validate(good_graph(), {}).ok()); }

TEST(Validate, RefusesOperandsThatDoNotComeBefore) {
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].operands = {1}; }),
            "value %1: operand %1 does not come before its user");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].operands = {4000000000u}; }),
            "value %1: operand %4000000000 does not come before its user");
  EXPECT_EQ(refused([](Graph& g) {
              g.instructions[1].operands = {0, 0};
            }),
            "value %1: reduce(f32[2,3], f32[2,3]): takes 1 operands, not 2");
}

TEST(Validate, RefusesWrongParametersAndOutputs) {
  EXPECT_EQ(refused([](Graph& g) { g.parameters = {}; }), "lists 0 parameters, but has 1");
  EXPECT_EQ(refused([](Graph& g) { g.parameters = {1}; }),
            "parameter 0 is listed as %1, which is not it");
  EXPECT_EQ(refused([](Graph& g) { g.parameters = {77}; }),
            "parameter 0 is listed as %77, which is not it");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[0].parameter = 5; }),
            "parameter 0 is listed as %0, which is not it");
  EXPECT_EQ(refused([](Graph& g) { g.outputs = {2}; }),
            "output %2 does not exist; there are 2 values");
}

TEST(Validate, RefusesWrongTypesAndUnknownNumbers) {
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].type = f32({2}); }),
            "value %1: is declared f32[2], but gives f32[3]");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[0].type.dtype = static_cast<DType>(99); }),
            "value %0: parameter(): unknown element type");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].op = static_cast<Op>(99); }),
            "value %1: ?(f32[2,3]): unknown operation");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].reduce = static_cast<Reduce>(7); }),
            "value %1: reduce(f32[2,3]): unknown reduction");
  EXPECT_EQ(refused([](Graph& g) {
              g.instructions[1] = {.op = Op::kCompare,
                                   .type = boolean({2, 3}),
                                   .operands = {0, 0},
                                   .compare = static_cast<Compare>(6)};
            }),
            "value %1: compare(f32[2,3], f32[2,3]): unknown comparison");
}

TEST(Validate, RefusesSizesThatWouldOverflow) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

  EXPECT_NE(refused([](Graph& g) { g.instructions[0].type = f32({kHuge, 0, kHuge}); }), "");
  EXPECT_NE(refused([](Graph& g) { g.instructions[0].type = f32({kHuge}); }), "");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[0].type.shape.assign(17, 1); }),
            "value %0: parameter(): result: 17 dimensions; the limit is 16");
  EXPECT_NE(refused(
                [](Graph& g) {
                  g.instructions[1] = {.op = Op::kAllGather,
                                       .type = f32({1 << 30, 1 << 8}),
                                       .operands = {0},
                                       .dims = {0},
                                       .axis = "x"};
                  g.instructions[0].type = f32({1 << 30, 1 << 8});
                },
                {{"x", 1 << 20}}),
            "");
  EXPECT_NE(refused([](Graph& g) {
              g.instructions[1] = {.op = Op::kSlice,
                                   .type = f32({1, 3}),
                                   .operands = {0},
                                   .starts = {0, 0},
                                   .limits = {kHuge, 3},
                                   .strides = {kHuge, 1}};
            }),
            "");
  EXPECT_EQ(refused([](Graph&) {}, {{"x", 1 << 20}, {"y", 2}}),
            "mesh axis 'y' has size 2; sizes are at least 1, and their product at most 1048576");
}

TEST(Validate, AStrideMayBeAsLargeAsItLikes) {
  Graph graph = good_graph();
  graph.instructions[1] = {.op = Op::kSlice,
                           .type = f32({1, 3}),
                           .operands = {0},
                           .starts = {0, 0},
                           .limits = {2, 3},
                           .strides = {std::numeric_limits<std::int64_t>::max(), 1}};

  EXPECT_TRUE(validate(graph, {}).ok());
}

TEST(Validate, RefusesFieldsThatTheOperationDoesNotRead) {
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].axis = "x"; }),
            "value %1: reduce has no axis, but they are set");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[0].dims = {0}; }),
            "value %0: parameter has no dims, but they are set");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].starts = {0}; }),
            "value %1: reduce has no slice bounds, but they are set");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].dot.lhs_batch = {0}; }),
            "value %1: reduce has no dot dimensions, but they are set");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].number = 1; }),
            "value %1: reduce has no number, but they are set");
  EXPECT_EQ(refused([](Graph& g) {
              g.instructions[1].pairs = {{0, 0}};
            }),
            "value %1: reduce has no pairs, but they are set");
  EXPECT_EQ(refused([](Graph& g) { g.instructions[1].parameter = 1; }),
            "value %1: reduce has no parameter, but they are set");
}

TEST(Validate, RefusesMoreOperationsThanTheLimit) {
  EXPECT_EQ(refused([](Graph& g) { g.instructions.resize(limits::kOperations.max + 1); }),
            "it: 1000001 operations; the limit is 1000000");
}

TEST(Validate, RefusesReductionsAndRowsWithNothingToChooseFrom) {
  EXPECT_EQ(refused([](Graph& g) {
              g.instructions[0].type = f32({0, 3});
              g.instructions[1].reduce = Reduce::kArgmax;
              g.instructions[1].type = i32({3});
            }),
            "value %1: reduce(f32[0,3]): argmax needs between 1 and 2^31-1 elements to choose "
            "from");
  EXPECT_EQ(
      refused([](Graph& g) {
        g.instructions[0].type = i32({0});
        g.instructions[1] = {.op = Op::kConstant, .type = i32({2})};
        g.instructions.push_back({.op = Op::kGatherRows, .type = i32({2}), .operands = {0, 1}});
      }),
      "value %2: gather(i32[0], i32[2]): a table without rows has none to choose");
}

}  // namespace
}  // namespace seaway::function
