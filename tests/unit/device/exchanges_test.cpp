// Hosts of an island that exchange values of their shards: in whatever order they hear of it, on
// one machine or on several, and when one of them cannot.

#include "device/exchanges.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "collective/local_collectives.hpp"
#include "store/arena.hpp"
#include "transport/memory_file.hpp"
#include "unit/device/fake_data_plane.hpp"
#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

using collective::HostShards;
using function::Collective;
using function::ShardedBuffer;
using transport::NearMemory;

enum class Way { kWords, kLoans, kFetches };

/// The hosts of an island, and what they say to each other.
class Island {
 public:
  Island(std::size_t hosts, Way way, ExchangeOptions options = {})
      : way_(way), options_(options), hosts_(hosts) {
    for (std::uint32_t host = 0; host < hosts; ++host) {
      hosts_[host] = std::make_unique<Host>(*this, host);
    }
    if (way_ != Way::kLoans) return;
    for (std::uint32_t host = 0; host < hosts; ++host) meet_all(host);
  }

  void meet_all(std::uint32_t host) {
    for (std::uint32_t peer = 0; peer < hosts_.size(); ++peer) {
      if (peer != host) hosts_[host]->near->meet(peer, 1);
    }
  }

  struct Host {
    Host(Island& island, std::uint32_t number)
        : region(island.way_ == Way::kLoans ? (std::size_t{2} << 20) / 64 : 0),
          near(std::make_unique<NearMemory>(region_of(*this),
                                            [&island](HostId peer, std::uint32_t, auto done) {
                                              if (island.may_read)
                                                return done(region_of(*island.hosts_[peer]));
                                              done(not_found("it is on another machine"));
                                            })),
          arena(near->lendable(), heap, [](std::span<std::byte>) {}),
          slabs(arena, {}),
          data(number, island.network_),
          exchanges(number, {backend, slabs, island.way_ == Way::kLoans ? near.get() : nullptr,
                             island.way_ == Way::kFetches ? &data : nullptr,
                             [](std::uint32_t host) { return host; }, island.options_}) {}

    static transport::SharedRegion region_of(Host& host) {
      return {std::as_writable_bytes(std::span(host.region)), nullptr};
    }

    struct alignas(64) Line {
      std::uint64_t words[8] = {};
    };
    std::vector<Line> region;
    std::unique_ptr<NearMemory> near;
    store::HeapAllocator heap;
    store::Arena arena;
    store::SlabCache slabs;
    ManualClock clock;
    FakeBackend backend{clock};
    FakeDataPlane data;
    Exchanges exchanges;
    store::Slab in, out;
  };
  Host& host(std::uint32_t number) { return *hosts_[number]; }

  /// Says what is to be said, and carries one of all the words that are on their way, or does
  /// something else that is to be done. False: there is nothing.
  bool step(RandomStream& random) {
    for (std::uint32_t from = 0; from < hosts_.size(); ++from) {
      for (auto& [to, words] : hosts_[from]->exchanges.outbox()) {
        for (ExchangeWord& word : words) letters_.push_back({from, to, std::move(word)});
        words.clear();
      }
    }
    const std::size_t host = random.below(hosts_.size());
    if (random.below(3) == 0 && hosts_[host]->data.step()) return true;
    if (letters_.empty()) {
      for (auto& one : hosts_) {
        if (one->data.step()) return true;
      }
      return false;
    }
    const std::size_t which = random.below(letters_.size());
    Letter letter = std::move(letters_[which]);
    letters_.erase(letters_.begin() + static_cast<std::ptrdiff_t>(which));
    const Status status = hosts_[letter.to]->exchanges.receive(letter.from, std::move(letter.word));
    EXPECT_TRUE(status.ok()) << status.to_string();
    return true;
  }

  std::size_t quiet() const {
    std::size_t count = 0;
    for (const auto& one : hosts_) {
      count += one->exchanges.is_quiet() && one->exchanges.early_words() == 0 &&
               one->data.open() == 0 && one->near->lent() == 0;
    }
    return count;
  }

  bool may_read = true;

 private:
  struct Letter {
    std::uint32_t from, to;
    ExchangeWord word;
  };
  const Way way_;
  const ExchangeOptions options_;
  FakeDataPlane::Network network_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Letter> letters_;
};

std::vector<HostShards> deal(std::size_t hosts, std::uint32_t each) {
  std::vector<HostShards> all;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    all.push_back({host, host * each, (host + 1) * each});
  }
  return all;
}

Collective all_reduce(std::size_t members, std::size_t elements) {
  Collective c;
  c.groups = {1, members, 1};
  c.run_elements = elements;
  c.run_bytes = elements * 4;
  return c;
}

/// One exchange on all hosts; `begin` is called for each, at any time.
class Game {
 public:
  Game(Island& island, Collective collective, std::vector<HostShards> hosts, std::uint64_t seed)
      : island_(island), collective_(std::move(collective)), hosts_(std::move(hosts)) {
    const std::size_t shards = hosts_.back().end;
    RandomStream random(seed, 3);
    in_.resize(shards * collective_.in_bytes() / 4);
    for (float& number : in_) number = static_cast<float>(random.below(1 << 20)) * 0.37f;
    expected_.resize(shards * collective_.out_bytes() / 4);
    expect({reinterpret_cast<std::byte*>(in_.data()), collective_.in_bytes()},
           {reinterpret_cast<std::byte*>(expected_.data()), collective_.out_bytes()});
  }

  void begin(std::uint32_t number, std::uint64_t gang = 1) {
    Island::Host& host = island_.host(number);
    const HostShards own = hosts_[number];
    host.in = host.slabs.make(own.end - own.begin, collective_.in_bytes()).value();
    host.out = host.slabs.make(own.end - own.begin, collective_.out_bytes()).value();
    for (std::uint32_t s = own.begin; s < own.end; ++s) {
      std::memcpy(host.in.shard(s - own.begin),
                  reinterpret_cast<const std::byte*>(in_.data()) + s * collective_.in_bytes(),
                  collective_.in_bytes());
    }
    host.exchanges.enter(gang);
    host.exchanges.begin({.id = {gang, 2},
                          .collective = collective_,
                          .hosts = hosts_,
                          .in = shifted(host.in, own.begin),
                          .out = shifted(host.out, own.begin),
                          .owner = nullptr},
                         [this, number, gang](const Status& status) {
                           EXPECT_FALSE(ends_.contains(number));
                           ends_[number] = status;
                           island_.host(number).exchanges.leave(gang);
                         });
  }
  /// On a host that does not come to the exchange.
  void fail(std::uint32_t number, const Status& status, std::uint64_t gang = 1) {
    Exchanges& exchanges = island_.host(number).exchanges;
    if (exchanges.is_next(gang)) exchanges.enter(gang);
    exchanges.fail(gang, hosts_, status);
    exchanges.leave(gang);
  }
  bool is_right(std::uint32_t number) {
    const Island::Host& host = island_.host(number);
    const HostShards own = hosts_[number];
    for (std::uint32_t s = own.begin; s < own.end; ++s) {
      const auto* const wanted =
          reinterpret_cast<const std::byte*>(expected_.data()) + s * collective_.out_bytes();
      if (std::memcmp(host.out.shard(s - own.begin), wanted, collective_.out_bytes()) != 0) {
        return false;
      }
    }
    return true;
  }
  const std::map<std::uint32_t, Status>& ends() const { return ends_; }

 private:
  void expect(ShardedBuffer in, ShardedBuffer out) const {
    const collective::LocalCollectives local;
    const Collective& c = collective_;
    switch (c.kind) {
      case Collective::Kind::kAllReduce:
        return local.all_reduce(c.groups, c.reduce, c.dtype, c.run_elements, in, out, {});
      case Collective::Kind::kAllGather:
        return local.all_gather(c.groups, c.rows, c.run_bytes, in, out, {});
      case Collective::Kind::kReduceScatter:
        return local.reduce_scatter(c.groups, c.dtype, c.rows, c.run_elements, in, out, {});
      case Collective::Kind::kPermute:
        return local.permute(c.groups, c.sources, c.run_bytes, in, out, {});
    }
  }
  static ShardedBuffer shifted(const store::Slab& slab, std::uint32_t first) {
    const auto base = reinterpret_cast<std::uintptr_t>(slab.base()) - first * slab.stride();
    return {reinterpret_cast<std::byte*>(base), slab.stride()};
  }

  Island& island_;
  const Collective collective_;
  const std::vector<HostShards> hosts_;
  std::vector<float> in_, expected_;
  std::map<std::uint32_t, Status> ends_;
};

class ExchangesByWay : public testing::TestWithParam<Way> {};

TEST_P(ExchangesByWay, GiveAllHostsTheirValuesInAnyOrderOfWords) {
  std::uint64_t lent = 0, fetched = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    RandomStream random(seed, 1);
    const std::size_t hosts = 2 + random.below(4);
    const auto each = static_cast<std::uint32_t>(1 + random.below(3));
    Collective c;
    c.kind = static_cast<Collective::Kind>(random.below(4));
    const std::size_t inner = 1 + random.below(2), members = hosts * each / inner;
    if (members * inner != hosts * each) continue;
    c.groups = {inner, members, inner};
    const bool has_rows =
        c.kind == Collective::Kind::kAllGather || c.kind == Collective::Kind::kReduceScatter;
    c.rows = has_rows ? 1 + random.below(5) : 1;
    c.run_elements = random.below(4) == 0 ? 10 : random.below(2000);
    c.run_bytes = c.run_elements * 4;
    c.sources.resize(members);
    for (std::int64_t& source : c.sources) {
      source = static_cast<std::int64_t>(random.below(members + 1)) - 1;
    }
    ExchangeOptions options;
    options.packed_bytes_max = random.below(4) == 0 ? 200 : 0;
    options.block_bytes = std::uint64_t{64} << random.below(8);
    options.algorithm = static_cast<collective::Algorithm>(random.below(4));
    Island island(hosts, GetParam(), options);
    Game game(island, c, deal(hosts, each), seed);
    std::vector<std::uint32_t> late;
    for (std::uint32_t host = 0; host < hosts; ++host) late.push_back(host);
    while (!late.empty() || island.step(random)) {
      if (late.empty() || random.below(3) != 0) {
        island.step(random);
        continue;
      }
      const std::size_t which = random.below(late.size());
      game.begin(late[which]);
      late.erase(late.begin() + static_cast<std::ptrdiff_t>(which));
    }
    ASSERT_EQ(game.ends().size(), hosts) << seed;
    for (const auto& [host, status] : game.ends()) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      EXPECT_TRUE(game.is_right(host)) << seed;
    }
    EXPECT_EQ(island.quiet(), hosts);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      lent += island.host(host).exchanges.counts().lent;
      fetched += island.host(host).exchanges.counts().fetched;
    }
  }
  EXPECT_EQ(lent > 0, GetParam() == Way::kLoans);
  EXPECT_EQ(fetched > 0, GetParam() == Way::kFetches);
}

TEST_P(ExchangesByWay, EndEverywhereWhenOneHostCannotGoOn) {
  RandomStream random(7, 1);
  Island island(3, GetParam());
  Game game(island, all_reduce(3, 100'000), deal(3, 1), 1);
  game.begin(0);
  game.begin(1);
  for (int i = 0; i < 4; ++i) island.step(random);
  game.fail(2, resource_exhausted("no memory on host 2"));
  while (island.step(random)) {
  }

  ASSERT_EQ(game.ends().size(), 2u);
  EXPECT_EQ(game.ends().at(0).message(), "no memory on host 2");
  EXPECT_EQ(game.ends().at(1).message(), "no memory on host 2");
  EXPECT_EQ(island.quiet(), 3u);
}

TEST_P(ExchangesByWay, HearNothingOfAGangThatIsOver) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RandomStream random(seed, 1);
    Island island(3, GetParam());
    Game game(island, all_reduce(3, 100'000), deal(3, 1), 1);
    for (std::uint32_t host = 0; host < 3; ++host) game.begin(host);
    for (std::uint64_t i = random.below(12); i > 0; --i) island.step(random);
    if (game.ends().contains(1)) continue;
    // The others go on for a while with words for it.
    game.fail(1, resource_exhausted("no memory on host 1"));
    while (island.step(random)) {
    }

    ASSERT_EQ(game.ends().size(), 3u);
    EXPECT_FALSE(game.ends().at(1).ok());
    EXPECT_EQ(island.quiet(), 3u) << seed;
  }
}

TEST_P(ExchangesByWay, KnowOfAFailureBeforeTheyBegin) {
  RandomStream random(7, 1);
  Island island(2, GetParam());
  Game game(island, all_reduce(2, 100'000), deal(2, 1), 1);
  game.fail(1, resource_exhausted("no memory on host 1"));
  while (island.step(random)) {
  }
  game.begin(0);
  EXPECT_EQ(game.ends().at(0).message(), "no memory on host 1");
  EXPECT_EQ(island.quiet(), 2u);
}

TEST_P(ExchangesByWay, ForgetWhatWasOfTheLifeBefore) {
  RandomStream random(7, 1);
  Island island(2, GetParam());
  Game old(island, all_reduce(2, 100'000), deal(2, 1), 1);
  old.begin(0, first_gang_of(1) + 1);
  old.begin(1, first_gang_of(1) + 1);
  island.step(random);
  // Host 1 knows of the next life, of which host 0 speaks before it has begun there.
  island.host(1).exchanges.begin_anew(2);
  island.host(0).exchanges.begin_anew(2);
  Game game(island, all_reduce(2, 50'000), deal(2, 1), 2);
  game.begin(0, first_gang_of(2) + 1);
  while (island.step(random)) {
  }
  EXPECT_GT(island.host(1).exchanges.early_words(), 0u);
  game.begin(1, first_gang_of(2) + 1);
  while (island.step(random)) {
  }

  EXPECT_TRUE(old.ends().empty());
  ASSERT_EQ(game.ends().size(), 2u);
  EXPECT_TRUE(game.is_right(0) && game.is_right(1));
  EXPECT_EQ(island.quiet(), 2u);
}

std::string name_of(const testing::TestParamInfo<Way>& way) {
  if (way.param == Way::kWords) return "Words";
  return way.param == Way::kLoans ? "Loans" : "Fetches";
}
INSTANTIATE_TEST_SUITE_P(AllWays, ExchangesByWay,
                         testing::Values(Way::kWords, Way::kLoans, Way::kFetches), name_of);

TEST(Exchanges, SendWhatCannotBeReadWhereItLies) {
  RandomStream random(7, 1);
  Island island(2, Way::kLoans);
  // Host 1 has lost sight of host 0's memory, which knows nothing of that.
  island.host(1).near->lose(0);
  island.may_read = false;
  island.host(1).near->meet(0, 2);
  Game game(island, all_reduce(2, 100'000), deal(2, 1), 1);
  game.begin(0);
  game.begin(1);
  while (island.step(random)) {
  }
  ASSERT_EQ(game.ends().size(), 2u);
  EXPECT_TRUE(game.is_right(0) && game.is_right(1));
  EXPECT_EQ(island.host(1).exchanges.counts().lent, 0u);
  EXPECT_EQ(island.quiet(), 2u);
}

TEST(Exchanges, FailTheGangWhenAFetchDoes) {
  RandomStream random(7, 1);
  Island island(2, Way::kFetches);
  island.host(1).data.fails = true;
  Game game(island, all_reduce(2, 100'000), deal(2, 1), 1);
  game.begin(0);
  game.begin(1);
  while (island.step(random)) {
  }
  ASSERT_EQ(game.ends().size(), 2u);
  EXPECT_EQ(game.ends().at(0).code(), StatusCode::kHostLost);
  EXPECT_EQ(game.ends().at(1).code(), StatusCode::kHostLost);
  EXPECT_EQ(island.quiet(), 2u);
}

TEST(Exchanges, WaitForWhatWorksOnTheirMemory) {
  RandomStream random(7, 1);
  Island island(2, Way::kWords);
  Game game(island, all_reduce(2, 100'000), deal(2, 1), 1);
  island.host(0).backend.holds_copies = true;
  game.begin(0);
  game.begin(1);
  while (island.step(random)) {
  }
  island.host(1).exchanges.fail(1, deal(2, 1), resource_exhausted("no memory"));
  while (island.step(random)) {
  }
  EXPECT_FALSE(game.ends().contains(0));  // It is adding up.
  while (island.host(0).backend.copies() > 0) island.host(0).backend.end_copy();
  EXPECT_EQ(game.ends().at(0).message(), "no memory");
}

TEST(Exchanges, RefuseWhatNobodySays) {
  Island island(2, Way::kWords);
  Game game(island, all_reduce(2, 10), deal(2, 1), 1);
  game.begin(1);
  Exchanges& exchanges = island.host(1).exchanges;
  // Round 0 has passed; in round 1 this host adds up all 10 elements, which take 40 bytes.
  const ExchangeId id{1, 2};
  EXPECT_EQ(exchanges.receive(0, {id, 0, 1, PackedMessage{std::vector<std::byte>(39)}}).code(),
            StatusCode::kProtocolError);
  EXPECT_EQ(exchanges.receive(0, {id, 0, 1, OfferedMessage{1}}).code(), StatusCode::kProtocolError);
  EXPECT_EQ(exchanges.receive(7, {id, 0, 1, PackedMessage{}}).code(), StatusCode::kProtocolError);
  EXPECT_TRUE(exchanges.receive(0, {id, 0, 1, TakenMessage()}).ok());  // Of nothing.
}

TEST(Exchanges, LetNobodyRunAheadForEver) {
  Island island(2, Way::kWords);
  Exchanges& exchanges = island.host(0).exchanges;
  Status status;
  for (std::uint32_t i = 0; status.ok() && i <= Exchanges::kEarlyWordsMax; ++i) {
    status = exchanges.receive(1, {{i + 1, 0}, 0, 0, PackedMessage{}});
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);

  Exchanges& other = island.host(1).exchanges;
  for (std::uint32_t i = 0; i < Exchanges::kFailedMax; ++i) {
    EXPECT_TRUE(other.receive(0, {{i + 1, 0}, 0, 0, FailedGang{not_found("gone")}}).ok());
  }
  EXPECT_TRUE(other.receive(0, {{1, 0}, 0, 0, FailedGang{not_found("gone")}}).ok());  // Known.
  EXPECT_EQ(other.receive(0, {{5000, 0}, 0, 0, FailedGang{not_found("gone")}}).code(),
            StatusCode::kResourceExhausted);
}

TEST(Exchanges, HearNothingOfLivesBeforeTheirOwn) {
  ManualClock clock;
  FakeBackend backend(clock);
  store::HeapAllocator heap;
  store::SlabCache slabs(heap, {});
  Exchanges exchanges(0, {.backend = backend, .slabs = slabs, .life = 2});

  EXPECT_TRUE(exchanges.receive(1, {{first_gang_of(1) + 9, 0}, 0, 0, PackedMessage{}}).ok());
  EXPECT_TRUE(
      exchanges.receive(1, {{first_gang_of(1) + 9, 0}, 0, 0, FailedGang{not_found("gone")}}).ok());
  EXPECT_EQ(exchanges.early_words(), 0u);
  EXPECT_FALSE(exchanges.has_begun());

  EXPECT_TRUE(exchanges.receive(1, {{first_gang_of(2) + 1, 0}, 0, 0, PackedMessage{}}).ok());
  EXPECT_EQ(exchanges.early_words(), 1u);
}

/// All that a plane may still read of what was withdrawn.
std::vector<std::byte> read_on(const FakeDataPlane& plane) {
  std::vector<std::byte> all;
  for (const transport::DataSource& source : plane.withdrawn) {
    std::vector<std::span<const std::byte>> pieces;
    source.pieces(0, source.bytes, pieces);
    for (const auto piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

TEST(Exchanges, KeepWhatTheyHaveOfferedForConnectionsThatReadOn) {
  std::size_t read = 0;
  for (const auto algorithm : {collective::Algorithm::kRing, collective::Algorithm::kDirect}) {
    for (int steps = 0; steps < 40; ++steps) {
      RandomStream random(7, 1);
      Island island(3, Way::kFetches, {.packed_bytes_max = 0, .algorithm = algorithm});
      Game game(island, all_reduce(6, 3'000), deal(3, 2), 1);
      for (std::uint32_t host = 0; host < 3; ++host) game.begin(host);
      for (int i = 0; i < steps; ++i) island.step(random);
      Island::Host& host = island.host(1);
      if (!game.ends().contains(1)) game.fail(1, resource_exhausted("no memory on host 1"));
      while (host.data.step()) {  // Its own fetches end, which work there.
      }

      const std::vector<std::byte> before = read_on(host.data);
      std::vector<store::Slab> others;  // That are written where it lay, if it was given up.
      for (std::size_t bytes = 64; bytes <= 16'384; bytes += 64) {
        others.push_back(host.slabs.make(1, bytes).value());
        std::memset(others.back().base(), 0xee, bytes);
      }

      EXPECT_TRUE(read_on(host.data) == before) << steps;
      read += before.size();
    }
  }
  EXPECT_GT(read, 0u);
}

/// Host 0 of two, whose exchanges go over a data plane that moves no data by itself.
struct OneOfTwo {
  Exchanges::Wiring wiring(std::uint32_t life) {
    return {.backend = backend,
            .slabs = slabs,
            .data = &plane,
            .peer = [](std::uint32_t host) { return host; },
            .options = {.packed_bytes_max = 0, .algorithm = {}},
            .life = life};
  }
  /// Begins one all-reduce in the first gang of `life`.
  void begin(Exchanges& exchanges, std::uint32_t life) const {
    const std::uint64_t gang = first_gang_of(life) + 1;
    exchanges.enter(gang);
    exchanges.begin({.id = {gang, 0},
                     .collective = all_reduce(2, 1000),
                     .hosts = deal(2, 1),
                     .in = {room.base(), room.stride()},
                     .out = {room.base(), room.stride()},
                     .owner = nullptr},
                    nullptr);
  }

  ManualClock clock;
  FakeBackend backend{clock};
  store::HeapAllocator heap;
  store::SlabCache slabs{heap, {}};
  FakeDataPlane::Network network;
  FakeDataPlane plane{0, network};
  store::Slab room = slabs.make(1, 4000).value();
};

TEST(Exchanges, FreeSlabsOfUnfinishedFetchesAtTheirEnd) {
  OneOfTwo one;
  {
    Exchanges exchanges(0, one.wiring(0));
    one.begin(exchanges, 0);
    // Host 1 offers the same block, which host 0 fetches.
    ASSERT_EQ(exchanges.outbox()[1].size(), 1u);
    ASSERT_TRUE(exchanges.receive(1, exchanges.outbox()[1].front()).ok());
    ASSERT_EQ(one.plane.open(), 2u);
    ASSERT_GT(one.slabs.live_slabs(), 1u);
  }
  EXPECT_EQ(one.slabs.live_slabs(), 1u);  // `room`
}

TEST(Exchanges, OfferUnderNamesOfTheirOwnInEachLife) {
  OneOfTwo one;
  for (std::uint32_t life = 1; life <= 3; ++life) {
    Exchanges exchanges(0, one.wiring(life));
    one.begin(exchanges, life);

    EXPECT_EQ(one.plane.open(), life);  // FakeDataPlane takes no name twice.
  }
}

}  // namespace
}  // namespace seaway::device
