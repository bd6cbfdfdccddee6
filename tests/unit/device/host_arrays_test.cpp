// Arrays on a host as clients see them: uploads, reads before and after, and what is gone.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

PartMaker slow_maker() {
  PartMaker part(1, {0});
  part.gang({part.arg()}, {part.output()}).gang({}, {}, {.cost_ns = kSlow});
  return part;
}

TEST(HostArrays, AReadBeforeThePartHasSettledIsAnsweredOnceBehindIt) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, slow_maker(), {50, 60});

  world.fetch(60, 3);  // The value is there, but the part may still fail.
  world.fetch(60, 4);
  world.core.advance();
  EXPECT_EQ(world.answers(), "");
  world.end_gang();

  EXPECT_EQ(world.answers(), "3: 42, 4: 42");
  world.core.advance();
  EXPECT_EQ(world.answers(), "");
  world.fetch(60, 5);
  EXPECT_EQ(world.answers(), "5: 42");
  EXPECT_EQ(world.bulk.size(), 0u);
}

TEST(HostArrays, AReadOfARunThatFailsLaterGetsItsErrorNotTheValue) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, slow_maker(), {50, 60});
  world.fetch(60, 3);

  world.end_gang(user_function_error("broken"));

  EXPECT_EQ(world.answers(), "3: USER_FUNCTION_ERROR: broken");
}

TEST(HostArrays, AReadOfACancelledRunSaysSo) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.launch(1, slow_maker(), {50, 60});
  world.fetch(60, 3);

  world.cancel(1);

  EXPECT_EQ(world.answers(), "3: CANCELLED: run 101 was cancelled");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostArrays, AnArrayFreedWhileAwaitedGivesItsRoomBackAndIsReadAllTheSame) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, slow_maker(), {50, 60});
  world.fetch(60, 3);
  world.free(50);

  world.free(60);
  world.end_gang();

  EXPECT_EQ(world.answers(), "3: 42");
  EXPECT_EQ(world.used(), 0u);
  EXPECT_EQ(world.core.array_count(), 0u);
}

TEST(HostArrays, AReadOfAFreedArrayIsRefusedByName) {
  HostWorld world;
  world.put(make_id(5, 50), HostWorld::row(41));
  world.free(make_id(5, 50));

  world.fetch(make_id(5, 50), 3);

  EXPECT_EQ(world.answers(),
            "3: INVALID_ARGUMENT: array 50 is not on island 0; it was freed or donated");
}

TEST(HostArrays, AReaderOfAnArrayThatIsDonatedGetsItsValueFirst) {
  HostWorld world;
  PartMaker taker(2, {0});
  taker.gang({taker.arg()}, {taker.output()}).donate(0, 0);
  world.put(50, HostWorld::row(41));
  world.launch(1, slow_maker(), {50, 60});
  world.launch(2, taker, {60, 61});
  world.admit(1);
  world.admit(2);
  world.place(1, 0, 2);
  world.place(2, 0, 1);
  world.fetch(60, 3);
  world.core.advance();
  EXPECT_EQ(world.answers(), "");

  world.end_gang();

  EXPECT_EQ(world.answers(), "3: 42");
  EXPECT_EQ(world.value(61), "43");
}

TEST(HostArrays, AReaderOfAnArrayThatIsDonatedBeforeItsPartHasSettledGetsItsValue) {
  HostWorld world(2);
  PartMaker maker(1, {0});
  const std::uint32_t other = maker.group({1});
  maker.gang({maker.arg()}, {maker.output()}).gang({}, {}, {.group = other, .cost_ns = kSlow});
  PartMaker taker(2, {0});
  taker.gang({taker.arg()}, {taker.output()}).donate(0, 0);
  world.put(50, HostWorld::row(41));
  world.launch(1, maker, {50, 60});
  world.launch(2, taker, {60, 61});
  world.admit(1);
  world.admit(2);
  world.place(1, 0, 2);
  world.core.advance();
  world.fetch(60, 3);  // The value is there, but the part may still fail.
  EXPECT_EQ(world.answers(), "");
  world.place(2, 0, 1);
  world.core.advance();

  EXPECT_EQ(world.answers(), "3: 42");
  EXPECT_EQ(world.value(61), "43");
}

TEST(HostArrays, AReaderWhoseTargetIsWithdrawnIsNotAnswered) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, slow_maker(), {50, 60});
  world.fetch(60, 3);
  world.fetch(60, 4);

  EXPECT_TRUE(world.bulk.take_target(5, 3).has_value());
  world.end_gang();

  EXPECT_EQ(world.answers(), "4: 42");
}

TEST(HostArrays, ATargetOfTheWrongSizeIsRefusedWithBothSizes) {
  HostWorld world;
  world.put(50, HostWorld::row(41));

  world.fetch(50, 3, 2);

  EXPECT_EQ(world.answers(), "3: INVALID_ARGUMENT: a buffer of 128 bytes cannot hold f32[16]");
}

TEST(HostArrays, ShardsAreReadAsOneArray) {
  HostWorld world(3);
  PartMaker next(1, {2, 0});
  next.gang({next.arg()}, {next.output()});
  std::vector<float> both = HostWorld::row(10);
  both.resize(32, 20);
  world.put(50, both, {2, 0});

  world.run(1, next, {50, 60});

  EXPECT_EQ(world.value(50, 2), "10 20");
  EXPECT_EQ(world.value(60, 2), "11 21");
  EXPECT_EQ(world.used(1), 0u);
}

TEST(HostArrays, AnUploadThatWasWithdrawnIsPoison) {
  HostWorld world;
  PartMaker next(1, {0});
  next.gang({next.arg()}, {next.output()});
  const Mesh mesh(1, {{"x", 1}});
  world.core.define_spec(7, {f32({16}), NamedSharding(mesh, P("x"))});
  world.core.put(50, 7, {0});

  world.run(1, next, {50, 60});

  const std::string root = "CANCELLED: upload of array 50 was withdrawn";
  EXPECT_EQ(world.value(50), root);
  EXPECT_EQ(world.value(60), "INPUT_LOST: array 50, argument 0 of run 101: " + root);
}

TEST(HostArrays, UploadsTakeNoDeviceRoomUntilTheyAreRead) {
  HostWorld world(1, 64);
  PartMaker read(1, {0});
  read.gang({read.arg()}, {});
  world.put(50, HostWorld::row(1));
  world.put(51, HostWorld::row(2));
  EXPECT_EQ(world.used(), 0u);

  world.run(1, read, {50});
  EXPECT_EQ(world.used(), 64u);
  world.free(50);
  world.run(2, read, {51});

  EXPECT_EQ(world.used(), 64u);
  EXPECT_EQ(world.value(51), "2");
}

}  // namespace
}  // namespace seaway::device
