// Who sits outside sees each fork that two hold, and each that falls.

#include "demos/support/table.hpp"

#include <gtest/gtest.h>

namespace seaway::demos {
namespace {

TEST(Table, CountsAForkThatTwoHaveTaken) {
  Table table(5);
  table.take(3, {2, 1});
  EXPECT_EQ(table.clashes(), 0u);

  table.take(3, {3, 1});

  EXPECT_EQ(table.clashes(), 1u);
}

TEST(Table, TellsAForkThatFellFromOneThatWasLaidDown) {
  Table table(5);
  table.take(0, {0, 1});
  table.take(1, {0, 1});
  EXPECT_EQ(table.held(), 2u);

  table.lay_down(0, {0, 1});
  table.dies({0, 1});

  EXPECT_EQ(table.dropped(), 1u);
  EXPECT_EQ(table.held(), 0u);
  table.take(0, {4, 1});
  EXPECT_EQ(table.clashes(), 0u);
}

TEST(Table, MayHearOfADeathAfterSomebodyElseHasTheFork) {
  Table table(5);
  table.take(1, {0, 1});
  table.take(1, {1, 1});
  ASSERT_EQ(table.clashes(), 1u);

  table.dies({0, 1});

  EXPECT_EQ(table.clashes(), 0u);
  EXPECT_EQ(table.held(), 1u);
}

TEST(Table, IsDrawnWithForksBesideTheirHolders) {
  Table table(3);
  table.take(1, {1, 1});
  table.take(2, {1, 1});
  table.eats(1);

  EXPECT_EQ(table.picture(), "  0  |-1-|  2     meals: 0 1 0");
}

/// Two at a table of which the second dies over its first meal, and then each eats twice.
void dine(Table& table) {
  table.take(0, {1, 1});
  table.take(1, {1, 1});
  table.eats(1);
  table.dies({1, 1});
  for (const std::uint32_t who : {0, 0, 1, 1}) table.eats(who);
}

TEST(Table, IsContentWithADinnerAtWhichOneDied) {
  Table table(2);
  dine(table);

  EXPECT_EQ(table.check(2, {.seat = 1, .meals = 1}), Status());
}

TEST(Table, SaysWhatWasWrongWithADinner) {
  const Table::Victim victim{.seat = 1, .meals = 1};
  const auto message = [&](const Table& table) { return table.check(2, victim).to_string(); };
  Table nobody_died(2), hungry(2), held(2), clash(2);
  for (Table* table : {&hungry, &held, &clash}) dine(*table);
  hungry.eats(0);
  held.take(1, {0, 1});
  clash.take(0, {0, 1});
  clash.take(0, {1, 2});

  EXPECT_EQ(message(nobody_died), "DATA_CORRUPTION: 0 forks were dropped, not the two of the dead");
  EXPECT_EQ(message(hungry), "DATA_CORRUPTION: philosopher 0 has eaten 3 times, not 2");
  EXPECT_EQ(message(held), "DATA_CORRUPTION: dinner is over, and somebody still holds a fork");
  EXPECT_EQ(message(clash), "DATA_CORRUPTION: a fork was in two hands at once");
}

}  // namespace
}  // namespace seaway::demos
