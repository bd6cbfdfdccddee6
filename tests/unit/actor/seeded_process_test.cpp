// Processes in the simulated thread: what they send each other, and how they end, sleep and err.

#include "actor/seeded_process.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "actor/seeded_engine.hpp"
#include "unit/actor/recorder.hpp"

namespace seaway::actor {
namespace {

constexpr std::uint64_t kSeeds = 20;

/// Does something when it is destroyed.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> work) : work_(std::move(work)) {}
  ~AtEnd() { work_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> work_;
};

Address recorder(Engine& engine, std::vector<std::uint64_t>& heard) {
  return engine.spawn("recorder", std::make_unique<CallbackActor>(
                                      [&heard](std::uint64_t n) { heard.push_back(n); }));
}

TEST(SeededProcess, FramesBetweenProcessesArriveInTheOrderOfTheirSender) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto engine = make_seeded_engine(seed);
    const auto left = engine->make_process("left");
    const auto right = engine->make_process("right");
    std::vector<std::uint64_t> heard;
    const Address target = recorder(*right, heard);
    // One sender says the even numbers, one the odd ones.
    std::vector<Address> senders;
    for (SeededProcess* process : {left.get(), right.get()}) {
      senders.push_back(
          process->spawn("sender", std::make_unique<CallbackActor>([&target](std::uint64_t n) {
                           target.send(number_frame(n));
                         })));
    }
    for (std::uint64_t n = 0; n < 10; ++n) senders[n % 2].send(number_frame(n));

    engine->run_until_idle(1000);

    EXPECT_EQ(heard.size(), 10u);
    std::vector<std::uint64_t> last = {0, 1};
    for (const std::uint64_t n : heard) {
      EXPECT_GE(n, last[n % 2]);
      last[n % 2] = n;
    }
    orders.insert(heard);
  }
  EXPECT_GE(orders.size(), 5u);
}

TEST(SeededProcess, EachProcessKnowsWhenItsOwnHandlerRuns) {
  const auto engine = make_seeded_engine(1);
  const auto process = engine->make_process("p");
  std::string where;
  const auto look = [&] {
    where += engine->on_control_thread() ? "E" : "e";
    where += process->on_control_thread() ? "P" : "p";
  };

  engine->post(look);
  engine->run_until_idle(10);
  process->post(look);
  engine->run_until_idle(10);
  process->spawn_body("b", look);
  engine->run_until_idle(10);
  look();

  EXPECT_EQ(where, "EpePepep");
}

TEST(SeededProcess, KilledByAnotherItDropsAllThatItHadAndAllThatComes) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto engine = make_seeded_engine(seed);
    const auto killer = engine->make_process("killer");
    const auto victim = engine->make_process("victim");
    const auto held = std::make_shared<int>(0);
    std::vector<std::uint64_t> heard;
    const Address address = victim->spawn(
        "a", std::make_unique<CallbackActor>([&heard, held](auto n) { heard.push_back(n); }));
    const auto give_work = [&] {
      address.send(number_frame(1));
      victim->post([&heard, held] { heard.push_back(2); });
      victim->schedule(5, [&heard, held] { heard.push_back(3); });
      victim->spawn_body("b", [&heard, held] { heard.push_back(4); });
    };
    killer->post([&] {
      give_work();
      victim->kill();
      EXPECT_FALSE(victim->is_alive());
      EXPECT_EQ(held.use_count(), 1);
      give_work();
      EXPECT_EQ(held.use_count(), 1);
      EXPECT_TRUE(killer->on_control_thread());
    });

    engine->run_until_idle(1000);

    EXPECT_TRUE(heard.empty());
    EXPECT_EQ(victim->name(), "victim");
    EXPECT_FALSE(victim->wait([] { return false; }, 0));
    EXPECT_EQ(engine->now_ns(), 0u);
  }
}

TEST(SeededProcess, WhatDestructorsSayWhileTheirProcessIsKilledGoesNowhere) {
  const auto engine = make_seeded_engine(1);
  const auto other = engine->make_process("other");
  const auto victim = engine->make_process("victim");
  std::vector<std::uint64_t> heard;
  const Address address = recorder(*other, heard);
  int ended = 0;
  const auto says = [&] {
    return std::make_shared<AtEnd>([&] {
      ++ended;
      address.send(number_frame(1));
      for (Engine* one : {static_cast<Engine*>(engine.get()), static_cast<Engine*>(other.get()),
                          static_cast<Engine*>(victim.get())}) {
        one->post([&heard] { heard.push_back(2); });
        one->schedule(1, [&heard] { heard.push_back(3); });
        recorder(*one, heard).send(number_frame(4));
      }
      other->spawn_body("late", [&heard] { heard.push_back(5); });
    });
  };
  victim->spawn("a", std::make_unique<CallbackActor>([held = says()](auto) {}));
  victim->post([held = says()] {});
  victim->schedule(5, [held = says()] {});
  victim->pause();
  victim->spawn_body("never started", [held = says()] {});

  victim->kill();
  engine->run_until_idle(1000);

  EXPECT_EQ(ended, 4);
  EXPECT_TRUE(heard.empty());
  address.send(number_frame(7));
  engine->run_until_idle(1000);
  EXPECT_EQ(heard, std::vector<std::uint64_t>{7});
}

TEST(SeededProcess, AKillFromItsOwnHandlerTakesEffectAtTheEndOfTheStep) {
  const auto engine = make_seeded_engine(1);
  const auto victim = engine->make_process("victim");
  std::vector<std::uint64_t> heard;
  std::vector<std::uint64_t> heard_by_victim;
  const Address outside = recorder(*engine, heard);
  const Address inside = recorder(*victim, heard_by_victim);
  const auto alive = std::make_shared<int>(0);
  const Address suicide =
      victim->spawn("suicide", std::make_unique<CallbackActor>([&, alive](std::uint64_t n) {
                      victim->kill();
                      inside.send(number_frame(n));
                      outside.send(number_frame(n));
                      EXPECT_EQ(alive.use_count(), 2);
                    }));
  suicide.send(number_frame(1));
  suicide.send(number_frame(2));

  engine->run_until_idle(1000);

  EXPECT_EQ(heard, std::vector<std::uint64_t>{1});
  EXPECT_TRUE(heard_by_victim.empty());
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(SeededProcess, BodiesOfAKilledProcessUnwindWhereverTheyWait) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto engine = make_seeded_engine(seed);
    const auto victim = engine->make_process("victim");
    std::set<std::string> ended;
    std::string gone_on;
    const auto spawn = [&](const std::string& name, const std::function<void()>& waits) {
      victim->spawn_body(name, [&ended, &gone_on, name, waits] {
        const AtEnd at_end([&ended, &name] { ended.insert(name); });
        waits();
        gone_on += name;
      });
    };
    spawn("waits", [&] { victim->wait([] { return false; }, 0); });
    spawn("waits for long", [&] { victim->wait([] { return false; }, 1'000'000); });
    spawn("waits on the engine", [&] { engine->wait([] { return false; }, 2'000'000); });
    spawn("is ready at that moment", [&] { victim->wait([&] { return !victim->is_alive(); }, 0); });
    spawn("waits in a destructor as it unwinds", [&] {
      const AtEnd waits([&] { EXPECT_FALSE(victim->wait([] { return false; }, 0)); });
      victim->wait([] { return false; }, 0);
    });
    spawn("swallows it once", [&] {
      try {
        victim->wait([] { return false; }, 0);
      } catch (const ProcessKilled&) {
      }
      victim->yield();
    });
    engine->spawn_body("kills", [&] {
      engine->wait([] { return false; }, 1'000);
      EXPECT_EQ(engine->unfinished_bodies().size(), 7u);
      victim->kill();
      EXPECT_EQ(engine->unfinished_bodies(), std::vector<std::string>{"kills"});
    });

    engine->run_until_idle(1'000);

    EXPECT_EQ(ended.size(), 6u);
    EXPECT_EQ(gone_on, "");
    EXPECT_TRUE(engine->unfinished_bodies().empty());
  }
}

TEST(SeededProcess, ABodyThatOnlyYieldsUnwindsToo) {
  const auto engine = make_seeded_engine(1);
  const auto victim = engine->make_process("victim");
  bool has_ended = false;
  victim->spawn_body("b", [&] {
    const AtEnd at_end([&has_ended] { has_ended = true; });
    while (true) victim->yield();
  });
  engine->run_until_idle(3);
  EXPECT_FALSE(has_ended);

  victim->kill();

  EXPECT_TRUE(has_ended);
}

TEST(SeededProcess, ABodyThatKillsItsOwnProcessUnwindsAtItsNextWait) {
  const auto engine = make_seeded_engine(1);
  const auto victim = engine->make_process("victim");
  std::string story;
  victim->spawn_body("b", [&] {
    const AtEnd at_end([&story] { story += "unwound"; });
    victim->kill();
    story += "goes on, ";
    victim->wait([] { return true; }, 0);
    story += "never, ";
  });

  engine->run_until_idle(100);

  EXPECT_EQ(story, "goes on, unwound");
  EXPECT_TRUE(engine->unfinished_bodies().empty());
}

TEST(SeededProcess, APausedProcessKeepsWhatItIsSentAndItsTimersFireLateAndInOrder) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto engine = make_seeded_engine(seed);
    const auto process = engine->make_process("p");
    std::vector<std::uint64_t> heard;
    std::string fired;
    const Address address = recorder(*process, heard);
    process->schedule(30, [&fired] { fired += 'c'; });
    process->schedule(10, [&fired] { fired += 'a'; });
    process->schedule(20, [&fired] { fired += 'b'; });
    process->spawn_body("body", [&fired] { fired += 'B'; });
    process->pause();
    process->post([&fired] { fired += 'P'; });
    address.send(number_frame(1));
    engine->schedule(100, [&] { address.send(number_frame(2)); });

    engine->run_until_idle(100);
    EXPECT_TRUE(process->is_paused());
    EXPECT_EQ(fired, "");
    EXPECT_TRUE(heard.empty());
    EXPECT_EQ(engine->now_ns(), 100u);
    process->resume();
    engine->run_until_idle(100);

    EXPECT_EQ(heard, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(fired.size(), 5u);
    EXPECT_LT(fired.find('a'), fired.find('b'));
    EXPECT_LT(fired.find('b'), fired.find('c'));
    EXPECT_EQ(engine->now_ns(), 100u);
  }
}

TEST(SeededProcess, TimeJumpsOverAPausedProcessAndAnEngineOfPausedOnesIsIdle) {
  const auto engine = make_seeded_engine(1);
  const auto process = engine->make_process("p");
  process->schedule(10, [] {});
  process->post([] {});
  process->pause();
  engine->schedule(1'000, [] {});

  EXPECT_TRUE(engine->step());
  EXPECT_EQ(engine->now_ns(), 1'000u);
  EXPECT_FALSE(engine->step());
}

TEST(SeededProcess, APausedProcessCanBeKilledAndStopped) {
  const auto engine = make_seeded_engine(1);
  for (const bool is_killed : {true, false}) {
    const auto process = engine->make_process("p");
    std::string story;
    process->spawn_body("b", [&] {
      const AtEnd at_end([&story] { story += "ended"; });
      process->wait([] { return false; }, 0);
      story += "gave up, ";
    });
    engine->run_until_idle(10);
    process->pause();

    is_killed ? process->kill() : process->stop();

    EXPECT_EQ(story, is_killed ? "ended" : "gave up, ended");
    EXPECT_FALSE(process->is_alive());
  }
}

TEST(SeededProcess, TimersAndDeadlinesAreInTheTimeOfTheProcess) {
  const auto engine = make_seeded_engine(1);
  const auto fast = engine->make_process("fast");
  const auto slow = engine->make_process("slow");
  fast->set_clock({.rate_ppm = 1'000'000, .offset_ns = 100});
  slow->set_clock({.rate_ppm = -500'000});
  std::vector<std::string> fired;
  const auto say = [&](const char* what) {
    fired.push_back(what + (" " + std::to_string(engine->now_ns())));
  };
  fast->schedule(1'000, [&] { say("fast timer"); });
  slow->schedule(1'000, [&] { say("slow timer"); });
  slow->spawn_body("b", [&] {
    EXPECT_FALSE(slow->wait([] { return false; }, 250));
    EXPECT_EQ(slow->clock().now_ns(), 250u);
    say("slow wait");
  });

  engine->run_until_idle(100);

  EXPECT_EQ(fired,
            (std::vector<std::string>{"fast timer 450", "slow wait 500", "slow timer 2000"}));
}

TEST(SeededProcess, AClockMovedForwardMakesTimersDueAtOnceAndOneMovedBackDelaysThem) {
  const auto engine = make_seeded_engine(1);
  const auto process = engine->make_process("p");
  std::vector<std::uint64_t> fired;
  process->schedule(5'000, [&] { fired.push_back(engine->now_ns()); });
  process->schedule(8'000, [&] { fired.push_back(engine->now_ns()); });
  engine->schedule(1'000, [&] { process->set_clock({.offset_ns = 4'500}); });
  engine->schedule(2'000, [&] { process->set_clock({.offset_ns = -1'000}); });

  engine->run_until_idle(100);

  EXPECT_EQ(fired, (std::vector<std::uint64_t>{1'000, 9'000}));
  EXPECT_EQ(process->clock().now_ns(), 8'000u);
}

/// A world of three processes in which hosts are killed, paused and made anew.
std::uint64_t hash_of_troubled_world(std::uint64_t seed, std::string& order) {
  const auto engine = make_seeded_engine(seed, {.step_ns_max = 50});
  std::vector<std::unique_ptr<SeededProcess>> hosts;
  std::vector<Address> actors;
  const auto start = [&](std::size_t i) {
    hosts[i].reset();
    hosts[i] = engine->make_process("host" + std::to_string(i));
    actors[i] =
        hosts[i]->spawn("a", std::make_unique<CallbackActor>([&order, &actors, i](std::uint64_t n) {
                          order += static_cast<char>('a' + i);
                          if (n > 0) actors[(i + n) % actors.size()].send(number_frame(n - 1));
                        }));
    hosts[i]->spawn_body("client", [&, i] {
      for (int k = 0; k < 5; ++k) {
        hosts[i]->wait([] { return false; }, hosts[i]->clock().now_ns() + 70);
        actors[(i + 1) % 3].send(number_frame(6));
      }
    });
  };
  hosts.resize(3);
  actors.resize(3);
  for (std::size_t i = 0; i < 3; ++i) start(i);
  for (std::uint64_t at_ns = 100; at_ns < 1'000; at_ns += 100) {
    engine->schedule(at_ns, [&, at_ns] {
      const std::size_t i = at_ns / 100 % 3;
      hosts[i]->kill();
      start(i);
      hosts[(i + 1) % 3]->pause();
      hosts[(i + 2) % 3]->resume();
      hosts[i]->set_clock({.rate_ppm = static_cast<std::int64_t>(at_ns)});
    });
  }
  engine->run_until_idle(10'000);
  for (const auto& host : hosts) host->kill();
  return engine->choices_hash();
}

TEST(SeededProcess, OneSeedGivesOneRunWithKillsAndPauses) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::string first;
    std::string second;

    const std::uint64_t hash = hash_of_troubled_world(seed, first);

    EXPECT_EQ(hash, hash_of_troubled_world(seed, second));
    EXPECT_EQ(first, second);
    EXPECT_GT(first.size(), 20u);
    hashes.insert(hash);
  }
  EXPECT_EQ(hashes.size(), kSeeds);
}

TEST(SeededProcess, TheHashTellsWhichProcessTookAStep) {
  std::set<std::uint64_t> hashes;
  for (int chosen = 0; chosen < 3; ++chosen) {
    const auto engine = make_seeded_engine(1);
    const auto left = engine->make_process("host");
    const auto right = engine->make_process("host");
    Engine* const engines[] = {engine.get(), left.get(), right.get()};
    engines[chosen]->post([] {});

    engine->run_until_idle(100);

    hashes.insert(engine->choices_hash());
  }
  EXPECT_EQ(hashes.size(), 3u);
}

TEST(SeededProcess, HundredsOfRestartsLeaveNothingBehind) {
  const auto engine = make_seeded_engine(1);
  const auto held = std::make_shared<int>(0);
  std::vector<Address> stale;
  for (int i = 0; i < 500; ++i) {
    const auto process = engine->make_process("host");
    stale.push_back(process->spawn("a", std::make_unique<CallbackActor>([held](auto) {})));
    stale.back().send(number_frame(1));
    process->schedule(1'000, [held] {});
    process->spawn_body("b", [held, self = process.get()] { self->wait([] { return false; }, 0); });
    for (int k = 0; k < i % 4; ++k) engine->step();
    if (i % 2 == 0) process->kill();
  }

  EXPECT_EQ(held.use_count(), 1);
  for (const Address& address : stale) address.send(number_frame(2));
  EXPECT_FALSE(engine->step());
}

TEST(SeededProcess, AnEngineThatStopsEndsTheBodiesAndActorsOfItsProcesses) {
  const auto held = std::make_shared<int>(0);
  const auto engine = make_seeded_engine(1);
  const auto process = engine->make_process("p");
  process->spawn("a", std::make_unique<CallbackActor>([held](auto) {}));
  bool gave_up = false;
  process->spawn_body(
      "client0", [held, &process, &gave_up] { gave_up = !process->wait([] { return false; }, 0); });
  engine->run_until_idle(10);
  EXPECT_EQ(engine->unfinished_bodies(), std::vector<std::string>{"client0"});

  engine->stop();

  EXPECT_TRUE(gave_up);
  EXPECT_FALSE(process->is_alive());
  EXPECT_EQ(held.use_count(), 1);
}

TEST(SeededProcessDeathTest, ABodyThatWaitsOnAnotherProcessStopsTheProgram) {
  const auto engine = make_seeded_engine(1);
  const auto process = engine->make_process("p");
  const auto other = engine->make_process("other");
  other->spawn_body("stranger", [&] { process->wait([] { return false; }, 0); });

  EXPECT_DEATH(engine->run_until_idle(10), "may not wait on another process.*stranger");
  other->kill();
}

TEST(SeededProcessDeathTest, AProcessThatOutlivesItsEngineStopsTheProgram) {
  EXPECT_DEATH(
      {
        auto engine = make_seeded_engine(1);
        const auto process = engine->make_process("survivor");
        engine.reset();
      },
      "processes end before their engine.*survivor");
}

TEST(SeededProcessDeathTest, AProcessThatDestroysItselfStopsTheProgram) {
  const auto engine = make_seeded_engine(1);
  auto process = engine->make_process("p");
  process->post([&process] { process.reset(); });

  EXPECT_DEATH(engine->run_until_idle(10), "a process may not destroy itself");
  process->kill();
}

}  // namespace
}  // namespace seaway::actor
