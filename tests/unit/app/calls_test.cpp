// Calls: what they are given, whom they reach, and all the ways in which they fail.

#include <thread>

#include "cast.hpp"

namespace seaway::app_test {
namespace {

using Calls = OnACluster;

TEST_F(Calls, TakeNothingOrAFillerOrAMessageOrAFuture) {
  auto counter = client.spawn<Counter>(client.hosts(), 10).value().at(0);
  const auto message = make<Add>([](Add::Builder m) { m.setAmount(2); });

  const auto nothing = counter.call(&Counter::add).get();
  const auto filled = counter.call(&Counter::add, amount(1)).get();
  const auto given = counter.call(&Counter::add, message, CallOptions{.retries = 1}).get();
  auto future = counter.call(&Counter::add, amount(0));
  const auto chained = counter.call(&Counter::total, future).get();
  const auto optioned = counter.call(&Counter::add, CallOptions{.retries = 1}).get();

  EXPECT_EQ(nothing.value()->getTotal(), 10);
  EXPECT_EQ(filled.value()->getTotal(), 11);
  EXPECT_EQ(given.value()->getTotal(), 13);
  EXPECT_EQ(chained.value()->getTotal(), 26);
  EXPECT_EQ(optioned.value()->getTotal(), 26);
}

TEST_F(Calls, OfHandlersThatAnswerNothingGiveFuturesOfNothing) {
  auto counter = client.spawn<Counter>(client.hosts()).value().at(0);

  const Result<void> done = counter.call(&Counter::nothing).get();

  EXPECT_TRUE(done.ok()) << done.status().to_string();
}

TEST_F(Calls, AStatusOfAHandlerIsTheOutcome) {
  auto counter = client.spawn<Counter>(client.hosts()).value().at(0);

  const auto refused = counter.call(&Counter::total, [](Total::Builder m) { m.setTotal(-1); });

  EXPECT_EQ(refused.get().status(), invalid_argument("less than nothing"));
}

TEST_F(Calls, SendAndBroadcastReachEachMemberInOrder) {
  auto counters = client.spawn<Counter>(client.hosts()).value();

  ASSERT_TRUE(counters.broadcast(&Counter::add, amount(5)).ok());
  ASSERT_TRUE(counters.at(2).send(&Counter::add, amount(7)).ok());
  const auto totals = counters.call(&Counter::add).get();

  EXPECT_EQ(totals.at(0).value()->getTotal(), 5);
  EXPECT_EQ(totals.at(2).value()->getTotal(), 12);
  EXPECT_EQ(totals.at(3).value()->getTotal(), 5);
}

TEST_F(Calls, OfOneMemberOfSeveralAreRefusedByCallOne) {
  auto counters = client.spawn<Counter>(client.hosts()).value();

  const auto refused = counters.call_one(&Counter::add).get();
  const auto made = counters.at(3).mesh().call_one(&Counter::add).get();

  EXPECT_EQ(refused.status().to_string(),
            "INVALID_ARGUMENT: call_one of Add: 4 members are meant, not one; use call(), "
            "choose() or at()");
  EXPECT_TRUE(made.ok());
}

TEST_F(Calls, ChooseTakesTheMemberWithTheFewestUnderWay) {
  auto gates = client.spawn<Gate>(client.hosts()).value();
  std::vector<Future<Reply<Answer>>> busy;
  for (const std::size_t i : {0, 0, 1, 3, 3}) busy.push_back(gates.at(i).call(&Gate::hold));

  auto chosen = gates.choose(&Gate::hold, hold("first"));
  auto next = gates.choose(&Gate::hold, hold("second"));

  // The third had nobody, and then as many as the second.
  EXPECT_EQ(said(gates.at(2), &Gate::held).substr(0, 5), "first");
  const bool is_there = said(gates.at(1), &Gate::held) == ", second" ||
                        said(gates.at(2), &Gate::held) == "first, second";
  EXPECT_TRUE(is_there);
  static_cast<void>(gates.call(&Gate::open).get());
}

TEST_F(Calls, GoToSubMeshesByNamedAxes) {
  auto counters = client.spawn<Counter>(client.hosts().each("worker", 3)).value();

  const auto row = counters.sub("host", {1, 3});
  const auto part = row.sub("worker", {2, 3});
  const auto totals = part.call(&Counter::add).get();

  EXPECT_EQ(counters.to_string(), "Counter mesh(host=4, worker=3)");
  EXPECT_EQ(row.to_string(), "Counter mesh(host=2, worker=3)");
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_STREQ(totals.at(0).value()->getName().cStr(), "Counter[5]");
  EXPECT_STREQ(totals.at(1).value()->getName().cStr(), "Counter[8]");
  EXPECT_EQ(part.at(1).to_string(), "Counter[8]");
}

TEST_F(Calls, OfWrongSubMeshesSayWhy) {
  auto counters = client.spawn<Counter>(client.hosts()).value();

  const std::vector<std::pair<ActorMesh<Counter>, std::string>> meshes = {
      {counters.sub("hots", {0, 1}), "there is no axis \"hots\" among (host=4)"},
      {counters.sub("host", {2, 5}), "positions 2 .. 5 of axis \"host\", which has 4"},
      {counters.sub("host", {2, 2}), "positions 2 .. 2 of axis \"host\", which has 4"},
      {counters.sub("hots", {0, 1}).at(3).mesh(), "there is no axis \"hots\" among (host=4)"},
      {counters.at(4).mesh(), "position 4 of 4"}};
  for (const auto& [nobody, why] : meshes) {
    const std::string text = " of Add: no member of Counter is meant; " + why;
    EXPECT_EQ(nobody.size(), 0u);
    EXPECT_EQ(nobody.choose(&Counter::add).get().status(), not_found("choose" + text));
    EXPECT_EQ(nobody.broadcast(&Counter::add), not_found("send" + text));
    EXPECT_EQ(nobody.reduce(&Counter::add, [](auto, auto, auto) {}).get().status(),
              not_found("reduce" + text));
    const auto called = nobody.call(&Counter::add).get();
    ASSERT_EQ(called.size(), 1u);
    EXPECT_EQ(called.at(0).status(), not_found("call" + text));
    const auto stream = nobody.stream(&Counter::add);
    EXPECT_EQ(stream.next().get().value()->reply.status(), not_found("stream" + text));
    EXPECT_FALSE(stream.next().get().value().has_value());
    EXPECT_EQ(nobody.stop().get().status().code(), StatusCode::kNotFound);
  }
  EXPECT_FALSE(counters.at(4));
  EXPECT_EQ(counters.at(4).to_string(), "nobody");
}

TEST_F(Calls, OfAnEmptyReferenceFail) {
  const ActorRef<Counter> nobody;
  const ActorMesh<Counter> none;

  const auto called = nobody.call(&Counter::add).get();
  const Status sent = nobody.send(&Counter::add);
  const auto summed = none.reduce(&Counter::add, [](auto, auto, auto) {}).get();
  const auto stopped = none.stop().get();
  const auto streamed = none.stream(&Counter::add).next().get();
  none.kill();

  EXPECT_EQ(called.status().to_string(), "NOT_FOUND: call_one of Add: the reference is empty");
  EXPECT_EQ(sent.to_string(), "NOT_FOUND: send of Add: the reference is empty");
  EXPECT_EQ(summed.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(stopped.status().to_string(), "NOT_FOUND: stop: the reference is empty");
  EXPECT_EQ(streamed.value()->reply.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(none.call(&Counter::add).get().at(0).status().to_string(),
            "NOT_FOUND: call of Add: the reference is empty");
}

TEST_F(Calls, OfTheDeadSayWhatTheyDiedOf) {
  auto counters =
      client.spawn<Counter>(SpawnOptions(client.hosts()).restart(Restart::kNever)).value();

  const auto culprit = counters.at(1).call(&Counter::ask, text("throw")).get();
  const auto after = counters.at(1).call(&Counter::add).get();

  EXPECT_EQ(culprit.status().to_string(), "USER_FUNCTION_ERROR: it threw: asked to");
  EXPECT_EQ(after.status().to_string(),
            "ACTOR_LOST: Counter[1] has died: USER_FUNCTION_ERROR: it threw: asked to; nothing "
            "was handled");
}

TEST_F(Calls, InAMailboxFailWithTheirMember) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(0);
  auto pupil = client.spawn<Pupil>(SpawnOptions(client.hosts()).restart(Restart::kNever), gate)
                   .value()
                   .at(1);
  auto running = pupil.call(&Pupil::wait, hold("a"));
  auto queued = pupil.call(&Pupil::add, amount(1));
  settle();

  pupil.kill(user_function_error("on purpose"));

  EXPECT_EQ(running.get().status().to_string(),
            "ACTOR_LOST: Pupil[1] has died: USER_FUNCTION_ERROR: on purpose; Hold was being "
            "handled");
  EXPECT_EQ(queued.get().status().to_string(),
            "ACTOR_LOST: Pupil[1] has died: USER_FUNCTION_ERROR: on purpose; Add was not handled");
}

TEST_F(Calls, FindByNameKnowsTheClass) {
  auto counters = client.spawn<Counter>(SpawnOptions(client.hosts()).named("counters")).value();

  const auto found = client.find<Counter>("counters");
  const auto other = client.find<Gate>("counters");
  const auto nobody = client.find<Counter>("gates");
  const auto again = client.spawn<Gate>(SpawnOptions(client.hosts()).named("counters"));

  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->at(1).name(), counters.at(1).name());
  EXPECT_EQ(other.status().to_string(),
            "INVALID_ARGUMENT: \"counters\" names actors of type Counter, not Gate");
  EXPECT_EQ(nobody.status().to_string(),
            "NOT_FOUND: no actors are named \"gates\"; 1 names are known");
  EXPECT_EQ(again.status().to_string(),
            "INVALID_ARGUMENT: the name \"counters\" is taken by Counter; choose another one, or "
            "stop those actors");
}

TEST_F(Calls, ANameIsFreeOnceItsActorsAreGone) {
  auto first = client.spawn<Counter>(SpawnOptions(client.hosts()).named("counters")).value();
  ASSERT_TRUE(first.stop().get().ok());

  const auto second = client.spawn<Gate>(SpawnOptions(client.hosts()).named("counters"));

  EXPECT_TRUE(second.ok()) << second.status().to_string();
}

/// A counter as another version of the program knows it.
struct NewCounter {
  static void describe(ActorType<NewCounter>& type) {
    type.on(&NewCounter::add).on(&NewCounter::hold);
  }
  explicit NewCounter(const Self&) {}
  Reply<Answer> add(Request<Add>) { return {}; }
  Reply<Answer> hold(Request<Hold>) { return {}; }
};

TEST_F(Calls, BetweenVersionsThatDifferAreRefusedByWhatDiffers) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  const ActorMesh<NewCounter> newer(counters.caller(), counters.members(), counters.axes());

  const auto unknown = newer.at(1).call(&NewCounter::hold).get();
  const auto other = newer.at(1).call(&NewCounter::add).get();
  const auto sum = newer.reduce(&NewCounter::add, [](auto, auto, auto) {}).get();

  EXPECT_EQ(unknown.status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(unknown.status().message(), "Counter[1] knows no message of type " +
                                            std::to_string(capnp::typeId<Hold>()) +
                                            "; it handles: Add, Ask, Total, Nothing");
  EXPECT_EQ(other.status().to_string(),
            "INVALID_ARGUMENT: Counter[1] answers Add with another type than its caller expects; "
            "are both built from one schema?");
  EXPECT_EQ(sum.status().to_string(),
            "INVALID_ARGUMENT: Counter[0] answers Add with another type than its caller expects; "
            "are both built from one schema?");
}

/// Drops, keeps from elsewhere or keeps twice what it has promised.
class Promiser {
 public:
  static void describe(ActorType<Promiser>& type) { type.on(&Promiser::ask); }
  explicit Promiser(const Self&) {}
  void ask(Request<Ask> request, Promise<Answer> promise) {
    const std::string text = request->getText().cStr();
    if (text == "drop") return;
    if (text == "fail") return promise.fail(not_found("no answer is known"));
    if (text == "twice") promise.keep([](Answer::Builder m) { m.setText("first"); });
    std::thread([text, promise = std::move(promise)]() mutable {
      promise.keep([&text](Answer::Builder m) { m.setText("late " + text); });
    }).detach();
  }
};

TEST_F(Calls, ArePromisedAnAnswerFromWhateverThreadOnce) {
  auto promiser = client.spawn<Promiser>(client.hosts()).value().at(1);

  const auto dropped = promiser.call(&Promiser::ask, text("drop")).get();
  const auto failed = promiser.call(&Promiser::ask, text("fail")).get();
  const auto twice = promiser.call(&Promiser::ask, text("twice")).get();
  const auto elsewhere = promiser.call(&Promiser::ask, text("thread")).get();

  EXPECT_EQ(dropped.status().to_string(),
            "USER_FUNCTION_ERROR: Promiser[1] in its handler of Ask dropped its promise without an "
            "answer");
  EXPECT_EQ(failed.status(), not_found("no answer is known"));
  EXPECT_STREQ(twice.value()->getText().cStr(), "first");
  EXPECT_STREQ(elsewhere.value()->getText().cStr(), "late thread");
}

TEST_F(Calls, OfAnActorThatFailsItselfHearOfIt) {
  auto counter = client.spawn<Counter>(client.hosts()).value().at(1);

  const auto failed = counter.call(&Counter::ask, text("fail")).get();
  const auto after = counter.call(&Counter::add, CallOptions{.retries = 5}).get();

  EXPECT_EQ(failed.status().to_string(),
            "ACTOR_LOST: Counter[1] has died: USER_FUNCTION_ERROR: asked to fail; Ask was being "
            "handled");
  EXPECT_TRUE(after.ok()) << after.status().to_string();
}

TEST_F(Calls, ThatNobodyHasLookedAtAreLimited) {
  auto counter = client.spawn<Counter>(client.hosts()).value().at(1);
  app::Apps& apps = cluster.state()->embedded->apps();
  std::promise<void> go_on;
  apps.silo(app::kHub)->wiring().door->post([&] { go_on.get_future().wait(); });
  constexpr std::uint32_t kAskedMax = app::ClientCaller::kAskedMax;

  for (std::uint32_t i = 0; i < kAskedMax; ++i) ASSERT_TRUE(counter.send(&Counter::nothing).ok());
  const Status sent = counter.send(&Counter::nothing);
  const auto called = counter.call(&Counter::add).get();
  const auto summed = counter.mesh().reduce(&Counter::add, [](auto, auto, auto) {}).get();
  const auto spawned = client.spawn<Counter>(client.hosts());
  const auto found = client.find<Counter>("nobody");
  const auto stopped = counter.stop().get();
  go_on.set_value();

  EXPECT_EQ(sent.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(summed.status(), called.status());
  EXPECT_EQ(spawned.status(), called.status());
  EXPECT_EQ(found.status(), called.status());
  EXPECT_EQ(stopped.status(), called.status());
  EXPECT_EQ(called.status().to_string(),
            "RESOURCE_EXHAUSTED: client 1 has asked 65536 times and nobody has yet looked at it; "
            "wait for some answers");
}

/// Gives others' futures up, on another host than theirs.
struct Quitter {
  static void describe(ActorType<Quitter>& type) { type.on(&Quitter::hold).on(&Quitter::open); }
  Quitter(const Self&, ActorRef<Pupil> own, std::shared_ptr<Future<Reply<Answer>>> given)
      : pupil(std::move(own)), future(std::move(given)) {}
  void hold(Request<Hold>) { *future = pupil.call(&Pupil::wait); }
  void open(Request<Open>) { future->cancel(); }
  ActorRef<Pupil> pupil;
  std::shared_ptr<Future<Reply<Answer>>> future;
};

TEST_F(Calls, AreGivenUpFromAnotherMembersTurnAtOnce) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(0);
  auto pupil = client.spawn<Pupil>(client.hosts(), gate).value().at(3);
  const auto future = std::make_shared<Future<Reply<Answer>>>();
  auto quitters = client.spawn<Quitter>(client.hosts(), pupil, future).value();
  ASSERT_TRUE(quitters.at(1).call(&Quitter::hold).get().ok());
  settle();

  ASSERT_TRUE(quitters.at(2).call(&Quitter::open).get().ok());

  EXPECT_EQ(said(pupil, &Pupil::log), "<!>");
  static_cast<void>(future);
}

TEST_F(Calls, AnActorThatStopsItselfAnswersFirst) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  const auto before = stocks();

  const auto last = counters.at(1).call(&Counter::ask, text("stop")).get();
  const auto after = counters.at(1).call(&Counter::add, CallOptions{.retries = 2}).get();

  EXPECT_STREQ(last.value()->getText().cStr(), "you said stop");
  EXPECT_EQ(after.status().code(), StatusCode::kActorLost);
  EXPECT_EQ(stocks().at(2).members, before.at(2).members - 1);
}

}  // namespace
}  // namespace seaway::app_test
