// Users' apps in a simulated cluster: they repeat from their seeds, and survive dead hosts.

#include "seaway/app/simulation.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "messages.capnp.h"
#include "seaway/app.hpp"

namespace seaway {
namespace {

using namespace std::chrono_literals;
using app_test::Add;
using app_test::Answer;
using app_test::Ask;
using app_test::Total;

class Counter {
 public:
  static void describe(ActorType<Counter>& type) {
    type.on(&Counter::add).on(&Counter::wait, Interleave::kYes);
  }
  explicit Counter(Self self) : self_(std::move(self)) {}

  Reply<Total> add(Request<Add> request) {
    total_ += request->getAmount();
    return make<Total>([this](Total::Builder m) { m.setTotal(total_); });
  }
  /// Answers after 100 ms.
  Task<Reply<Answer>> wait(Request<Ask>) {
    static_cast<void>(co_await self_.sleep(100ms));
    co_return make<Answer>([this](Answer::Builder m) { m.setNumber(self_.incarnation()); });
  }

 private:
  Self self_;
  std::int64_t total_ = 0;
};

/// Has a device double what it is asked; the program was made by its client.
class Doubler {
 public:
  static void describe(ActorType<Doubler>& type) { type.on(&Doubler::run); }
  Doubler(Self self, Program program, NamedSharding whole)
      : self_(std::move(self)), program_(std::move(program)), whole_(std::move(whole)) {}

  Task<Reply<Total>> run(Request<Total> request) {
    auto client = self_.client();
    if (!client.ok()) co_return client.status();
    Run run =
        program_.execute({client->put<float>({static_cast<float>(request->getTotal())}, whole_)});
    auto value = co_await run.output(0).to_host<float>();
    if (!value.ok()) co_return value.status();
    co_return make<Total>(
        [&](Total::Builder m) { m.setTotal(static_cast<std::int64_t>((*value)[0])); });
  }

 private:
  Self self_;
  Program program_;
  NamedSharding whole_;
};

/// Writes a number after each pause, of which the last is longer than a call may take.
class Ticker {
 public:
  static void describe(ActorType<Ticker>& type) { type.on(&Ticker::tick); }
  explicit Ticker(Self self) : self_(std::move(self)) {}

  Task<Status> tick(Request<Ask> request, Writer<Answer> writer) {
    for (std::uint32_t i = 0; i <= request->getNumber(); ++i) {
      static_cast<void>(co_await self_.sleep(i < request->getNumber() ? 20s : 40s));
      const auto written = co_await writer.write([i](Answer::Builder m) { m.setNumber(i); });
      if (!written.ok()) co_return written.status();
    }
    co_return Status();
  }

 private:
  Self self_;
};

const auto one = [](Add::Builder m) { m.setAmount(1); };

/// Some traffic between clients and actors on all hosts.
void make_traffic(Simulation& simulation) {
  for (int number = 0; number < 3; ++number) {
    simulation.spawn("client" + std::to_string(number), [&simulation] {
      Client client = simulation.connect().value();
      auto counters = client.spawn<Counter>(client.hosts()).value();
      for (int i = 0; i < 5; ++i) {
        simulation.sleep(std::chrono::microseconds(simulation.random() % 500));
        for (const auto& total : counters.call(&Counter::add, one).get()) {
          EXPECT_TRUE(total.ok()) << total.status().to_string();
        }
      }
    });
  }
}

TEST(Simulation, OneSeedGivesOneHash) {
  const SimulationReport first = simulate({.seed = 7}, make_traffic);
  const SimulationReport second = simulate({.seed = 7}, make_traffic);

  EXPECT_TRUE(first.status.ok()) << first.to_string();
  EXPECT_EQ(first.to_string(), second.to_string());
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_EQ(first.steps, second.steps);
}

TEST(Simulation, DifferentSeedsTakeDifferentWays) {
  std::set<std::uint64_t> hashes;

  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimulationReport report = simulate({.seed = seed}, make_traffic);
    EXPECT_TRUE(report.status.ok()) << report.to_string();
    hashes.insert(report.hash);
  }

  EXPECT_EQ(hashes.size(), 20u);
}

TEST(Simulation, MembersOfADeadHostAreRestartedElsewhere) {
  const auto report = simulate({}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto counters = client.spawn<Counter>(client.hosts()).value();

    ASSERT_TRUE(simulation.kill_host(2).ok());
    // Nobody knows of it yet: this call is lost on its way.
    const auto lost = counters.at(2).call(&Counter::add, one).get();
    const auto again = counters.at(2).call(&Counter::add, one, CallOptions{.retries = 9}).get();
    const auto others = counters.at(1).call(&Counter::add, one).get();

    EXPECT_EQ(lost.status().code(), StatusCode::kHostLost) << lost.status().to_string();
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ(again.value()->getTotal(), 1) << "a new incarnation begins anew";
    EXPECT_TRUE(others.ok()) << others.status().to_string();
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

TEST(Simulation, AHostThatReturnsTakesActorsAgain) {
  const auto report = simulate({}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto before = client.spawn<Counter>(client.hosts()).value();

    ASSERT_TRUE(simulation.kill_host(1).ok());
    simulation.sleep(50ms);
    const auto dead = client.spawn<Counter>(client.hosts());
    ASSERT_TRUE(simulation.restart_host(1).ok());
    simulation.sleep(50ms);
    const auto after = client.spawn<Counter>(client.hosts());

    EXPECT_EQ(dead.status().code(), StatusCode::kHostLost) << dead.status().to_string();
    ASSERT_TRUE(after.ok()) << after.status().to_string();
    for (const auto& total : after->call(&Counter::add, one).get()) {
      EXPECT_TRUE(total.ok()) << total.status().to_string();
    }
    // The old member was moved for good.
    EXPECT_TRUE(before.at(1).call(&Counter::add, one).get().ok());
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

TEST(Simulation, APausedHostAnswersWhenItGoesOn) {
  const auto report = simulate({}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto counters = client.spawn<Counter>(client.hosts()).value();

    ASSERT_TRUE(simulation.pause_host(2).ok());
    auto waits = counters.at(2).call(&Counter::add, one);
    const auto late = counters.at(2).call(&Counter::add, one, CallOptions{.deadline = 20ms}).get();
    const auto others = counters.at(1).call(&Counter::add, one).get();
    ASSERT_TRUE(simulation.resume_host(2).ok());
    const auto answer = std::move(waits).get();

    EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded) << late.status().to_string();
    EXPECT_TRUE(others.ok()) << others.status().to_string();
    EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

TEST(Simulation, AHostWithAFastClockWaitsLess) {
  const auto report = simulate({}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto counters = client.spawn<Counter>(client.hosts()).value();
    const auto time_of_wait = [&](std::uint32_t host) {
      const auto begin = simulation.now();
      EXPECT_TRUE(counters.at(host).call(&Counter::wait).get().ok());
      return simulation.now() - begin;
    };

    ASSERT_TRUE(simulation.set_host_clock(1, 0ns, 1'000'000).ok());

    EXPECT_LT(time_of_wait(1), time_of_wait(2) * 3 / 4) << "it is twice as fast";
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

TEST(Simulation, ACallToAHostThatDiesMeanwhileHasOneOutcome) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto report = simulate({.seed = seed}, [seed](Simulation& simulation) {
      Client client = simulation.connect().value();
      auto counters = client.spawn<Counter>(client.hosts()).value();
      int outcomes = 0;
      StatusCode code = StatusCode::kOk;

      auto call = counters.at(3).call(&Counter::wait);
      auto counted = call.then(inline_executor(), [&](Result<Reply<Answer>> answer) {
        ++outcomes;
        code = answer.status().code();
      });
      // Before, while and after it is handled.
      simulation.sleep(std::chrono::milliseconds(5 * seed));
      ASSERT_TRUE(simulation.kill_host(3).ok());
      static_cast<void>(std::move(counted).get());
      simulation.sleep(200ms);

      EXPECT_EQ(outcomes, 1);
      EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kHostLost)
          << to_string(code) << " with seed " << seed;
    });
    EXPECT_TRUE(report.status.ok()) << report.to_string();
  }
}

TEST(Simulation, DeadlinesComeInVirtualTime) {
  const auto report = simulate({}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto counters = client.spawn<Counter>(client.hosts()).value();

    const auto begin = simulation.now();
    const auto late = counters.at(0).call(&Counter::wait, CallOptions{.deadline = 20ms}).get();
    const auto took = simulation.now() - begin;

    EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded) << late.status().to_string();
    EXPECT_GE(took, 20ms);
    EXPECT_LT(took, 21ms);
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

/// Adds one to what it is told.
class Link {
 public:
  static void describe(ActorType<Link>& type) { type.on(&Link::pass); }
  explicit Link(const Self&) {}
  Reply<Total> pass(Request<Total> request) {
    return make<Total>([&](Total::Builder m) { m.setTotal(request->getTotal() + 1); });
  }
};

TEST(Simulation, AChainOfCallsTakesOneRoundTripOfItsClientAndAHopForEachLink) {
  SimulationOptions options;
  options.cluster = "embedded:islands=8,devices=1";
  options.latency_min = options.latency_max = 1ms;
  std::chrono::nanoseconds chained{}, one_by_one{};

  const SimulationReport report = simulate(options, [&](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto links = client.spawn<Link>(client.hosts()).value();
    auto begin = simulation.now();
    auto chain = links.at(0).call(&Link::pass);
    for (std::size_t i = 1; i < 8; ++i) chain = links.at(i).call(&Link::pass, chain);
    EXPECT_EQ(chain.get().value()->getTotal(), 8);
    chained = simulation.now() - begin;

    begin = simulation.now();
    Reply<Total> total;
    for (std::size_t i = 0; i < 8; ++i) total = links.at(i).call(&Link::pass, total).get().value();
    EXPECT_EQ(total->getTotal(), 8);
    one_by_one = simulation.now() - begin;
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
  // There, seven hops from host to host, and back.
  EXPECT_EQ(std::chrono::floor<std::chrono::milliseconds>(chained), 9ms);
  EXPECT_EQ(std::chrono::floor<std::chrono::milliseconds>(one_by_one), 16ms);
}

TEST(Simulation, TheDeadlineOfAStreamRunsFromItsLastAnswer) {
  const SimulationReport report = simulate({.seed = 5}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto ticker = client.spawn<Ticker>(client.hosts()).value().at(0);
    const auto stream = ticker.stream(&Ticker::tick, [](Ask::Builder m) { m.setNumber(4); });

    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(stream.next().get().value()->reply.value()->getNumber(), i);
    }

    EXPECT_EQ(stream.next().get().value()->reply.status(),
              deadline_exceeded("Ask to Ticker[0] on host 0: no further answer within 30 s"));
    EXPECT_FALSE(stream.next().get().value().has_value());
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
  EXPECT_GE(report.virtual_time, 110s);
}

TEST(Simulation, AStreamWaitsForASlowReader) {
  const SimulationReport report = simulate({.seed = 6}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto ticker = client.spawn<Ticker>(client.hosts()).value().at(0);
    const auto stream = ticker.stream(
        &Ticker::tick, [](Ask::Builder m) { m.setNumber(9); }, CallOptions{.credit = 1});

    for (std::uint32_t i = 0; i < 9; ++i) {
      simulation.sleep(1h);
      const auto item = stream.next().get();
      ASSERT_TRUE(item.value()->reply.ok()) << item.value()->reply.status().to_string();
      EXPECT_EQ(item.value()->reply.value()->getNumber(), i);
    }
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

TEST(Simulation, ActorsRunProgramsOnSimulatedDevices) {
  const auto report = simulate({}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    Slice slice = client.acquire_slice({.devices = 1, .mesh = {{"x", 1}}}).value();
    const NamedSharding whole(slice.mesh(), P());
    Function twice = client.function("twice", [](Tensor x) { return x * 2; }, {f32({1})}).value();
    Program program =
        client.program("p", [&](Traced x) { return twice(x); }, {ArraySpec{f32({1}), whole}})
            .value();
    auto doublers = client.spawn<Doubler>(client.hosts(), program, whole).value();

    const auto answer =
        doublers.at(2).call(&Doubler::run, [](Total::Builder m) { m.setTotal(21); }).get();

    ASSERT_TRUE(answer.ok()) << answer.status().to_string();
    EXPECT_EQ(answer.value()->getTotal(), 42);
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

TEST(Simulation, ABodyThatWaitsForNothingIsToldOf) {
  const auto report = simulate({}, [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto never = std::make_shared<internal::FutureState<void>>((*client.caller())->waiter());
    static_cast<void>(Future<void>(never).get());
  });

  EXPECT_EQ(report.status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(report.status.message().find("nothing can move any more, but there waits: body"),
            std::string::npos)
      << report.to_string();
}

TEST(Simulation, ABodyThatNeverEndsStopsAtStepsMax) {
  const auto report = simulate({.steps_max = 500}, [](Simulation& simulation) {
    for (;;) simulation.sleep(1ms);
  });

  EXPECT_EQ(report.status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(report.status.message().find("still busy after 500 steps"), std::string::npos)
      << report.to_string();
}

TEST(Simulation, ABodyThatThrowsFailsTheSimulation) {
  const auto report =
      simulate({.seed = 3}, [](Simulation&) { throw std::runtime_error("no idea"); });

  EXPECT_EQ(report.status.to_string(), "USER_FUNCTION_ERROR: body \"body\": it threw: no idea");
}

TEST(Simulation, HostsThatDoNotExistOrAreDeadAreRefused) {
  const auto report = simulate({}, [](Simulation& simulation) {
    EXPECT_EQ(simulation.kill_host(4).to_string(),
              "INVALID_ARGUMENT: host 4 does not exist; this cluster has 4");
    EXPECT_EQ(simulation.restart_host(0).to_string(),
              "INVALID_ARGUMENT: host 0 lives; kill it first");
    EXPECT_TRUE(simulation.kill_host(0).ok());
    EXPECT_EQ(simulation.kill_host(0).to_string(), "INVALID_ARGUMENT: host 0 is dead already");
    EXPECT_EQ(simulation.pause_host(0).to_string(), "INVALID_ARGUMENT: host 0 is dead already");
    EXPECT_EQ(simulation.resume_host(1).to_string(), "INVALID_ARGUMENT: host 1 is not paused");
    EXPECT_TRUE(simulation.pause_host(1).ok());
    EXPECT_EQ(simulation.pause_host(1).to_string(), "INVALID_ARGUMENT: host 1 is paused already");
    EXPECT_EQ(
        simulation.set_host_clock(1, 0ns, -1'000'000).to_string(),
        "INVALID_ARGUMENT: the clock of host 1 would gain -1000000 millionths of each second; "
        "say more than -1000000, for no clock runs backwards");
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

TEST(Simulation, WrongOptionsAreToldOf) {
  const auto no_cluster = simulate({.cluster = "embedded:islands=none"}, make_traffic);
  const auto no_latency = simulate({.latency_min = 2ms, .latency_max = 1ms}, make_traffic);

  EXPECT_EQ(no_cluster.status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(no_latency.status.code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seaway
