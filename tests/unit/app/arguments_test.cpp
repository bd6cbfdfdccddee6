// Results that are not there yet, as arguments: who waits for them, in which order, and what
// becomes of those who wait in vain.

#include "cast.hpp"

namespace seaway::app_test {
namespace {

/// Answers with a total when it is told to, and adds totals up.
class Stage {
 public:
  static void describe(ActorType<Stage>& type) {
    type.on(&Stage::later).on(&Stage::open).on(&Stage::total).on(&Stage::add);
  }
  explicit Stage(const Self&) {}

  void later(Request<Hold>, Promise<Total> promise) { promises_.push_back(std::move(promise)); }
  void open(Request<Open>) {
    for (auto& promise : promises_) promise.keep([](Total::Builder m) { m.setTotal(100); });
    promises_.clear();
  }
  Result<Reply<Total>> total(Request<Total> request) {
    if (request->getTotal() < 0) return invalid_argument("less than nothing");
    log_ += " " + std::to_string(request->getTotal());
    return reply(request->getTotal() + 1);
  }
  Reply<Total> add(Request<Add> request) {
    log_ += " +" + std::to_string(request->getAmount());
    return reply(request->getAmount());
  }

 private:
  Reply<Total> reply(std::int64_t total) const {
    return make<Total>([&](Total::Builder m) {
      m.setTotal(total);
      m.setName(log_);
    });
  }
  std::vector<Promise<Total>> promises_;
  std::string log_;
};

class Arguments : public OnACluster {
 protected:
  static auto of(std::int64_t total) {
    return [total](Total::Builder m) { m.setTotal(total); };
  }
  ActorMesh<Stage> stages =
      client.spawn<Stage>(SpawnOptions(client.hosts()).restart(Restart::kNever)).value();
};

TEST_F(Arguments, PassAlongAChainOfMembers) {
  auto gate = client.spawn<Stage>(client.hosts()).value().at(0);
  auto chain = gate.call(&Stage::later);
  for (std::size_t i = 1; i <= 100; ++i) chain = stages.at(i % 4).call(&Stage::total, chain);
  settle();

  ASSERT_TRUE(gate.send(&Stage::open).ok());

  EXPECT_EQ(chain.get().value()->getTotal(), 200);
  EXPECT_EQ(stocks().at(1).deliveries, 0u);
}

TEST_F(Arguments, ThatFailPoisonWhatFollowsWithTheirCause) {
  auto wrong = stages.at(0).call(&Stage::total, of(-1));
  auto next = stages.at(1).call(&Stage::total, wrong);
  auto last = stages.at(2).call(&Stage::total, next);

  const Status status = last.get().status();

  EXPECT_EQ(status.code(), StatusCode::kInputLost);
  EXPECT_NE(status.message().find("its argument failed: INPUT_LOST: "), std::string::npos);
  EXPECT_NE(status.message().find("INVALID_ARGUMENT: less than nothing"), std::string::npos)
      << status.to_string();
}

TEST_F(Arguments, MayBeThereAlready) {
  auto ready = stages.at(0).call(&Stage::total, of(1));
  auto failed = stages.at(0).call(&Stage::total, of(-1));
  static_cast<void>(ready.get());
  static_cast<void>(failed.get());

  const auto next = stages.at(1).call(&Stage::total, ready).get();
  const auto lost = stages.at(1).call(&Stage::total, failed).get();
  const auto empty = stages.at(1).call(&Stage::total, Future<Reply<Total>>()).get();
  const Status sent = stages.at(1).send(&Stage::total, ready);

  EXPECT_EQ(next.value()->getTotal(), 3);
  EXPECT_EQ(lost.status().to_string(),
            "INPUT_LOST: Total: its argument failed: INVALID_ARGUMENT: less than nothing");
  EXPECT_EQ(empty.status().to_string(), "INVALID_ARGUMENT: the argument is an empty future");
  EXPECT_EQ(sent.to_string(),
            "INVALID_ARGUMENT: Total: an unresolved argument needs a call; nobody would hear of "
            "its failure");
}

TEST_F(Arguments, MayBeWhatFollowsAnotherFuture) {
  auto later = stages.at(0).call(&Stage::later);
  auto negated = later.then(inline_executor(), [](Result<Reply<Total>> total) {
    return make<Total>([&](Total::Builder m) { m.setTotal(total.value()->getTotal() * 2); });
  });
  auto next = stages.at(1).call(&Stage::total, negated);
  settle();

  ASSERT_TRUE(stages.at(0).send(&Stage::open).ok());

  EXPECT_EQ(next.get().value()->getTotal(), 201);
}

TEST_F(Arguments, ThatAreLateKeepTheirPlaceAmongTheirCallersMessages) {
  auto gate = client.spawn<Stage>(client.hosts()).value().at(0);
  auto late = gate.call(&Stage::later);
  auto first = stages.at(1).call(&Stage::total, late);
  auto second = stages.at(1).call(&Stage::add, amount(2));
  ASSERT_TRUE(stages.at(1).send(&Stage::add, amount(3)).ok());
  settle();
  EXPECT_FALSE(second.ready());

  ASSERT_TRUE(gate.send(&Stage::open).ok());

  EXPECT_STREQ(first.get().value()->getName().cStr(), " 100");
  EXPECT_STREQ(second.get().value()->getName().cStr(), " 100 +2");
  EXPECT_STREQ(stages.at(1).call(&Stage::add, amount(4)).get().value()->getName().cStr(),
               " 100 +2 +3 +4");
}

TEST_F(Arguments, OfOneThatDiesWhileItWaitsAreDropped) {
  auto late = stages.at(0).call(&Stage::later);
  auto waiting = stages.at(1).call(&Stage::total, late);
  auto behind = stages.at(1).call(&Stage::add, amount(1));
  settle();

  stages.at(1).kill(user_function_error("on purpose"));

  EXPECT_EQ(waiting.get().status().to_string(),
            "ACTOR_LOST: Stage[1] has died: USER_FUNCTION_ERROR: on purpose; Total was not "
            "handled");
  EXPECT_EQ(behind.get().status().code(), StatusCode::kActorLost);
  ASSERT_TRUE(stages.at(0).send(&Stage::open).ok());
  EXPECT_TRUE(late.get().ok());
}

TEST_F(Arguments, OfAMemberThatDiesAreLostWithIt) {
  auto late = stages.at(0).call(&Stage::later);
  auto waiting = stages.at(1).call(&Stage::total, late);
  settle();

  stages.at(0).kill(user_function_error("on purpose"));

  EXPECT_EQ(waiting.get().status().code(), StatusCode::kInputLost);
  EXPECT_NE(waiting.get().status().message().find("USER_FUNCTION_ERROR: on purpose"),
            std::string::npos);
}

TEST_F(Arguments, ThatAreGivenUpOrLatePoison) {
  auto given_up = stages.at(0).call(&Stage::later);
  auto late =
      stages.at(0).call(&Stage::later, CallOptions{.deadline = std::chrono::milliseconds(5)});
  auto after_given_up = stages.at(1).call(&Stage::total, given_up);
  auto after_late = stages.at(2).call(&Stage::total, late);
  settle();

  given_up.cancel();

  EXPECT_EQ(after_given_up.get().status().code(), StatusCode::kInputLost);
  EXPECT_NE(after_given_up.get().status().message().find("CANCELLED"), std::string::npos);
  EXPECT_EQ(after_late.get().status().code(), StatusCode::kInputLost);
  EXPECT_NE(after_late.get().status().message().find("DEADLINE_EXCEEDED"), std::string::npos);
}

TEST_F(Arguments, CancelledHeldCallsAreNotHandled) {
  auto late = stages.at(0).call(&Stage::later);
  auto given_up = stages.at(1).call(&Stage::total, late);
  auto behind = stages.at(1).call(&Stage::add, amount(2));
  auto too = stages.at(1).call(&Stage::add, amount(3));
  auto last = stages.at(1).call(&Stage::add, amount(4));
  settle();

  too.cancel();  // Held behind `given_up`.
  settle();
  given_up.cancel();
  settle();
  ASSERT_TRUE(stages.at(0).send(&Stage::open).ok());

  EXPECT_EQ(given_up.get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(too.get().status().code(), StatusCode::kCancelled);
  EXPECT_STREQ(behind.get().value()->getName().cStr(), " +2");
  EXPECT_STREQ(last.get().value()->getName().cStr(), " +2 +4");
  EXPECT_EQ(stocks().at(1).deliveries, 0u);
}

TEST_F(Arguments, OfACallThatIsTriedAgainAreItsLastOutcome) {
  auto others = client.spawn<Stage>(client.hosts()).value();
  auto later = others.at(0).call(&Stage::later, CallOptions{.retries = 100});
  auto next = stages.at(1).call(&Stage::total, later);
  settle();
  others.at(0).kill();
  settle();
  // The second try is somewhere between here and there.
  while (!later.ready()) static_cast<void>(others.at(0).call(&Stage::open).get());

  EXPECT_EQ(next.get().value()->getTotal(), 101) << next.get().status().to_string();
}

TEST_F(Arguments, OfOneClientDoNotHoldUpAnother) {
  auto late = stages.at(0).call(&Stage::later);
  auto waiting = stages.at(1).call(&Stage::total, late);
  settle();
  Client other = cluster.connect().value();
  const ActorMesh<Stage> theirs(other.caller().value(), stages.members(), stages.axes());

  const auto between = theirs.at(1).call(&Stage::add, amount(1)).get(std::chrono::seconds(20));

  EXPECT_TRUE(between.ok()) << between.status().to_string();
  ASSERT_TRUE(theirs.at(0).send(&Stage::open).ok());
  EXPECT_TRUE(waiting.get().ok());
}

TEST_F(Arguments, ThatNeverComeDoNotHoldUpAStop) {
  auto late = stages.at(0).call(&Stage::later);
  auto waiting = stages.at(1).call(&Stage::total, late);
  settle();
  auto stopped = stages.at(1).stop(std::chrono::seconds(20));
  settle();
  EXPECT_FALSE(stopped.ready());

  waiting.cancel();

  EXPECT_TRUE(stopped.get().ok()) << stopped.get().status().to_string();
}

}  // namespace
}  // namespace seaway::app_test
