// What a client's process says for the delegates of its actors, and what it refuses to say.

#include "cluster/relay.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "app/envelope_codec.hpp"
#include "client/frames.hpp"
#include "cluster/relay_frames.hpp"
#include "no_wires.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;
using client::Holder;
using client::Said;

/// Client 1 of two islands, whose hosts have one delegate each.
class RelayTest : public testing::Test {
 protected:
  /// Of the tenth life of their controller.
  static constexpr std::uint32_t kLives = 9u << 16;
  static constexpr Holder kOne{1, kLives + 5}, kTwo{2, kLives + 7};
  static constexpr std::uint64_t kWaitMaxNs = 10'000'000'000;
  static constexpr std::size_t kWaitingMax = 100;

  RelayTest() {
    router_.set_elsewhere([this](Role role, std::uint32_t, const Frame& frame, transport::Lane) {
      if (role == Role::kController) said_.push_back(frame);
    });
    client::Wiring wiring;
    wiring.engine = engine_.get();
    wiring.router = &router_;
    wiring.bulk = &bulk_;
    wiring.client = 1;
    wiring.is_process = true;
    wiring.keeper = &relay_;
    session_ = client::make_session(std::move(wiring), {});
    relay_.use(session_);
    for (const Holder& one : {kOne, kTwo}) {
      actors_.on_news({{Role::kHost, one.silo - 1}, one.life, false, ""});
    }
    settle();
  }
  ~RelayTest() override {
    session_->close();
    settle();
  }

  /// All that happens within a millisecond.
  void settle() { pass(1'000'000); }
  void pass(std::uint64_t time_ns) {
    bool is_over = false;
    engine_->schedule(engine_->now_ns() + time_ns, [&is_over] { is_over = true; });
    while (!is_over) engine_->step();
  }

  static client::DelegateName name_of(const Holder& holder) {
    return client::delegate_name(holder.silo - 1, holder.life);
  }
  static std::uint64_t id_of(const Holder& holder, std::uint64_t number) {
    return make_id(1, client::first_sequence_of(name_of(holder)) + number);
  }
  /// A run with one output, which is the next id.
  static DelegateWords run_words(const Holder& by, std::uint64_t words, std::uint64_t id) {
    DelegateWords out;
    out.number = words;
    out.made = {{id_of(by, id), id_of(by, id + 1), 1}};
    out.frame =
        records({{.id = id_of(by, id), .object = make_id(1, 9), .first = id_of(by, id + 1)}});
    return out;
  }
  /// What the client has of an array that `run` of `by` makes.
  Array imported(const Holder& by, std::uint64_t array, std::uint64_t run) {
    client::TravellingArray from;
    from.client = 1;
    from.id = id_of(by, array);
    from.run = id_of(by, run);
    from.spec.type = {DType::kF32, {4}};
    from.spec.sharding = NamedSharding(Mesh(make_id(1, 999), {{"x", 1}}), P());
    from.maker = {by, 1};
    return session_->import_array(from);
  }
  /// An array that host 0 gives the client, and that the second delegate has made.
  static GivenArray given() {
    GivenArray given;
    given.array.client = 1;
    given.array.id = id_of(kTwo, 1);
    given.array.run = id_of(kTwo, 0);
    given.array.spec = {{DType::kF32, {1}}, NamedSharding(Mesh(9, {{"x", 1}}), P())};
    given.array.maker = {kTwo, 2};
    given.from = kOne;
    given.number = 1;
    return given;
  }
  static Frame records(const std::vector<Said>& said) { return client::frames::runs(1, said, {}); }
  Status hear(const Holder& by, const DelegateWords& words) {
    const Status status = relay_.on_words(by.silo, to_frame(words));
    settle();
    return status;
  }
  /// All that was said to the controller since, in its order.
  std::vector<Said> said() {
    std::vector<Said> all;
    for (const Frame& frame : std::exchange(said_, {})) {
      const auto records = read_records(frame);
      if (records) all.insert(all.end(), records->said.begin(), records->said.end());
    }
    return all;
  }

  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1);
  NoWires wires_;
  Peers peers_{*engine_, wires_, PeersOptions(),
               [](const RoleName&, const RoleName&, const Frame&) {}, [](const PeerNews&) {}};
  Actors actors_{
      *engine_, peers_, {.name = {Role::kClient, 1}, .shape = 2, .waiting_max = kWaitingMax}};
  actor::Router router_;
  transport::LocalBulk bulk_;
  RelayOptions options_{
      .shape = 2, .client = 1, .life = kLives + 1, .words_max = 4, .wait_max_ns = kWaitMaxNs};
  Relay relay_{*engine_, peers_, actors_, router_, options_};
  std::shared_ptr<client::Session> session_;
  std::vector<Frame> said_;
};

TEST_F(RelayTest, GivesRunsOfDelegatesRisingIdsAndTheirOwnBackWithTheOutcome) {
  ASSERT_EQ(hear(kTwo, run_words(kTwo, 1, 0)), Status());
  ASSERT_EQ(hear(kOne, run_words(kOne, 1, 0)), Status());

  const auto runs = said();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_LT(runs[0].id, runs[1].id);
  EXPECT_FALSE(is_of_delegate(runs[1].id));
  EXPECT_EQ(runs[0].first, id_of(kTwo, 1));
  EXPECT_EQ(runs[1].first, id_of(kOne, 1));
  // The client itself has nothing of it to hear.
  EXPECT_FALSE(relay_.hand_on(resolved_frame(1, {{runs[0].id, {}}, {runs[1].id, {}}})));
  EXPECT_TRUE(relay_.hand_on(resolved_frame(1, {{runs[0].id, {}}})));
  EXPECT_EQ(relay_.stock(), (Relay::Stock{.arrays = 2, .outcomes = 2}));
}

TEST_F(RelayTest, HoldsBackWhatNamesAnArrayOfWhichItHasNotHeard) {
  DelegateWords early = run_words(kTwo, 1, 0);
  early.imports = {{id_of(kOne, 1), kOne, 1, {kOne, 2}}};
  ASSERT_EQ(hear(kTwo, early), Status());
  ASSERT_EQ(hear(kOne, run_words(kOne, 1, 2)), Status());
  EXPECT_EQ(said().size(), 1u);
  EXPECT_EQ(relay_.stock().words, 1u);

  ASSERT_EQ(hear(kOne, run_words(kOne, 2, 0)), Status());

  const auto runs = said();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].first, id_of(kOne, 1));
  EXPECT_EQ(runs[1].first, id_of(kTwo, 1));
}

TEST_F(RelayTest, EndsADelegateThatWaitsForAnArrayForTooLong) {
  DelegateWords early = run_words(kTwo, 1, 0);
  early.imports = {{id_of(kOne, 1), kOne, 1, {kOne, 2}}};
  ASSERT_EQ(hear(kTwo, early), Status());
  pass(kWaitMaxNs - 2'000'000);
  EXPECT_EQ(relay_.stock().words, 1u);

  pass(2'000'000);

  EXPECT_EQ(relay_.stock().words, 0u);
  ASSERT_EQ(hear(kTwo, run_words(kTwo, 2, 2)), Status());
  EXPECT_TRUE(said().empty());
  ASSERT_EQ(hear(kOne, run_words(kOne, 1, 0)), Status());
  EXPECT_EQ(said().size(), 1u);
}

TEST_F(RelayTest, RefusesAnArrayOfAnotherMakerThanItsIdSays) {
  DelegateWords words = run_words(kTwo, 1, 0);
  words.imports = {{id_of(kOne, 1), kOne, 1, {kTwo, 2}}};

  EXPECT_EQ(hear(kTwo, words).code(), StatusCode::kProtocolError);
}

TEST_F(RelayTest, WaitsForNobodyWhoIsLost) {
  DelegateWords early = run_words(kTwo, 1, 0);
  early.imports = {{id_of(kOne, 1), kOne, 1, {kOne, 2}}};
  ASSERT_EQ(hear(kTwo, early), Status());
  EXPECT_TRUE(said().empty());

  relay_.on_gone(kOne.silo, kOne.life);
  settle();

  EXPECT_EQ(said().size(), 1u);
}

TEST_F(RelayTest, GivesUpWhatWasPutAndIsLostWithItsDelegate) {
  DelegateWords put;
  put.number = 1;
  put.made = {{id_of(kOne, 0), id_of(kOne, 0), 1}, {id_of(kOne, 1), id_of(kOne, 1), 1}};
  put.frame = records({{.kind = Said::Kind::kPut, .id = id_of(kOne, 0), .object = make_id(1, 9)},
                       {.kind = Said::Kind::kPut, .id = id_of(kOne, 1), .object = make_id(1, 9)}});
  ASSERT_EQ(hear(kOne, put), Status());
  EXPECT_EQ(said().size(), 2u);
  // Runs may wait for one that nobody holds any more.
  DelegateWords dropped;
  dropped.number = 2;
  dropped.drops = {id_of(kOne, 1)};
  ASSERT_EQ(hear(kOne, dropped), Status());
  said();

  relay_.on_silo_lost(kOne.silo, kOne.life);
  settle();

  const Status why = seaway::cancelled("its delegate was lost");
  std::vector<std::uint64_t> cancelled;
  for (const Said& one : said()) {
    if (one.kind == Said::Kind::kCancel) cancelled.push_back(one.id);
  }
  EXPECT_EQ(cancelled, (std::vector<std::uint64_t>{id_of(kOne, 0), id_of(kOne, 1)}));
  // The outcomes are heard though nobody speaks any more.
  EXPECT_FALSE(relay_.hand_on(resolved_frame(1, {{cancelled[0], why}, {cancelled[1], why}})));
  DelegateWords settled;
  settled.gone = {kOne};
  ASSERT_EQ(hear(kTwo, settled), Status());
  EXPECT_EQ(relay_.stock(), Relay::Stock()) << to_string(relay_.stock());
}

TEST_F(RelayTest, WhatALostDelegateHadNotBegunHasAnOutcome) {
  // What it makes it says ahead of the records that make it: of the first two these are lost.
  DelegateWords made;
  made.number = 1;
  made.made = {{id_of(kOne, 0), id_of(kOne, 1), 1}, {id_of(kOne, 2), id_of(kOne, 2), 1}};
  ASSERT_EQ(hear(kOne, made), Status());
  ASSERT_EQ(hear(kOne, run_words(kOne, 2, 4)), Status());
  const auto run = imported(kOne, 1, 0), put = imported(kOne, 2, 2), begun = imported(kOne, 5, 4);
  auto run_made = run.ready(), put_made = put.ready(), begun_made = begun.ready();
  settle();
  EXPECT_FALSE(run_made.ready() || put_made.ready() || begun_made.ready());
  said();

  relay_.on_silo_lost(kOne.silo, kOne.life);
  settle();

  ASSERT_TRUE(run_made.ready() && put_made.ready());
  EXPECT_EQ(run_made.get().status().code(), StatusCode::kInputLost);
  EXPECT_EQ(put_made.get().status().code(), StatusCode::kInputLost);
  // The controller has the third one, and tells its outcome; it has not heard of the upload.
  EXPECT_FALSE(begun_made.ready());
  for (const Said& one : said()) EXPECT_NE(one.kind, Said::Kind::kCancel);
}

TEST_F(RelayTest, EndsADelegateOfWhichTooMuchWaits) {
  for (std::uint64_t words = 1; words <= 5; ++words) {
    DelegateWords early = run_words(kTwo, words, 2 * words);
    early.imports = {{id_of(kOne, 1), kOne, words, {kOne, 2}}};
    ASSERT_EQ(hear(kTwo, early), Status());
  }

  EXPECT_EQ(relay_.stock().words, 0u);
  ASSERT_EQ(hear(kTwo, run_words(kTwo, 6, 20)), Status());
  EXPECT_TRUE(said().empty());
}

/// A message of host 0's for a call that nobody waits for.
class Messages final : public app::ArrayTravel {
 public:
  explicit Messages(GivenArray given) : given_(std::move(given)) {}

  Frame next(bool has_array, std::uint64_t now_ns) {
    app::Envelope envelope;
    envelope.kind = app::Kind::kReply;
    envelope.call = 1;
    // A message in which nothing was set.
    envelope.payload.frame = Frame::make(2, [](auto words) {
      words[0] = std::uint64_t{1} << 32;
      words[1] = 0;
    });
    if (has_array) {
      auto beside = std::make_shared<Attachments>();
      beside->push_back(Array());
      envelope.payload.attachments = std::move(beside);
    }
    return app::encode_batch(1, std::span(&envelope, 1), now_ns, {nullptr, nullptr, this});
  }

 private:
  Status check(const Array&) override { return {}; }
  Frame give(const Array&) override { return to_frame(given_); }
  Result<Array> take(const Frame&, app::SiloId) override { return Array(); }

  const GivenArray given_;
};

TEST_F(RelayTest, NoMoreMessagesWaitForAnArrayThanTheLimits) {
  actors_.use(relay_);
  GivenArray given = RelayTest::given();
  Messages messages(given);
  const auto come = [&](bool has_array) {
    actors_.on_frame(actors_.process_of_silo(1), actors_.self(), messages.next(has_array, 0));
    settle();
  };
  come(true);
  ASSERT_TRUE(relay_.is_early());
  given.number = 2;
  const Array array = relay_.take(to_frame(given), 1).value();

  for (std::size_t i = 0; i < kWaitingMax; ++i) come(false);
  EXPECT_TRUE(relay_.is_early());
  EXPECT_EQ(actors_.waiting(), kWaitingMax);
  come(false);

  EXPECT_FALSE(relay_.is_early());
  EXPECT_EQ(actors_.waiting(), 0u);
  const auto outcome = array.ready();
  settle();
  ASSERT_TRUE(outcome.ready());
  EXPECT_EQ(outcome.get().status().code(), StatusCode::kInputLost);
  // Whoever was waited for has ended, and what it says comes too late.
  ASSERT_EQ(hear(kTwo, run_words(kTwo, 1, 0)), Status());
  EXPECT_TRUE(said().empty());
}

TEST_F(RelayTest, NoMessageWaitsForAnArrayForEver) {
  actors_.use(relay_);
  Messages messages(given());
  actors_.on_frame(actors_.process_of_silo(1), actors_.self(), messages.next(true, 0));
  pass(kWaitMaxNs - 2'000'000);
  EXPECT_TRUE(relay_.is_early());

  pass(2'000'000);

  EXPECT_FALSE(relay_.is_early());
  EXPECT_EQ(actors_.waiting(), 0u);
}

TEST_F(RelayTest, RefusesAGivenArrayOfAnotherMakerThanItsIdSays) {
  GivenArray wrong = given();
  wrong.array.maker = {kOne, 2};

  EXPECT_EQ(relay_.take(to_frame(wrong), 1).status().code(), StatusCode::kProtocolError);
  EXPECT_FALSE(relay_.is_early());
}

TEST_F(RelayTest, ReleasesWhatNobodyHoldsBehindAllThatNamesIt) {
  ASSERT_EQ(hear(kOne, run_words(kOne, 1, 0)), Status());
  DelegateWords given;
  given.number = 2;
  given.grants = {{id_of(kOne, 1), kTwo, 1}};
  given.drops = {id_of(kOne, 1)};
  ASSERT_EQ(hear(kOne, given), Status());
  EXPECT_EQ(said().size(), 1u);

  DelegateWords used = run_words(kTwo, 1, 0);
  used.imports = {{id_of(kOne, 1), kOne, 1, {kOne, 1}}};
  used.drops = {id_of(kOne, 1), id_of(kTwo, 1)};
  ASSERT_EQ(hear(kTwo, used), Status());

  const auto last = said();
  ASSERT_EQ(last.size(), 1u);  // Releases are not read, but they have left:
  EXPECT_EQ(relay_.stock().arrays, 0u);
  EXPECT_EQ(relay_.stock().outcomes, 0u);
}

TEST_F(RelayTest, SaysNothingForADelegateThatIsNotItsOwn) {
  const auto refused = [this](std::uint64_t number, Frame frame) {
    DelegateWords words;
    words.number = number;
    words.frame = std::move(frame);
    return hear(kOne, words).code();
  };
  const StatusCode protocol = StatusCode::kProtocolError;

  EXPECT_EQ(refused(1, records({{.id = id_of(kTwo, 0), .first = id_of(kTwo, 1)}})), protocol);
  EXPECT_EQ(refused(2, records({{.id = make_id(1, 3), .first = make_id(1, 4)}})), protocol);
  EXPECT_EQ(refused(3, records({{.kind = Said::Kind::kRelease, .id = id_of(kOne, 0)}})), protocol);
  EXPECT_EQ(refused(4, records({{.kind = Said::Kind::kFetch, .id = id_of(kOne, 0), .object = 1}})),
            protocol);
  EXPECT_EQ(refused(5, records({{.kind = Said::Kind::kPut, .id = make_id(2, 1)}})), protocol);
  EXPECT_EQ(refused(6, client::frames::hello(1, 1, {})), protocol);
  EXPECT_EQ(refused(7, client::frames::goodbye(1)), protocol);
  EXPECT_EQ(refused(8, client::frames::why(1, 1, 0)), protocol);
  EXPECT_EQ(refused(9, client::frames::stats(2, client::first_request_of(name_of(kOne)))),
            protocol);
  const auto foreign = [](const auto& by, std::uint64_t id) {
    program::FunctionInfo info;
    info.id = id;
    return client::frames::define_foreign(1, client::first_request_of(by), info, {});
  };
  EXPECT_EQ(refused(10, foreign(name_of(kOne), id_of(kTwo, 3))), protocol);
  EXPECT_EQ(refused(11, foreign(name_of(kTwo), id_of(kOne, 3))), protocol);
  DelegateWords made = run_words(kTwo, 12, 0);
  EXPECT_EQ(hear(kOne, made).code(), protocol);
  EXPECT_TRUE(said_.empty());
  EXPECT_EQ(hear(kOne, run_words(kOne, 13, 0)), Status());
  EXPECT_EQ(said().size(), 1u);
  EXPECT_EQ(hear(kOne, run_words(kOne, 77, 2)).code(), protocol);
  EXPECT_EQ(relay_.on_words(kOne.silo, Frame::make(1, [](auto words) { words[0] = ~0ull; })).code(),
            protocol);
  EXPECT_EQ(relay_.on_payload(kOne.silo, 2, records({})).code(), protocol);
  EXPECT_EQ(relay_.on_payload(kOne.silo, 1, records({})).code(), protocol);
  EXPECT_TRUE(said_.empty());
}

TEST_F(RelayTest, WordsComeBackAsTheyWereWritten) {
  DelegateWords words = run_words(kOne, 3, 0);
  words.imports = {{1, kOne, 2, {kTwo, 4}}};
  words.grants = {{5, kTwo, 6}};
  words.drops = {7, 8};
  words.asks = {{9, 10, 11}};
  words.wants_ids = true;
  words.gone = {kTwo};
  ClientWords answer;
  answer.lease = 12;
  answer.outcomes = {{13, not_found("nobody")}};
  answer.are_gone = {kOne};
  answer.end = cancelled("over");

  const auto read = read_delegate_words(to_frame(words)).value();
  const auto back = read_client_words(to_frame(answer)).value();

  EXPECT_EQ(read.imports.at(0).maker.holder, kTwo);
  EXPECT_EQ(read.imports.at(0).maker.said, 4u);
  EXPECT_EQ(read.grants.at(0).number, 6u);
  EXPECT_EQ(read.drops, words.drops);
  EXPECT_EQ(read.asks.at(0).array, 11u);
  EXPECT_TRUE(read.wants_ids);
  EXPECT_EQ(read.gone, words.gone);
  EXPECT_EQ(back.lease, 12u);
  EXPECT_EQ(back.outcomes.at(0).status, answer.outcomes[0].status);
  EXPECT_EQ(back.are_gone, answer.are_gone);
  EXPECT_EQ(back.end, answer.end);
}

}  // namespace
}  // namespace seaway::cluster
