// How much each connection reads before the others have a turn.

#include "transport/read_scheduler.hpp"

#include <gtest/gtest.h>

#include <string>

namespace seaway::transport {
namespace {

class ReadSchedulerTest : public testing::Test {
 protected:
  using Reader = ReadScheduler::Reader;

  static Reader caller(const std::string& group) {
    return {.is_authenticated = false, .group = group};
  }
  /// Waits for a turn, and writes `name` down when it is granted.
  void wait(Reader&& reader, const std::string& name, bool has_ended = false) {
    wait(reader, name, has_ended);
  }
  void wait(Reader& reader, const std::string& name, bool has_ended = false) {
    scheduler_.wait(reader, [this, name, has_ended] {
      if (has_ended) return false;
      granted_ += name;
      return true;
    });
  }
  /// What one iteration grants to callers, each of whom takes `cost_ns`.
  std::string grant_callers(std::uint64_t cost_ns) {
    granted_.clear();
    while (scheduler_.grant_caller()) {
      pass(cost_ns);
      work_.advance_to(work_.now_ns() + cost_ns);
    }
    return granted_;
  }
  /// Processor time of permanently ready callers within `all_ns`, with `queued_ns` of run-queue
  /// time before each slice.
  double busy_ns_of(std::uint64_t all_ns, std::uint64_t queued_ns) {
    for (int i = 0; i < 20'000; ++i) wait(caller("10.0.0.1"), "a");
    std::uint64_t busy_ns = 0;
    while (clock_.now_ns() < all_ns) {
      queue_.advance_to(queue_.now_ns() + queued_ns);
      busy_ns += grant_callers(100).size() * 100;
      pass(1);  // The owner of the loop has a turn.
      pass(scheduler_.wait_ns());
    }
    return static_cast<double>(busy_ns);
  }
  void pass(std::uint64_t ns) { clock_.advance_to(clock_.now_ns() + ns); }

  ManualClock clock_, work_, queue_;
  ReadScheduler scheduler_{clock_,
                           work_,
                           queue_,
                           {.bytes_max = 100,
                            .iteration_ns = 1'000,
                            .untimed_reads = 2,
                            .caller_slice_ns = 200,
                            .caller_credit_ns = 1'000,
                            .caller_share = 4,
                            .caller_queue_factor = 3}};
  std::string granted_;
};

TEST_F(ReadSchedulerTest, ContinuesInNextIteration) {
  Reader reader;
  EXPECT_TRUE(scheduler_.may_read(reader));
  scheduler_.count(reader, 99);
  EXPECT_TRUE(scheduler_.may_read(reader));
  scheduler_.count(reader, 1);

  EXPECT_FALSE(scheduler_.may_read(reader));
  wait(reader, "a");
  EXPECT_EQ(scheduler_.wait_ns(), 0u);
  EXPECT_EQ(granted_, "");
  scheduler_.begin_iteration();

  EXPECT_EQ(granted_, "a");
  EXPECT_TRUE(scheduler_.may_read(reader));
  EXPECT_EQ(scheduler_.wait_ns(), UINT64_MAX);
}

TEST_F(ReadSchedulerTest, BudgetsOfConnectionsAreSeparate) {
  Reader talkative, quiet;
  EXPECT_TRUE(scheduler_.may_read(talkative));
  scheduler_.count(talkative, 100);

  EXPECT_FALSE(scheduler_.may_read(talkative));
  EXPECT_TRUE(scheduler_.may_read(quiet));
}

TEST_F(ReadSchedulerTest, DoesNotTimeFirstReads) {
  Reader first, second;
  EXPECT_TRUE(scheduler_.may_read(first));
  scheduler_.count(first, 1);
  pass(1'000);

  EXPECT_TRUE(scheduler_.may_read(second));
  scheduler_.count(second, 1);
  EXPECT_TRUE(scheduler_.may_read(second));  // The third read starts the iteration's time.
  pass(1'000);
  EXPECT_FALSE(scheduler_.may_read(second));
}

TEST_F(ReadSchedulerTest, EndsIterationAfterItsTime) {
  Reader readers[4];
  for (Reader& reader : readers) {
    EXPECT_TRUE(scheduler_.may_read(reader));  // The clock is looked at from the third one on.
    scheduler_.count(reader, 1);
  }
  pass(999);
  EXPECT_TRUE(scheduler_.may_read(readers[0]));
  pass(1);

  EXPECT_FALSE(scheduler_.may_read(readers[0]));
  scheduler_.begin_iteration();
  EXPECT_TRUE(scheduler_.may_read(readers[0]));
}

TEST_F(ReadSchedulerTest, ServesConnectionsWithoutTurnFirst) {
  Reader first, second, late;
  for (Reader* const reader : {&first, &second}) {
    EXPECT_TRUE(scheduler_.may_read(*reader));
    scheduler_.count(*reader, 100);
    wait(*reader, reader == &first ? "1" : "2");
  }
  EXPECT_TRUE(scheduler_.may_read(late));
  pass(1'000);
  EXPECT_FALSE(scheduler_.may_read(late));
  wait(late, "L");

  scheduler_.begin_iteration();

  EXPECT_EQ(granted_, "L12");
}

TEST_F(ReadSchedulerTest, CallerNeedsATurnForEachRead) {
  Reader reader = caller("10.0.0.1");

  EXPECT_FALSE(scheduler_.may_read(reader));
  reader.has_turn = true;
  EXPECT_TRUE(scheduler_.may_read(reader));
  EXPECT_FALSE(scheduler_.may_read(reader));
  reader.is_authenticated = true;
  EXPECT_TRUE(scheduler_.may_read(reader));
}

TEST_F(ReadSchedulerTest, GroupsOfCallersTakeTurns) {
  for (int i = 0; i < 4; ++i) wait(caller("10.0.0.1"), "a");
  wait(caller("10.0.0.2"), "b");
  wait(caller("10.0.0.3"), "c");
  wait(caller("10.0.0.3"), "c");

  EXPECT_EQ(grant_callers(1), "abcacaa");
}

TEST_F(ReadSchedulerTest, ServesTheOldestCallerOfAGroupFirst) {
  Reader oldest = caller("10.0.0.1"), other = caller("10.0.0.1");
  wait(oldest, "o");
  wait(other, "x");
  ASSERT_TRUE(scheduler_.grant_caller());
  wait(oldest, "o");
  wait(caller("10.0.0.2"), "b");

  EXPECT_EQ(granted_, "o");
  EXPECT_EQ(grant_callers(1), "box");
}

TEST_F(ReadSchedulerTest, CallerThatHasEndedTakesNoTurn) {
  wait(caller("10.0.0.1"), "x", true);
  wait(caller("10.0.0.1"), "a");
  wait(caller("10.0.0.2"), "x", true);

  EXPECT_EQ(grant_callers(1), "a");
  EXPECT_EQ(scheduler_.wait_ns(), UINT64_MAX);
}

TEST_F(ReadSchedulerTest, CallersHaveASliceOfAnIteration) {
  for (int i = 0; i < 5; ++i) wait(caller("10.0.0.1"), "a");

  EXPECT_EQ(grant_callers(100), "aa");
  EXPECT_EQ(scheduler_.wait_ns(), 0u);
  EXPECT_EQ(grant_callers(500), "a");  // One turn may take longer than the slice.
}

TEST_F(ReadSchedulerTest, CallersGetAQuarterOfTheTimeInTheEnd) {
  // And what they had saved up.
  EXPECT_NEAR(busy_ns_of(100'000, 0), 25'000 + 1'000, 300);
}

/// Without credit a slice is one turn of 100 ns.
TEST_F(ReadSchedulerTest, ChargesCallersForQueueTime) {
  EXPECT_NEAR(busy_ns_of(100'000, 100), (25'000 + 1'000) / 2., 300);
}

TEST_F(ReadSchedulerTest, LimitsTheChargeForQueueTime) {
  EXPECT_NEAR(busy_ns_of(100'000, 1'000'000), (25'000 + 1'000) / 4., 300);
}

TEST_F(ReadSchedulerTest, CallersSaveUpNoMoreThanTheirCredit) {
  pass(1'000'000'000);
  for (int i = 0; i < 100; ++i) wait(caller("10.0.0.1"), "a");
  std::string granted;
  while (scheduler_.wait_ns() == 0) granted += grant_callers(100);

  EXPECT_GE(granted.size(), 10u);  // 1,000 ns of credit, and what is earned meanwhile.
  EXPECT_LE(granted.size(), 15u);
}

}  // namespace
}  // namespace seaway::transport
