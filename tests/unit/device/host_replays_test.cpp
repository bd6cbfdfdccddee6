// A host whose devices compute wrong now and then, and one that has no memory for a launch.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

struct ReplayingWorld : HostWorld {
  explicit ReplayingWorld(std::uint32_t per_mille = 1000)
      : HostWorld(2, 1 << 20, 0, nullptr, {.replay_per_mille = per_mille}) {}

  /// Run number `run` of all of them gives a wrong bit in `shard`.
  void miscompute(std::size_t run, std::size_t shard) {
    backend.after_run = [this, run, shard](std::span<const function::ShardedBuffer> outputs) {
      if (backend.runs == run) outputs[0].shard(shard)[3] ^= std::byte{1};
    };
  }
};

/// Reads one array, makes one, with room to do so twice.
PartMaker next(PlanId id, GangOptions options = {}) {
  PartMaker part(id, {0, 1});
  part.gang({part.arg()}, {part.output()}, std::move(options)).work(kShardBytes);
  return part;
}

std::string lost(int device, int run) {
  return "DEVICE_LOST: device " + std::to_string(device) +
         " of island 0 is lost: DATA_CORRUPTION: gang 0 of run " + std::to_string(run) +
         " ran twice there and gave two results for shard " + std::to_string(device) +
         " of output 0; nothing runs on it any more: have it tested";
}

class HostReplays : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// Runs number 1 and 2 of the device's gangs; whether they run in line or not.
  void run(ReplayingWorld& world, Stamp stamp, std::vector<ArrayId> ids) {
    world.run(stamp, next(1, {.cost_ns = GetParam()}), std::move(ids));
    while (world.backend.jobs() > 0) world.end_gang();
  }
};

TEST_P(HostReplays, AGangThatIsSampledRunsTwiceAndIsOneGangForEverybody) {
  ReplayingWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});

  run(world, 1, {50, 60});

  EXPECT_EQ(world.backend.runs, 2u);
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0");
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  EXPECT_EQ(world.value(60, 2), "8 8");
  EXPECT_EQ(world.used(0), 128u);  // The two arrays.
}

TEST_P(HostReplays, ADeviceThatGivesTwoResultsIsLostAndTheGangFailsOnAll) {
  for (const std::size_t wrong : {1, 2}) {
    ReplayingWorld world;
    world.put(50, HostWorld::row(7, 2), {0, 1});
    world.miscompute(wrong, 1);

    run(world, 1, {50, 60});

    EXPECT_EQ(world.said(), "lost 1, gangs 1 0-1, failed 1 " + lost(1, 101));
    EXPECT_EQ(world.value(60, 2), lost(1, 101));
    EXPECT_EQ(world.core.loss_of(0), nullptr);
    world.free(50);
    world.free(60);
    EXPECT_EQ(world.used(0) + world.used(1), 0u);
  }
}

TEST_P(HostReplays, AReplayThatIsNotLaunchedIsTriedAgain) {
  ReplayingWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  const bool is_in_line = GetParam() < kSlow;
  if (is_in_line)
    world.backend.during_run = [&world] {
      if (world.backend.runs == 2) world.backend.unlaunched = {0};
    };

  world.run(1, next(1, {.cost_ns = GetParam()}), {50, 60});
  if (!is_in_line) {
    world.end_gang();
    world.backend.refuse_job(0);
    world.end_gang();
  }

  EXPECT_EQ(world.said(), "gangs 1 0-1");
  EXPECT_EQ(world.value(60, 2), "8 8");
}

TEST_P(HostReplays, AsManyAreSampledAsWasAskedForAndAlwaysTheSame) {
  const auto sampled = [this](std::uint32_t per_mille) {
    ReplayingWorld world(per_mille);
    world.put(50, HostWorld::row(7, 2), {0, 1});
    std::vector<Stamp> stamps;
    for (Stamp stamp = 1; stamp <= 400; ++stamp) {
      const std::size_t before = world.backend.runs;
      run(world, stamp, {50, 100 + stamp});
      if (world.backend.runs - before == 2) stamps.push_back(stamp);
    }
    return stamps;
  };

  const std::vector<Stamp> some = sampled(250);

  EXPECT_NEAR(static_cast<double>(some.size()), 100, 40);
  EXPECT_EQ(sampled(250), some);
  EXPECT_EQ(sampled(1000).size(), 400u);
}

TEST_P(HostReplays, AGangThatOverwritesItsOperandRunsOnce) {
  ReplayingWorld world;
  PartMaker part(1, {0, 1});
  part.gang({part.arg()}, {part.output()}, {.cost_ns = GetParam()}).donate(0, 0);
  part.work(kShardBytes);
  world.put(50, HostWorld::row(7, 2), {0, 1});

  world.run(1, part, {50, 60});
  while (world.backend.jobs() > 0) world.end_gang();

  EXPECT_EQ(world.backend.runs, 1u);
  EXPECT_EQ(world.value(60, 2), "8 8");
}

TEST_P(HostReplays, AFunctionThatMayGiveSomethingElseRunsOnce) {
  ReplayingWorld world;
  int calls = 0;
  function::NativeFunction native;
  native.outputs = {f32({16})};
  native.body = [&calls](auto, std::span<std::byte* const> outputs, std::byte*) {
    const auto value = static_cast<float>(++calls);
    std::memcpy(outputs[0], &value, sizeof(value));
    return Status();
  };
  world.core.add_function(kernel_id(0, 1), function::make_native(std::move(native)));
  PartMaker part(1, {0});
  part.gang({}, {part.output()}, {.cost_ns = GetParam()}).work(kShardBytes);

  world.run(1, part, {60});
  while (world.backend.jobs() > 0) world.end_gang();

  EXPECT_EQ(world.value(60), "1");
  EXPECT_EQ(calls, 1);
}

INSTANTIATE_TEST_SUITE_P(InLineAndBeside, HostReplays, testing::Values(100, kSlow));

TEST(HostReplays, AFunctionAsksForRoomForItsOutputsOnlyWhereItMayRunTwice) {
  const HostWorld usual;
  const ReplayingWorld replaying;
  const auto native = function::make_native({.outputs = {f32({16})}});

  EXPECT_EQ(usual.core.replay_bytes(SumKernel(1, 3)), 0u);
  EXPECT_EQ(replaying.core.replay_bytes(SumKernel(1, 3)), 3 * kShardBytes);
  EXPECT_EQ(replaying.core.replay_bytes(*native), 0u);
}

class HostShortages : public testing::TestWithParam<std::uint64_t> {};

TEST_P(HostShortages, ALaunchWithoutMemoryFailsItsRunAndNothingElse) {
  HostWorld world(2);
  world.backend.why_unlaunched = resource_exhausted("memory is in pieces");
  world.put(50, HostWorld::row(7, 2), {0, 1});
  const bool is_in_line = GetParam() < kSlow;
  if (is_in_line) world.backend.unlaunched = {1};

  world.run(1, next(1, {.cost_ns = GetParam(), .site = "a.cpp:1"}), {50, 60});
  if (!is_in_line) world.backend.refuse_job(1);
  world.core.advance();
  world.run(2, next(1, {.cost_ns = GetParam()}), {50, 61});
  while (world.backend.jobs() > 0) world.end_gang();

  const std::string failure =
      "RESOURCE_EXHAUSTED: device 1 of island 0 had no memory to launch gang 0 of run 101, "
      "function "
      "18, with 64 bytes of outputs and 0 of work space, though they are within its budget: memory "
      "is in pieces; run it again, or give the cluster less device_memory than the device has; "
      "called at a.cpp:1";
  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1, failed 1 " + failure);
  EXPECT_EQ(world.value(60, 2), failure);
  EXPECT_EQ(world.value(61, 2), "8 8");
  for (const ArrayId array : {50, 60, 61}) world.free(array);
  EXPECT_EQ(world.used(0) + world.used(1), 0u);
}

INSTANTIATE_TEST_SUITE_P(InLineAndBeside, HostShortages, testing::Values(100, kSlow));

}  // namespace
}  // namespace seaway::device
