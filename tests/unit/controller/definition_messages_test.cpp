// Definitions of clients: what goes on to hosts is built of what was checked.

#include "controller/definition_messages.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "program/codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::controller {
namespace {

constexpr ClientId kClient = 3;
constexpr FunctionId kOwn = make_id(kClient, 1), kForeign = make_id(kClient + 1, 1);

function::Graph twice() {
  const TensorType type = f32({2});
  function::Graph graph;
  graph.name = "twice";
  graph.instructions = {{.op = function::Op::kParameter, .type = type},
                        {.op = function::Op::kAdd, .type = type, .operands = {0, 0}}};
  graph.parameters = {0};
  graph.outputs = {1};
  return graph;
}

program::FunctionInfo info(FunctionId id = kOwn) {
  program::FunctionInfo info;
  info.id = id;
  info.name = "twice";
  info.parameters = info.outputs = {f32({2})};
  return info;
}

struct Definition {
  FunctionId id = kOwn;
  program::FunctionInfo info = controller::info();
  function::Graph graph = twice();
  std::string native = {};
};

Frame frame_of(const Definition& definition) {
  wire::FrameBuilder builder;
  auto out = builder.init_root<wire::DefineFunction>();
  out.setId(definition.id);
  out.setName("any other name");
  out.setInfo(wire::frame_data(program::encode_frame(definition.info)));
  out.setGraph(wire::frame_data(program::encode_frame(definition.graph)));
  out.setNative(definition.native);
  return builder.finish();
}

Result<CheckedFunction> check(const Frame& frame) {
  Result<CheckedFunction> checked = Status();
  const Status status =
      wire::read_frame<wire::DefineFunction>(frame, [&](wire::DefineFunction::Reader definition) {
        checked = check_function(kClient, definition);
      });
  return status.ok() ? std::move(checked) : Result<CheckedFunction>(status);
}
Result<CheckedFunction> check(const Definition& definition) { return check(frame_of(definition)); }

/// What a host reads in `compile`.
void expect_whole(const Frame& compile, FunctionId id) {
  const Status status =
      wire::read_frame<wire::Message>(compile, [&](wire::Message::Reader message) {
        const auto definition = message.getCompile();
        EXPECT_EQ(definition.getId(), id);
        const auto own = program::decode_function_info(wire::data_frame(definition.getInfo()));
        ASSERT_TRUE(own.ok()) << own.status().to_string();
        EXPECT_EQ(own->id, id);
        EXPECT_EQ(own->name, definition.getName().cStr());
        if (definition.getNative().size() > 0) return;
        const auto graph = program::decode_function_graph(wire::data_frame(definition.getGraph()));
        ASSERT_TRUE(graph.ok()) << graph.status().to_string();
        EXPECT_TRUE(function::validate(*graph, own->axes).ok());
        ASSERT_EQ(graph->outputs.size(), own->outputs.size());
        for (std::size_t i = 0; i < own->outputs.size(); ++i) {
          EXPECT_EQ(graph->output_type(i), own->outputs[i]);
        }
      });
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(CheckedFunctions, AreBuiltOfWhatWasDecoded) {
  const auto checked = check(Definition());

  ASSERT_TRUE(checked.ok()) << checked.status().to_string();
  EXPECT_EQ(checked->info.id, kOwn);
  expect_whole(checked->compile, kOwn);
}

TEST(CheckedFunctions, HaveOneIdWhichIsTheClients) {
  EXPECT_EQ(
      check({.id = kForeign}).status().message(),
      "client 3 defines function " + std::to_string(kForeign) + ": the id is another client's");
  EXPECT_FALSE(check({.info = info(kForeign)}).ok());
  EXPECT_FALSE(check({.id = kForeign, .info = info(kForeign)}).ok());
  EXPECT_FALSE(check({.info = info(kOwn + 1)}).ok());
}

/// The controller plans memory by the info, and a host writes what the graph makes.
TEST(CheckedFunctions, HaveTheTypesOfTheirInfo) {
  program::FunctionInfo smaller = info(), more = info(), sharded = info();
  smaller.outputs = {f32({1})};
  more.parameters.push_back(f32({2}));
  sharded.shards = 2;

  for (const program::FunctionInfo& wrong : {smaller, more, sharded}) {
    EXPECT_EQ(check({.info = wrong}).status().code(), StatusCode::kProtocolError);
  }
  function::Graph invalid = twice();
  invalid.instructions[1].type = f32({3});
  EXPECT_FALSE(check({.graph = invalid}).ok());
}

TEST(CheckedFunctions, NativeNameIsTheFunctionsName) {
  EXPECT_TRUE(check({.native = "twice"}).ok());
  EXPECT_FALSE(check({.native = "thrice"}).ok());
}

/// A host that could not read one would take its controller for broken.
TEST(CheckedFunctions, DamagedOnesNeverReachHosts) {
  const Frame honest = frame_of(Definition());
  RandomStream random(7, 1);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint64_t> words(honest.words().begin(), honest.words().end());
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
      words[random.below(words.size())] ^= std::uint64_t{1} << random.below(64);
    }
    const auto checked =
        check(Frame::make(words.size(), [&](auto out) { std::ranges::copy(words, out.begin()); }));
    if (!checked.ok()) continue;
    ++taken;
    expect_whole(checked->compile, kOwn);
  }
  EXPECT_GT(taken, 100);  // Damage to a number that may be any.
  EXPECT_LT(taken, 19'000);
}

}  // namespace
}  // namespace seaway::controller
