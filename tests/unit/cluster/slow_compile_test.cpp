// A function whose compilation takes as long as it likes: who calls it waits, and nobody else.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cluster_fixture.hpp"
#include "function/executable.hpp"

namespace seaway {
namespace {

/// Only reached by what would otherwise never end.
constexpr auto kNever = std::chrono::seconds(30);

std::vector<float> value_of(const Array& array) {
  auto value = array.to_host<float>().get(kNever);
  EXPECT_TRUE(value.ok()) << value.status().to_string() << "\n" << array.why();
  return value.ok() ? *value : std::vector<float>();
}

/// Two islands with a single thread for all their large work.
cluster::EmbeddedOptions one_thread() {
  cluster::EmbeddedOptions options;
  options.islands = options.devices = 2;
  options.threads = 1;
  return options;
}

/// Functions called "slow" are compiled when the gate is open.
struct SlowCompiler {
  ~SlowCompiler() { gate.open(); }  // The end of a cluster waits for what is being compiled.

  Gate gate;
  Cluster cluster = Cluster(std::make_shared<Cluster::State>(
      one_thread(), [this](const function::Graph& graph, const function::AxisSizes& axes,
                           const function::Collectives& collectives) {
        if (graph.name == "slow") gate.pass();
        return function::compile_cpu(graph, axes, collectives);
      }));
};

/// A client of two devices of island 0, which all of them share.
struct User {
  explicit User(const Cluster& cluster)
      : client(cluster.connect().value()),
        slice(acquire(client, 2, 0)),
        row(slice.mesh(), P("data")) {}

  Function increment(const std::string& name, std::int64_t elements = 1) const {
    return client.function(name, [](Tensor x) { return x + 1; }, {f32({elements})}).value();
  }
  Array put(const std::vector<float>& values) const {
    return client.put(values, {static_cast<std::int64_t>(values.size())}, row);
  }

  Client client;
  Slice slice;
  NamedSharding row;
};

TEST(SlowCompile, DelaysNoRunOfAnotherClientOnTheSameDevices) {
  SlowCompiler world;
  const User first(world.cluster), second(world.cluster);
  const seaway::Run slow = first.increment("slow").execute({first.put({1, 2})});
  world.gate.await();

  const std::vector<float> small =
      value_of(second.increment("small").execute({second.put({3, 4})}).output(0));
  // Large gangs and large copies run on the arena, which has but one thread.
  const Function large =
      second.client.native("large", copying({f32({1 << 16})}, [] { return Status(); })).value();
  const std::vector<float> values = counted(1 << 17);
  const Array copied = large.execute({second.put(values)}).output(0);
  const Array moved = copied.reshard(NamedSharding(second.slice.mesh(), P())).value();

  EXPECT_EQ(small, (std::vector<float>{4, 5}));
  EXPECT_EQ(value_of(copied), values);
  EXPECT_EQ(value_of(moved), values);
  EXPECT_FALSE(slow.status().ready());
  world.gate.open();
  EXPECT_EQ(value_of(slow.output(0)), (std::vector<float>{2, 3}));
}

TEST(SlowCompile, DelaysNoOtherProgramOfItsOwnClient) {
  SlowCompiler world;
  const User user(world.cluster);
  const Function known = user.increment("known");
  const Array x = user.put({1, 2});
  const Array before = known.execute({x}).output(0);
  const seaway::Run slow = user.increment("slow").execute({x});
  const Array behind = known.execute({slow.output(0)}).output(0);
  world.gate.await();

  const Array again = known.execute({before}).output(0);
  const Array later = user.increment("later").execute({again}).output(0);

  EXPECT_EQ(value_of(again), (std::vector<float>{3, 4}));
  EXPECT_EQ(value_of(later), (std::vector<float>{4, 5}));
  EXPECT_FALSE(slow.status().ready());
  EXPECT_FALSE(behind.ready().ready());
  world.gate.open();
  EXPECT_EQ(value_of(slow.output(0)), (std::vector<float>{2, 3}));
  EXPECT_EQ(value_of(behind), (std::vector<float>{3, 4}));
}

TEST(SlowCompile, LeavesNothingBehind) {
  SlowCompiler world;
  {
    const User user(world.cluster);
    const seaway::Run slow = user.increment("slow").execute({user.put({1, 2})});
    world.gate.await();
    const Array other = user.increment("other").execute({user.put({1, 2})}).output(0);
    EXPECT_EQ(value_of(other), (std::vector<float>{2, 3}));
    world.gate.open();
    EXPECT_EQ(value_of(slow.output(0)), (std::vector<float>{2, 3}));
  }

  expect_nothing_left(world.cluster);
}

}  // namespace
}  // namespace seaway
