// Devices that are lost or slow under a client's hands: what he is told, and what goes on.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/sim/faulty_world.hpp"

namespace seaway::sim {
namespace {

using events::EventKind;

DeviceFaults loss_of(IslandId island, DeviceId device) {
  DeviceFaults faults;
  faults.losses = {{island, device, kSecondNs}};
  return faults;
}

const std::string kLoss = "device 0 of island 0 is lost: its time had come";

class DeviceLossTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DeviceLossTest, TakesWhatLayThereAndTheSliceGoesOnElsewhere) {
  FaultyWorld world(GetParam(), islands_of(1, 4), loss_of(0, 0));
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0)), other(client, two_devices(0));
    const Array upload = client.put<float>({1, 2}, step.row);
    const Array far = client.put<float>({5, 6}, other.row);
    const Array made = step.run(upload), far_made = other.run(far);
    ASSERT_EQ(said(made), "2 3");
    ASSERT_EQ(said(far_made), "6 7");
    const Array late = client.put<float>({8, 9}, step.row);

    world.advance_to(2 * kSecondNs);

    const std::string gone = " lay on a device that is gone: DEVICE_LOST: " + kLoss;
    EXPECT_EQ(said(made), "INPUT_LOST: array " + std::to_string(made.id() % (1 << 20)) + gone);
    EXPECT_EQ(said(step.run(made)), said(made));
    EXPECT_EQ(said(step.run(late)), "9 10");  // It was in host room, and moved with the slice.
    EXPECT_EQ(said(far_made), "6 7");
    EXPECT_EQ(said(other.run(far_made)), "7 8");
  });
  for (DeviceId device = 0; device < 4; ++device) EXPECT_EQ(world.used(0, device), 0u);
}

TEST_P(DeviceLossTest, FailsTheRunThatIsThereAndNotTheNext) {
  FaultyWorld world(GetParam(), islands_of(2, 2), loss_of(0, 0));
  world.run([&](const Client& client) {
    const Increment step(client, {.devices = 2, .mesh = {{"x", 2}}});
    Array array = client.put<float>({1, 2}, step.row);
    ASSERT_EQ(said(step.run(array)), "2 3");
    world.advance_to(kSecondNs - 2000);
    const Array fresh = client.put<float>({3, 4}, step.row);

    std::vector<seaway::Run> runs;
    for (int i = 0; i < 50; ++i) {
      runs.push_back(step.program.execute({client.put<float>({3, 4}, step.row)}));
    }
    std::size_t lost = 0;
    for (const seaway::Run& run : runs) {
      const Status status = run.status().get().status();
      if (status.ok()) continue;
      ++lost;
      EXPECT_EQ(status.code(), StatusCode::kDeviceLost);
      EXPECT_TRUE(status.message().starts_with(kLoss + "; called at ")) << status.message();
    }

    EXPECT_GT(lost, 0u);
    EXPECT_EQ(said(step.run(fresh)), "4 5");
  });
}

TEST_P(DeviceLossTest, WhatReadsFromElsewhereIsRunAgainAndItsReaderNoticesNothing) {
  FaultyWorld world(GetParam(), islands_of(2, 4), loss_of(0, 0));
  world.run([&](const Client& client) {
    const Increment near(client, two_devices(0)), far(client, two_devices(1));
    const auto body = [&](Traced x) { return near.function(far.function(x).reshard(near.row)); };
    const Program both = client.program("both", body, {ArraySpec{f32({2}), far.row}}).value();
    const Array input = client.put<float>({1, 2}, far.row);
    ASSERT_EQ(said(both.execute({input}).output(0)), "3 4");
    world.advance_to(kSecondNs - 2000);

    std::vector<Array> made, next;
    for (int i = 0; i < 50; ++i) {
      made.push_back(both.execute({input}).output(0));
      next.push_back(near.run(made.back()));
    }
    std::vector<Future<std::vector<float>>> reads;
    for (const Array& array : next) reads.push_back(array.to_host<float>());

    for (const auto& read : reads) {
      const auto value = read.get();
      ASSERT_TRUE(value.ok()) << value.status().to_string();
      EXPECT_EQ(*value, (std::vector<float>{4, 5}));
    }
  });

  EXPECT_EQ(world.count(EventKind::kDeviceLost, 0), 1u);
  EXPECT_GT(world.count(EventKind::kRerun, 0), 0u);
}

TEST_P(DeviceLossTest, WithoutOtherDevicesRunsSayWhatToDoAndThatHelps) {
  FaultyWorld world(GetParam(), islands_of(2, 2), loss_of(0, 0));
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0)), far(client, two_devices(1));
    const Array upload = client.put<float>({1, 2}, step.row);
    world.advance_to(2 * kSecondNs);

    const std::string name = std::to_string(step.slice.id() % (1 << 20));
    const std::string refused = "DEVICE_LOST: program step uses slice " + name + ", but " + kLoss +
                                ", and no other device can take its place; release the slice, "
                                "acquire another and capture the program anew";
    EXPECT_EQ(step.program.execute({upload}).status().get().status().to_string(), refused);
    EXPECT_EQ(said(upload), "1 2");
    EXPECT_EQ(said(far.run(client.put<float>({3, 4}, far.row))), "4 5");
    const std::string none =
        "2 devices wanted, but of 2 there 1 is lost: device 0 of island 0; "
        "ask for fewer, or leave the island open";
    EXPECT_NE(client.acquire_slice(two_devices(0)).status().message().find(none),
              std::string::npos);
    Slice slice = step.slice;
    EXPECT_EQ(slice.rebind().code(), StatusCode::kDeviceLost);
    EXPECT_TRUE(slice.release().ok());
    const Increment again(client, {.devices = 1, .mesh = {{"x", 1}}, .island = 0});
    EXPECT_EQ(said(again.run(client.put<float>({1}, again.row))), "2");
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, DeviceLossTest, testing::Range<std::uint64_t>(1, 21));

TEST(SlowDevice, TakesItsTimeAndChangesNothingElse) {
  std::vector<std::uint64_t> took_ns;
  for (const std::uint32_t factor : {1, 50}) {
    DeviceFaults faults;
    faults.slow = {{.device = 1, .begin_ns = 0, .end_ns = kSecondNs, .factor = factor}};
    FaultyWorld world(7, islands_of(1, 2), faults);
    world.run([&](const Client& client) {
      const Increment step(client, two_devices(0));
      ASSERT_EQ(said(step.run(client.put<float>({1, 2}, step.row))), "2 3");
      std::uint64_t begin_ns = world.engine->now_ns();
      ASSERT_EQ(said(step.run(client.put<float>({3, 4}, step.row))), "4 5");
      took_ns.push_back(world.engine->now_ns() - begin_ns);
      world.advance_to(kSecondNs);
      begin_ns = world.engine->now_ns();
      ASSERT_EQ(said(step.run(client.put<float>({3, 4}, step.row))), "4 5");
      took_ns.push_back(world.engine->now_ns() - begin_ns);
    });
  }

  ASSERT_EQ(took_ns.size(), 4u);
  EXPECT_GT(took_ns[2], 20 * took_ns[0]);  // While it is slow,
  EXPECT_LT(took_ns[3], 2 * took_ns[1]);   // and no longer.
}

TEST(DeviceFaults, OneDeviceMoreChangesNothingForTheOthers) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const DeviceFaults one = make_device_faults(seed, 1, 4), three = make_device_faults(seed, 3, 4);

    EXPECT_EQ(one.to_string(), three.of(0).to_string()) << seed;
  }
}

TEST(DeviceFaults, AreInSomeWorldsAndLeaveTheRestAsItWas) {
  std::size_t lossy = 0, slow = 0, both = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const DeviceFaults faults = make_device_faults(seed, 2, 4);
    lossy += !faults.losses.empty();
    slow += !faults.slow.empty();
    both += !faults.losses.empty() && !faults.slow.empty();
    for (const DeviceSlowness& one : faults.slow) {
      EXPECT_TRUE(one.factor >= 2 && one.factor <= 100 && one.begin_ns <= one.end_ns);
    }
  }

  EXPECT_NEAR(static_cast<double>(lossy), 190, 60);
  EXPECT_NEAR(static_cast<double>(slow), 190, 60);
  EXPECT_NEAR(static_cast<double>(both), 36, 25);
  EXPECT_EQ(loss_of(0, 1).to_string(), ", device 1 of island 0 lost at 1000000000 ns");
}

}  // namespace
}  // namespace seaway::sim
