// The resource manager as the controller sees it: what a client may ask for, and what it gets.

#include "resources/slice_binder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace seaway::resources {
namespace {

/// One island of three devices, of which the outer two have nothing on them.
ResourceBinder make_binder() {
  ResourceCore core({});
  core.add_island(std::vector<DeviceInfo>(3, {"cpu", 1 << 20}));
  ResourceBinder binder(std::move(core));
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    EXPECT_TRUE(binder.acquire(1, make_id(1, sequence), {.devices = 1}).ok());
  }
  EXPECT_TRUE(binder.release(make_id(1, 1)).ok());
  EXPECT_TRUE(binder.release(make_id(1, 3)).ok());
  return binder;
}

TEST(ResourceBinder, SpreadsOverTheLeastLoadedDevicesOrTakesNeighbours) {
  ResourceBinder spread = make_binder(), contiguous = make_binder(), open = make_binder();

  EXPECT_EQ(spread.acquire(1, make_id(1, 9), {.devices = 2, .spread = true})->devices,
            (std::vector<DeviceId>{0, 2}));
  EXPECT_EQ(contiguous.acquire(1, make_id(1, 9), {.devices = 2, .contiguous = true})->devices,
            (std::vector<DeviceId>{0, 1}));
  EXPECT_EQ(open.acquire(1, make_id(1, 9), {.devices = 2})->devices, (std::vector<DeviceId>{0, 2}));
}

TEST(ResourceBinder, RefusesASliceThatIsToBeSpreadAndContiguous) {
  ResourceBinder binder = make_binder();

  const auto both =
      binder.acquire(1, make_id(1, 9), {.devices = 2, .contiguous = true, .spread = true});

  EXPECT_EQ(
      both.status(),
      invalid_argument("slice 9 refused: contiguous and spread exclude each other; ask for one"));
}

}  // namespace
}  // namespace seaway::resources
