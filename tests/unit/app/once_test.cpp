// Requests with an id, and snapshots: what was answered is remembered, and counted once.

#include "cast.hpp"
#include "transport/pass.hpp"

namespace seaway::app_test {
namespace {

/// Counts, and remembers it across its deaths.
class Ledger {
 public:
  static void describe(ActorType<Ledger>& type) {
    type.on(&Ledger::add).on(&Ledger::ask).on(&Ledger::later).on(&Ledger::open);
    type.snapshot(&Ledger::save, &Ledger::restore);
  }
  explicit Ledger(Self self) : self_(std::move(self)) {}

  Reply<Total> add(Request<Add> request) {
    total_ += request->getAmount();
    return save();
  }
  /// "throw", or what is wrong with its snapshots from now on.
  Reply<Answer> ask(Request<Ask> request) {
    wrong_ = request->getText().cStr();
    if (wrong_ == "throw") throw std::runtime_error("asked to");
    return {};
  }
  void later(Request<Hold>, Promise<Total> promise) { promises_.push_back(std::move(promise)); }
  void open(Request<Open>) {
    ++total_;
    for (auto& promise : promises_) promise.keep(save());
    promises_.clear();
  }

 private:
  Message<Total> save() const {
    if (wrong_ == "save") throw std::runtime_error("it cannot be saved");
    return make<Total>([this](Total::Builder m) {
      m.setTotal(total_);
      m.setName(self_.name());
    });
  }
  Status restore(Message<Total> saved) {
    total_ = saved->getTotal();
    return {};
  }
  Self self_;
  std::int64_t total_ = 0;
  std::string wrong_;
  std::vector<Promise<Total>> promises_;
};

/// A member that is killed again and again, and is not given up.
class Once : public OnACluster {
 protected:
  static SpawnOptions restarted(Placement placement) {
    return SpawnOptions(std::move(placement)).intensity({.restarts_max = 1000});
  }
  ActorRef<Ledger> ledger = client.spawn<Ledger>(restarted(client.hosts())).value().at(1);
};

TEST_F(Once, WhatWasAnsweredIsNeverForgotten) {
  ASSERT_EQ(ledger.call(&Ledger::add, amount(5)).get().value()->getTotal(), 5);

  ledger.kill();

  EXPECT_EQ(ledger.call(&Ledger::add, CallOptions{.retries = 8}).get().value()->getTotal(), 5);
}

TEST_F(Once, CallsAreCountedOnceThoughTheirMemberIsKilledAgainAndAgain) {
  constexpr int kCalls = 200;
  std::vector<Future<Reply<Total>>> calls;

  for (int i = 0; i < kCalls; ++i) {
    calls.push_back(ledger.call(&Ledger::add, amount(1), CallOptions{.retries = 50, .once = true}));
    if (i % 10 == 0) ledger.kill();
  }

  for (auto& call : calls) ASSERT_TRUE(call.get().ok()) << call.get().status().to_string();
  EXPECT_EQ(ledger.call(&Ledger::add, CallOptions{.retries = 8}).get().value()->getTotal(), kCalls);
}

TEST_F(Once, OneCallAtATimeIsCountedOnceToo) {
  for (int i = 1; i <= 20; ++i) {
    auto call = ledger.call(&Ledger::add, amount(1), CallOptions{.retries = 50, .once = true});
    ledger.kill();
    ASSERT_EQ(call.get().value()->getTotal(), i);
  }
}

TEST_F(Once, ASnapshotThatThrowsKillsItsMember) {
  std::vector<std::string> deaths;
  ledger.on_death(inline_executor(),
                  [&](const Death& death) { deaths.push_back(to_string(death)); });
  ASSERT_TRUE(ledger.call(&Ledger::add, amount(5)).get().ok());

  const auto unsaved = ledger.call(&Ledger::ask, text("save")).get();
  settle();

  EXPECT_EQ(unsaved.status().to_string(),
            "ACTOR_LOST: Ledger[1] has died: USER_FUNCTION_ERROR: it threw: it cannot be saved "
            "before its answer was safe");
  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_EQ(ledger.call(&Ledger::add, CallOptions{.retries = 8}).get().value()->getTotal(), 5);
}

TEST_F(Once, WhatNeverReachedAHandlerIsAnsweredWithoutASnapshot) {
  internal::RawMessage raw;
  auto source = ledger.call(&Ledger::later);
  auto failed = client.spawn<Counter>(client.hosts())
                    .value()
                    .at(0)
                    .call(&Counter::total, [](Total::Builder m) { m.setTotal(-1); });

  const auto lost =
      ledger.call(&Ledger::add, failed.then(inline_executor(), [](Result<Reply<Total>> total) {
        return Result<Message<Add>>(total.status());
      }));

  EXPECT_EQ(lost.get(std::chrono::seconds(20)).status().code(), StatusCode::kInputLost);
  static_cast<void>(ledger.call(&Ledger::open).get());
  EXPECT_EQ(source.get().value()->getTotal(), 1);
}

/// Hands envelopes to a silo as another one would, and sees what comes back.
class OnceRepeated : public Once {
 protected:
  /// The same request each time, with another amount. Its answer goes to `asked`, a call that waits
  /// for another actor of that host.
  Result<std::int64_t> repeat(std::int64_t add) {
    auto asked = gate.call(&Gate::hold);
    settle();
    app::Envelope envelope;
    envelope.kind = app::Kind::kCall;
    envelope.from = app::kHub;
    envelope.tenant = transport::tenant_key(client.options().tenant);
    envelope.member = ledger.name();
    envelope.request_type = capnp::typeId<Add>();
    envelope.reply_type = capnp::typeId<Total>();
    envelope.is_once = true;
    envelope.request_id = 77;
    envelope.call = static_cast<internal::CallState<Answer>&>(*asked.state()).call_id;
    envelope.payload = make<Add>(amount(add)).raw();
    std::vector<app::Envelope> batch;
    batch.push_back(std::move(envelope));
    cluster.state()->embedded->apps().silo(app::silo_of_host(1))->wiring().door->deliver(batch);
    settle();
    if (!asked.ready()) return deadline_exceeded("nothing was answered");
    const auto answer = asked.get();
    if (!answer.ok()) return answer.status();
    return Reply<Total>(answer.value().raw())->getTotal();
  }
  std::int64_t total() {
    return ledger.call(&Ledger::add, CallOptions{.retries = 8}).get().value()->getTotal();
  }

  ActorRef<Gate> gate = client.spawn<Gate>(client.hosts()).value().at(1);
};

TEST_F(OnceRepeated, ARequestIsAnsweredAsBeforeAndOnlyWhenThatIsSafe) {
  EXPECT_EQ(repeat(5).value(), 5);

  EXPECT_EQ(repeat(5).value(), 5);  // Though nothing was handled in between.

  EXPECT_EQ(total(), 5);
}

TEST_F(OnceRepeated, ARequestIsAnsweredAsBeforeBehindEachOfSeveralRestarts) {
  EXPECT_EQ(repeat(5).value(), 5);

  for (int restart = 0; restart < 3; ++restart) {
    ledger.kill();
    EXPECT_EQ(total(), 5);  // A handled message takes another snapshot.
    EXPECT_EQ(repeat(5).value(), 5) << "behind restart " << restart;
  }

  EXPECT_EQ(total(), 5);
}

struct Never {
  static void describe(ActorType<Never>& type) {
    type.on(&Never::nothing).snapshot(&Never::save, &Never::restore, 0);
  }
  explicit Never(const Self&) {}
  void nothing(Request<Nothing>) {}
  Message<Total> save() const { return {}; }
  Status restore(Message<Total>) { return {}; }
};

TEST_F(Once, SnapshotsAfterNoMessagesAreRefused) {
  EXPECT_EQ(client.spawn<Never>(client.hosts()).status().to_string(),
            "INVALID_ARGUMENT: Never: a snapshot after every 0 messages; say 1, or more");
}

}  // namespace
}  // namespace seaway::app_test
