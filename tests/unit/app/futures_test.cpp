// Futures of calls: deadlines, giving up, many at a time, and what would block a handler.

#include "cast.hpp"

namespace seaway::app_test {
namespace {

using Futures = OnACluster;
constexpr auto kSoon = std::chrono::milliseconds(5);

TEST_F(Futures, OfACallFailAtItsDeadlineAndTellTheCallee) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(1);
  auto pupil = client.spawn<Pupil>(client.hosts(), gate).value().at(2);

  const auto late = pupil.call(&Pupil::wait, hold("a"), CallOptions{.deadline = kSoon}).get();
  const std::string log = said(pupil, &Pupil::log);
  const auto negative = gate.call(&Gate::held, CallOptions{.deadline = -kSoon}).get();

  EXPECT_EQ(late.status().to_string(),
            "DEADLINE_EXCEEDED: Hold to Pupil[2] on host 2: no answer within 5 ms; whether it was "
            "handled is not known");
  EXPECT_EQ(log, "<a!a>");
  EXPECT_EQ(negative.status().to_string(),
            "DEADLINE_EXCEEDED: Held: its deadline has passed already; nothing was sent");
}

TEST_F(Futures, CancelReachesAHandlerThatWaitsAndOnesBehindIt) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(1);
  auto pupil = client.spawn<Pupil>(client.hosts(), gate).value().at(2);
  auto running = pupil.call(&Pupil::wait, hold("a"));
  auto queued = pupil.call(&Pupil::add, amount(1));
  settle();

  queued.cancel();
  running.cancel();

  EXPECT_EQ(running.get().status().to_string(), "CANCELLED: the call was given up with cancel()");
  EXPECT_EQ(queued.get().status().code(), StatusCode::kCancelled);
  // Neither the one that was queued, nor a gate that was waited for in vain.
  EXPECT_EQ(said(pupil, &Pupil::log), "<a!a>");
  static_cast<void>(gate.call(&Gate::open).get());
  ASSERT_TRUE(gate.mesh().stop().get().ok());
  ASSERT_TRUE(pupil.stop().get().ok());
}

/// Starts two calls, then awaits both in turn.
class Patient {
 public:
  static void describe(ActorType<Patient>& type) {
    type.on(&Patient::wait).on(&Patient::log, Interleave::kYes);
  }
  Patient(const Self&, ActorRef<Gate> gate) : gate_(std::move(gate)) {}

  Task<Reply<Answer>> wait(Request<Hold>) {
    auto first = gate_.call(&Gate::hold, hold("a"));
    auto second = gate_.call(&Gate::hold, hold("b"));
    const auto a = co_await first;
    log_ += "a " + a.status().to_string();
    const auto b = co_await second;
    log_ += ", b " + b.status().to_string();
    co_return b;
  }
  Reply<Answer> log(Request<Log>) {
    return make<Answer>([&](Answer::Builder m) { m.setText(log_); });
  }

 private:
  ActorRef<Gate> gate_;
  std::string log_;
};

TEST_F(Futures, CancelReachesEveryAwaitOfAHandler) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(1);
  auto patient = client.spawn<Patient>(client.hosts(), gate).value().at(2);
  auto call = patient.call(&Patient::wait, hold("both"));
  settle();
  ASSERT_EQ(said(gate, &Gate::held), "a, b");

  call.cancel();
  settle();

  EXPECT_EQ(call.get().status().code(), StatusCode::kCancelled);
  // Checked before the next call, which reuses the call's slot and cancels the handler again.
  EXPECT_EQ(stocks().at(3).deliveries, 0u);
  EXPECT_EQ(said(patient, &Patient::log),
            "a CANCELLED: Hold to Gate[1] was given up by its caller, b CANCELLED: Hold to Gate[1] "
            "was given up by its caller");
}

TEST_F(Futures, OfManyAfterTheirDeadlineFailEach) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  const CallOptions late{.deadline = -kSoon};

  const auto called = counters.call(&Counter::add, amount(1), late).get();
  auto streamed = counters.stream(&Counter::add, amount(1), late);

  for (std::size_t i = 0; i < called.size(); ++i) {
    EXPECT_EQ(called.at(i).status().code(), StatusCode::kDeadlineExceeded);
    EXPECT_EQ(streamed.next().get().value()->reply.status().code(), StatusCode::kDeadlineExceeded);
  }
}

TEST_F(Futures, OfSeveralCallsAreOne) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  auto gate = client.spawn<Gate>(client.hosts()).value().at(0);
  std::vector<Future<Reply<Total>>> totals;
  for (std::size_t i = 0; i < 4; ++i) {
    totals.push_back(counters.at(i).call(&Counter::add, amount(static_cast<std::int64_t>(i))));
  }
  std::vector<Future<Reply<Answer>>> race;
  race.push_back(gate.call(&Gate::hold));
  race.push_back(counters.at(2).call(&Counter::ask, text("fast")));

  const auto all = when_all(std::move(totals)).get();
  const auto any = when_any(std::move(race)).get();

  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.value()[3]->getTotal(), 3);
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(any.value().index, 1u);
}

TEST_F(Futures, OfAMeshAreOneWithAllOutcomes) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  counters.at(1).kill();
  settle();
  const auto outcomes = counters.call(&Counter::add, amount(1)).all().get();
  const auto doubled = counters.at(0)
                           .call(&Counter::add, amount(1))
                           .then(inline_executor(), [](Result<Reply<Total>> total) {
                             return total.value()->getTotal() * 2;
                           });

  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ(outcomes.value().size(), 4u);
  EXPECT_TRUE(outcomes.value().at(0).ok());
  EXPECT_EQ(doubled.get().value(), 4);
}

/// Does in its handlers what it should not, and says what came of it.
class Blocker {
 public:
  static void describe(ActorType<Blocker>& type) { type.on(&Blocker::ask).on(&Blocker::hold); }
  Blocker(Self self, ActorMesh<Gate> gates, Client client)
      : self_(std::move(self)), gates_(std::move(gates)), client_(std::move(client)) {
    made_ = gates_.at(0).call(&Gate::held).get().status().to_string();
  }
  Reply<Answer> ask(Request<Ask> request) {
    const std::string what = request->getText().cStr();
    std::string text;
    if (what == "call") text = gates_.at(0).call(&Gate::held).get().status().to_string();
    if (what == "mesh") text = gates_.call(&Gate::held).get().at(0).status().to_string();
    if (what == "made") text = made_;
    if (what == "slice") {
      text = self_.client().value().acquire_slice({.devices = 1}).status().to_string();
    }
    if (what == "array") text = array_.to_host<float>().get().status().to_string();
    return make<Answer>([&](Answer::Builder m) { m.setText(text); });
  }
  /// An array of the client that stands behind all actors, by co_await.
  Task<Reply<Answer>> hold(Request<Hold> request) {
    array_ = request.array(0).value();
    const auto values = co_await array_.to_host<float>();
    co_return make<Answer>([&](Answer::Builder m) {
      m.setText(values.ok() ? std::to_string(values.value().at(3)) : values.status().to_string());
    });
  }

 private:
  Self self_;
  ActorMesh<Gate> gates_;
  Client client_;
  Array array_;
  std::string made_;
};

TEST_F(Futures, ThatWouldBlockAHandlerAreRefusedByItsName) {
  auto gates = client.spawn<Gate>(client.hosts()).value();
  auto blocker = client.spawn<Blocker>(client.hosts(), gates, Client()).value().at(1);
  const auto ask = [&](const char* what) {
    return std::string(blocker.call(&Blocker::ask, text(what)).get().value()->getText().cStr());
  };

  const std::string refusal =
      "INVALID_ARGUMENT: Future::get would block Blocker[1] in its handler of Ask, and with it "
      "every actor of its worker; co_await the future instead";
  EXPECT_EQ(ask("call"), refusal);
  EXPECT_EQ(ask("mesh"), refusal);
  EXPECT_EQ(ask("made"),
            "INVALID_ARGUMENT: Future::get would block Blocker[1], and with it every actor of its "
            "worker; co_await the future instead");
  EXPECT_NE(ask("slice").find("would block Blocker[1] in its handler of Ask, and with it every "
                              "actor of its worker; ask from a thread of your own"),
            std::string::npos)
      << ask("slice");
}

TEST_F(Futures, OfArraysAreAwaitedInHandlers) {
  const Slice slice = client.acquire_slice({.devices = 1}).value();
  const std::vector<float> values = {1, 2, 3, 4.5f};
  const Array array = client.put<float>(values, {4}, NamedSharding(slice.mesh(), {}));
  auto gates = client.spawn<Gate>(client.hosts()).value();
  auto blocker = client.spawn<Blocker>(client.hosts(), gates, Client()).value().at(1);

  const auto awaited =
      blocker.call(&Blocker::hold, [&](Hold::Builder, Attached& attached) { attached.add(array); });

  EXPECT_STREQ(awaited.get().value()->getText().cStr(), "4.500000");
  // The engine that would bring the values stands still: there is something to wait for.
  std::promise<void> go_on, is_still;
  cluster.state()->engine->post([&is_still, let_go = go_on.get_future().share()] {
    is_still.set_value();
    let_go.wait();
  });
  is_still.get_future().wait();
  const auto refused = blocker.call(&Blocker::ask, text("array"));
  const auto answer = refused.get();
  go_on.set_value();
  EXPECT_STREQ(answer.value()->getText().cStr(),
               "INVALID_ARGUMENT: Future::get would block Blocker[1] in its handler of Ask, and "
               "with it every actor of its worker; co_await the future instead");
}

/// Sleeps as long as it is told, but only after it has kept its thread busy for as long.
class Sleeper {
 public:
  static void describe(ActorType<Sleeper>& type) { type.on(&Sleeper::add); }
  explicit Sleeper(Self self) : self_(std::move(self)) {}
  Task<Reply<Total>> add(Request<Add> request) {
    const std::chrono::nanoseconds time(request->getAmount());
    const auto begun = self_.now();
    while (self_.now() < begun + time) {
    }
    const auto asleep = self_.now();
    static_cast<void>(co_await self_.sleep(time));
    co_return make<Total>([&](Total::Builder m) { m.setTotal((self_.now() - asleep).count()); });
  }

 private:
  Self self_;
};

TEST_F(Futures, OfASleepTakeAsLongAsTheySayHoweverLateItIs) {
  auto sleeper = client.spawn<Sleeper>(client.hosts()).value().at(0);

  const auto slept = sleeper.call(&Sleeper::add, amount(4'000'000)).get();

  EXPECT_GE(slept.value()->getTotal(), 4'000'000);
}

/// Keeps the thread of all actors to itself until it is let go.
struct Hog {
  static void describe(ActorType<Hog>& type) { type.on(&Hog::nothing); }
  Hog(const Self&, std::shared_future<void> own) : go_on(std::move(own)) {}
  void nothing(Request<Nothing>) { go_on.wait(); }
  std::shared_future<void> go_on;
};

TEST_F(Futures, OfCallsThatAreGivenUpBeforeTheyBeganEnd) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(1);
  std::promise<void> go_on;
  auto hog = client.spawn<Hog>(client.hosts(), go_on.get_future().share()).value().at(0);
  ASSERT_TRUE(hog.send(&Hog::nothing).ok());

  auto call = gate.call(&Gate::hold);
  call.cancel();
  auto stream = gate.stream(&Gate::hold);
  stream.cancel();
  go_on.set_value();

  EXPECT_EQ(call.get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(stream.next().get().value()->reply.status().code(), StatusCode::kCancelled);
  EXPECT_FALSE(stream.next().get().value().has_value());
  EXPECT_EQ(said(gate, &Gate::held), "");
}

TEST_F(Futures, OfAClientThatGoesAreCancelled) {
  auto gates = client.spawn<Gate>(SpawnOptions(client.hosts()).named("gates")).value();
  auto other = std::make_unique<Client>(cluster.connect().value());
  auto gate = other->find<Gate>("gates").value().at(1);
  auto call = gate.call(&Gate::hold);
  settle();

  other.reset();

  EXPECT_EQ(call.get().status().code(), StatusCode::kCancelled) << call.to_string();
  EXPECT_EQ(gate.call(&Gate::held).get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(gates.call(&Gate::held).get().at(1).value()->getNumber(), 1u);
}

TEST_F(Futures, OfAClusterThatEndsAreCancelled) {
  auto ending = Cluster::start("embedded:islands=2").value();
  auto user = std::make_unique<Client>(ending.connect().value());
  auto gate = user->spawn<Gate>(user->hosts()).value().at(1);
  std::promise<void> go_on;
  auto hog = user->spawn<Hog>(user->hosts(), go_on.get_future().share()).value().at(0);
  auto held = gate.call(&Gate::hold);
  ASSERT_TRUE(hog.send(&Hog::nothing).ok());
  auto unseen = gate.call(&Gate::hold);
  auto stopped = gate.mesh().stop();

  user.reset();
  go_on.set_value();
  ending = Cluster();

  EXPECT_FALSE(held.get().ok());
  EXPECT_FALSE(unseen.get().ok());
  EXPECT_TRUE(stopped.ready());
}

}  // namespace
}  // namespace seaway::app_test
