// Members at the edges of their lives: one that ends as soon as it is made, one whose stream is
// written to from elsewhere, and one that several ask the same thing while it handles it.

#include <algorithm>
#include <optional>

#include "cast.hpp"
#include "transport/pass.hpp"

namespace seaway::app_test {
namespace {

/// Ends at once, but for the one of an odd index.
class Mayfly {
 public:
  static void describe(ActorType<Mayfly>& type) { type.on(&Mayfly::nothing); }
  explicit Mayfly(const Self& self) {
    if (self.index() % 2 == 0) self.stop();
  }
  Status nothing(Request<Nothing>) { return {}; }
};

class Lives : public OnACluster {};

TEST_F(Lives, OfMembersThatStopThemselvesWhenTheyAreMadeEndInPeace) {
  auto mayflies = client.spawn<Mayfly>(client.hosts());
  ASSERT_TRUE(mayflies.ok()) << mayflies.status().to_string();
  const auto all = stocks();

  const auto answers = mayflies->call(&Mayfly::nothing, CallOptions{.retries = 2}).get();

  EXPECT_EQ(all.at(1).members, 0u);
  EXPECT_EQ(all.at(2).members, 1u);
  EXPECT_EQ(answers.at(0).status().code(), StatusCode::kActorLost);
  EXPECT_TRUE(answers.at(1).ok()) << answers.at(1).status().to_string();
  EXPECT_EQ(answers.at(2).status().code(), StatusCode::kActorLost);
  EXPECT_TRUE(mayflies->stop().get().ok());
  EXPECT_TRUE(is_clean());
}

TEST_F(Lives, OfAMeshWhoseMembersAllStopWhenTheyAreMadeLeaveNothingBehind) {
  auto mayfly = client.spawn<Mayfly>(Placement{{{"row", 1}}, {3}});
  ASSERT_TRUE(mayfly.ok()) << mayfly.status().to_string();

  EXPECT_TRUE(is_clean());
  EXPECT_TRUE(mayfly->stop().get().ok());
}

/// Puts the writing end of its stream where another handler finds it.
class Teller {
 public:
  static void describe(ActorType<Teller>& type) {
    type.on(&Teller::scan).on(&Teller::ask, Interleave::kYes);
  }
  explicit Teller(Self self) : self_(std::move(self)) {}

  Task<> scan(Request<Scan>, Writer<Answer> writer) {
    writer_.emplace(std::move(writer));
    static_cast<void>(co_await write("its own"));
    static_cast<void>(co_await self_.sleep(std::chrono::hours(1)));
  }
  Task<Reply<Answer>> ask(Request<Ask>) {
    const std::string outcome = (co_await write("another's")).to_string();
    co_return make<Answer>([&](Answer::Builder m) { m.setText(outcome); });
  }

 private:
  Future<void> write(const char* text) {
    return writer_->write([text](Answer::Builder m) { m.setText(text); });
  }
  Self self_;
  std::optional<Writer<Answer>> writer_;
};

TEST_F(Lives, OfAStreamsWriterAreThoseOfItsOwnHandler) {
  auto teller = client.spawn<Teller>(client.hosts()).value().at(1);
  auto stream = teller.stream(&Teller::scan);
  const auto first = stream.next().get();
  ASSERT_TRUE(first.ok() && first->has_value());
  auto next = stream.next();

  const std::string during = said(teller, &Teller::ask);
  settle();
  EXPECT_FALSE(next.ready());
  stream.cancel();
  settle();
  const std::string afterwards = said(teller, &Teller::ask);

  EXPECT_STREQ((*first)->reply.value()->getText().cStr(), "its own");
  EXPECT_EQ(during, "INVALID_ARGUMENT: a stream is written to in its own handler");
  EXPECT_EQ(afterwards, during);
}

/// Answers when it is opened, with how often it was asked.
class Vault {
 public:
  static void describe(ActorType<Vault>& type) { type.on(&Vault::later).on(&Vault::open); }
  explicit Vault(const Self&) {}

  void later(Request<Hold>, Promise<Answer> promise) {
    ++asked_;
    promises_.push_back(std::move(promise));
  }
  void open(Request<Open>) {
    for (auto& promise : promises_) promise.keep([&](Answer::Builder m) { m.setNumber(asked_); });
    promises_.clear();
  }

 private:
  std::uint32_t asked_ = 0;
  std::vector<Promise<Answer>> promises_;
};

/// Several calls with one request's number: what a caller has sent again before it was answered.
class OneRequestOfMany : public OnACluster {
 protected:
  static constexpr std::uint64_t kRequest = 77;

  void SetUp() override {
    const auto gate = client.spawn<Gate>(client.hosts()).value().at(1);
    for (int i = 0; i < 3; ++i) {
      // The answers go to calls that wait for another actor of that host.
      calls.push_back(gate.call(&Gate::hold));
      settle();
      app::Envelope envelope;
      envelope.kind = app::Kind::kCall;
      envelope.from = app::kHub;
      envelope.tenant = transport::tenant_key(client.options().tenant);
      envelope.member = vault.name();
      envelope.request_type = capnp::typeId<Hold>();
      envelope.reply_type = capnp::typeId<Answer>();
      envelope.is_once = true;
      envelope.request_id = kRequest;
      envelope.call = static_cast<internal::CallState<Answer>&>(*calls.back().state()).call_id;
      envelope.payload = make<Hold>(hold("")).raw();
      std::vector<app::Envelope> batch;
      batch.push_back(std::move(envelope));
      app::Apps& apps = cluster.state()->embedded->apps();
      apps.silo(app::silo_of_host(1))->wiring().door->deliver(batch);
      settle();
    }
  }
  std::size_t ready() const {
    return static_cast<std::size_t>(
        std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call.ready(); }));
  }

  ActorRef<Vault> vault =
      client.spawn<Vault>(SpawnOptions(client.hosts()).restart(Restart::kNever)).value().at(1);
  std::vector<Future<Reply<Answer>>> calls;
};

TEST_F(OneRequestOfMany, IsHandledOnceAndAnsweredToAll) {
  EXPECT_EQ(ready(), 0u);

  ASSERT_TRUE(vault.send(&Vault::open).ok());
  settle();

  ASSERT_EQ(ready(), 3u);
  for (const auto& call : calls) EXPECT_EQ(call.get().value()->getNumber(), 1u);
}

TEST_F(OneRequestOfMany, FailsForAllWhenItsMemberDies) {
  vault.kill(user_function_error("on purpose"));
  settle();

  ASSERT_EQ(ready(), 3u);
  for (const auto& call : calls) {
    EXPECT_EQ(call.get().status().to_string(),
              "ACTOR_LOST: Vault[1] has died: USER_FUNCTION_ERROR: on purpose; Hold was being "
              "handled");
  }
}

}  // namespace
}  // namespace seaway::app_test
