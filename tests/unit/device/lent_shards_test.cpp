// What hosts of an island read in each other's memory.

#include "device/lent_shards.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/spread_world.hpp"

namespace seaway::device {
namespace {

TEST(LentShards, HostsOfOneMachineCopyWhatTheyLendEachOther) {
  SpreadWorld world(SpreadWorld::Way::kLoans);
  transport::NearMemory &own = world.planes->first_memory, &its = world.planes->second_memory;
  world.carry();  // Each has heard that the other one reads its memory.

  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, sender(), {50});
  world.carry_orders();
  EXPECT_EQ(own.lent(), 1u);  // The argument is kept until the annex says that it has it.
  world.carry();
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
  expect_delivered(world, 11);

  EXPECT_EQ(own.loans(), 1u);
  EXPECT_EQ(its.loans(), 1u);  // What the gang has made.
  EXPECT_EQ(own.lent() + its.lent(), 0u);
}

TEST(LentShards, AReceivedValueIsLentToTheOtherHosts) {
  SpreadWorld world(SpreadWorld::Way::kLoans);
  world.carry();
  PartMaker part(2, kAll);
  const std::uint32_t in = part.receive(7, 1);
  part.gang({in}, {part.output()});
  world.run(1, part, {60});

  world.offer(1, 7, SpreadWorld::rows(20));
  world.delivered(1, 7, 1);
  world.carry();

  EXPECT_EQ(world.read(60), "21 22 23 24");
  EXPECT_EQ(world.planes->first_memory.loans(), 1u);
  EXPECT_EQ(world.planes->first_memory.lent(), 0u);
}

TEST(LentShards, NothingIsLentToAHostThatCannotReadIt) {
  SpreadWorld world(SpreadWorld::Way::kLoans);
  world.planes->second_memory.lose(actor::data_peer_of(0, 0));
  world.carry();

  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();

  EXPECT_EQ(world.read(60), "11 12 13 14");
  EXPECT_EQ(world.planes->first_memory.loans(), 0u);
}

TEST(LentShards, NoMoreLoansAreOverThanThereWere) {
  SpreadWorld world(SpreadWorld::Way::kLoans);
  AnnexAnswer news{.ticket = 0, .news = {.host = 1, .taken = 1, .reads = true}};
  EXPECT_EQ(world.core.annexes().answer(news).code(), StatusCode::kProtocolError);
  news.news = {.host = 2};
  EXPECT_EQ(world.core.annexes().answer(news).code(), StatusCode::kProtocolError);
  EXPECT_EQ(world.annex.follow(TakenLoans{1}).code(), StatusCode::kProtocolError);
}

TEST(LentShards, AnAnnexThatBeginsAnewTakesBackWhatItHasLent) {
  SpreadWorld world(SpreadWorld::Way::kLoans);
  world.carry();
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, sender(), {50});
  while (world.planes->second_memory.lent() == 0) {
    ASSERT_TRUE(world.carry_orders() || world.carry_words());
  }

  world.annex.begin_anew(2);

  EXPECT_EQ(world.planes->second_memory.lent(), 0u);
}

}  // namespace
}  // namespace seaway::device
