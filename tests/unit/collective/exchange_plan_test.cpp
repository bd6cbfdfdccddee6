// Hosts that follow their plans, in any order of steps, get what shards of one address space do.

#include "collective/exchange_plan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "collective/exchange_work.hpp"
#include "collective/local_collectives.hpp"

namespace seaway::collective {
namespace {

using function::Collective;
using function::CollectiveGroups;
using function::Reduce;
using function::ShardedBuffer;
using Kind = Collective::Kind;

std::size_t shards_of(const Collective& c) { return c.groups.groups * c.groups.size; }

/// Of all shards; each host may touch its own alone.
struct Memory {
  Memory(const Collective& c, bool in_place)
      : in_stride(c.in_bytes()), out_stride(in_place ? in_stride : c.out_bytes()) {
    in.resize(in_stride * shards_of(c));
    if (!in_place) out.resize(out_stride * shards_of(c));
  }
  ShardedBuffer inputs() { return {in.data(), in_stride}; }
  ShardedBuffer outputs() { return {out.empty() ? in.data() : out.data(), out_stride}; }

  std::size_t in_stride, out_stride;
  std::vector<std::byte> in, out;
};

void fill(const Collective& c, Memory& memory, RandomStream& random) {
  for (std::size_t i = 0; i + 4 <= memory.in.size(); i += 4) {
    const auto number = static_cast<std::int32_t>(random.below(2'000'000)) - 1'000'000;
    const float real = static_cast<float>(number) * 0.37f;
    if (c.dtype == DType::kF32) {
      std::memcpy(&memory.in[i], &real, 4);
    } else {
      std::memcpy(&memory.in[i], &number, 4);
    }
  }
}

/// One host's way through one block.
struct Walk {
  std::uint32_t host = 0;
  Block block;
  std::vector<std::byte> work;
  std::size_t round = 0;
  bool has_sent = false;
};

/// A message on its way: packed, or still to be read where it lies.
struct Carried {
  std::vector<std::byte> bytes;
  const Message* message = nullptr;
  ExchangeMemory memory;
};

class Hosts {
 public:
  Hosts(const Collective& c, const std::vector<HostShards>& hosts, std::uint64_t block_bytes,
        std::optional<Algorithm> algorithm, bool in_place, std::uint64_t seed)
      : c_(c), random_(seed, 1), memory_(c, in_place), expected_(c, false) {
    fill(c, memory_, random_);
    expected_.in = memory_.in;
    for (const HostShards& host : hosts) {
      const ExchangePlan plan(c, hosts, host.host, block_bytes, algorithm);
      for (const std::uint32_t number : plan.blocks()) {
        Walk walk;
        walk.host = host.host;
        walk.block = plan.block(number);
        walk.work.resize(walk.block.work_bytes);
        walks_.push_back(std::move(walk));
      }
    }
  }

  /// False: all of them wait.
  bool run() {
    std::erase_if(walks_, [](const Walk& walk) { return walk.block.rounds.empty(); });
    std::size_t open = walks_.size(), idle = 0;
    while (open > 0 && idle < 1000 * walks_.size()) {
      Walk& walk = walks_[random_.below(walks_.size())];
      if (walk.round == walk.block.rounds.size()) continue;
      ++idle;
      if (!step(walk)) continue;
      idle = 0;
      if (walk.round == walk.block.rounds.size()) --open;
    }
    return open == 0;
  }

  bool is_right() {
    const LocalCollectives local;
    const ShardedBuffer in = expected_.inputs(), out = expected_.outputs();
    switch (c_.kind) {
      case Kind::kAllReduce:
        local.all_reduce(c_.groups, c_.reduce, c_.dtype, c_.run_elements, in, out, {});
        break;
      case Kind::kAllGather:
        local.all_gather(c_.groups, c_.rows, c_.run_bytes, in, out, {});
        break;
      case Kind::kReduceScatter:
        local.reduce_scatter(c_.groups, c_.dtype, c_.rows, c_.run_elements, in, out, {});
        break;
      case Kind::kPermute:
        local.permute(c_.groups, c_.sources, c_.run_bytes, in, out, {});
    }
    const ShardedBuffer got = memory_.outputs();
    if (c_.out_bytes() == 0) return carried_.empty();
    for (std::size_t s = 0; s < shards_of(c_); ++s) {
      if (std::memcmp(got.shard(s), out.shard(s), c_.out_bytes()) != 0) return false;
    }
    return carried_.empty();
  }
  std::uint64_t sent_by(std::uint32_t host) { return sent_[host]; }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>;

  ExchangeMemory memory_of(Walk& walk) {
    return {memory_.inputs(), memory_.outputs(), walk.work.data()};
  }
  bool step(Walk& walk) {
    const Round& round = walk.block.rounds[walk.round];
    if (!walk.has_sent) {
      walk.has_sent = true;
      for (const Message& message : round.sends) {
        Carried carried{{}, &message, memory_of(walk)};
        if (random_.below(2) == 0) {
          carried.bytes.resize(message.size());
          pack(message, carried.memory, carried.bytes.data());
        }
        sent_[walk.host] += message.size();
        EXPECT_GT(message.size(), 0u);
        const bool is_new =
            carried_
                .emplace(Key{walk.host, message.host, walk.block.number, walk.round},
                         std::move(carried))
                .second;
        EXPECT_TRUE(is_new);
      }
      return true;
    }
    std::vector<Received> received;
    std::vector<Key> keys;
    for (const Message& message : round.receives) {
      const Key key{message.host, walk.host, walk.block.number, walk.round};
      const auto found = carried_.find(key);
      if (found == carried_.end()) return false;
      keys.push_back(key);
      Carried& carried = found->second;
      EXPECT_EQ(carried.message->size(), message.size());
      Received one;
      one.is_packed = !carried.bytes.empty();
      const std::byte* next = carried.bytes.data();
      for (const Piece& piece : carried.message->pieces) {
        one.pieces.push_back(one.is_packed ? next : carried.memory.at(piece));
        next += one.is_packed ? piece.size() : 0;
      }
      received.push_back(std::move(one));
    }
    carry_out(c_, round, memory_of(walk), received);
    for (const Key& key : keys) carried_.erase(key);
    ++walk.round;
    walk.has_sent = false;
    return true;
  }

  const Collective c_;
  RandomStream random_;
  Memory memory_, expected_;
  std::vector<Walk> walks_;
  std::map<Key, Carried> carried_;
  std::map<std::uint32_t, std::uint64_t> sent_;
};

/// Hosts of `each` shards; the last one may have fewer.
std::vector<HostShards> deal(std::size_t shards, std::size_t each) {
  std::vector<HostShards> hosts;
  for (std::size_t begin = 0; begin < shards; begin += each) {
    hosts.push_back({static_cast<std::uint32_t>(hosts.size()), static_cast<std::uint32_t>(begin),
                     static_cast<std::uint32_t>(std::min(shards, begin + each))});
  }
  return hosts;
}

Collective all_reduce(std::size_t members, std::size_t elements) {
  Collective c;
  c.groups = {1, members, 1};
  c.run_elements = elements;
  c.run_bytes = elements * 4;
  return c;
}

TEST(ExchangePlan, AnyHostsGetWhatOneWouldGet) {
  RandomStream random(42, 7);
  std::map<Algorithm, int> used;
  for (int i = 0; i < 3000; ++i) {
    Collective c;
    c.kind = static_cast<Kind>(random.below(4));
    const std::size_t outer = 1 + random.below(3), inner = 1 + random.below(3);
    c.groups = {outer * inner, 1 + random.below(9), inner};
    c.reduce = random.below(3) == 0 && c.kind == Kind::kAllReduce ? Reduce::kMax : Reduce::kSum;
    c.dtype = random.below(3) == 0 ? DType::kI32 : DType::kF32;
    const bool has_rows = c.kind == Kind::kAllGather || c.kind == Kind::kReduceScatter;
    c.rows = has_rows ? 1 + random.below(5) : 1;
    c.run_elements = random.below(i % 2 == 0 ? 40 : 400);
    c.run_bytes = c.run_elements * 4;
    c.sources.resize(c.groups.size);
    for (std::int64_t& source : c.sources) {
      source = static_cast<std::int64_t>(random.below(c.groups.size + 1)) - 1;
    }
    const auto hosts = deal(shards_of(c), 1 + random.below(5));
    constexpr auto kAlgorithms = static_cast<std::uint64_t>(kLastAlgorithm) + 1;
    const auto algorithm = static_cast<Algorithm>(random.below(kAlgorithms));
    const std::uint64_t block = std::uint64_t{64} << random.below(9);
    const bool in_place = c.kind == Kind::kAllReduce && random.below(2) == 0;
    Hosts all(c, hosts, block, algorithm, in_place, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(all.run()) << i;
    ASSERT_TRUE(all.is_right()) << i << ": kind " << static_cast<int>(c.kind) << ", "
                                << to_string(algorithm);
    for (const HostShards& host : hosts) {
      const ExchangePlan plan(c, hosts, host.host, block, algorithm);
      if (!plan.blocks().empty()) ++used[plan.block(plan.blocks().front()).algorithm];
    }
  }
  for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
    EXPECT_GT(used[static_cast<Algorithm>(a)], 50) << to_string(static_cast<Algorithm>(a));
  }
}

TEST(ExchangePlan, MovesNoMoreThanItSays) {
  constexpr std::size_t kElements = 1 << 12, kBytes = kElements * 4;
  const Collective c = all_reduce(8, kElements);
  const auto most = [&](Algorithm algorithm, std::size_t each) {
    const auto hosts = deal(8, each);
    Hosts all(c, hosts, 1 << 20, algorithm, false, 1);
    EXPECT_TRUE(all.run());
    std::uint64_t bytes = 0;
    for (const HostShards& host : hosts) bytes = std::max(bytes, all.sent_by(host.host));
    return bytes;
  };
  for (const std::size_t each : {1, 2, 4}) {
    const std::size_t k = 8 / each;
    const std::size_t parts = 2 * kBytes * (k - 1) / k;
    EXPECT_EQ(most(Algorithm::kDirect, each), parts);
    EXPECT_EQ(most(Algorithm::kRing, each), parts);
    EXPECT_EQ(most(Algorithm::kHalving, each), parts);
    EXPECT_EQ(most(Algorithm::kDoubling, each),
              kBytes * static_cast<std::size_t>(std::countr_zero(k)));
  }
  EXPECT_EQ(most(Algorithm::kTree, 1), 3 * kBytes);  // The root's.
}

TEST(ExchangePlan, TakesNoWayThatWouldAddUpInAnotherOrder) {
  // (((0+1)+(2+3))+(4+5)): of three each, the first host's are no node, and nor are the other's.
  const ExchangePlan plan(all_reduce(6, 10), deal(6, 3), 0, 1 << 20, Algorithm::kTree);
  EXPECT_EQ(plan.block(0).algorithm, Algorithm::kDirect);
  const ExchangePlan whole(all_reduce(6, 10), deal(6, 2), 0, 1 << 20, Algorithm::kTree);
  EXPECT_EQ(whole.block(0).algorithm, Algorithm::kTree);
  for (const Algorithm pairs : {Algorithm::kHalving, Algorithm::kDoubling}) {
    const ExchangePlan three(all_reduce(6, 10), deal(6, 2), 0, 1 << 20, pairs);
    EXPECT_EQ(three.block(0).algorithm, Algorithm::kDirect);
  }
}

TEST(ExchangePlan, GroupsOfOneHostSayNothing) {
  Collective c = all_reduce(2, 100);
  c.groups = {4, 2, 1};  // Shards 0 and 1, 2 and 3, ..
  const ExchangePlan plan(c, deal(8, 2), 1);
  EXPECT_FALSE(plan.has_peers());
  ASSERT_EQ(plan.blocks().size(), 1u);
  for (const Round& round : plan.block(plan.blocks()[0]).rounds) {
    EXPECT_TRUE(round.sends.empty() && round.receives.empty());
  }
  c.groups = {4, 2, 4};  // 0 and 4, 1 and 5, ..
  EXPECT_TRUE(ExchangePlan(c, deal(8, 2), 1).has_peers());
}

TEST(ExchangePlan, CutsWhatIsLarge) {
  constexpr std::size_t kElements = 100 << 18;
  const ExchangePlan plan(all_reduce(2, kElements), deal(2, 1), 0);
  EXPECT_EQ(plan.blocks().size(), 25u);  // Of 4 MiB.
  EXPECT_TRUE(ExchangePlan(all_reduce(2, 0), deal(2, 1), 0).blocks().empty());
}

}  // namespace
}  // namespace seaway::collective
