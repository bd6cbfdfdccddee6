// Arrays that lie where their backend has made them: read there, never written to, let go. And what
// it holds of those that lie here.

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

class HostKept : public ::testing::Test {
 protected:
  explicit HostKept(Integrity integrity = {}) : world_(2, 1 << 20, 0, nullptr, integrity) {
    backend().keeps = true;
    world_.put(50, HostWorld::row(5));
  }
  FakeBackend& backend() { return world_.backend; }
  /// How many arrays the backend still has, and of how many it holds something.
  std::size_t kept() { return living(backend().kept); }
  std::size_t held() { return living(backend().held); }
  static std::size_t living(const std::vector<std::weak_ptr<void>>& all) {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](const auto& one) { return !one.expired(); }));
  }
  /// Array `to` from array `from`, in a gang that the backend ends when it is told to.
  void make(Stamp stamp, ArrayId from, ArrayId to) {
    PartMaker part(1, {0});
    part.gang({part.arg()}, {part.output()}, {.cost_ns = kSlow});
    world_.run(stamp, part, {from, to});
    world_.end_gang();
  }

  HostWorld world_;
};

/// One array from another one that it may be written over.
PartMaker taker(std::uint64_t cost_ns = kSlow) {
  PartMaker part(2, {0});
  part.gang({part.arg()}, {part.output()}, {.cost_ns = cost_ns}).donate(0, 0);
  return part;
}

TEST_F(HostKept, IsReadWhereItLiesAndLetGoWithTheArray) {
  make(1, 50, 60);
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(world_.value(60), "6");

  make(2, 60, 61);

  EXPECT_EQ(world_.value(61), "7");
  EXPECT_EQ(kept(), 2u);
  world_.free(60);
  world_.free(61);
  world_.core.advance();
  EXPECT_EQ(kept(), 0u);
}

TEST_F(HostKept, CountsAsAnyOther) {
  make(1, 50, 60);

  EXPECT_EQ(world_.used(), 128u);
  world_.free(50);
  world_.free(60);
  world_.core.advance();
  EXPECT_EQ(world_.used(), 0u);
}

TEST_F(HostKept, NobodyWritesThereWhenItIsDonated) {
  make(1, 50, 60);
  backend().keeps = false;  // So that the output goes to the room that it has.

  world_.run(2, taker(), {60, 61});
  world_.end_gang();

  EXPECT_EQ(world_.value(61), "7");
  EXPECT_EQ(world_.used(), 128u);
  EXPECT_EQ(kept(), 0u);
}

TEST_F(HostKept, WhatWasDonatedGoesWithItsGangNotWithItsPart) {
  make(1, 50, 60);
  PartMaker longer = taker();
  longer.gang({}, {}, {.cost_ns = kSlow});

  world_.run(2, longer, {60, 61});
  EXPECT_EQ(kept(), 1u);
  world_.end_gang();

  EXPECT_EQ(kept(), 1u);  // The output.
  EXPECT_EQ(backend().jobs(), 1u);
  backend().keeps = false;
  world_.end_gang();
  EXPECT_EQ(world_.value(61), "7");
}

TEST_F(HostKept, WhatWasDonatedStaysWhileAGangThatIsGivenUpMayReadIt) {
  make(1, 50, 60);
  world_.run(2, taker(), {60, 61});
  backend().laggard = 0;

  world_.core.tick(world_.core.due_ns().value());
  world_.core.advance();
  EXPECT_EQ(kept(), 1u);
  backend().keeps = false;
  world_.end_gang();

  EXPECT_EQ(kept(), 0u);
}

TEST_F(HostKept, ASpillTakesItsBytesOnly) {
  make(1, 50, 60);

  world_.spill(60);

  EXPECT_EQ(kept(), 0u);
  EXPECT_EQ(world_.value(60), "6");
  make(2, 60, 61);
  EXPECT_EQ(world_.value(61), "7");
}

TEST_F(HostKept, AFailedGangLeavesNothing) {
  PartMaker part(1, {0});
  part.gang({part.arg()}, {part.output()}, {.cost_ns = kSlow});
  world_.run(1, part, {50, 60});

  world_.end_gang(user_function_error("bad luck"));

  EXPECT_EQ(kept(), 0u);
  EXPECT_EQ(world_.value(60), "USER_FUNCTION_ERROR: bad luck");
}

TEST_F(HostKept, WhatAPartKeepsToItselfIsNotTheBackends) {
  PartMaker part(1, {0});
  const auto inner = part.inner();
  part.gang({part.arg()}, {inner, part.output()}, {.cost_ns = kSlow});
  part.gang({inner}, {part.output()}, {.cost_ns = kSlow});
  world_.run(1, part, {50, 60, 61});

  world_.end_gang();
  EXPECT_EQ(kept(), 0u);
  world_.end_gang();

  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(world_.value(60), "6");
  EXPECT_EQ(world_.value(61), "7");
}

class HostHeld : public HostKept {
 protected:
  HostHeld() {
    backend().keeps = false;
    backend().holds = true;
  }
};

TEST_F(HostHeld, WhatIsHeldOfAnArrayGoesWithIt) {
  make(1, 50, 60);
  EXPECT_EQ(held(), 1u);

  make(2, 50, 61);
  EXPECT_EQ(held(), 1u);  // The first that was made.
  world_.free(50);
  world_.core.advance();

  EXPECT_EQ(held(), 0u);
}

TEST_F(HostHeld, ADonationEndsItBeforeTheGangWrites) {
  make(1, 50, 60);

  world_.run(2, taker(), {50, 61});
  EXPECT_EQ(held(), 0u);
  backend().holds = false;
  world_.end_gang();

  EXPECT_EQ(world_.value(61), "6");
}

TEST_F(HostHeld, ASpillEndsIt) {
  make(1, 50, 60);

  world_.spill(50);

  EXPECT_EQ(held(), 0u);
  make(2, 50, 61);
  EXPECT_EQ(held(), 1u);
}

TEST_F(HostHeld, WhatAPartKeepsToItselfIsNotHeld) {
  PartMaker part(1, {0});
  const auto inner = part.inner();
  part.gang({}, {inner}, {.cost_ns = kSlow});
  part.gang({inner}, {part.output()}, {.cost_ns = kSlow});
  world_.run(1, part, {60});
  world_.end_gang();

  world_.end_gang();

  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(backend().held.size(), 1u);
}

class CheckedHostKept : public HostKept {
 protected:
  CheckedHostKept() : HostKept({.shard_checksums = true}) { backend().holds = true; }
};

TEST_F(CheckedHostKept, NothingIsKeptThatIsLookedAt) {
  make(1, 50, 60);

  EXPECT_EQ(kept(), 0u);
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(world_.value(60), "6");
}

}  // namespace
}  // namespace seaway::device
