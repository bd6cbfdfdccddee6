// The stand-in for a runtime without a common order.

#include "demos/support/fifo_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace seaway::demos {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(FifoDevices, OneOrderOnAllDevicesRunsThrough) {
  FifoDevices devices(2);
  for (const std::size_t device : {0u, 1u}) {
    devices.enqueue(device, "red");
    devices.enqueue(device, "blue");
  }

  EXPECT_THAT(devices.run(), ElementsAre("red", "blue"));
  EXPECT_TRUE(devices.is_done());
  EXPECT_THAT(devices.waiting().find_cycle(), IsEmpty());
}

TEST(FifoDevices, OppositeOrdersWaitInACircle) {
  FifoDevices devices(2);
  devices.enqueue(0, "red");
  devices.enqueue(0, "blue");
  devices.enqueue(1, "blue");
  devices.enqueue(1, "red");

  EXPECT_THAT(devices.run(), IsEmpty());
  EXPECT_FALSE(devices.is_done());
  EXPECT_EQ(devices.waiting().find_cycle().size(), 4u);
  EXPECT_THAT(devices.waiting().explain(), HasSubstr("gang red waits for device 1"));
}

TEST(FifoDevices, AGangOfOneDeviceRunsWhileOthersHang) {
  FifoDevices devices(3);
  devices.enqueue(0, "red");
  devices.enqueue(0, "blue");
  devices.enqueue(1, "blue");
  devices.enqueue(1, "red");
  devices.enqueue(2, "alone");

  EXPECT_THAT(devices.run(), ElementsAre("alone"));
}

}  // namespace
}  // namespace seaway::demos
