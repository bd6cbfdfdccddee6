// Waiting on an engine that may end first.

#include "actor/engine_waiter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "actor/control_engine.hpp"
#include "base/clock.hpp"

namespace seaway::actor {
namespace {

class EngineWaiterTest : public ::testing::Test {
 protected:
  RealClock clock_;
  std::unique_ptr<Engine> engine_ = make_control_engine(clock_);
  std::shared_ptr<internal::Waiter> waiter_ = make_engine_waiter(*engine_);
};

TEST_F(EngineWaiterTest, WaitsUntilTheEngineHasDoneIt) {
  std::atomic<bool> is_done = false;

  engine_->post([this, &is_done] {
    is_done = true;
    waiter_->notify();
  });

  EXPECT_TRUE(waiter_->wait([&is_done] { return is_done.load(); }, 0));
}

TEST_F(EngineWaiterTest, ATimeoutIsCountedFromNow) {
  const std::uint64_t before_ns = clock_.now_ns();

  const bool is_ready = waiter_->wait([] { return false; }, 1'000'000);

  EXPECT_FALSE(is_ready);
  EXPECT_GE(clock_.now_ns(), before_ns + 1'000'000);
}

TEST_F(EngineWaiterTest, KnowsTheControlThread) {
  std::atomic<bool> is_done = false;
  bool inside = false;

  engine_->post([&] {
    inside = waiter_->on_control_thread();
    is_done = true;
    engine_->notify();
  });
  ASSERT_TRUE(engine_->wait([&is_done] { return is_done.load(); }, 0));

  EXPECT_TRUE(inside);
  EXPECT_FALSE(waiter_->on_control_thread());
}

TEST_F(EngineWaiterTest, OnceDetachedItOutlivesItsEngine) {
  waiter_->detach();
  engine_.reset();

  waiter_->notify();

  EXPECT_FALSE(waiter_->on_control_thread());
  EXPECT_FALSE(waiter_->wait([] { return false; }, 0));
  EXPECT_TRUE(waiter_->wait([] { return true; }, 0));
}

TEST_F(EngineWaiterTest, EndsTheWaitsOfOthersBeforeTheEngineEnds) {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> waiting;
    std::atomic<int> begun = 0;
    for (int i = 0; i < 3; ++i) {
      waiting.emplace_back([&, waiter = waiter_] {
        ++begun;
        EXPECT_FALSE(waiter->wait([] { return false; }, 0));
        waiter->notify();
        EXPECT_FALSE(waiter->wait([] { return false; }, 0));
      });
    }
    while (begun < 3) std::this_thread::yield();

    engine_.reset();

    for (std::thread& thread : waiting) thread.join();
    engine_ = make_control_engine(clock_);
    waiter_ = make_engine_waiter(*engine_);
  }
}

TEST_F(EngineWaiterTest, CancelsAFutureThatAnEndedEngineLeaves) {
  auto state = std::make_shared<internal::FutureState<int>>(waiter_);
  const Future<int> future(state);
  engine_.reset();

  const Status status = future.get().status();

  EXPECT_EQ(status, cancelled("Future::get: the cluster has ended without an outcome"));
}

}  // namespace
}  // namespace seaway::actor
