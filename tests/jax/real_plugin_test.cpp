// A real plugin does what the fake one does: values, promises, donations, the cache.
//
// SEAWAY_REAL_PLUGIN names it, and SEAWAY_REAL_DEVICES says how many devices it has (8 without it):
// meshes that need more are left out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/one_core.hpp"
#include "base/real_disk.hpp"
#include "pjrt/client.hpp"
#include "pjrt/compile_options.hpp"
#include "pjrt/pjrt_executable.hpp"
#include "unit/function/random_graph.hpp"
#include "unit/pjrt/temporary_directory.hpp"

namespace seaway::pjrt {
namespace {

std::uint32_t all_devices() {
  const char* const given = std::getenv("SEAWAY_REAL_DEVICES");
  return given == nullptr ? 8 : static_cast<std::uint32_t>(std::stoul(given));
}

Target target(std::uint32_t devices, InputWay way) {
  const char* const path = std::getenv("SEAWAY_REAL_PLUGIN");
  if (path == nullptr) throw std::runtime_error("SEAWAY_REAL_PLUGIN names no plugin");
  return {Client::make(Plugin::load(path).value(), devices).value(),
          std::make_shared<Ledger>(devices, std::uint64_t{1} << 34), nullptr, way};
}

class RealPluginTest : public ::testing::TestWithParam<InputWay> {};

INSTANTIATE_TEST_SUITE_P(Ways, RealPluginTest,
                         ::testing::Values(InputWay::kLent, InputWay::kPromised),
                         [](const auto& one) {
                           return one.param == InputWay::kLent ? "Lent" : "Promised";
                         });

void compare(const Target& all, const function::Graph& graph, const function::AxisSizes& axes,
             std::uint64_t seed) {
  const std::string where = "seed " + std::to_string(seed);
  const auto shards = static_cast<std::size_t>(function::shard_count(axes));
  const auto made = PjrtExecutable::compile(all, graph, axes);
  ASSERT_TRUE(made.ok()) << where << ": " << made.to_string();
  function::TestRun expected(function::compile_reference(graph, axes).value(), shards);
  function::TestRun actual(*made, shards);
  fill(expected, seed, shards);
  fill(actual, seed, shards);
  expected.run();
  actual.run();
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    for (std::size_t s = 0; s < shards; ++s) {
      expect_equal(actual.output(o), expected.output(o), graph.output_type(o), s,
                   where + ", output " + std::to_string(o) + ", shard " + std::to_string(s));
    }
  }
}

TEST_P(RealPluginTest, AgreesWithTheReferenceOnRandomFunctions) {
  const Target all = target(all_devices(), GetParam());
  std::vector<function::AxisSizes> meshes = {
      {{"a", 1}}, {{"a", 2}}, {{"a", 3}, {"b", 2}}, {{"a", 2}, {"b", 1}, {"c", 4}}};
  std::erase_if(meshes,
                [](const auto& mesh) { return function::shard_count(mesh) > all_devices(); });
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const function::AxisSizes& axes = meshes[seed % meshes.size()];
    compare(all, function::RandomGraph(seed, axes).build(), axes, seed);
  }
}

TEST(RealPluginOnOneCore, ShortFunctionsGiveWhatTheyGiveOnAll) {
  const Target all = target(1, InputWay::kLent);
  Target both = all;
  run_on_one_core([&] { both.narrow = Client::make(all.client->plugin(), 1).value(); });
  ASSERT_EQ(both.narrow != nullptr, std::thread::hardware_concurrency() > 1);
  const function::AxisSizes axes;
  std::size_t narrow = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const function::Graph graph = function::RandomGraph(seed, axes).build();
    const auto wide_one = PjrtExecutable::compile(all, graph, axes).value();
    const auto short_one = PjrtExecutable::compile(both, graph, axes).value();
    narrow += &short_one->client() == both.narrow.get();
    function::TestRun expected(wide_one, 1), actual(short_one, 1);
    fill(expected, seed, 1);
    fill(actual, seed, 1);
    expected.run();
    actual.run();
    for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
      const std::size_t bytes = graph.output_type(o).bytes();
      if (bytes == 0) continue;
      EXPECT_EQ(
          std::memcmp(actual.output(o).view().shard(0), expected.output(o).view().shard(0), bytes),
          0)
          << "seed " << seed << ", output " << o;
    }
  }
  EXPECT_EQ(narrow > 0, both.narrow != nullptr);
}

TEST_P(RealPluginTest, TakesMoreGangsWithCollectivesThanItCouldBearAtOnce) {
  const std::uint32_t devices = all_devices();
  const Target all = target(devices, GetParam());
  function::TestGraph graph;
  const auto x = graph.parameter(f32({4}));
  function::Instruction sum{.op = function::Op::kAllReduce, .type = f32({4}), .operands = {x}};
  sum.axis = "a";
  const function::AxisSizes axes = {{"a", devices}};
  const auto made =
      PjrtExecutable::compile(all, graph.build({graph.add(std::move(sum))}), axes).value();
  function::TestRun run(made, devices);
  for (std::size_t s = 0; s < devices; ++s) run.operand(0).set<float>(s, {1, 2, 3, 4});

  for (int i = 0; i < 128; ++i) run.run();

  const auto sum_of = [devices](float of_one) { return of_one * static_cast<float>(devices); };
  EXPECT_EQ(run.output(0).get<float>(devices - 1),
            (std::vector<float>{sum_of(1), sum_of(2), sum_of(3), sum_of(4)}));
  EXPECT_EQ(all.ledger->count(devices - 1).bytes, 0u);
}

TEST_P(RealPluginTest, LoadsWhatItHasCompiledBefore) {
  const TemporaryDirectory directory;
  RealDisk disk(directory.path());
  const function::AxisSizes axes = {{"a", std::min(all_devices(), 2u)}};
  for (const std::uint64_t seed : {1, 1, 2, 2}) {
    Target all = target(std::min(all_devices(), 3u), GetParam());
    all.cache = std::make_shared<ExecutableCache>(disk, "test");

    compare(all, function::RandomGraph(seed, axes).build(), axes, seed);
  }

  EXPECT_EQ(disk.list("").value().size(), 2u);
}

/// x + x of four numbers.
Code doubling(const Client& client) {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({4}));
  const auto twice = graph.build({graph.same(function::Op::kAdd, {x, x})});
  return client.compile(function::to_stablehlo(twice, {}), portable_options()).value();
}

/// Enqueues `code` on `operand`; its output.
Buffer enqueue(const Client& client, const Code& code, const Buffer& operand) {
  abi::Buffer* const in = operand.get();
  abi::Buffer* const* ins = &in;
  abi::Buffer* out = nullptr;
  abi::Buffer** outs = &out;
  abi::ExecuteOptions options;
  options.head.struct_size = abi::size_of<abi::ExecuteOptions>();
  abi::LoadedExecutableExecute args;
  args.executable = code.loaded.get();
  args.options = &options;
  args.arguments = &ins;
  args.devices = args.arguments_count = 1;
  args.outputs = &outs;
  args.execute_device = client.devices()[0].device;
  const Status status = call(client.api(), args);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return Buffer(client.api(), out);
}

class RealPromiseTest : public ::testing::Test {
 protected:
  RealPromiseTest() {
    const std::vector<TensorType> types = {f32({4})};
    promises_ = client_->promise(client_->devices()[0], types).value();
    once_ = enqueue(*client_, code_, promises_.buffers[0]);
    twice_ = enqueue(*client_, code_, once_);
  }
  Status read(std::vector<float>& target) {
    target.resize(4);
    auto event = client_->read(twice_, reinterpret_cast<std::byte*>(target.data()), 16);
    return event.ok() ? await(*event) : event.status();
  }

  std::shared_ptr<Client> client_ = target(1, InputWay::kLent).client;
  Code code_ = doubling(*client_);
  Promises promises_;
  Buffer once_, twice_;
};

TEST_F(RealPromiseTest, ProgramsAreEnqueuedBeforeTheirInputsExist) {
  alignas(64) const float numbers[16] = {1, 2, 3, 4};

  const auto kept = client_->fulfil(promises_, 0, reinterpret_cast<const std::byte*>(numbers), 16);

  ASSERT_TRUE(kept.ok()) << kept.to_string();
  EXPECT_TRUE(await(*kept).ok());
  std::vector<float> values;
  EXPECT_TRUE(read(values).ok());
  EXPECT_EQ(values, (std::vector<float>{4, 8, 12, 16}));
}

TEST_F(RealPromiseTest, ABrokenPromiseIsPoisonForWhateverDependsOnIt) {
  EXPECT_TRUE(client_->poison(promises_, 0, input_lost("array 5 is gone")).ok());

  std::vector<float> values;
  const Status status = read(values);
  EXPECT_EQ(status.code(), StatusCode::kUserFunctionError);
  EXPECT_NE(status.message().find("INPUT_LOST: array 5 is gone"), std::string::npos)
      << status.to_string();
}

}  // namespace
}  // namespace seaway::pjrt
