// Futures: one outcome, who waits, what follows.

#include "seaway/future.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

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
