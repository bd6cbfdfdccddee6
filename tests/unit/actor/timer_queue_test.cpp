// TimerQueue: order, ties and removal.

#include "actor/timer_queue.hpp"

#include <gtest/gtest.h>

#include <string>

namespace seaway::actor {
namespace {

TEST(TimerQueue, TimersFireInOrderOfTimeAndThenOfScheduling) {
  TimerQueue queue;
  std::string fired;
  queue.schedule(20, [&fired] { fired += 'c'; });
  queue.schedule(10, [&fired] { fired += 'a'; });
  queue.schedule(10, [&fired] { fired += 'b'; });

  while (const auto work = queue.take_due(20)) work();

  EXPECT_EQ(fired, "abc");
}

TEST(TimerQueue, WhatIsNotDueStays) {
  TimerQueue queue;
  queue.schedule(10, [] {});

  EXPECT_FALSE(queue.take_due(9));
  EXPECT_EQ(queue.next_ns(), 10u);
  EXPECT_TRUE(queue.take_due(10));
  EXPECT_EQ(queue.next_ns(), std::nullopt);
}

TEST(TimerQueue, ACancelledTimerIsForgottenAndCancellingTwiceIsHarmless) {
  TimerQueue queue;
  const auto first = queue.schedule(10, [] {});
  queue.schedule(20, [] {});

  queue.cancel(first);
  queue.cancel(first);
  queue.cancel(12345);

  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.next_ns(), 20u);
}

}  // namespace
}  // namespace seaway::actor
