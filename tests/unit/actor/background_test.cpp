// Jobs in the background: none waits for another, but at the limit; the end waits for what runs.

#include "actor/background.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <latch>
#include <memory>
#include <vector>

#include "unit/transport/scarce_system.hpp"

namespace seaway::actor {
namespace {

TEST(Background, AJobThatTakesLongDelaysNoOther) {
  std::latch is_released(1), both_ran(2);
  Background background({});

  background.submit([&] { is_released.wait(); });
  background.submit([&] { both_ran.count_down(); });
  background.submit([&] { both_ran.count_down(); });

  both_ran.wait();
  is_released.count_down();
}

TEST(Background, JobsBeyondTheLimitWaitInTheirOrder) {
  std::latch has_begun(1), is_released(1), all_ran(3);
  std::vector<int> order;
  Background background({.threads_max = 1});

  background.submit([&] {
    has_begun.count_down();
    is_released.wait();
  });
  for (int i = 0; i < 3; ++i) {
    background.submit([&order, &all_ran, i] {
      order.push_back(i);
      all_ran.count_down();
    });
  }
  has_begun.wait();
  const bool nothing_ran = order.empty();
  is_released.count_down();
  all_ran.wait();

  EXPECT_TRUE(nothing_ran);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(Background, TheEndWaitsForWhatRunsAndForgetsTheRest) {
  std::latch has_begun(1), is_released(1);
  bool has_ended = false, has_run = false;

  {
    Background background({.threads_max = 1});
    background.submit([&] {
      has_begun.count_down();
      is_released.wait();
      has_ended = true;
    });
    has_begun.wait();
    background.submit([&] { has_run = true; });
    // Released once the job that waits has been forgotten, and what it held with it.
    background.submit(
        [last = std::shared_ptr<void>(nullptr, [&](void*) { is_released.count_down(); })] {});
  }

  EXPECT_TRUE(has_ended);
  EXPECT_FALSE(has_run);
}

TEST(Background, WithoutAThreadAJobRunsWithinItsSubmission) {
  const auto run_two = [] {
    transport::have_no_more_threads();
    int ran = 0;
    Background background({});
    background.submit([&ran] { ++ran; });
    background.submit([&ran] { ++ran; });
    std::_Exit(ran);
  };

  EXPECT_EXIT(run_two(), testing::ExitedWithCode(2), "");
}

}  // namespace
}  // namespace seaway::actor
