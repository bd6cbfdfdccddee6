// The simulated engine: what repeats, what differs, and who may wait.

#include "actor/seeded_engine.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <set>
#include <stdexcept>
#include <string>

#include "unit/actor/recorder.hpp"

namespace seaway::actor {
namespace {

/// The order in which three actors hear three messages each, two timers fire and two bodies run.
std::string order_of(std::uint64_t seed, SeededOptions options = {}) {
  std::string order;
  const auto engine = make_seeded_engine(seed, options);
  std::vector<Address> actors;
  for (char name = 'a'; name <= 'c'; ++name) {
    actors.push_back(engine->spawn(std::string(1, name),
                                   std::make_unique<CallbackActor>([&order, name](std::uint64_t n) {
                                     order += name;
                                     order += static_cast<char>('0' + n);
                                   })));
  }
  for (std::uint64_t i = 1; i <= 3; ++i) {
    for (const Address& actor : actors) actor.send(number_frame(i));
  }
  engine->post([&order] { order += 'p'; });
  for (const char name : {'x', 'y'}) {
    engine->spawn_body(std::string(1, name), [&order, name, &engine] {
      order += name;
      engine->yield();
      order += name;
    });
  }
  engine->schedule(10, [&order] { order += 't'; });
  engine->run_until_idle(1000);
  return order;
}

TEST(SeededEngine, OneSeedGivesOneOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(order_of(seed), order_of(seed));
}

TEST(SeededEngine, TwentySeedsGiveManyOrders) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) orders.insert(order_of(seed));

  EXPECT_GE(orders.size(), 15u);
}

TEST(SeededEngine, EachPolicyRunsEverythingOnce) {
  for (const SchedulePolicy policy :
       {SchedulePolicy::kUniform, SchedulePolicy::kFifo, SchedulePolicy::kStarveOne,
        SchedulePolicy::kPriorities, SchedulePolicy::kSticky}) {
    std::string order = order_of(3, {.policy = policy, .step_ns_max = 5});
    const std::size_t size = order.size();

    EXPECT_EQ(size, 3u * 3 * 2 + 1 + 4 + 1) << to_string(policy) << ": " << order;
    for (const char* one : {"a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"}) {
      EXPECT_NE(order.find(one), std::string::npos) << to_string(policy) << ": " << order;
    }
  }
}

TEST(SeededEngine, MessagesOfOneSenderArriveInOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string order = order_of(seed);
    for (const char name : {'a', 'b', 'c'}) {
      EXPECT_LT(order.find(std::string(1, name) + '1'), order.find(std::string(1, name) + '2'));
      EXPECT_LT(order.find(std::string(1, name) + '2'), order.find(std::string(1, name) + '3'));
    }
  }
}

TEST(SeededEngine, TimeStandsStillWhileAnythingCanRunAndThenJumpsToTheNextTimer) {
  const auto engine = make_seeded_engine(5);
  std::vector<std::uint64_t> times;
  const Address actor = engine->spawn(
      "a", std::make_unique<CallbackActor>([&](auto) { times.push_back(engine->now_ns()); }));
  engine->schedule(1'000'000'000, [&] { actor.send(number_frame(1)); });
  engine->schedule(3'000'000'000, [&] { actor.send(number_frame(2)); });
  const TimerId cancelled = engine->schedule(9'000'000'000, [] {});
  engine->cancel(cancelled);
  actor.send(number_frame(0));

  engine->run_until_idle(1000);

  EXPECT_EQ(times, (std::vector<std::uint64_t>{0, 1'000'000'000, 3'000'000'000}));
  EXPECT_EQ(engine->now_ns(), 3'000'000'000u);
}

TEST(SeededEngine, BodiesBlockUntilAnotherBodysMessageHasArrived) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto engine = make_seeded_engine(seed);
    std::uint64_t ping = 0;
    std::uint64_t pong = 0;
    const Address pings = engine->spawn(
        "pings", std::make_unique<CallbackActor>([&ping](std::uint64_t n) { ping = n; }));
    const Address pongs = engine->spawn(
        "pongs", std::make_unique<CallbackActor>([&pong](std::uint64_t n) { pong = n; }));
    std::string story;
    engine->spawn_body("left", [&] {
      for (std::uint64_t i = 1; i <= 3; ++i) {
        pings.send(number_frame(i));
        ASSERT_TRUE(engine->wait([&pong, i] { return pong == i; }, 0));
        story += static_cast<char>('a' + i);
      }
    });
    engine->spawn_body("right", [&] {
      for (std::uint64_t i = 1; i <= 3; ++i) {
        ASSERT_TRUE(engine->wait([&ping, i] { return ping == i; }, 0));
        EXPECT_FALSE(engine->on_control_thread());
        story += static_cast<char>('A' + i);
        pongs.send(number_frame(i));
      }
    });

    engine->run_until_idle(1000);

    EXPECT_TRUE(engine->unfinished_bodies().empty());
    EXPECT_EQ(story, "BbCcDd");
  }
}

TEST(SeededEngine, AWaitGivesUpAtItsVirtualDeadline) {
  const auto engine = make_seeded_engine(1);
  bool was_ready = true;
  std::uint64_t woke_ns = 0;
  engine->spawn_body("waits", [&] {
    was_ready = engine->wait([] { return false; }, 5'000'000);
    woke_ns = engine->now_ns();
  });

  engine->run_until_idle(100);

  EXPECT_FALSE(was_ready);
  EXPECT_EQ(woke_ns, 5'000'000u);
}

TEST(SeededEngine, WaitingForWhatNeverComesEndsWhenNothingCanRun) {
  const auto engine = make_seeded_engine(1);
  bool has_ended = false;
  engine->spawn_body("stuck", [&] {
    EXPECT_FALSE(engine->wait([] { return false; }, 0));
    has_ended = true;
  });

  EXPECT_FALSE(engine->wait([] { return false; }, 0));

  EXPECT_EQ(engine->unfinished_bodies(), std::vector<std::string>{"stuck"});
  engine->abandon_bodies();
  engine->run_until_idle(100);
  EXPECT_TRUE(has_ended);
}

TEST(SeededEngine, ATestThatWaitsPumpsTheEngine) {
  const auto engine = make_seeded_engine(1);
  std::uint64_t heard = 0;
  const Address actor =
      engine->spawn("a", std::make_unique<CallbackActor>([&heard](std::uint64_t n) { heard = n; }));
  engine->schedule(1000, [&] { actor.send(number_frame(4)); });

  EXPECT_FALSE(engine->wait([&] { return heard == 4; }, 500));
  EXPECT_TRUE(engine->wait([&] { return heard == 4; }, 0));
}

TEST(SeededEngineDeathTest, ThrowingHandlerTerminates) {
  const auto engine = make_seeded_engine(1);
  engine
      ->spawn("thrower", std::make_unique<CallbackActor>(
                             [](std::uint64_t) { throw std::runtime_error("thrown on purpose"); }))
      .send(number_frame(1));

  EXPECT_DEATH(
      {
        try {
          engine->run_until_idle(10);
        } catch (const std::exception&) {
        }
      },
      "thrown on purpose");
}

TEST(SeededEngineDeathTest, AHandlerThatWaitsStopsTheProcess) {
  const auto engine = make_seeded_engine(1);
  bool on_control_thread = false;
  engine->post([&] { on_control_thread = engine->on_control_thread(); });
  engine->run_until_idle(10);
  ASSERT_TRUE(on_control_thread);

  engine->post([&] { engine->wait([] { return true; }, 0); });

  EXPECT_DEATH(engine->run_until_idle(10), "a handler may not wait");
}

TEST(SeededEngine, ActorsAndBodiesEndWithTheirEngine) {
  const auto alive = std::make_shared<int>(0);
  {
    const auto engine = make_seeded_engine(1);
    Address actor = engine->spawn("a", std::make_unique<CallbackActor>([alive](auto) {}));
    actor.send(number_frame(1));
    engine->spawn_body("b", [alive, &engine] { engine->wait([] { return false; }, 0); });
    engine->spawn_body("never started", [alive] {});
    engine->step();
  }

  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace seaway::actor
