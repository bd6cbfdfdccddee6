// A host whose memory changes: what is noticed, who is told of it, and what goes on.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

using ValueAtRest = HostCore::ValueAtRest;

/// A host with checksums.
struct SummedWorld : HostWorld {
  explicit SummedWorld(std::uint32_t devices = 2)
      : HostWorld(devices, 1 << 20, 0, nullptr, {.shard_checksums = true}) {}

  /// Changes one bit of a shard of what `is_meant` finds first.
  template <class IsMeant>
  void change(const IsMeant& is_meant, std::size_t shard) {
    for (const ValueAtRest& value : core.values_at_rest()) {
      if (!is_meant(value)) continue;
      value.bytes.shard(shard)[5] ^= std::byte{4};
      return;
    }
    ADD_FAILURE() << "there is no such value";
  }
  void change_array(ArrayId array, std::size_t shard = 0) {
    change([array](const ValueAtRest& value) { return value.array == array; }, shard);
  }
  void change_inner(std::size_t shard = 0) {
    change([](const ValueAtRest& value) { return value.array == 0; }, shard);
  }
  /// What has changed by name: "array 50", "value 2 of 1".
  std::string at_rest() const {
    std::string text;
    for (const ValueAtRest& value : core.values_at_rest()) {
      text += (text.empty() ? "" : ", ") +
              (value.array != 0
                   ? "array " + std::to_string(value.array)
                   : "value " + std::to_string(value.value) + " of " + std::to_string(value.stamp));
    }
    return text;
  }
};

/// Reads one array, makes one.
PartMaker next(PlanId id, std::vector<DeviceId> devices = {0, 1}, GangOptions options = {}) {
  PartMaker part(id, std::move(devices));
  part.gang({part.arg()}, {part.output()}, std::move(options));
  return part;
}

/// Part 1 has run, and edge 7 to island 1 waits for its receiver.
void make_value_to_send(SummedWorld& world) {
  PartMaker part(1, {0});
  const std::uint32_t sent = part.inner();
  part.gang({part.arg()}, {sent}).send(sent, 7, 1);
  world.put(50, HostWorld::row(7));
  world.run(1, part, {50});
  world.said();
}

/// `text` without the two sums, which are whatever they are, but differ.
std::string without_sums(std::string text) {
  std::string before;
  for (std::size_t at = text.find("0x"); at != std::string::npos; at = text.find("0x", at)) {
    const std::string sum = text.substr(at, 10);
    EXPECT_NE(sum, before);
    before = sum;
    text.replace(at, 10, "#");
  }
  return text;
}

std::string changed(const std::string& what, int shard = 0) {
  return "DATA_CORRUPTION: " + what + " has changed by itself in shard " + std::to_string(shard) +
         ", on device " + std::to_string(shard) +
         " of island 0: its CRC-32 was # and is #; make it again from what it was made of, and "
         "have "
         "the memory tested";
}

TEST(HostIntegrity, AnUploadThatChangesIsPoisonForTheClientWhoReadsIt) {
  SummedWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.put(51, HostWorld::row(8, 2), {0, 1});

  world.change_array(50, 1);

  EXPECT_EQ(without_sums(world.value(50, 2)), changed("array 50", 1));
  EXPECT_EQ(without_sums(world.value(50, 2)), changed("array 50", 1));
  EXPECT_EQ(world.value(51, 2), "8 8");
}

TEST(HostIntegrity, WithoutChecksumsNobodyNoticesAndNothingIsAtRest) {
  HostWorld world;

  world.put(50, HostWorld::row(7));

  EXPECT_TRUE(world.core.values_at_rest().empty());
  EXPECT_EQ(world.value(50), "7");
}

TEST(HostIntegrity, AGangDoesNotReadAnArrayThatHasChanged) {
  SummedWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.put(51, HostWorld::row(8, 2), {0, 1});
  world.change_array(50);

  world.run(1, next(1), {50, 60});
  world.run(2, next(1), {51, 61});

  const std::string cause = "INPUT_LOST: array 50, argument 0 of run 101: " + changed("array 50");
  EXPECT_EQ(world.seen(), "noop 1.0, start 2.0, end 2.0");
  EXPECT_EQ(without_sums(world.said()), "gangs 1 0-1, gangs 2 0-1, failed 1 " + cause);
  EXPECT_EQ(without_sums(world.value(60, 2)), cause);
  EXPECT_EQ(without_sums(world.value(50, 2)), changed("array 50"));
  EXPECT_EQ(world.value(61, 2), "9 9");
}

TEST(HostIntegrity, WhoDependsOnTheValueIsToldTheRootCauseDownAChainOfRuns) {
  SummedWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.change_array(50);

  world.run(1, next(1), {50, 60});
  world.run(2, next(1), {60, 61});

  EXPECT_EQ(without_sums(world.value(61, 2)),
            "INPUT_LOST: array 50, argument 0 of run 101: " + changed("array 50"));
}

TEST(HostIntegrity, TheRoomOfAnArrayThatHasChangedIsGivenBackOnce) {
  SummedWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.run(1, next(1), {50, 60});
  world.run(2, next(1), {60, 61});
  for (const ArrayId array : {50, 60, 61}) world.change_array(array);
  world.value(60, 2);
  world.run(3, next(1), {50, 62});

  world.spill(60);
  world.spill(61);
  for (const ArrayId array : {50, 60, 61, 62}) world.free(array);

  EXPECT_EQ(world.used(0) + world.used(1), 0u);
  EXPECT_EQ(world.core.array_count(), 0u);
}

TEST(HostIntegrity, AnArrayThatHasChangedIsPoisonWhenItIsSpilled) {
  SummedWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.run(1, next(1), {50, 60});
  world.change_array(60);
  world.said();

  world.spill(60);

  EXPECT_EQ(world.said(), "spilled 60");
  EXPECT_EQ(without_sums(world.value(60, 2)), changed("array 60"));
  EXPECT_EQ(world.used(0), 64u);  // Array 50 alone.
}

TEST(HostIntegrity, WhatChangesInHostRoomIsNoticedWhenItIsLoaded) {
  SummedWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.run(1, next(1), {50, 60});
  world.spill(60);
  world.change_array(60);

  world.run(2, next(1), {60, 61});

  EXPECT_EQ(without_sums(world.value(61, 2)),
            "INPUT_LOST: array 60, argument 0 of run 102: " + changed("array 60"));
  for (const ArrayId array : {50, 60, 61}) world.free(array);
  EXPECT_EQ(world.used(0) + world.used(1), 0u);
}

TEST(HostIntegrity, AValueInsideAPartThatChangesFailsItsRun) {
  SummedWorld world;
  PartMaker part(1, {0, 1});
  const std::uint32_t inner = part.inner();
  part.gang({part.arg()}, {inner});
  part.gang({inner}, {part.output()});
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.launch(1, part, {50, 60});
  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();
  EXPECT_EQ(world.at_rest(), "array 50, value 0 of 1");

  world.change_inner(1);
  world.place(1, 1, 2);
  world.core.advance();

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, noop 1.1");
  EXPECT_EQ(without_sums(world.value(60, 2)), changed("a value of node 0 of run 101", 1));
  EXPECT_EQ(world.value(50, 2), "7 7");
}

TEST(HostIntegrity, ACopyDoesNotReadWhatHasChanged) {
  SummedWorld world;
  PartMaker away(1, {0});
  away.reshard(away.arg(), away.output(away.group({1})));
  world.put(50, HostWorld::row(7));
  world.change_array(50);

  world.run(1, away, {50, 60});

  EXPECT_EQ(world.seen(), "noop 1.0");
  EXPECT_EQ(without_sums(world.value(60)),
            "INPUT_LOST: array 50, argument 0 of run 101: " + changed("array 50"));
}

TEST(HostIntegrity, WhatHasChangedIsNotSentToAnotherIsland) {
  SummedWorld world;
  make_value_to_send(world);

  world.change_inner();
  world.armed(1, 7, 1);

  EXPECT_EQ(without_sums(world.said()),
            "delivered 1.7 to 1 " + changed("a value of node 0 of run 101") + ", failed 1 " +
                changed("a value of node 0 of run 101"));
  EXPECT_EQ(world.bulk.size(), 0u);
}

TEST(HostIntegrity, WhatHasChangedDoesNotMoveToHostRoomAsIfItHadNot) {
  SummedWorld world;
  make_value_to_send(world);

  world.change_inner();
  world.move_sends(1);
  EXPECT_EQ(world.core.device(0).used_bytes, kShardBytes) << "only the argument";
  world.armed(1, 7, 1);

  EXPECT_EQ(without_sums(world.said()),
            "delivered 1.7 to 1 " + changed("a value of node 0 of run 101") +
                ", moved 1, failed 1 " + changed("a value of node 0 of run 101"));
}

TEST(HostIntegrity, WhatTwoPartsReadInHostRoomStaysUntilBothHaveSeenThatItChanged) {
  SummedWorld world;
  PartMaker first(1, {0}), second(2, {0});
  const std::uint32_t arg = first.arg();
  second.arg();
  first.announce(arg).send(arg, 7, 1);
  second.announce(arg).send(arg, 8, 1);
  world.put(50, HostWorld::row(7));
  world.spill(50);
  world.lose(0);  // There is nowhere to load it.
  world.run(1, first, {50});
  world.run(2, second, {50});
  world.change_array(50);
  world.said();

  world.armed(1, 7, 1);
  const std::string by_first = world.said();
  world.armed(2, 8, 1);
  const std::string by_second = world.said();

  const auto sums = [](const std::string& text) {
    const std::size_t at = text.find("its CRC-32 was ");
    return at == std::string::npos ? "none in " + text : text.substr(at, 46);
  };
  EXPECT_NE(by_first.find("array 50 has changed by itself"), std::string::npos) << by_first;
  EXPECT_EQ(sums(by_second), sums(by_first));
}

TEST(HostIntegrity, WhatCameFromAnotherIslandIsLookedAtBeforeItIsRead) {
  SummedWorld world;
  PartMaker part(1, {0});
  const std::uint32_t in = part.receive(7, 1);
  part.gang({in}, {part.output()});
  world.launch(1, part, {60});
  world.admit(1);
  world.core.advance();
  world.offer(1, 7, HostWorld::row(41));
  world.delivered(1, 7, 1);

  world.change_inner();
  world.place(1, 0, 1);
  world.core.advance();

  EXPECT_EQ(without_sums(world.value(60)),
            changed("a value that came from another island of run 101"));
}

TEST(HostIntegrity, AnOutputThatTakesOverItsOperandHasSumsOfItsOwn) {
  SummedWorld world;
  PartMaker part(1, {0});
  part.gang({part.arg()}, {part.output()}).donate(0, 0);
  world.put(50, HostWorld::row(7));
  world.put(51, HostWorld::row(7));
  world.change_array(51);

  world.run(1, part, {50, 60});
  world.run(2, part, {51, 61});

  EXPECT_EQ(world.value(60), "8");
  EXPECT_EQ(without_sums(world.value(61)),
            "INPUT_LOST: array 51, argument 0 of run 102: " + changed("array 51"));
  world.free(60);
  world.free(61);
  EXPECT_EQ(world.used(0), 0u);
}

TEST(HostIntegrity, WhatAGangWorksOnIsNotAtRest) {
  SummedWorld world;
  world.put(50, HostWorld::row(7, 2), {0, 1});
  world.put(51, HostWorld::row(7, 2), {0, 1});

  world.run(1, next(1, {0, 1}, {.cost_ns = kSlow}), {50, 60});

  EXPECT_EQ(world.at_rest(), "array 51");
  world.end_gang();
  EXPECT_EQ(world.at_rest(), "array 50, array 51, array 60");
}

}  // namespace
}  // namespace seaway::device
