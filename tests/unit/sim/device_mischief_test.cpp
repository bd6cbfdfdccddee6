// Devices that compute wrong or have no memory, and memory that changes, under a client's hands:
// what he is told, and what goes on.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/mischief_truth.hpp"
#include "unit/sim/faulty_world.hpp"

namespace seaway::sim {
namespace {

using events::EventKind;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

cluster::EmbeddedOptions with(cluster::EmbeddedOptions options, device::Integrity integrity) {
  options.integrity = integrity;
  return options;
}

class DeviceMischief : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DeviceMischief, ARunThatIsComputedWrongIsRunAgainElsewhereAndNobodySeesIt) {
  DeviceFaults faults;
  faults.flips = {{.island = 0, .device = 1, .before = 3, .times = 2}};
  FaultyWorld world(GetParam(), with(islands_of(2, 4), {.replay_per_mille = 1000}), faults);
  world.run([&](const Client& client) {
    const Increment home(client, two_devices(1)), away(client, two_devices(0));
    const auto there = [&away](Traced x) {
      return away.function.on(away.slice)(x.reshard(away.row));
    };
    const Program program =
        client
            .program("there and back", [&](Traced x) { return there(x).reshard(home.row); },
                     {ArraySpec{f32({2}), home.row}})
            .value();
    const Array input = client.put<float>({1, 2}, home.row);

    std::string values;
    for (int i = 0; i < 4; ++i) values += said(program.execute({input}).output(0)) + ", ";

    EXPECT_EQ(values, "2 3, 2 3, 2 3, 2 3, ");
  });
  EXPECT_EQ(world.count(EventKind::kMiscompute, 1), 1u);
  EXPECT_EQ(world.count(EventKind::kDeviceLost, 1), 1u);
  EXPECT_EQ(world.count(EventKind::kRerun, 0), 1u);
  for (DeviceId device = 0; device < 4; ++device) EXPECT_EQ(world.used(0, device), 0u);
}

TEST_P(DeviceMischief, WithoutAnotherDeviceTheRunFailsWithTheWrongBitAsItsCause) {
  DeviceFaults faults;
  faults.flips = {{.island = 0, .device = 1, .times = 1}};
  FaultyWorld world(GetParam(), with(islands_of(1, 2), {.replay_per_mille = 1000}), faults);
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));

    const std::string error = said(step.run(client.put<float>({1, 2}, step.row)));

    EXPECT_TRUE(has(error, "DEVICE_LOST: ")) << error;
    EXPECT_TRUE(has(error, "device 1 of island 0 is lost: DATA_CORRUPTION: gang 0 of run "))
        << error;
    EXPECT_TRUE(has(error, "ran twice there and gave two results for shard 1 of output 0"))
        << error;
  });
}

TEST_P(DeviceMischief, WithoutReplaysAWrongBitIsNotNoticed) {
  DeviceFaults faults;
  faults.flips = {{.island = 0, .device = 1, .times = 1}};
  FaultyWorld world(GetParam(), islands_of(1, 2), faults);
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    const Array made = step.run(client.put<float>({1, 2}, step.row));

    const std::vector<float> values = made.to_host<float>().get().value();

    EXPECT_EQ(values[0], 2);
    EXPECT_NE(values[1], 3);
  });
}

TEST_P(DeviceMischief, ALaunchWithoutMemoryFailsItsRunAndNotTheNext) {
  DeviceFaults faults;
  faults.shortages = {{.island = 0, .device = 1, .launches = 1}};
  FaultyWorld world(GetParam(), islands_of(1, 2), faults);
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    const Array input = client.put<float>({1, 2}, step.row);

    const std::string error = said(step.run(input));
    const std::string next = said(step.run(input));

    EXPECT_TRUE(has(error,
                    "RESOURCE_EXHAUSTED: device 1 of island 0 had no memory to launch gang 0 "
                    "of run "))
        << error;
    EXPECT_TRUE(has(error, "with 4 bytes of outputs and 0 of work space")) << error;
    EXPECT_TRUE(has(error, "its memory is in pieces; run it again, or ")) << error;
    EXPECT_EQ(next, "2 3");
  });
  EXPECT_EQ(world.count(EventKind::kDeviceLost, 1), 0u);
  EXPECT_EQ(world.count(EventKind::kLaunchFailed, 1), 0u);
  for (DeviceId device = 0; device < 2; ++device) EXPECT_EQ(world.used(0, device), 0u);
}

TEST_P(DeviceMischief, WhoReadsWhatHasChangedIsToldAndNobodyElse) {
  FaultyWorld world(GetParam(), with(islands_of(1, 2), {.shard_checksums = true}), {});
  world.run([&](const Client& client) {
    const Increment step(client, two_devices(0));
    const Array first = step.run(client.put<float>({1, 2}, step.row));
    ASSERT_EQ(said(first), "2 3");

    const auto value = change_bit(world.embedded.host(0), {.choice = GetParam()});
    ASSERT_TRUE(value.has_value());
    const Array fresh = client.put<float>({5, 6}, step.row);

    const std::string name = "array " + std::to_string(first.id() % (1 << 20));
    const std::string error = said(first), next = said(step.run(first));
    EXPECT_TRUE(has(error, "DATA_CORRUPTION: " + name + " has changed by itself in shard "))
        << error;
    EXPECT_TRUE(has(next, "INPUT_LOST: " + name + ", argument 0 of run ")) << next;
    EXPECT_TRUE(has(next, error)) << next;
    EXPECT_EQ(said(step.run(fresh)), "6 7");
  });
  EXPECT_EQ(world.used(0, 0) + world.used(0, 1), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DeviceMischief, testing::Values(1, 2, 3));

}  // namespace
}  // namespace seaway::sim
