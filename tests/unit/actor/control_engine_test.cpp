// The real engine: one control thread, and callers that wait for it.

#include "actor/control_engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "unit/actor/recorder.hpp"

namespace seaway::actor {
namespace {

class ControlEngineTest : public ::testing::Test {
 protected:
  RealClock clock_;
  std::atomic<std::uint64_t> heard_ = 0;
};

TEST_F(ControlEngineTest, MessagesOfOneSenderArriveInOrderOnTheControlThread) {
  std::vector<std::uint64_t> numbers;
  bool all_on_control_thread = true;
  std::unique_ptr<Engine> engine = make_control_engine(clock_);
  const Address address = engine->spawn("a", std::make_unique<CallbackActor>([&](auto number) {
                                          numbers.push_back(number);
                                          all_on_control_thread &= engine->on_control_thread();
                                          heard_ = number;
                                          engine->notify();
                                        }));

  for (std::uint64_t i = 1; i <= 1000; ++i) address.send(number_frame(i));
  EXPECT_TRUE(engine->wait([this] { return heard_ == 1000; }, 0));

  ASSERT_EQ(numbers.size(), 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(numbers[i], i + 1);
  EXPECT_TRUE(all_on_control_thread);
  EXPECT_FALSE(engine->on_control_thread());
}

TEST_F(ControlEngineTest, IdleIsCalledWhenTheMailboxHasRunEmpty) {
  std::atomic<std::uint64_t> heard_at_idle = 0;
  std::unique_ptr<Engine> engine = make_control_engine(clock_);
  const Address address =
      engine->spawn("a", std::make_unique<CallbackActor>([&](auto number) { heard_ = number; },
                                                         [&] {
                                                           heard_at_idle = heard_.load();
                                                           engine->notify();
                                                         }));

  address.send(number_frame(3));

  EXPECT_TRUE(engine->wait([&] { return heard_at_idle == 3; }, 0));
}

TEST_F(ControlEngineTest, AWaitGivesUpAtItsDeadline) {
  std::unique_ptr<Engine> engine = make_control_engine(clock_);

  EXPECT_FALSE(engine->wait([] { return false; }, clock_.now_ns() + 1'000'000));
}

TEST_F(ControlEngineTest, TimersFireAtTheirTimeUnlessCancelled) {
  std::atomic<int> fired = 0;
  std::atomic<bool> cancelled_fired = false;
  std::unique_ptr<Engine> engine = make_control_engine(clock_);

  engine->post([&] {
    const std::uint64_t now_ns = clock_.now_ns();
    const TimerId cancelled = engine->schedule(now_ns + 1000, [&] { cancelled_fired = true; });
    engine->cancel(cancelled);
    engine->schedule(now_ns + 2'000'000, [&, now_ns] {
      if (clock_.now_ns() >= now_ns + 2'000'000) fired = 1;
      engine->notify();
    });
  });

  EXPECT_TRUE(engine->wait([&] { return fired == 1; }, 0));
  EXPECT_FALSE(cancelled_fired);
}

TEST_F(ControlEngineTest, PostedWorkOfOneThreadRunsInOrder) {
  std::vector<int> ran;
  std::atomic<bool> is_done = false;
  std::unique_ptr<Engine> engine = make_control_engine(clock_);

  for (int i = 0; i < 100; ++i) engine->post([&ran, i] { ran.push_back(i); });
  engine->post([&] {
    is_done = true;
    engine->notify();
  });
  ASSERT_TRUE(engine->wait([&] { return is_done.load(); }, 0));

  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST_F(ControlEngineTest, ActorsEndWithTheirEngine) {
  const auto alive = std::make_shared<int>(0);
  std::unique_ptr<Engine> engine = make_control_engine(clock_);
  Address address = engine->spawn("a", std::make_unique<CallbackActor>([alive](auto) {}));
  ASSERT_EQ(alive.use_count(), 2);

  engine.reset();

  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace seaway::actor
