// Processes that are waited for, whatever becomes of them.

#include "benchmarks/support/command.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace seaway::benchmarks {
namespace {

constexpr double kLong = 20, kShort = 0.01;

TEST(Command, SaysHowItEndedAsOftenAsItIsAsked) {
  auto command = Command::start_other({"sh", "-c", "exit 3"}).value();
  EXPECT_EQ(command.wait_for_end(kLong), 3);
  EXPECT_EQ(command.process(), 0);
  EXPECT_EQ(command.wait_for_end(kLong), 3);
}

TEST(Command, OneThatWasKilledIsNotTakenForOneThatRuns) {
  auto command = Command::start_other({"sleep", "100"}).value();
  EXPECT_EQ(command.wait_for_end(kShort), -1);
  ::kill(command.process(), SIGKILL);
  EXPECT_EQ(command.wait_for_end(kLong), 128 + SIGKILL);
}

TEST(Command, OneThatHasEndedTakesNoOtherOneFromItsOwner) {
  auto ended = Command::start_other({"true"}).value();
  auto other = Command::start_other({"sh", "-c", "exit 4"}).value();
  EXPECT_EQ(ended.wait_for_end(kLong), 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ended.wait_for_end(kShort), 0);
  EXPECT_EQ(other.wait_for_end(kLong), 4);
}

}  // namespace
}  // namespace seaway::benchmarks
