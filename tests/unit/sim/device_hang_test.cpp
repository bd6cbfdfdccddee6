// Devices that do not launch, hang, or are slow beside others: what a client is told, and what goes
// on.

#include <gtest/gtest.h>

#include <string>

#include "unit/sim/faulty_world.hpp"

namespace seaway::sim {
namespace {

using events::EventKind;

DeviceFaults stutter_of(DeviceId device, std::uint32_t launches) {
  DeviceFaults faults;
  faults.stutters = {{.island = 0, .device = device, .at_ns = kSecondNs, .launches = launches}};
  return faults;
}

DeviceFaults hang_of(DeviceId device, std::uint64_t for_ns) {
  DeviceFaults faults;
  faults.hangs = {{.island = 0, .device = device, .at_ns = kSecondNs, .for_ns = for_ns}};
  return faults;
}

class DeviceHangTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DeviceHangTest, ThreeFailedLaunchesAreNotNoticed) {
  FaultyWorld world(GetParam(), islands_of(1, 2), stutter_of(1, 3));
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    world.advance_to(kSecondNs);

    EXPECT_EQ(said(step.run(client.put<float>({1, 2}, step.row))), "2 3");
  });

  EXPECT_EQ(world.count(EventKind::kLaunchFailed, 1), 3u);
  EXPECT_EQ(world.count(EventKind::kDeviceLost, 1), 0u);
}

TEST_P(DeviceHangTest, TheFourthTakesTheDeviceAndTheSliceGoesOnElsewhere) {
  FaultyWorld world(GetParam(), islands_of(1, 3), stutter_of(1, 5));
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    world.advance_to(kSecondNs);

    const std::string error = said(step.run(client.put<float>({1, 2}, step.row)));
    const std::string name =
        " lay on a device that is gone: DEVICE_LOST: device 1 of island 0 is lost: it failed 4 "
        "times to launch gang 0 of run ";
    EXPECT_TRUE(error.starts_with("INPUT_LOST: array ")) << error;
    EXPECT_NE(error.find(name), std::string::npos) << error;
    EXPECT_EQ(said(step.run(client.put<float>({3, 4}, step.row))), "4 5");
  });

  EXPECT_EQ(world.count(EventKind::kLaunchFailed, 1), 4u);
}

TEST_P(DeviceHangTest, AGangThatNeverEndsFailsAfterTenSecondsAndOthersDoNotWait) {
  FaultyWorld world(GetParam(), islands_of(1, 4), hang_of(0, 0));
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0)), other(client, two_devices(0));
    world.advance_to(kSecondNs);
    const Array hung = step.run(client.put<float>({1, 2}, step.row));

    EXPECT_EQ(said(other.run(client.put<float>({5, 6}, other.row))), "6 7");
    EXPECT_LT(world.engine->now_ns(), 2 * kSecondNs);
    const std::string error = said(hung);
    EXPECT_TRUE(error.starts_with("DEVICE_LOST: device 0 of island 0 is lost: it did not finish "))
        << error;
    EXPECT_NE(error.find(" within 10000 ms (estimated 0 ms)"), std::string::npos) << error;
    EXPECT_LT(world.engine->now_ns(), 12 * kSecondNs);
    EXPECT_EQ(said(step.run(client.put<float>({3, 4}, step.row))), "4 5");
  });

  EXPECT_EQ(world.count(EventKind::kGangGivenUp, 0), 1u);
  EXPECT_EQ(world.count(EventKind::kDeviceLost, 0), 1u);
  for (DeviceId device = 0; device < 4; ++device) EXPECT_EQ(world.used(0, device), 0u);
}

TEST_P(DeviceHangTest, ALateEndChangesNothing) {
  FaultyWorld world(GetParam(), islands_of(1, 4), hang_of(0, 20 * kSecondNs));
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    world.advance_to(kSecondNs);
    const std::string error = said(step.run(client.put<float>({1, 2}, step.row)));
    EXPECT_TRUE(error.starts_with("INPUT_LOST: array ")) << error;
    std::vector<Array> made;
    for (int i = 0; i < 10; ++i) made.push_back(step.run(client.put<float>({3, 4}, step.row)));
    for (const Array& array : made) ASSERT_EQ(said(array), "4 5");

    world.advance_to(30 * kSecondNs);

    for (const Array& array : made) EXPECT_EQ(said(array), "4 5");
  });

  EXPECT_EQ(world.count(EventKind::kGangLate, 0), 1u);
}

TEST_P(DeviceHangTest, AHangThatEndsInTimeIsOnlyAStraggler) {
  FaultyWorld world(GetParam(), islands_of(1, 2), hang_of(1, 9 * kSecondNs));
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    world.advance_to(kSecondNs);

    EXPECT_EQ(said(step.run(client.put<float>({1, 2}, step.row))), "2 3");
    EXPECT_GT(world.engine->now_ns(), 10 * kSecondNs);
  });

  EXPECT_EQ(world.count(EventKind::kStraggler, 1), 1u);
  EXPECT_EQ(world.embedded.host(0).device(1).gangs_delayed, 1u);
  EXPECT_EQ(world.count(EventKind::kDeviceLost, 1), 0u);
}

INSTANTIATE_TEST_SUITE_P(Orders, DeviceHangTest, testing::Range<std::uint64_t>(1, 21));

TEST(SlowDevice, IsNamedAndItsNeighbourIsNot) {
  DeviceFaults faults;
  faults.slow = {{.island = 0, .device = 1, .begin_ns = 0, .end_ns = kSecondNs, .factor = 2}};
  FaultyWorld world(7, islands_of(1, 2), faults);
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    ASSERT_EQ(said(step.run(client.put<float>({1, 2}, step.row))), "2 3");
    world.advance_to(kSecondNs);
    ASSERT_EQ(said(step.run(client.put<float>({3, 4}, step.row))), "4 5");
  });

  EXPECT_EQ(world.count(EventKind::kStraggler, 1), 1u);
  EXPECT_EQ(world.count(EventKind::kStraggler, 0), 0u);
}

TEST(DeviceFaults, EachKindIsDrawnApartFromTheOthers) {
  std::size_t hanging = 0, stuttering = 0, all = 0, late = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const DeviceFaults faults = make_device_faults(seed, 2, 4);
    hanging += !faults.hangs.empty();
    stuttering += !faults.stutters.empty();
    all += !faults.hangs.empty() && !faults.stutters.empty();
    for (const DeviceHang& hang : faults.hangs) late += hang.for_ns > 0;
    for (const DeviceStutter& stutter : faults.stutters) {
      EXPECT_TRUE(stutter.launches >= 1 && stutter.launches <= 5);
    }
  }

  EXPECT_NEAR(static_cast<double>(hanging), 190, 60);
  EXPECT_NEAR(static_cast<double>(stuttering), 190, 60);
  EXPECT_NEAR(static_cast<double>(all), 18, 15);
  EXPECT_GT(late, 0u);
}

TEST(DeviceFaults, SayWhichOfThemTakeADevice) {
  EXPECT_FALSE(stutter_of(1, 3).may_take_any());
  EXPECT_TRUE(stutter_of(1, 4).may_take(0, 1, kSecondNs));
  EXPECT_FALSE(stutter_of(1, 4).may_take(0, 0, kSecondNs));
  EXPECT_FALSE(hang_of(0, 0).may_take(0, 0, kSecondNs - 1));
  EXPECT_TRUE(hang_of(0, 0).may_take_any());
  EXPECT_EQ(hang_of(0, 0).to_string(), ", device 0 of island 0 hangs from 1000000000 ns for ever");
  EXPECT_EQ(stutter_of(1, 3).to_string(),
            ", device 1 of island 0 does not launch 3 times from 1000000000 ns");
}

}  // namespace
}  // namespace seaway::sim
