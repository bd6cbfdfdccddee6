// Capturing programs, and running them in debug mode without any cluster.

#include "client/capture.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "seaway/seaway.hpp"

namespace seaway::client {
namespace {

/// The program of Figure 2 of the paper, in debug mode.
struct Figure2 {
  Client client = debug_client();
  Slice slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  NamedSharding row{slice.mesh(), P("data")};
  Function a = client.function("a", [](Tensor x) { return 2.0 * x; }, {f32({1})}).value();
  Function b = client.function("b", [](Tensor x) { return x + 1.0; }, {f32({1})}).value();
  Function c = client.function("c", [](Tensor x) { return x / 2.0; }, {f32({1})}).value();
  Program f = client
                  .program("f",
                           [this](Traced v) {
                             Traced x = a(v);
                             Traced y = b(x);
                             Traced z = a(c(x));
                             return std::tuple{y, z};
                           },
                           {ArraySpec{f32({2}), row}})
                  .value();
};

TEST(Figure2, EvaluatesInDebugModeWithoutACluster) {
  Figure2 world;

  const seaway::Run run = world.f.execute({world.client.put<float>({1, 2}, world.row)});

  EXPECT_TRUE(run.status().get().ok()) << run.to_string();
  EXPECT_EQ(run.output(0).to_host<float>().get().value(), (std::vector<float>{3, 5}));
  EXPECT_EQ(run.output(1).to_host<float>().get().value(), (std::vector<float>{2, 4}));
}

/// Where node `index` of `program` was captured: lines of this file would make tests brittle.
std::string site_of(const Program& program, std::size_t index) {
  return nlohmann::json::parse(program.to_json())["nodes"][index]["site"];
}

/// Whatever a debugger stops at, the stack below is that of the caller.
TEST(DebugMode, RunsNodeByNodeInTheCallingThreadBeforeExecuteReturns) {
  Figure2 world;
  std::vector<std::string> calls;
  const auto make = [&](const std::string& name) {
    NativeFunction native;
    native.parameters = native.outputs = {f32({1})};
    native.body = [&calls, name, caller = std::this_thread::get_id()](auto in, auto out,
                                                                      std::byte*) -> Status {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      calls.push_back(name);
      *reinterpret_cast<float*>(out[0]) = *reinterpret_cast<const float*>(in[0]);
      return {};
    };
    return world.client.native(name, std::move(native)).value();
  };
  const Function first = make("first"), second = make("second");
  const Program program = world.client
                              .program("p", [&](Traced v) { return second(world.a(first(v))); },
                                       {ArraySpec{f32({2}), world.row}})
                              .value();

  const seaway::Run run = program.execute({world.client.put<float>({1, 2}, world.row)});

  // Both shards of a node before the next node.
  EXPECT_EQ(calls, (std::vector<std::string>{"first", "first", "second", "second"}));
  EXPECT_TRUE(run.status().ready());
  EXPECT_EQ(run.output(0).to_host<float>().get().value(), (std::vector<float>{2, 4}));
}

TEST(DebugMode, ReshardsArraysAndUsesThemUp) {
  Figure2 world;
  const NamedSharding whole(world.slice.mesh(), P());
  const Array x = world.client.put<float>({1, 2}, world.row);

  const Array copy = x.reshard(whole).value();
  const Array moved = x.reshard(whole, ArrayCopySemantics::kDonateInput).value();

  EXPECT_EQ(copy.to_host<float>().get().value(), (std::vector<float>{1, 2}));
  EXPECT_EQ(moved.to_host<float>().get().value(), (std::vector<float>{1, 2}));
  EXPECT_EQ(moved.sharding(), whole);
  EXPECT_TRUE(x.is_deleted());
}

TEST(Figure2, PrintsItsFunctionsByName) {
  Figure2 world;

  const std::string row = "mesh(data=2) of slice " + std::to_string(world.slice.id());
  const auto node = [&](std::size_t index, const std::string& call) {
    return "  n" + std::to_string(index) + ": function " + call + " as P(\"data\")) on " + row +
           " -> f32[2] as P(\"data\")  # " + site_of(world.f, index) + "\n";
  };
  EXPECT_EQ(world.f.to_string(), "program " + std::to_string(world.f.id()) +
                                     " \"f\", parallel dispatch\n"
                                     "  p0: f32[2] as P(\"data\") over mesh(data=2)\n" +
                                     node(0, "a(p0") + node(1, "b(n0.0") + node(2, "c(n0.0") +
                                     node(3, "a(n2.0") + "  return n1.0 n3.0\n");
}

TEST(Figure2, PrintsAsGraphvizAndAsJson) {
  Figure2 world;

  const std::string dot = world.f.to_dot();
  const nlohmann::json json = nlohmann::json::parse(world.f.to_json());

  const auto box = [&](std::size_t index, const std::string& name) {
    return "  n" + std::to_string(index) + " [shape=box, label=\"n" + std::to_string(index) +
           " function " + name + " on mesh(data=2) of slice " + std::to_string(world.slice.id()) +
           " at " + site_of(world.f, index) + "\"];\n";
  };
  const std::string edge = " [label=\"f32[2]\"];\n";
  EXPECT_EQ(dot, "digraph \"f\" {\n  p0 [shape=ellipse, label=\"p0 f32[2]\"];\n" + box(0, "a") +
                     box(1, "b") + box(2, "c") + box(3, "a") + "  p0 -> n0" + edge + "  n0 -> n1" +
                     edge + "  n0 -> n2" + edge + "  n2 -> n3" + edge +
                     "  output0 [shape=ellipse];\n  n1 -> output0" + edge +
                     "  output1 [shape=ellipse];\n  n3 -> output1" + edge + "}\n");
  EXPECT_EQ(json["nodes"].size(), 4u);
  EXPECT_EQ(json["nodes"][1]["name"], "b");
  EXPECT_EQ(json["nodes"][3]["name"], "a");
  EXPECT_EQ(json["nodes"][3]["function"], json["nodes"][0]["function"]);
  EXPECT_EQ(json["nodes"][3]["operands"][0]["node"], 2);
}

TEST(Figure2, KnowsItsSizeAndWhereItWasCaptured) {
  Figure2 world;

  EXPECT_EQ(world.f.node_count(), 4u);
  EXPECT_EQ(world.f.outputs().size(), 2u);
  EXPECT_EQ(world.f.outputs()[0], (ArraySpec{f32({2}), world.row}));
  EXPECT_EQ(site_of(world.f, 0).find("capture_test.cpp:"), 0u) << site_of(world.f, 0);
  EXPECT_EQ(world.a.to_string(), "function a(f32[1]) -> (f32[1])");
  EXPECT_NE(world.a.to_stablehlo().find("stablehlo.multiply"), std::string::npos);
}

TEST(Capture, AnyCodeMayStandAroundTheCalls) {
  Figure2 world;

  const auto chain = world.client.program("chain",
                                          [&world](std::span<const Traced> in) {
                                            Traced x = in[0];
                                            for (int i = 0; i < 5; ++i) x = world.a(x);
                                            return x;
                                          },
                                          {ArraySpec{f32({2}), world.row}});
  const seaway::Run run = chain->execute({world.client.put<float>({1, 2}, world.row)});

  EXPECT_EQ(run.output(0).to_host<float>().get().value(), (std::vector<float>{32, 64}));
}

TEST(Capture, SeveralResultsAreUnpacked) {
  Figure2 world;
  const Function both =
      world.client.function("both",
                            [](Tensor x) {
                              return std::pair{x, x * 3.0};
                            },
                            {f32({1})})
          .value();

  const auto program = world.client.program("p",
                                            [&both](Traced v) {
                                              auto [x, y] = both(v).unpack<2>();
                                              return std::vector<Traced>{y, both(x)[1], both(y)};
                                            },
                                            {ArraySpec{f32({2}), world.row}});
  const seaway::Run run = program->execute({world.client.put<float>({1, 2}, world.row)});

  ASSERT_EQ(run.size(), 4u);
  EXPECT_EQ(run.output(3).to_host<float>().get().value(), (std::vector<float>{9, 18}));
}

TEST(Capture, ReshardsBetweenSlicesAndSpecs) {
  Figure2 world;
  const Slice other = world.client.acquire_slice({.devices = 4, .mesh = {{"m", 4}}}).value();
  const Function sum =
      world.client.function("sum", [](Tensor x) { return reduce_sum(x); }, {f32({8})}).value();

  const auto program = world.client.program(
      "p",
      [&](Traced v) {
        const Traced replicated = v.reshard(NamedSharding(other.mesh(), P()));
        return std::pair{sum(replicated), v.reshard(NamedSharding(other.mesh(), P("m")))};
      },
      {ArraySpec{f32({8}), world.row}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const seaway::Run run =
      program->execute({world.client.put<float>({1, 2, 3, 4, 5, 6, 7, 8}, world.row)});

  EXPECT_EQ(run.output(0).to_host<float>().get().value(), std::vector<float>{36});
  EXPECT_EQ(run.output(1).to_host<float>().get().value(),
            (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(run.output(0).sharding(), NamedSharding(other.mesh(), P()));
}

TEST(Capture, CallsMayChooseSliceAndSpecs) {
  Figure2 world;
  const Slice other = world.client.acquire_slice({.devices = 2, .mesh = {{"m", 2}}}).value();

  const auto program = world.client.program(
      "p", [&](Traced v) { return world.a.on(other).with({.in = {P("m")}, .out = {P("m")}})(v); },
      {ArraySpec{f32({2}), world.row}});

  ASSERT_TRUE(program.ok()) << program.status().to_string();
  EXPECT_EQ(program->outputs()[0].sharding, NamedSharding(other.mesh(), P("m")));
}

TEST(Capture, CollectivesRunOverTheMeshOfTheFunction) {
  Figure2 world;
  const Function sum = world.client
                           .function("sum", [](Tensor x) { return all_reduce(x, "data"); },
                                     {f32({1})}, {.mesh = world.slice.mesh(), .out = {P()}})
                           .value();

  const seaway::Run run = sum.execute({world.client.put<float>({1, 2}, world.row)});

  EXPECT_EQ(run.output(0).to_host<float>().get().value(), std::vector<float>{3}) << run.to_string();
}

TEST(Native, RunsInDebugModeAndItsFailureIsTheRuns) {
  Figure2 world;
  const auto make = [&world](std::string name, auto body) {
    NativeFunction native;
    native.parameters = native.outputs = {f32({1})};
    native.body = body;
    return world.client.native(std::move(name), std::move(native)).value();
  };
  const Function negate = make("negate", [](auto in, auto out, std::byte*) -> Status {
    *reinterpret_cast<float*>(out[0]) = -*reinterpret_cast<const float*>(in[0]);
    return {};
  });
  const Function fails =
      make("fails", [](auto, auto, std::byte*) -> Status { return user_function_error("no"); });
  const Function throws =
      make("throws", [](auto, auto, std::byte*) -> Status { throw std::runtime_error("thrown"); });
  const Array x = world.client.put<float>({1, 2}, world.row);

  const seaway::Run good = negate.execute({x});
  const seaway::Run bad = fails.execute({x});
  const seaway::Run worse = throws.execute({x});
  const seaway::Run after_bad = negate.execute({bad.output(0)});

  EXPECT_EQ(good.output(0).to_host<float>().get().value(), (std::vector<float>{-1, -2}));
  EXPECT_EQ(bad.error().code(), StatusCode::kUserFunctionError);
  EXPECT_NE(bad.error().message().find("function \"fails\" called at capture_test.cpp:"),
            std::string::npos)
      << bad.error().to_string();
  EXPECT_EQ(worse.error().code(), StatusCode::kUserFunctionError);
  EXPECT_EQ(after_bad.error().code(), StatusCode::kInputLost);
}

}  // namespace
}  // namespace seaway::client
