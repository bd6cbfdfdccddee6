// Reductions: answers combined on their hosts, and along the tree of those.

#include "cast.hpp"

namespace seaway::app_test {
namespace {

/// Says its own name; mailboxes hold two.
class Speaker {
 public:
  static void describe(ActorType<Speaker>& type) {
    type.on(&Speaker::ask).on(&Speaker::hold).on(&Speaker::open).mailbox_max(2);
  }
  explicit Speaker(Self self) : self_(std::move(self)) {}
  Result<Reply<Answer>> ask(Request<Ask> request) {
    const std::string text = request->getText().cStr();
    if (text == std::to_string(self_.index())) return invalid_argument("not " + self_.name());
    return make<Answer>([&](Answer::Builder m) { m.setText(std::to_string(self_.index())); });
  }
  void hold(Request<Hold>, Promise<Answer> promise) { promises_.push_back(std::move(promise)); }
  void open(Request<Open>) { promises_.clear(); }

 private:
  Self self_;
  std::vector<Promise<Answer>> promises_;
};

const auto concat = [](Answer::Reader left, Answer::Reader right, Answer::Builder out) {
  out.setText("(" + std::string(left.getText().cStr()) + " " + right.getText().cStr() + ")");
};

class Reductions : public OnACluster {
 protected:
  static std::string text_of(const Result<Reply<Answer>>& answer) {
    return answer.ok() ? std::string(answer.value()->getText().cStr())
                       : answer.status().to_string();
  }
};

TEST_F(Reductions, CombineHostsInOrderAndMembersWithinThem) {
  auto speakers = client.spawn<Speaker>(client.hosts().each("worker", 2)).value();

  const auto all = speakers.reduce(&Speaker::ask, concat).get();
  const auto column = speakers.sub("worker", {1, 2}).reduce(&Speaker::ask, concat).get();
  const auto one = speakers.at(3).mesh().reduce(&Speaker::ask, concat).get();
  const auto here = speakers.call(&Speaker::ask).reduce(concat).get();

  EXPECT_EQ(text_of(all), "((((0 1) (2 3)) (4 5)) (6 7))");
  EXPECT_EQ(text_of(column), "(((1 3) 5) 7)");
  EXPECT_EQ(text_of(one), "3");
  EXPECT_EQ(text_of(here), "(((0 1) (2 3)) ((4 5) (6 7)))");
}

TEST_F(Reductions, FailWithTheFirstErrorByPosition) {
  auto speakers =
      client.spawn<Speaker>(SpawnOptions(client.hosts().each("worker", 2)).restart(Restart::kNever))
          .value();

  const auto refused = speakers.reduce(&Speaker::ask, concat, text("5")).get();
  const auto here = speakers.call(&Speaker::ask, text("5")).reduce(concat).get();
  speakers.at(2).kill();
  settle();
  const auto dead = speakers.reduce(&Speaker::ask, concat, text("5")).get();

  EXPECT_EQ(refused.status(), invalid_argument("not Speaker[5]"));
  EXPECT_EQ(here.status(), invalid_argument("not Speaker[5]"));
  EXPECT_EQ(text_of(dead), "ACTOR_LOST: Speaker[2] is not alive; nothing was handled");
}

TEST_F(Reductions, FailWithWhatTheirCombineThrows) {
  auto speakers = client.spawn<Speaker>(client.hosts()).value();
  const auto wrong = [](Answer::Reader, Answer::Reader, Answer::Builder) {
    throw std::runtime_error("they do not fit");
  };

  const auto there = speakers.reduce(&Speaker::ask, wrong).get();
  const auto here = speakers.call(&Speaker::ask).reduce(wrong).get();

  EXPECT_EQ(text_of(there), "USER_FUNCTION_ERROR: it threw: they do not fit");
  EXPECT_EQ(text_of(here), "USER_FUNCTION_ERROR: it threw: they do not fit");
}

TEST_F(Reductions, TakeNoUnresolvedArguments) {
  auto speakers = client.spawn<Speaker>(client.hosts()).value();
  auto late = speakers.at(0).call(&Speaker::hold);
  auto argument =
      late.then(inline_executor(), [](Result<Reply<Answer>>) { return Message<Ask>(); });

  const auto refused = speakers.reduce(&Speaker::ask, concat, argument).get();

  EXPECT_EQ(text_of(refused),
            "INVALID_ARGUMENT: Ask: a reduction cannot wait for an unresolved argument; call() "
            "can, and reduce() of what it returns");
}

TEST_F(Reductions, EndAtTheirDeadlineAndLeaveNothing) {
  auto speakers = client.spawn<Speaker>(client.hosts()).value();

  const auto late =
      speakers.reduce(&Speaker::hold, concat, CallOptions{.deadline = std::chrono::milliseconds(5)})
          .get();

  EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded);
  static_cast<void>(speakers.call(&Speaker::open).get());
  ASSERT_TRUE(speakers.stop().get().ok());
}

TEST_F(Reductions, ThatAreGivenUpReachTheHandlersOfAllHosts) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(0);
  auto pupils = client.spawn<Pupil>(client.hosts(), gate).value();
  auto first = pupils.reduce(&Pupil::wait, concat, hold("a"));
  auto second = pupils.reduce(&Pupil::wait, concat, hold("b"));
  settle();

  second.cancel();
  settle();
  const std::string with_one = said(pupils.at(3), &Pupil::log);
  first.cancel();
  settle();

  EXPECT_EQ(with_one, "<a");
  for (std::size_t i = 0; i < pupils.size(); ++i) {
    EXPECT_EQ(said(pupils.at(i), &Pupil::log), "<a!a>") << "what was not begun never begins";
  }
  EXPECT_EQ(first.get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(second.get().status().code(), StatusCode::kCancelled);
  for (const app::Silo::Stock& stock : stocks()) EXPECT_EQ(stock.nodes, 0u);
}

using Mailboxes = OnACluster;

TEST_F(Mailboxes, RefuseMoreThanTheirLimitUntilThereIsRoom) {
  auto speakers = client.spawn<Speaker>(client.hosts()).value();
  auto first = speakers.at(1).call(&Speaker::hold);
  ASSERT_TRUE(speakers.at(1).send(&Speaker::hold).ok());
  settle();

  const auto full = speakers.at(1).call(&Speaker::ask).get();
  const auto summed = speakers.reduce(&Speaker::ask, concat).get();
  ASSERT_TRUE(speakers.at(1).send(&Speaker::ask).ok());  // It has not been looked at.
  settle();
  const Status refused = speakers.at(1).send(&Speaker::ask);
  auto again = speakers.at(1).call(&Speaker::ask, CallOptions{.retries = 100});
  first.cancel();  // Still held by its member, and still in its mailbox.
  const auto still = speakers.at(1).call(&Speaker::ask).get();
  speakers.at(1).kill();

  const std::string two = "2 messages from here wait there already (mailbox_max); ";
  EXPECT_EQ(full.status().to_string(),
            "RESOURCE_EXHAUSTED: Ask to Speaker[1]: " + two + "wait for some of them");
  EXPECT_EQ(summed.status().to_string(),
            "RESOURCE_EXHAUSTED: Speaker[1]: 2 messages wait there already (mailbox_max); wait for "
            "some of them");
  EXPECT_EQ(refused.to_string(),
            "RESOURCE_EXHAUSTED: 1 earlier sends were refused, and this one was not made; the "
            "first: Ask to Speaker[1]: " +
                two + "send later, or call");
  EXPECT_EQ(still.status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(again.get().ok()) << again.get().status().to_string();
}

TEST_F(Mailboxes, OfTwoMembersOfOneHostTakeTurns) {
  std::string order;
  struct Turner {
    static void describe(ActorType<Turner>& type) { type.on(&Turner::nothing); }
    Turner(const Self& self, std::string* own) : order(own), name(self.index() == 0 ? 'a' : 'b') {}
    void nothing(Request<Nothing>) { *order += name; }
    std::string* order;
    char name;
  };
  Placement host;
  host.hosts = {2};
  auto turners = client.spawn<Turner>(host.each("worker", 2), &order).value();
  app::Apps& apps = cluster.state()->embedded->apps();
  std::promise<void> go_on;
  apps.silo(app::silo_of_host(2))->wiring().door->post([&] { go_on.get_future().wait(); });

  for (int i = 0; i < 4; ++i) ASSERT_TRUE(turners.at(0).send(&Turner::nothing).ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(turners.at(1).send(&Turner::nothing).ok());
  go_on.set_value();
  settle();

  EXPECT_EQ(order, "abababab");
}

TEST_F(Mailboxes, LetInterleavedHandlersBeginWhileAnotherWaits) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(0);
  auto pupil = client.spawn<Pupil>(client.hosts(), gate).value().at(1);
  auto first = pupil.call(&Pupil::wait, hold("a"));
  settle();
  auto between = pupil.call(&Pupil::ask, text("x"));
  auto second = pupil.call(&Pupil::wait, hold("b"));
  settle();

  EXPECT_TRUE(between.ready());
  while (!second.ready()) static_cast<void>(gate.call(&Gate::open).get());

  EXPECT_EQ(said(pupil, &Pupil::log), "<a?xa><bb>");
  EXPECT_TRUE(first.get().ok());
}

}  // namespace
}  // namespace seaway::app_test
