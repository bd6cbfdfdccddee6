// The network of simulated hosts: what arrives, when, in which order, and what is lost with a host.

#include "app/simulated_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actor/seeded_engine.hpp"

namespace seaway::app {
namespace {

constexpr std::uint64_t kMinNs = 1'000, kMaxNs = 50'000;
constexpr std::uint32_t kSilos = 4;
constexpr std::uint64_t kSeeds = 50;

/// A message as it came.
struct Arrival {
  SiloId from = 0;
  std::uint64_t number = 0;
  std::uint64_t at_ns = 0;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

/// Writes down what comes for one life of one silo.
class Listener final : public actor::Actor {
 public:
  Listener(std::shared_ptr<Door> door, const actor::Engine& engine, std::vector<Arrival>& arrivals)
      : door_(std::move(door)), engine_(engine), arrivals_(arrivals) {}
  void receive(const Frame&) override {
    Door::Content content;
    door_->take(content);
    for (const Envelope& envelope : content.envelopes) {
      arrivals_.push_back({envelope.from, envelope.number, engine_.clock().now_ns()});
    }
  }

 private:
  const std::shared_ptr<Door> door_;
  const actor::Engine& engine_;
  std::vector<Arrival>& arrivals_;
};

/// A network whose silos only listen. Time passes only where nothing else can happen.
struct World {
  explicit World(std::uint64_t seed, transport::WireFaults faults = {})
      : engine(actor::make_seeded_engine(seed)),
        network(
            *engine, kSilos,
            {.seed = seed, .latency_min_ns = kMinNs, .latency_max_ns = kMaxNs, .faults = faults}) {
    for (SiloId silo = 0; silo < kSilos; ++silo) network.connect(silo, port(silo));
  }

  /// A new life of a silo, which begins with nothing.
  NetworkPort port(SiloId silo) {
    auto door = std::make_shared<Door>();
    auto& heard = lives[silo].emplace_back(std::make_unique<std::vector<Arrival>>());
    door->open(engine->spawn("listener", std::make_unique<Listener>(door, *engine, *heard)),
               Frame::make(1, [](auto words) { words[0] = 0; }));
    return {engine.get(), door, [this, silo](SiloId other) { say(silo, "lost", other); },
            [this, silo](SiloId other) { say(silo, "back", other); }};
  }
  void say(SiloId silo, const std::string& what, SiloId other) {
    words[silo].push_back(what + " " + std::to_string(other));
    heard_before[{silo, other}] = lives[silo].back()->size();
  }
  void send(SiloId from, SiloId to, std::uint64_t number) {
    std::vector<Envelope> batch(1);
    batch[0].kind = Kind::kCredit;
    batch[0].from = from;
    batch[0].number = number;
    network.end_of(from).send(from, to, batch);
  }
  void settle() { engine->run_until_idle(1'000'000); }
  void pass(std::uint64_t time_ns) {
    const std::uint64_t end_ns = engine->now_ns() + time_ns;
    engine->schedule(end_ns, [] {});
    while (engine->now_ns() < end_ns && engine->step()) {
    }
  }
  std::vector<Arrival> heard(SiloId silo) const { return *lives.at(silo).back(); }
  static std::vector<std::uint64_t> numbers(const std::vector<Arrival>& arrivals, SiloId from) {
    std::vector<std::uint64_t> numbers;
    for (const Arrival& arrival : arrivals) {
      if (arrival.from == from) numbers.push_back(arrival.number);
    }
    return numbers;
  }

  std::unique_ptr<actor::SeededEngine> engine;
  SimulatedNetwork network;
  /// What each life of each silo has heard.
  std::map<SiloId, std::vector<std::unique_ptr<std::vector<Arrival>>>> lives;
  std::map<SiloId, std::vector<std::string>> words;
  /// How much a silo had heard when it was last told of another one.
  std::map<std::pair<SiloId, SiloId>, std::size_t> heard_before;
};

TEST(SimulatedNetwork, KeepsTheOrderOfEachPairAndOfNoMore) {
  int crossed = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed);

    std::vector<std::uint64_t> sent;
    for (std::uint64_t i = 0; i < 100; ++i) {
      sent.push_back(i);
      world.send(1, 2, i);
      world.send(3, 2, i);
      world.pass(i % 7 * 1'000);
    }
    world.settle();

    const auto heard = world.heard(2);
    ASSERT_EQ(World::numbers(heard, 1), sent) << "seed " << seed;
    ASSERT_EQ(World::numbers(heard, 3), sent) << "seed " << seed;
    for (std::size_t i = 1; i < heard.size(); ++i) crossed += heard[i].number < heard[i - 1].number;
  }
  EXPECT_GT(crossed, 100);
}

TEST(SimulatedNetwork, TakesATimeWithinItsBounds) {
  std::set<std::uint64_t> latencies;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed);

    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t begin_ns = world.engine->now_ns();
      world.send(1, 2, i);
      world.settle();
      ASSERT_EQ(world.heard(2).size(), i + 1);
      latencies.insert(world.heard(2).back().at_ns - begin_ns);
    }
  }

  EXPECT_GE(*latencies.begin(), kMinNs);
  EXPECT_LE(*latencies.rbegin(), kMaxNs);
  // Fast ones and slow ones, and no two lines of them alike.
  EXPECT_LT(*latencies.begin(), kMinNs + (kMaxNs - kMinNs) / 10);
  EXPECT_GT(*latencies.rbegin(), kMaxNs - (kMaxNs - kMinNs) / 4);
  EXPECT_GT(latencies.size(), kSeeds * 10);
}

TEST(SimulatedNetwork, LosesWhatIsOnItsWayToAHostThatDiesAndPerhapsFromIt) {
  int arrived = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed);
    world.send(1, 2, 1);
    world.send(2, 3, 2);
    world.settle();
    world.send(1, 2, 3);
    world.send(2, 3, 4);
    world.send(1, 3, 5);

    world.network.kill(2);
    world.send(2, 3, 6);
    world.settle();
    world.send(1, 2, 7);
    world.settle();

    ASSERT_EQ(World::numbers(world.heard(2), 1), (std::vector<std::uint64_t>{1}));
    ASSERT_EQ(World::numbers(world.heard(3), 1), (std::vector<std::uint64_t>{5}));
    const auto of_the_dead = World::numbers(world.heard(3), 2);
    if (of_the_dead.size() > 1) {
      ASSERT_EQ(of_the_dead, (std::vector<std::uint64_t>{2, 4}));
      ++arrived;
    }
    ASSERT_FALSE(world.network.end_of(1).is_up(2));
    for (const SiloId other : {0u, 1u, 3u}) {
      ASSERT_EQ(world.words[other], (std::vector<std::string>{"lost 2"}));
    }
  }
  EXPECT_GT(arrived, 0);
  EXPECT_LT(arrived, static_cast<int>(kSeeds));
}

TEST(SimulatedNetwork, SaysNothingOfTheDeadAfterTheWordOfTheirDeath) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed);
    for (std::uint64_t i = 0; i < 20; ++i) {
      world.send(2, 3, i);
      world.pass(2'000);
    }

    world.network.kill(2);
    world.settle();

    const auto heard = World::numbers(world.heard(3), 2);
    ASSERT_EQ(world.heard_before.at({3, 2}), heard.size()) << "seed " << seed;
    // What has arrived is what was sent first: nothing is missing in between.
    for (std::size_t i = 0; i < heard.size(); ++i) ASSERT_EQ(heard[i], i);
    lost += heard.size() < 20;
  }
  EXPECT_GT(lost, 0);
}

TEST(SimulatedNetwork, GivesANewLifeNothingOfTheOldOne) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed);
    world.send(1, 2, 1);
    world.send(2, 3, 2);
    world.network.kill(2);
    world.network.restart(2, world.port(2));
    // This one has heard neither of the death nor of the return.
    world.send(1, 2, 3);
    world.settle();

    EXPECT_EQ(world.heard(2), std::vector<Arrival>()) << "seed " << seed;
    EXPECT_LE(world.heard(3).size(), 1u) << "seed " << seed;
    EXPECT_EQ(world.lives[2].front()->size(), 0u);
    EXPECT_EQ(world.words[1], (std::vector<std::string>{"lost 2", "back 2"}));
  }
}

TEST(SimulatedNetwork, CarriesEverythingForANewLifeOnceItsReturnIsKnown) {
  World world(3);
  world.network.kill(3);
  world.network.kill(2);
  world.settle();

  world.network.restart(2, world.port(2));
  EXPECT_FALSE(world.network.end_of(2).is_up(3));
  world.send(2, 1, 1);
  world.settle();
  world.send(1, 2, 2);
  world.settle();

  EXPECT_EQ(World::numbers(world.heard(1), 2), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(World::numbers(world.heard(2), 1), (std::vector<std::uint64_t>{2}));
  // Whose connection is found dead first is chance.
  std::sort(world.words[1].begin(), world.words[1].begin() + 2);
  EXPECT_EQ(world.words[1], (std::vector<std::string>{"lost 2", "lost 3", "back 2"}));
}

TEST(SimulatedNetwork, LosesNothingOverConnectionsThatBreak) {
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed, {.cut = 60, .half_open = 30, .flip = 60, .repeat = 100});
    std::vector<std::uint64_t> sent;
    for (std::uint64_t i = 0; i < 100; ++i) {
      sent.push_back(i);
      world.send(1, 2, i);
      world.send(2, 1, i);
      world.pass(i % 5 * 10'000);
    }
    world.settle();

    ASSERT_EQ(World::numbers(world.heard(1), 2), sent) << "seed " << seed;
    ASSERT_EQ(World::numbers(world.heard(2), 1), sent) << "seed " << seed;
    ASSERT_TRUE(world.words.empty()) << "nobody has died";
    cuts += world.network.wire_counts().cuts;
  }
  EXPECT_GT(cuts, kSeeds);
}

TEST(SimulatedNetwork, DeliversNothingTwiceHoweverOftenHostsDie) {
  std::size_t lost = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed);
    RandomStream random(seed, 1);
    std::uint64_t sent = 0;

    for (int i = 0; i < 300; ++i) {
      const auto from = static_cast<SiloId>(random.below(kSilos));
      const auto to = static_cast<SiloId>(random.below(kSilos));
      // Nobody stays dead for long.
      if (!world.network.is_alive(to) && random.below(4) == 0) {
        world.network.restart(to, world.port(to));
      } else if (world.network.is_alive(to) && random.below(40) == 0) {
        world.network.kill(to);
      } else if (from != to) {
        world.send(from, to, ++sent);
      }
      world.pass(random.below(20'000));
    }
    world.settle();

    std::set<std::uint64_t> seen;
    std::size_t count = 0;
    for (const auto& [silo, lives] : world.lives) {
      for (const auto& life : lives) {
        // Of each sender also later lives come after earlier ones.
        std::map<SiloId, std::uint64_t> last;
        for (const Arrival& arrival : *life) {
          ++count;
          seen.insert(arrival.number);
          ASSERT_GT(arrival.number, std::exchange(last[arrival.from], arrival.number));
        }
      }
    }
    ASSERT_EQ(seen.size(), count) << "seed " << seed;
    ASSERT_GT(count, 50u);
    lost += sent - count;
  }
  EXPECT_GT(lost, kSeeds);
}

}  // namespace
}  // namespace seaway::app
