// Futures: one outcome, who waits, what follows.

#include "seaway/future.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "actor/control_engine.hpp"
#include "actor/engine_waiter.hpp"
#include "base/clock.hpp"

namespace seaway::actor {
namespace {

/// An engine, and futures that wait on it.
struct World {
  RealClock clock;
  std::unique_ptr<Engine> engine = make_control_engine(clock);
  std::shared_ptr<internal::Waiter> waiter = make_engine_waiter(*engine);
};

std::shared_ptr<internal::FutureState<int>> make_state(World& world) {
  return std::make_shared<internal::FutureState<int>>(world.waiter);
}

template <class T>
std::vector<Future<T>> futures_of(
    const std::vector<std::shared_ptr<internal::FutureState<T>>>& states) {
  std::vector<Future<T>> futures;
  for (const auto& state : states) futures.emplace_back(state);
  return futures;
}

/// Runs each piece of work in a thread of its own.
class ThreadExecutor final : public Executor {
 public:
  ~ThreadExecutor() override { finish(); }
  void execute(std::function<void()> work) override { threads_.emplace_back(std::move(work)); }
  /// Returns once all work is done.
  void finish() { threads_.clear(); }

 private:
  std::vector<std::jthread> threads_;
};

TEST(Future, HasExactlyOneOutcome) {
  World world;
  auto state = make_state(world);
  Future<int> future(state);

  const bool first = state->complete(7);
  const bool second = state->complete(8);
  const bool third = state->fail(cancelled("late"), internal::Wake::kNow);

  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  EXPECT_FALSE(third);
  EXPECT_EQ(future.get().value(), 7);
  EXPECT_EQ(future.get().value(), 7);
}

TEST(Future, ABlockedGetterIsWokenByAnotherThread) {
  World world;
  auto state = make_state(world);

  world.engine->post([state] { state->complete(7); });

  EXPECT_EQ(Future<int>(state).get().value(), 7);
}

TEST(Future, ATimeoutLeavesItPending) {
  World world;
  auto state = make_state(world);
  Future<int> future(state);

  const auto early = future.get(std::chrono::milliseconds(1));
  state->complete(7);

  EXPECT_EQ(early.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(early.status().message(),
            "Future::get: no outcome after 1 ms; why() says what it waits for");
  EXPECT_EQ(future.get(std::chrono::milliseconds(0)).value(), 7);
}

TEST(Future, BlockingTheControlThreadIsRefused) {
  World world;
  auto pending = std::make_shared<Future<int>>(make_state(world));
  auto answer = std::make_shared<internal::FutureState<std::string>>(world.waiter);

  world.engine->post(
      [pending, answer] { answer->complete(std::move(*pending).get().status().to_string()); });

  EXPECT_EQ(Future<std::string>(answer).get().value(),
            "INVALID_ARGUMENT: Future::get would block the control thread, on which the outcome is "
            "made; use then() with an executor of your own");
}

TEST(Future, ThenRunsOnceThereIsAnOutcomeAndHandsItsOwnOn) {
  World world;
  auto state = make_state(world);
  Future<int> future(state);

  auto text = future.then(inline_executor(), [](Result<int> x) { return std::to_string(*x); });
  auto failed = future.then(inline_executor(),
                            [](Result<int>) -> Result<int> { return invalid_argument("no"); });
  auto nothing = future.then(inline_executor(), [](Result<int>) {});
  EXPECT_FALSE(text.ready());
  state->complete(7);

  EXPECT_EQ(text.get().value(), "7");
  EXPECT_EQ(failed.get().status(), invalid_argument("no"));
  EXPECT_TRUE(nothing.get().ok());
  EXPECT_EQ(future.then(inline_executor(), [](Result<int> x) { return *x + 1; }).get().value(), 8);
}

TEST(Future, WhatAContinuationThrowsIsTheOutcomeOfTheNext) {
  auto state = std::make_shared<internal::FutureState<int>>(nullptr);
  const Future<int> future(state);
  const auto next = future.then(
      inline_executor(), [](Result<int>) -> int { throw std::runtime_error("no more bread"); });
  const auto other = future.then(inline_executor(), [](Result<int>) { throw 5; });

  state->complete(1);

  EXPECT_EQ(next.get().status().to_string(), "USER_FUNCTION_ERROR: it threw: no more bread");
  EXPECT_EQ(other.get().status().to_string(),
            "USER_FUNCTION_ERROR: it threw something that is no std::exception");
  EXPECT_EQ(future.get().value(), 1);
}

TEST(Future, ThenUsesTheExecutorOfTheUser) {
  class Queue final : public Executor {
   public:
    void execute(std::function<void()> work) override { works.push_back(std::move(work)); }
    std::vector<std::function<void()>> works;
  } queue;
  World world;
  auto state = make_state(world);

  auto next = Future<int>(state).then(queue, [](Result<int> x) { return *x; });
  state->complete(7);
  const bool before = next.ready();
  queue.works.at(0)();

  EXPECT_FALSE(before);
  EXPECT_EQ(next.get().value(), 7);
}

TEST(Future, WhenAllGivesAllValuesOrTheFirstFailureByIndex) {
  World world;
  auto a = make_state(world), b = make_state(world), c = make_state(world);
  const auto all_of = [&] {
    std::vector<Future<int>> futures;
    for (const auto& state : {a, b, c}) futures.push_back(Future<int>(state));
    return when_all(std::move(futures));
  };

  auto good = when_all([&] {
    std::vector<Future<int>> futures;
    futures.push_back(Future<int>(a));
    futures.push_back(Future<int>(b));
    return futures;
  }());
  auto bad = all_of();
  c->complete(cancelled("third"));
  b->complete(2);
  EXPECT_FALSE(good.ready());
  a->complete(1);

  EXPECT_EQ(good.get().value(), (std::vector<int>{1, 2}));
  EXPECT_EQ(bad.get().status(), cancelled("third"));
  EXPECT_TRUE(when_all(std::vector<Future<void>>()).get().ok());
}

TEST(Future, WhenAnyGivesTheFirstThatSucceeds) {
  World world;
  auto a = make_state(world), b = make_state(world), c = make_state(world);
  auto any = when_any(futures_of<int>({a, b, c}));

  a->complete(cancelled("first"));
  const bool before = any.ready();
  c->complete(30);
  b->complete(20);

  EXPECT_FALSE(before);
  EXPECT_EQ(any.get().value().index, 2u);
  EXPECT_EQ(any.get().value().value, 30);
}

TEST(Future, WhenAnyOfFuturesWithoutValuesGivesTheIndex) {
  World world;
  auto a = std::make_shared<internal::FutureState<void>>(world.waiter);
  auto b = std::make_shared<internal::FutureState<void>>(world.waiter);
  auto any = when_any(futures_of<void>({a, b}));

  world.engine->post([b] { b->complete({}); });

  EXPECT_EQ(any.get().value().index, 1u);
}

TEST(Future, WhenAnySaysThatAllFailedAndWhyTheLastOneDid) {
  World world;
  auto a = make_state(world), b = make_state(world);
  std::vector<Future<int>> futures = futures_of<int>({a, b});
  futures.emplace_back();  // Stands for nothing: it has failed already.
  auto any = when_any(std::move(futures));

  b->complete(cancelled("second"));
  const bool before = any.ready();
  a->complete(resource_exhausted("first"));

  EXPECT_FALSE(before);
  EXPECT_EQ(any.get().status(),
            resource_exhausted("all 3 futures failed, future 0 the last of them: first"));
}

TEST(Future, WhenAnyOfNoFuturesIsRefused) {
  EXPECT_EQ(when_any(std::vector<Future<int>>()).get().status(),
            invalid_argument("when_any of no futures: none of them can ever succeed"));
}

TEST(Future, WhenAnyTakesWhatIsThereAlready) {
  std::vector<Future<int>> futures;
  futures.push_back(Future<int>::of(cancelled("no")));
  futures.push_back(Future<int>::of(20));
  futures.push_back(Future<int>::of(30));

  EXPECT_EQ(when_any(std::move(futures)).get().value().index, 1u);
}

TEST(Future, ARaceOfExecutorsHasExactlyOneOutcome) {
  constexpr int kRunners = 3;
  World world;
  std::vector<ThreadExecutor> executors(kRunners);
  for (int round = 0; round < 1000; ++round) {
    // In each third round nobody succeeds; in each other one only the last.
    const int winners = round % 3 == 0 ? 0 : round % 3 == 1 ? 1 : kRunners;
    auto start = std::make_shared<std::latch>(kRunners);
    auto outcomes = std::make_shared<std::atomic<int>>(0);
    auto gun = make_state(world);
    std::vector<Future<int>> runners;
    for (int i = 0; i < kRunners; ++i) {
      const auto run = [start, i, winners](Result<int> x) -> Result<int> {
        start->arrive_and_wait();
        if (i < kRunners - winners) return cancelled("lost");
        return *x + i;
      };
      runners.push_back(Future<int>(gun).then(executors[static_cast<std::size_t>(i)], run));
    }
    auto any = when_any(std::move(runners));
    auto counted = any.then(inline_executor(), [outcomes](Result<Any<int>>) { ++*outcomes; });

    gun->complete(10);
    const Result<Any<int>> first = any.get();
    for (ThreadExecutor& executor : executors) executor.finish();

    ASSERT_EQ(first.ok(), winners > 0) << first.status().to_string();
    if (first.ok()) {
      ASSERT_GE(first->index, static_cast<std::size_t>(kRunners - winners));
      ASSERT_EQ(first->value, 10 + static_cast<int>(first->index));
    } else {
      ASSERT_EQ(first.status().code(), StatusCode::kCancelled);
    }
    ASSERT_EQ(*outcomes, 1);
    ASSERT_EQ(any.get().status(), first.status());
  }
}

TEST(Future, CancelGivesUpWaiting) {
  World world;
  auto state = make_state(world);
  Future<int> future(state);

  future.cancel();

  EXPECT_EQ(future.get().status(), cancelled("the waiting was given up with cancel()"));
}

TEST(Future, AnEmptyOneSaysSo) {
  EXPECT_EQ(Future<int>().get().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Future<int>().then(inline_executor(), [](Result<int>) {}).get().status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seaway::actor
