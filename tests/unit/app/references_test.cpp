// Other actors, as they travel beside messages.

#include "cast.hpp"

namespace seaway::app_test {
namespace {

/// Adds to the counters that it is shown, and shows those that it was made with.
class Guest {
 public:
  static void describe(ActorType<Guest>& type) {
    type.on(&Guest::ask).on(&Guest::add).on(&Guest::open);
  }
  Guest(Self self, ActorMesh<Counter> own) : self_(std::move(self)), own_(std::move(own)) {}

  /// Of one counter, or of the sum of several when its text is "all".
  Task<Reply<Answer>> ask(Request<Ask> request) {
    if (std::string(request->getText().cStr()) == "all") {
      auto mesh = request.mesh<Counter>(request->getNumber());
      if (!mesh.ok()) co_return mesh.status();
      std::int64_t sum = 0;
      auto totals = co_await mesh->call(&Counter::add, amount(1)).all();
      for (const auto& total : *totals) sum += total.value()->getTotal();
      co_return number(static_cast<std::uint32_t>(sum));
    }
    auto counter = request.actor<Counter>(request->getNumber());
    if (!counter.ok()) co_return counter.status();
    kept_ = *counter;
    auto total = co_await counter->call(&Counter::add, amount(10));
    if (!total.ok()) co_return total.status();
    co_return number(static_cast<std::uint32_t>((*total)->getTotal()));
  }
  /// The one that it was shown last is still known to it.
  Task<Reply<Total>> add(Request<Add>) {
    co_return co_await kept_.call(&Counter::add, amount(100));
  }
  Reply<Answer> open(Request<Open>) {
    return make<Answer>([this](Answer::Builder m, Attached& beside) {
      m.setNumber(beside.add(own_));
      m.setText(self_.name());
    });
  }

 private:
  static Reply<Answer> number(std::uint32_t value) {
    return make<Answer>([value](Answer::Builder m) { m.setNumber(value); });
  }
  Self self_;
  ActorMesh<Counter> own_;
  ActorRef<Counter> kept_;
};

class References : public OnACluster {
 protected:
  template <class What>
  static auto beside(const What& what, const char* text = "") {
    return [what, text](Ask::Builder m, Attached& attached) {
      m.setText(text);
      m.setNumber(attached.add(what));
    };
  }
  ActorMesh<Counter> counters = client.spawn<Counter>(client.hosts(), 0).value();
  ActorRef<Guest> guest = client.spawn<Guest>(client.hosts(), counters).value().at(3);
};

TEST_F(References, OfOneMemberAreCalledByWhoeverWasShownThem) {
  const auto first = guest.call(&Guest::ask, beside(counters.at(1))).get();
  const auto later = guest.call(&Guest::add).get();

  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ(first.value()->getNumber(), 10u);
  EXPECT_EQ(later.value()->getTotal(), 110);
  EXPECT_STREQ(later.value()->getName().cStr(), "Counter[1]");
}

TEST_F(References, OfASubMeshKeepItsMembersAndAxes) {
  const auto part = counters.sub("host", {1, 3});

  const auto sum = guest.call(&Guest::ask, beside(part, "all")).get();

  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(sum.value()->getNumber(), 2u);
  EXPECT_EQ(counters.at(1).call(&Counter::add).get().value()->getTotal(), 1);
  EXPECT_EQ(counters.at(0).call(&Counter::add).get().value()->getTotal(), 0);
}

TEST_F(References, InAnswersAreCalledInTheNameOfTheClient) {
  const auto answer = guest.call(&Guest::open).get();

  const auto shown = answer.value().mesh<Counter>(answer.value()->getNumber());

  ASSERT_TRUE(shown.ok()) << shown.status().to_string();
  EXPECT_EQ(shown->to_string(), "Counter mesh(host=4)");
  EXPECT_EQ(shown->at(2).call(&Counter::add, amount(5)).get().value()->getTotal(), 5);
  EXPECT_EQ(shown->at(2).name(), counters.at(2).name());
}

TEST_F(References, InStreamsAreCalledInTheNameOfTheClient) {
  const auto item = guest.stream(&Guest::open).next().get();

  const auto shown = item.value()->reply.value().mesh<Counter>(0);

  ASSERT_TRUE(shown.ok()) << shown.status().to_string();
  EXPECT_TRUE(shown->at(0).call(&Counter::add).get().ok());
}

TEST_F(References, OfAnotherClassOrKindOrCountAreRefused) {
  const auto message = make<Ask>([&](Ask::Builder, Attached& beside) {
    beside.add(counters);
    beside.add(guest);
    beside.add(Bytes());
  });

  EXPECT_EQ(message.actor<Counter>(0).status().to_string(),
            "INVALID_ARGUMENT: actor() of Ask: 4 members are meant, not one; use call(), choose() "
            "or at()");
  EXPECT_EQ(message.actor<Counter>(1).status().to_string(),
            "INVALID_ARGUMENT: attachment 1 is Guest[3], not of class Counter");
  EXPECT_EQ(message.mesh<Counter>(2).status().to_string(),
            "INVALID_ARGUMENT: attachment 2 of a message of type Ask is not actors");
  EXPECT_EQ(message.mesh<Counter>(3).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(message.actor<Guest>(1).value().to_string(), "Guest[3]");
}

TEST_F(References, ThatWereNotReceivedHaveNobodyWhoCalls) {
  const auto message = make<Ask>([&](Ask::Builder, Attached& beside) { beside.add(counters); });

  const auto called = message.mesh<Counter>(0).value().at(1).call(&Counter::add).get();

  EXPECT_EQ(called.status(),
            not_found("call_one of Add: its reference is of a message that nobody has received, so "
                      "there is nobody in whose name to call; take it from a request or an "
                      "answer"));
}

TEST_F(References, DoNotKeepAnybodyAlive) {
  ASSERT_TRUE(counters.stop().get().ok());

  const auto called = guest.call(&Guest::ask, beside(counters.at(1))).get();

  EXPECT_EQ(called.status().code(), StatusCode::kActorLost) << called.status().to_string();
}

TEST_F(References, PlacesAreChosenByPosition) {
  const auto chosen = client.spawn<Counter>(client.hosts().at({3, 1, 3}), 0).value();
  const auto nowhere = client.spawn<Counter>(client.hosts().at({4}), 0);

  EXPECT_EQ(chosen.to_string(), "Counter mesh(place=3)");
  EXPECT_EQ(client.hosts().at({3, 1, 3}).to_string(), "placement(place=3) on hosts 3, 1, 3");
  EXPECT_EQ(
      nowhere.status().to_string(),
      "INVALID_ARGUMENT: Counter: its placement was chosen from another one by a position that "
      "does not exist there");
}

}  // namespace
}  // namespace seaway::app_test
