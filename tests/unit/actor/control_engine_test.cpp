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

TEST_F(ControlEngineTest, WorkThatTakesLongRunsOnceBehindAllThatWasSaid) {
  std::vector<std::uint64_t> order;
  std::atomic<bool> is_over = false;
  std::unique_ptr<Engine> engine = make_control_engine(clock_);
  const Address address = engine->spawn("a", std::make_unique<CallbackActor>([&](auto number) {
                                          if (number == 1) {
                                            engine->post_long([&] {
                                              EXPECT_TRUE(engine->on_control_thread());
                                              order.push_back(100);
                                              is_over = true;
                                              engine->notify();
                                            });
                                          }
                                          order.push_back(number);
                                          if (number < 3) address.send(number_frame(number + 1));
                                        }));

  address.send(number_frame(1));

  EXPECT_TRUE(engine->wait([&] { return is_over.load(); }, 0));
  EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 2, 3, 100}));
}

TEST_F(ControlEngineTest, ANoticeWakesNobodyWhoWaitsForSomethingElse) {
  std::unique_ptr<Engine> engine = make_control_engine(clock_);
  std::atomic<bool> is_done = false;
  std::atomic<int> looks_here = 0, looks_there = 0;
  const std::thread::id here = std::this_thread::get_id();
  std::thread waiter([&] {
    EXPECT_TRUE(engine->wait(
        [&] {
          ++(std::this_thread::get_id() == here ? looks_here : looks_there);
          return is_done.load();
        },
        0));
  });

  // It sleeps when a notice asks for it.
  while (looks_here == 0) engine->notify();
  const int before = looks_there;
  for (int i = 0; i < 1000; ++i) {
    engine->notify();
    for (int turn = 0; turn < 100; ++turn) std::this_thread::yield();  // Who was woken may look.
  }
  EXPECT_LT(looks_there - before, 10) << "of 1000 notices none was for it";
  is_done = true;
  engine->notify();
  waiter.join();
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

/// A clock that stands still until it is moved, for all threads.
class StandingClock final : public Clock {
 public:
  std::uint64_t now_ns() const override { return now_ns_; }
  void advance(std::uint64_t ns) { now_ns_ += ns; }

 private:
  std::atomic<std::uint64_t> now_ns_ = 1;
};

/// A caller that asks and waits in turns, until it runs the actor itself: how soon that is depends
/// on when the control thread goes to sleep.
class HelpedEngineTest : public ::testing::Test {
 protected:
  HelpedEngineTest() {
    address_ = engine_->spawn("a", std::make_unique<CallbackActor>([this](auto number) {
                                ran_on_ = std::this_thread::get_id();
                                heard_ = number;
                                heard_.notify_all();
                                engine_->notify();
                              }));
  }

  void call() {
    const std::uint64_t number = ++said_;
    address_.send(number_frame(number));
    EXPECT_TRUE(engine_->wait([this, number] { return heard_ == number; }, 0));
  }
  /// Calls until no call of the last hundred needed the control thread.
  void call_until_helped() {
    for (int own = 0; own < 100;) {
      call();
      own = ran_on_.load() == std::this_thread::get_id() ? own + 1 : 0;
    }
  }

  StandingClock clock_;
  std::unique_ptr<Engine> engine_ = make_control_engine(clock_);
  Address address_;
  std::uint64_t said_ = 0;
  std::atomic<std::uint64_t> heard_ = 0;
  std::atomic<std::thread::id> ran_on_;
};

TEST_F(HelpedEngineTest, ACallerThatWaitsRunsTheActorsItself) {
  call_until_helped();

  EXPECT_EQ(heard_, said_);
  EXPECT_FALSE(engine_->on_control_thread());
}

TEST_F(HelpedEngineTest, WhatACallerLeavesLyingIsDoneByTheControlThread) {
  call_until_helped();

  address_.send(number_frame(++said_));
  clock_.advance(1'000'000);
  for (std::uint64_t seen = heard_; seen != said_; seen = heard_) heard_.wait(seen);

  EXPECT_NE(ran_on_.load(), std::this_thread::get_id());
}

TEST_F(HelpedEngineTest, OtherThreadsAreHeardWhileACallerHelps) {
  call_until_helped();
  std::atomic<std::uint64_t> posted = 0;

  std::thread other([this, &posted] {
    for (int i = 0; i < 1000; ++i) engine_->post([&posted] { ++posted; });
  });
  for (int i = 0; i < 1000; ++i) call();
  other.join();

  EXPECT_TRUE(engine_->wait([&posted] { return posted == 1000; }, 0));
}

TEST_F(HelpedEngineTest, WorkPostedWhileACallerHelpsIsDoneAfterItHasItsAnswer) {
  call_until_helped();
  std::atomic<bool> is_done = false;
  const std::uint64_t number = ++said_;

  address_.send(number_frame(number));
  // The predicate is read by the helper between two jobs: what is posted then is left to others.
  bool is_posted = false;
  EXPECT_TRUE(engine_->wait(
      [&] {
        if (heard_ == number && !is_posted) {
          is_posted = true;
          engine_->post([&is_done] {
            is_done = true;
            is_done.notify_all();
          });
        }
        return heard_ == number;
      },
      0));

  is_done.wait(false);
  EXPECT_TRUE(is_done);
}

TEST_F(HelpedEngineTest, WhatACallerLeavesIsDoneAtOnceWhenAnotherWaitsForIt) {
  std::atomic<std::uint64_t> second_heard = 0;
  const Address second = engine_->spawn("second", std::make_unique<CallbackActor>([&](auto number) {
                                          second_heard = number;
                                          engine_->notify();
                                        }));
  // The first answers its caller, and what the other client waits for is left to be done.
  address_ = engine_->spawn("first", std::make_unique<CallbackActor>([&](auto number) {
                              ran_on_ = std::this_thread::get_id();
                              second.send(number_frame(number));
                              heard_ = number;
                              engine_->notify();
                            }));
  call_until_helped();

  for (int i = 0; i < 200; ++i) {
    const std::uint64_t next = said_ + 1;
    std::atomic<int> looks = 0;
    const auto is_second_heard = [&, next] {
      ++looks;
      return second_heard >= next;
    };
    std::thread other([&] { EXPECT_TRUE(engine_->wait(is_second_heard, 0)); });
    while (looks < 2) std::this_thread::yield();  // Soon after that it waits.
    call();
    other.join();
  }
}

TEST_F(ControlEngineTest, TimersThatACallerSetsWhileItHelpsFireThoughItLeaves) {
  std::atomic<std::uint64_t> fired = 0;
  std::unique_ptr<Engine> engine = make_control_engine(clock_);
  const Address address = engine->spawn("a", std::make_unique<CallbackActor>([&](auto number) {
                                          for (const std::uint64_t delay_ns : {100'000, 300'000}) {
                                            engine->schedule(clock_.now_ns() + delay_ns, [&] {
                                              ++fired;
                                              engine->notify();
                                            });
                                          }
                                          heard_ = number;
                                          engine->notify();
                                        }));

  for (std::uint64_t i = 1; i <= 200; ++i) {
    address.send(number_frame(i));
    engine->wait([this, i] { return heard_ == i; }, 0);
    if (i % 4 == 0) engine->wait([&fired, i] { return fired == 2 * i; }, 0);
  }

  EXPECT_EQ(fired, 400u);
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
