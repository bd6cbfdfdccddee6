// Slices: where they are bound, and what refusals say.

#include "resources/resource_core.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"

namespace seaway::resources {
namespace {

using Devices = std::vector<DeviceId>;

std::vector<DeviceInfo> devices_of(std::size_t count, const std::string& kind = "cpu") {
  return std::vector<DeviceInfo>(count, {kind, 1 << 20});
}

ResourceCore make_core(std::size_t islands, std::size_t devices) {
  ResourceCore core({});
  for (std::size_t i = 0; i < islands; ++i) core.add_island(devices_of(devices));
  return core;
}

SliceRequest request(std::uint64_t sequence, std::int64_t devices, ClientId client = 0) {
  return {.slice = make_id(client, sequence), .client = client, .devices = devices};
}

TEST(ResourceCore, SpreadsSlicesOverIslandsAndThenOverDevices) {
  ResourceCore core = make_core(2, 4);

  const BoundSlice first = core.acquire(request(1, 2)).value();
  const BoundSlice second = core.acquire(request(2, 2)).value();
  const BoundSlice third = core.acquire(request(3, 2)).value();

  EXPECT_EQ(first.binding.island, 0u);
  EXPECT_EQ(first.binding.devices, (Devices{0, 1}));
  EXPECT_EQ(second.binding.island, 1u);
  EXPECT_EQ(third.binding.island, 0u);
  EXPECT_EQ(third.binding.devices, (Devices{2, 3}));
  EXPECT_EQ(core.load(0, 3), 1u);
}

TEST(ResourceCore, BindsToTheIslandAndKindThatAreWanted) {
  ResourceCore core = make_core(1, 4);
  std::vector<DeviceInfo> mixed = devices_of(2);
  mixed.push_back({"sim", 1});
  core.add_island(mixed);
  SliceRequest on_island = request(1, 2), of_kind = request(2, 1);
  on_island.island = 1;
  of_kind.kind = "sim";

  EXPECT_EQ(core.acquire(on_island)->binding.island, 1u);
  EXPECT_EQ(core.acquire(of_kind)->binding.devices, (Devices{2}));
}

TEST(ResourceCore, FindsNeighboursWhenTheyAreWanted) {
  ResourceCore core = make_core(1, 5);
  SliceRequest one = request(1, 1), row = request(2, 2);
  row.placement = Placement::kContiguous;
  ASSERT_TRUE(core.acquire(one).ok());  // On device 0.
  ASSERT_TRUE(core.acquire(request(3, 1)).ok());
  ASSERT_TRUE(core.acquire(request(4, 1)).ok());

  EXPECT_EQ(core.acquire(row)->binding.devices, (Devices{3, 4}));
}

TEST(ResourceCore, RebindsToOtherDevicesAndCountsGenerations) {
  ResourceCore core = make_core(1, 4);
  ASSERT_EQ(core.acquire(request(1, 2))->generation, 1u);

  const BoundSlice moved = core.rebind(1, 0).value();
  const BoundSlice back = core.rebind(1, 0).value();

  EXPECT_EQ(moved.binding.devices, (Devices{2, 3}));
  EXPECT_EQ(moved.generation, 2u);
  EXPECT_EQ(back.binding.devices, (Devices{0, 1}));
  EXPECT_EQ(core.find(1)->generation, 3u);
  EXPECT_EQ(core.load(0, 2), 0u);
}

TEST(ResourceCore, RebindsToTheSameDevicesWhenThereAreNoOthers) {
  ResourceCore core = make_core(1, 2);
  ASSERT_TRUE(core.acquire(request(1, 2)).ok());

  EXPECT_EQ(core.rebind(1, 0)->binding.devices, (Devices{0, 1}));
  EXPECT_EQ(core.load(0, 0), 1u);
}

TEST(ResourceCore, RebindsOnlyToIslandsToWhichASliceMayGo) {
  ResourceCore core = make_core(3, 2);
  ASSERT_EQ(core.acquire(request(1, 2))->binding.island, 0u);

  const BoundSlice moved = core.rebind(1, 0, [](IslandId i) { return i != 1; }).value();
  const auto kept = core.rebind(1, 0, [](IslandId) { return false; });
  core.lose(2, 0);
  const Status stuck = core.rebind(1, 0, [](IslandId) { return false; }).status();

  EXPECT_EQ(moved.binding.island, 2u);
  ASSERT_TRUE(kept.ok()) << kept.status().to_string();  // Where it is it may stay.
  EXPECT_EQ(kept->binding.island, 2u);
  EXPECT_EQ(stuck.code(), StatusCode::kDeviceLost);
  EXPECT_EQ(core.find(1)->binding.island, 2u);
}

TEST(ResourceCore, ASliceThatNamesItsIslandStaysThere) {
  ResourceCore core = make_core(2, 2);
  SliceRequest on_island = request(1, 2);
  on_island.island = 0;
  ASSERT_TRUE(core.acquire(on_island).ok());
  ASSERT_TRUE(core.acquire(request(2, 2)).ok());

  EXPECT_EQ(core.rebind(1, 0)->binding.island, 0u);
  EXPECT_EQ(core.rebind(2, 0)->binding.island, 0u);
}

TEST(ResourceCore, RefusesASliceLargerThanAnyIslandWithTheReason) {
  ResourceCore core = make_core(2, 4);

  EXPECT_EQ(core.acquire(request(1, 6)).status(),
            invalid_argument("slice 1 refused: 6 devices wanted, but the largest island has 4 of "
                             "one kind (2 islands, 8 devices in all), and a slice over several "
                             "islands is not possible yet; ask for at most 4, or join several "
                             "slices by the edges of a program"));
  SliceRequest on_island = request(1, 5);
  on_island.island = 1;
  EXPECT_EQ(core.acquire(on_island).status(),
            invalid_argument("slice 1 refused: 5 devices wanted, but island 1 has 4 of one kind; "
                             "ask for at most 4, or leave the island open"));
  EXPECT_EQ(core.slices(), 0u);
  EXPECT_TRUE(core.acquire(request(1, 4)).ok());
}

TEST(ResourceCore, RefusesARowLongerThanTheIslandHas) {
  ResourceCore core({});
  core.add_island({{"cpu", 1}, {"sim", 1}, {"cpu", 1}});
  SliceRequest row = request(1, 2);
  row.kind = "cpu";
  row.placement = Placement::kContiguous;

  EXPECT_EQ(core.acquire(row).status(),
            invalid_argument("slice 1 refused: 2 devices of kind \"cpu\" wanted, side by side, "
                             "but the longest row has 1; spread it instead, or ask for fewer"));
}

TEST(ResourceCore, RefusesAnythingWhenThereIsNoDevice) {
  ResourceCore core({});
  core.add_island({});

  EXPECT_EQ(core.acquire(request(1, 1)).status(),
            invalid_argument("slice 1 refused: 1 device wanted, but the largest island has 0 of "
                             "one kind (1 island, 0 devices in all), and a slice over several "
                             "islands is not possible yet; start an island that has some, or "
                             "join several slices by the edges of a program"));
}

TEST(ResourceCore, RefusesAMeshThatDoesNotMatchTheCount) {
  ResourceCore core = make_core(1, 8);
  const auto refusal = [&](std::vector<MeshAxis> mesh, std::int64_t devices = 4) {
    SliceRequest wrong = request(1, devices);
    wrong.mesh = std::move(mesh);
    return core.acquire(wrong).status();
  };

  EXPECT_EQ(refusal({{"data", 2}, {"model", 3}}),
            invalid_argument("slice 1 refused: mesh(data=2, model=3) has 6 devices, but 4 are "
                             "wanted; make the product of the axes equal to the count"));
  EXPECT_EQ(refusal({{"data", std::int64_t{1} << 62}, {"model", 4}}).message(),
            "slice 1 refused: mesh(data=4611686018427387904, model=4) has over 2^63 devices, but 4 "
            "are wanted; make the product of the axes equal to the count");
  EXPECT_EQ(refusal({{"data", 2}, {"data", 2}}),
            invalid_argument("slice 1 refused: mesh axis \"data\" is there twice; give each axis a "
                             "name of its own"));
  EXPECT_EQ(refusal({{"data", 0}}),
            invalid_argument("slice 1 refused: mesh axis \"data\" has size 0; an axis has a name "
                             "and a size above 0"));
  EXPECT_EQ(refusal({}, 0),
            invalid_argument("slice 1 refused: 0 devices wanted; ask for at least 1"));
  EXPECT_TRUE(refusal({{"data", 2}, {"model", 2}}).ok());
}

TEST(ResourceCore, RefusesKindsAndIslandsThatDoNotExist) {
  ResourceCore core = make_core(2, 4);
  SliceRequest kind = request(1, 1), island = request(1, 1);
  kind.kind = "tpu";
  island.island = 2;

  EXPECT_EQ(core.acquire(kind).status(),
            invalid_argument("slice 1 refused: no device is of kind \"tpu\"; this cluster has: cpu "
                             "(8)"));
  EXPECT_EQ(core.acquire(island).status(),
            invalid_argument("slice 1 refused: there is no island 2; this cluster has 2 islands, "
                             "numbered from 0"));
}

TEST(ResourceCore, RefusesIdsThatAreTakenOrForged) {
  ResourceCore core = make_core(1, 1);
  ASSERT_TRUE(core.acquire(request(1, 1)).ok());
  SliceRequest forged = request(2, 1);
  forged.client = 3;

  EXPECT_EQ(core.acquire(request(1, 1)).status(),
            invalid_argument("slice 1 exists already: ids are used once"));
  EXPECT_EQ(core.acquire(forged).status(),
            Status(StatusCode::kPermissionDenied,
                   "slice 2 refused: its id belongs to client 0, and client 3 asks"));
}

TEST(ResourceCore, RefusesMoreSlicesThanATenantMayHold) {
  ResourceCore core({.slices_per_tenant_max = 1});
  core.add_island(devices_of(1));
  ASSERT_TRUE(core.acquire(request(1, 1)).ok());
  SliceRequest other_tenant = request(3, 1);
  other_tenant.tenant = 1;

  EXPECT_EQ(core.acquire(request(2, 1)).status(),
            resource_exhausted("slice 2 refused: tenant 0 holds 1 of 1 slices; release one, or "
                               "raise ResourceCore::Limits::slices_per_tenant_max"));
  EXPECT_TRUE(core.acquire(other_tenant).ok());
  ASSERT_TRUE(core.release(1, 0).ok());
  EXPECT_TRUE(core.acquire(request(2, 1)).ok());
}

TEST(ResourceCore, ReleasesOnlyWhatTheClientHolds) {
  ResourceCore core = make_core(1, 1);
  ASSERT_TRUE(core.acquire(request(1, 1)).ok());

  EXPECT_EQ(core.release(1, 9),
            Status(StatusCode::kPermissionDenied, "slice 1 is held by another client than 9"));
  EXPECT_TRUE(core.release(1, 0).ok());
  const Status not_held =
      invalid_argument("slice 1 is not held: it was released, or never acquired");
  EXPECT_EQ(core.release(1, 0), not_held);
  EXPECT_EQ(core.rebind(1, 0).status(), not_held);
  EXPECT_EQ(core.find(1), nullptr);
}

TEST(ResourceCore, ReleasesAllSlicesOfAClientThatIsGone) {
  ResourceCore core = make_core(1, 2);
  for (const std::uint64_t sequence : {2, 1}) {
    ASSERT_TRUE(core.acquire(request(sequence, 2, 5)).ok());
  }
  ASSERT_TRUE(core.acquire(request(1, 1, 6)).ok());

  EXPECT_EQ(core.release_owner(5), (std::vector<SliceId>{make_id(5, 1), make_id(5, 2)}));
  EXPECT_EQ(core.slices(), 1u);
  EXPECT_EQ(core.load(0, 1), 0u);
}

TEST(ResourceCore, ALostDeviceIsInNoNewSlice) {
  ResourceCore core = make_core(1, 3);

  EXPECT_TRUE(core.lose(0, 1));
  EXPECT_FALSE(core.lose(0, 1));

  EXPECT_EQ(core.acquire(request(1, 2))->binding.devices, (Devices{0, 2}));
  EXPECT_EQ(core.acquire(request(2, 2))->binding.devices, (Devices{0, 2}));
  SliceRequest row = request(3, 2);
  row.placement = Placement::kContiguous;
  EXPECT_EQ(core.acquire(row).status().code(), StatusCode::kDeviceLost);
}

TEST(ResourceCore, ASliceLeavesALostDeviceAndKeepsTheOthersIfItMust) {
  ResourceCore core = make_core(1, 3);
  ASSERT_EQ(core.acquire(request(1, 2))->binding.devices, (Devices{0, 1}));

  core.lose(0, 0);
  EXPECT_EQ(core.load(0, 0), 1u);  // Until it is bound anew.
  const BoundSlice moved = core.rebind(make_id(0, 1), 0).value();

  EXPECT_EQ(moved.binding.devices, (Devices{1, 2}));
  EXPECT_EQ(moved.generation, 2u);
  EXPECT_EQ(core.load(0, 0), 0u);
  EXPECT_EQ(core.load(0, 1), 1u);
}

TEST(ResourceCore, ASliceMovesToAnotherIslandWhenItsOwnHasTooFewLeft) {
  ResourceCore core = make_core(2, 2);
  ASSERT_EQ(core.acquire(request(1, 2))->binding.island, 0u);

  core.lose(0, 1);

  EXPECT_EQ(core.rebind(make_id(0, 1), 0)->binding.island, 1u);
}

TEST(ResourceCore, ASliceThatNothingCanTakeInStaysAndTheRefusalNamesTheLostDevices) {
  ResourceCore core = make_core(2, 2);
  SliceRequest both = request(1, 2);
  both.island = 1;
  ASSERT_TRUE(core.acquire(both).ok());
  core.lose(1, 0);

  const Status refused = core.rebind(make_id(0, 1), 0).status();

  EXPECT_EQ(refused, Status(StatusCode::kDeviceLost,
                            "slice 1 refused: 2 devices wanted, but of 2 there 1 is lost: device 0 "
                            "of island 1; ask for fewer, or leave the island open"));
  EXPECT_EQ(core.find(make_id(0, 1))->binding.devices, (Devices{0, 1}));
  EXPECT_EQ(core.find(make_id(0, 1))->generation, 1u);
  EXPECT_EQ(core.load(1, 0), 1u);
  EXPECT_EQ(core.to_string(),
            "island 0: 2 devices, load 0 0\nisland 1: 2 devices, load 1 (lost) 1\n"
            "slice 1 of client 0: island 1, devices 0 1, generation 1\n");
}

TEST(ResourceCore, ARefusalNamesAFewOfManyLostDevicesAndTheKind) {
  ResourceCore core = make_core(1, 6);
  for (DeviceId device = 0; device < 6; ++device) core.lose(0, device);
  SliceRequest wanted = request(1, 1);
  wanted.kind = "cpu";

  EXPECT_EQ(core.acquire(wanted).status().message(),
            "slice 1 refused: 1 device of kind \"cpu\" wanted, but of 6 there 6 are lost: device 0 "
            "of island 0, device 1 of island 0, device 2 of island 0, device 3 of island 0 and 2 "
            "more; start an island that has some");
}

TEST(ResourceCore, WhatNeverFittedIsRefusedAsIfNothingWereLost) {
  ResourceCore core = make_core(1, 2);
  const Status whole = core.acquire(request(1, 3)).status();

  core.lose(0, 1);

  EXPECT_EQ(core.acquire(request(1, 3)).status(), whole);
}

TEST(ResourceCore, PrintsIslandsAndSlices) {
  ResourceCore core = make_core(2, 2);
  ASSERT_TRUE(core.acquire(request(1, 2)).ok());

  EXPECT_EQ(core.to_string(),
            "island 0: 2 devices, load 1 1\n"
            "island 1: 2 devices, load 0 0\n"
            "slice 1 of client 0: island 0, devices 0 1, generation 1\n");
}

/// RE-1, RE-2 and RE-3.
TEST(ResourceCore, KeepsItsCountsOverManyCallsAndIsDeterministic) {
  const auto play = [] {
    ResourceCore core = make_core(3, 8);
    RandomStream random(5, 1);
    for (std::uint64_t step = 1; step < 1000; ++step) {
      SliceRequest next = request(step, random.between(1, 8), 1);
      if (random.chance(50)) next.placement = Placement::kContiguous;
      EXPECT_TRUE(core.acquire(next).ok());
      if (const SliceId other = make_id(1, 1 + random.below(step)); core.find(other)) {
        EXPECT_TRUE(random.chance(70) ? core.release(other, 1).ok() : core.rebind(other, 1).ok());
      }
    }
    return core;
  };

  const ResourceCore core = play();

  EXPECT_EQ(core.to_string(), play().to_string());
  std::uint64_t load = 0, bound = 0;
  for (IslandId island = 0; island < 3; ++island) {
    for (DeviceId device = 0; device < 8; ++device) load += core.load(island, device);
  }
  for (std::uint64_t step = 1; step < 1000; ++step) {
    const BoundSlice* slice = core.find(make_id(1, step));
    if (!slice) continue;
    const Devices& devices = slice->binding.devices;
    EXPECT_EQ(std::set<DeviceId>(devices.begin(), devices.end()).size(),
              static_cast<std::size_t>(slice->request.devices));
    bound += devices.size();
  }
  EXPECT_EQ(load, bound);
}

}  // namespace
}  // namespace seaway::resources
