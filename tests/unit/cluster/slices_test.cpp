// Slices of whole clusters: how they are asked for, and how they end.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/frames.hpp"
#include "client/outbox.hpp"
#include "cluster_fixture.hpp"
#include "overheard_messages.hpp"
#include "seaway/inspect.hpp"

namespace seaway {
namespace {

/// The device that a gang of `function` ran on last.
DeviceId device_of(const Cluster& cluster, const std::string& function) {
  std::optional<DeviceId> device;
  const std::vector<GangRecord> gangs = recent_gangs(cluster).value();
  for (const GangRecord& gang : gangs) {
    if (gang.function == function) device = gang.devices.at(0);
  }
  EXPECT_TRUE(device.has_value()) << function << " never ran";
  return device.value_or(1000);
}

/// Runs a function called `name` on `slice` and says on which device.
DeviceId device_behind(const Cluster& cluster, const Client& client, const Slice& slice,
                       const std::string& name) {
  const Function probe = client.function(name, [](Tensor x) { return -x; }, {f32({1})}).value();
  EXPECT_EQ(read(probe.execute({client.put<float>({1}, rows(slice))}).output(0)),
            std::vector<float>{-1});
  return device_of(cluster, name);
}

TEST(Slices, TheWishToBeSpreadReachesTheController) {
  const Cluster cluster = Cluster::start("embedded:devices=2").value();
  const Client client = cluster.connect().value();
  Overheard overheard(cluster);

  EXPECT_TRUE(client.acquire_slice({.devices = 1}).ok());
  EXPECT_TRUE(client.acquire_slice({.devices = 1, .contiguous = true}).ok());
  EXPECT_TRUE(client.acquire_slice({.devices = 1, .spread = true}).ok());

  std::vector<Overheard::Wish> wishes;
  on_control(cluster, [&] { wishes = overheard.wishes; });
  EXPECT_EQ(wishes, (std::vector<Overheard::Wish>{{false, false}, {true, false}, {false, true}}));
}

TEST(Slices, TheControllerRefusesAStrangersContradiction) {
  const Cluster cluster = Cluster::start("embedded:devices=2").value();
  const Client client = cluster.connect().value();
  Overheard overheard(cluster);

  overheard.say(client,
                client::frames::acquire_slice(client.id(), 1'000'000, make_id(client.id(), 77),
                                              {.contiguous = true, .spread = true}));

  EXPECT_EQ(
      overheard.replies[1'000'000],
      invalid_argument("slice 77 refused: contiguous and spread exclude each other; ask for one"));
}

/// Two devices; a run of `slow` stands at a gate on the slice that was acquired first, and `f`
/// takes what it makes.
struct BusyWorld {
  BusyWorld()
      : cluster(Cluster::start("embedded:devices=2,threads=4,runs_in_flight=1").value()),
        client(cluster.connect().value()),
        slice(acquire(client, 1)),
        slow(client
                 .native("slow", copying({f32({1})},
                                         [this] {
                                           gate.pass();
                                           return Status();
                                         }))
                 .value()),
        next(client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value()),
        f(client.program("f", [&](Traced v) { return next(v); }, {ArraySpec{f32({1}), rows(slice)}})
              .value()),
        in(client.put<float>({1}, rows(slice))) {
    blocker = slow.execute({in});
    gate.await();
  }
  ~BusyWorld() { gate.open(); }

  Gate gate;  // Goes last: until then the function may stand at it.
  Cluster cluster;
  Client client;
  Slice slice;
  Function slow, next;
  Program f;
  Array in;
  seaway::Run blocker;
};

/// CO-6.
TEST(Slices, WhatWasEnqueuedBeforeAReleaseIsDone) {
  BusyWorld world;
  const seaway::Run reader = world.f.execute({world.blocker.output(0)});
  const seaway::Run other = world.f.execute({world.in});  // Not lowered, let alone stamped.

  const Status released = world.slice.release();
  const seaway::Run late = world.f.execute({world.in});
  world.gate.open();

  EXPECT_TRUE(released.ok()) << released.to_string();
  EXPECT_EQ(late.error().code(), StatusCode::kInvalidArgument);  // Known at once.
  EXPECT_TRUE(world.blocker.status().get().ok());
  EXPECT_EQ(read(reader.output(0)), std::vector<float>{2});
  EXPECT_EQ(read(other.output(0)), std::vector<float>{2});
  EXPECT_EQ(world.slice.release().code(), StatusCode::kInvalidArgument);
}

TEST(Slices, TheControllerRefusesNewRunsOnAReleasedSliceAtOnce) {
  BusyWorld world;
  EXPECT_TRUE(world.slice.release().ok());
  const RunId late = make_id(world.client.id(), 1'000'000);
  const client::Said said = {.kind = client::Said::Kind::kRun,
                             .argument_count = 1,
                             .id = late,
                             .object = world.f.id(),
                             .first = late + 1};
  const ArrayId argument = world.in.id();
  Overheard overheard(world.cluster);
  std::map<std::uint64_t, Status> outcomes;

  on_control(world.cluster, [&] {
    world.cluster.state()->embedded->router().send(
        actor::Role::kController, 0,
        client::frames::runs(world.client.id(), {&said, 1}, {&argument, 1}));
  });
  EXPECT_TRUE(world.client.stats().ok());  // Answered behind it, while the gate is shut.
  on_control(world.cluster, [&] { outcomes = overheard.outcomes; });

  ASSERT_TRUE(outcomes.contains(late));
  EXPECT_EQ(outcomes[late].code(), StatusCode::kInvalidArgument);
  EXPECT_NE(outcomes[late].message().find("which was released; acquire another"), std::string::npos)
      << outcomes[late].to_string();
}

TEST(Slices, ADeviceIsGivenBackBehindTheLastRunOfItsSlice) {
  BusyWorld world;
  const DeviceId busy = 0;
  EXPECT_TRUE(world.slice.release().ok());

  // While the run is at its gate its device counts as taken.
  const Slice second = acquire(world.client, 1);
  world.gate.open();
  EXPECT_TRUE(world.blocker.status().get().ok());
  // Behind it the device is free again, and the other one has a slice.
  const Slice third = acquire(world.client, 1);

  EXPECT_EQ(device_behind(world.cluster, world.client, second, "second"), 1 - busy);
  EXPECT_EQ(device_behind(world.cluster, world.client, third, "third"), busy);
  EXPECT_EQ(device_of(world.cluster, "slow"), busy);
}

}  // namespace
}  // namespace seaway
