// Who sits outside sees each fork that two hold, and each that falls.

#include "demos/support/table.hpp"

#include <gtest/gtest.h>

namespace seaway::demos {
namespace {

TEST(Table, CountsAForkThatTwoHaveTaken) {
  Table table(5);
  Table::Held first(table, 3, 2);
  EXPECT_EQ(table.clashes(), 0u);

  Table::Held second(table, 3, 3);

  EXPECT_EQ(table.clashes(), 1u);
}

TEST(Table, TellsAForkThatFellFromOneThatWasLaidDown) {
  Table table(5);
  {
    Table::Held laid(table, 0, 0);
    Table::Held dropped(table, 1, 0);
    EXPECT_EQ(table.held(), 2u);
    laid.lay_down();
  }

  EXPECT_EQ(table.dropped(), 1u);
  EXPECT_EQ(table.held(), 0u);
  Table::Held again(table, 0, 4);
  EXPECT_EQ(table.clashes(), 0u);
}

TEST(Table, IsDrawnWithForksBesideTheirHolders) {
  Table table(3);
  Table::Held left(table, 1, 1), right(table, 2, 1);
  table.eats(1);

  EXPECT_EQ(table.picture(), "  0  |-1-|  2     meals: 0 1 0");
}

}  // namespace
}  // namespace seaway::demos
