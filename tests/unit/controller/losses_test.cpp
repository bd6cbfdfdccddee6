// Devices that are lost: slices that leave them, slices that cannot, and what is not concerned.

#include <gtest/gtest.h>

#include <string>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// Two islands; a slice on device 0 of island 0, which is bound anew to device 2 of island 1.
struct Loser {
  Loser() { world.binder.next = {1, {2}}; }

  RunIds run() { return world.run(client, program, {input}); }

  ControllerWorld world{{.islands = 2}};
  ClientId client = world.client();
  SliceId slice = world.slice(client);
  FunctionId f = world.function(client, "f");
  ProgramId program = world.chain(client, {.function = f, .slices = {slice}});
  ArrayId input = world.put(client, slice);
};

const std::string kLoss =
    "DEVICE_LOST: program chain uses slice 11, but device 0 of island 0 is "
    "lost: no word, and no other device can take its place; release the "
    "slice, acquire another and capture the program anew";

TEST(Losses, ASliceLeavesALostDeviceOnceNothingOfItIsInFlight) {
  Loser one;
  one.run();
  EXPECT_EQ(one.world.said(), "launch 1@0");

  one.world.lose(0, 0);
  one.run();
  EXPECT_EQ(one.world.said(), "");  // The first run has to end.
  one.world.core.part_failed(1, {StatusCode::kDeviceLost, "device 0 of island 0 is lost: no word"});
  one.world.finish(1);

  EXPECT_EQ(one.world.said(), "launch 2@0, free 1001@0, cancel 1@0, launch 2@1");
  one.world.finish(2, {0, 1});
  EXPECT_EQ(one.world.said(), "free 501@0, launch 3@1, launch 4@1");
  one.world.finish(3, {1});
  one.world.finish(4, {1});
  EXPECT_EQ(one.world.said(), "run 1 OK, run 2 OK");
}

TEST(Losses, AnArrayThatIsLostWithTheDeviceIsPoisonWithItsCause) {
  Loser one;
  one.world.said();
  one.world.lose(0, 0);
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");

  const std::string gone = "array 501 lay on a device that is gone: DEVICE_LOST: device 0";
  one.world.core.part_failed(1, input_lost(gone));
  one.world.finish(1, {0, 1});
  one.run();

  EXPECT_EQ(one.world.said(),
            "free 501@0, cancel 1@0, free i1@1, cancel 1@1, run 1 INPUT_LOST: " + gone);
  one.world.core.fetch(one.client, one.input, 10);
  EXPECT_EQ(one.world.said(), "answer 10 INPUT_LOST: " + gone);
}

TEST(Losses, WhereThereIsNoOtherDeviceRunsFailAtOnceAndSayWhatToDo) {
  Loser one;
  one.world.binder.is_room = false;
  one.world.lose(0, 0);

  one.run();
  EXPECT_EQ(one.world.said(), "run 1 " + kLoss);
  one.world.core.fetch(one.client, one.input, 10);
  EXPECT_EQ(one.world.said(), "fetch 501@0");  // It may lie in host room: its host knows.
  one.world.core.rebind_slice(one.client, 9, one.slice);
  EXPECT_EQ(one.world.said(), "reply 9 DEVICE_LOST: slice 11 refused: 1 of 1 is lost");
  one.run();
  EXPECT_EQ(one.world.said(), "run 2 " + kLoss);
  one.world.core.release_slice(one.client, 9, one.slice);
  EXPECT_EQ(one.world.said(), "reply 9 OK");

  EXPECT_TRUE(one.world.binder.held.empty());
}

TEST(Losses, OtherSlicesAreNotConcerned) {
  Loser one;
  const SliceId far = one.world.slice(one.client, 1);
  const ProgramId there = one.world.chain(one.client, {.function = one.f, .slices = {far}});
  const ArrayId input = one.world.put(one.client, far);
  one.world.said();

  one.world.lose(0, 1);
  one.world.run(one.client, there, {input});
  one.run();

  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@1");
  EXPECT_EQ(one.world.binder.held.at(one.slice).island, 0u);
}

TEST(Losses, ALossIsTakenInOnce) {
  Loser one;
  one.world.core.release(one.client, one.input);
  one.world.lose(0, 0);
  one.world.said();
  one.world.binder.is_room = false;

  one.world.lose(0, 0);
  one.world.said();

  EXPECT_EQ(one.world.binder.held.at(one.slice).island, 1u);
  one.world.run(one.client, one.program, {one.world.put(one.client, one.slice)});
  EXPECT_EQ(one.world.said(), "launch 1@1");
}

TEST(Losses, ADeviceThatIsLostWhileTheSliceMovesToItIsLeftAgain) {
  Loser one;
  one.world.lose(0, 0);
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");

  one.world.lose(1, 2);
  one.world.binder.next = {0, {3}};
  EXPECT_EQ(one.world.said(), "");
  one.world.core.release(one.client, one.input);
  one.world.finish(1, {0, 1});
  one.world.said();

  EXPECT_EQ(one.world.binder.held.at(one.slice).devices, std::vector<DeviceId>{3});
}

TEST(Losses, AClientThatAsksForANewBindingMeanwhileGetsThatOne) {
  Loser one;
  one.world.lose(0, 0);
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");

  one.world.core.rebind_slice(one.client, 9, one.slice);
  one.world.finish(1, {0, 1});

  EXPECT_EQ(one.world.said(), "free 501@0, reply 9 OK 1 2");
}

TEST(Losses, AReleasedSliceStaysWhereItIsAndGoes) {
  Loser one;
  one.run();
  one.world.said();
  one.world.core.release_slice(one.client, 9, one.slice);

  one.world.lose(0, 0);
  EXPECT_EQ(one.world.said(), "reply 9 OK");
  one.world.finish(1);

  EXPECT_EQ(one.world.said(), "run 1 OK");
  EXPECT_TRUE(one.world.binder.held.empty());
}

TEST(Losses, ASliceThatIsReleasedBeforeItLeavesDoesNotLeave) {
  Loser one;
  one.run();
  one.world.said();
  one.world.lose(0, 0);
  one.world.said();

  one.world.core.release_slice(one.client, 9, one.slice);
  one.world.finish(1);

  EXPECT_EQ(one.world.said(), "run 1 OK, reply 9 OK");
  EXPECT_TRUE(one.world.binder.held.empty());
}

}  // namespace
}  // namespace seaway::controller
