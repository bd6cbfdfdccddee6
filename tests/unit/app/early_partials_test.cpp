// A network that lets what a child of a reduction has made come before the word that there is
// anything to reduce, and an argument before the call that waits for it; and silos that send what
// they like.

#include <algorithm>
#include <string>

#include "actor/seeded_engine.hpp"
#include "app/apps.hpp"
#include "cast.hpp"

namespace seaway::app_test {
namespace {

constexpr std::uint32_t kHosts = 12;  // Two levels below the root of the tree.
constexpr std::uint64_t kSeeds = 40;

/// Silos of so many hosts on a network that is slow for some and fast for others.
struct SlowWorld {
  explicit SlowWorld(std::uint64_t seed)
      : engine(actor::make_seeded_engine(seed)),
        apps({.hosts = kHosts,
              .client_of = {},
              .tuning = {.seed = seed,
                         .limits = {},
                         .choose = {},
                         .network =
                             [this, seed](std::uint32_t silos) {
                               network = std::make_unique<app::SimulatedNetwork>(
                                   *engine, silos, app::SimulatedNetwork::Options{.seed = seed});
                               return network.get();
                             }}},
             {engine.get()}),
        client(apps.open(1)) {}
  ~SlowWorld() {
    apps.detach();
    engine->stop();
    engine.reset();
  }

  template <class A>
  ActorMesh<A> spawn() {
    Placement places{{{"host", kHosts}}, {}};
    for (std::uint32_t host = 0; host < kHosts; ++host) places.hosts.push_back(host);
    const auto order =
        SpawnOptions(places).order(internal::actor_type<A>(), internal::factory_of<A>());
    return internal::whole_mesh<A>(client, client->spawn(order).get().value());
  }
  void settle() { engine->run_until_idle(1'000'000); }
  std::size_t nodes() {
    std::size_t count = 0;
    for (app::SiloId id = 0; id <= kHosts; ++id) count += apps.silo(id)->stock().nodes;
    return count;
  }

  std::unique_ptr<actor::SeededEngine> engine;
  std::unique_ptr<app::SimulatedNetwork> network;
  app::Apps apps;
  std::shared_ptr<app::ClientCaller> client;
};

/// Says which one it is.
class Speaker {
 public:
  static void describe(ActorType<Speaker>& type) { type.on(&Speaker::ask); }
  explicit Speaker(Self self) : self_(std::move(self)) {}
  Result<Reply<Answer>> ask(Request<Ask> request) {
    if (request->getNumber() == self_.index() + 1) return invalid_argument("not " + self_.name());
    return make<Answer>([&](Answer::Builder m) { m.setText(std::to_string(self_.index())); });
  }

 private:
  Self self_;
};

/// All words, sorted: which comes first depends on the tree alone, and another test looks at that.
std::string words_of(const Result<Reply<Answer>>& answer) {
  if (!answer.ok()) return answer.status().to_string();
  std::vector<int> words;
  std::string text = answer.value()->getText().cStr();
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(' ', begin), text.size());
    words.push_back(std::stoi(text.substr(begin, end - begin)));
  }
  std::sort(words.begin(), words.end());
  std::string sorted;
  for (const int word : words) sorted += (sorted.empty() ? "" : " ") + std::to_string(word);
  return sorted;
}

const auto join = [](Answer::Reader left, Answer::Reader right, Answer::Builder out) {
  out.setText(std::string(left.getText().cStr()) + " " + right.getText().cStr());
};

TEST(EarlyPartials, AreNotForgottenAndNotCountedTwice) {
  std::string grouping;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SlowWorld world(seed);
    const auto speakers = world.spawn<Speaker>();

    const auto all = speakers.reduce(&Speaker::ask, join).get();
    world.settle();

    ASSERT_EQ(words_of(all), "0 1 2 3 4 5 6 7 8 9 10 11") << "seed " << seed;
    // Whoever was first: the grouping is the same.
    const std::string text = all.value()->getText().cStr();
    if (grouping.empty()) grouping = text;
    ASSERT_EQ(text, grouping) << "seed " << seed;
    ASSERT_EQ(world.nodes(), 0u) << "seed " << seed;
  }
}

TEST(EarlyPartials, ThatAreErrorsFailTheReduction) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SlowWorld world(seed);
    const auto speakers = world.spawn<Speaker>();
    // The last one is two levels below the root.
    const auto but_last = [](Ask::Builder m) { m.setNumber(kHosts); };

    const auto all = speakers.reduce(&Speaker::ask, join, but_last).get();
    world.settle();

    ASSERT_EQ(all.status().to_string(), "INVALID_ARGUMENT: not Speaker[11]") << "seed " << seed;
    ASSERT_EQ(world.nodes(), 0u) << "seed " << seed;
  }
}

/// Another silo may send anything: here the same argument twice.
TEST(EarlyArguments, ThatComeTwiceAreKeptOnce) {
  SlowWorld world(1);
  const auto speakers = world.spawn<Speaker>();
  world.settle();
  std::vector<app::Envelope> batch(2);
  for (app::Envelope& argument : batch) {
    argument.kind = app::Kind::kArgument;
    argument.from = 1;
    argument.call = (std::uint64_t{1} << 32) + 7;
    argument.status = cancelled("it has none");
  }

  world.network->end_of(1).send(1, 2, batch);
  const auto waiting = [&world] { return world.apps.silo(2)->stock().deliveries; };
  while (waiting() == 0 && world.engine->step()) {
  }

  EXPECT_EQ(waiting(), 1u);
  world.settle();
  EXPECT_EQ(waiting(), 0u);
}

/// Calls that clients send which are silos of their own, as in a cluster of processes.
struct ForeignCalls {
  static constexpr app::SiloId kTarget = 1;

  app::Envelope ask(app::SiloId from, std::uint64_t call, bool awaits_argument) const {
    app::Envelope envelope;
    envelope.kind = app::Kind::kCall;
    envelope.from = from;
    envelope.member = {speakers.members().mesh->id, 0};
    envelope.tenant = speakers.members().mesh->tenant;
    envelope.call = call;
    envelope.request_type = capnp::typeId<Ask>();
    envelope.reply_type = capnp::typeId<Answer>();
    envelope.payload = make<Ask>([](Ask::Builder) {}).raw();
    envelope.awaits_argument = awaits_argument;
    return envelope;
  }
  void send(app::Envelope envelope) {
    std::vector<app::Envelope> batch;
    const app::SiloId from = envelope.from;
    batch.push_back(std::move(envelope));
    world.network->end_of(from).send(from, kTarget, batch);
    // Arguments that never come are given up later.
    const std::uint64_t end_ns = world.engine->now_ns() + 1'000'000'000;
    while (world.engine->now_ns() < end_ns && world.engine->step()) {
    }
  }
  std::size_t waiting() { return world.apps.silo(kTarget)->stock().deliveries; }

  SlowWorld world{1};
  ActorMesh<Speaker> speakers = world.spawn<Speaker>();
};

/// Takes few at a time.
class Narrow {
 public:
  static constexpr std::uint32_t kMailbox = 3;
  static inline std::uint64_t handled = 0;
  static void describe(ActorType<Narrow>& type) { type.on(&Narrow::ask).mailbox_max(kMailbox); }
  explicit Narrow(const Self&) {}
  Result<Reply<Answer>> ask(Request<Ask>) {
    ++handled;
    return make<Answer>([](Answer::Builder m) { m.setText("here"); });
  }
};

TEST(Cancels, ThatMeetTheAnswerOnItsWayGiveThePlaceInTheMailboxBack) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SlowWorld world(seed);
    const auto narrow = world.spawn<Narrow>();
    world.settle();
    for (std::uint32_t i = 0; i < 2 * Narrow::kMailbox; ++i) {
      auto call = narrow.at(0).call(&Narrow::ask, [](Ask::Builder) {});
      const std::uint64_t before = Narrow::handled;
      while (Narrow::handled == before && world.engine->step()) {
      }
      ASSERT_FALSE(call.ready()) << "the answer is on its way";
      call.cancel();
      world.settle();
    }

    const auto last = narrow.at(0).call(&Narrow::ask, [](Ask::Builder) {});
    world.settle();

    ASSERT_TRUE(last.ready());
    ASSERT_TRUE(last.get().ok()) << last.get().status().to_string();
  }
}

constexpr std::uint64_t kFirstUse = std::uint64_t{1} << 32, kSecondUse = std::uint64_t{2} << 32;

TEST(CallsOfClients, DoNotWaitBehindAnArgumentOfAnotherOne) {
  ForeignCalls calls;

  calls.send(calls.ask(2, kFirstUse, true));
  calls.send(calls.ask(3, kFirstUse, false));

  EXPECT_EQ(calls.waiting(), 1u);
}

TEST(CallsOfClients, ThatComeAgainFromOnePlaceEndWhatWasAskedFromThere) {
  ForeignCalls calls;

  calls.send(calls.ask(2, kFirstUse, true));
  calls.send(calls.ask(2, kSecondUse, true));
  calls.send(calls.ask(2, kSecondUse, false));

  EXPECT_EQ(calls.waiting(), 0u);
}

}  // namespace
}  // namespace seaway::app_test
