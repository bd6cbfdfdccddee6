// Frames on their way between shards.

#include "app/simulated_network.hpp"

#include <algorithm>
#include <utility>

#include "app/envelope_codec.hpp"
#include "base/check.hpp"

namespace seaway::app {
namespace {

constexpr std::uint64_t kLatencyStream = 0x6c6174656e637900;

}  // namespace

/// One shard's view of the others.
class SimulatedNetwork::End final : public Network {
 public:
  End(SimulatedNetwork& network, ShardId self) : network_(network), self_(self) {}

  void send(ShardId from, ShardId to, std::vector<Envelope>& batch) override {
    network_.send(from, to, batch);
    batch.clear();
  }
  bool is_up(ShardId shard) const override {
    return shard < network_.shards_.size() && network_.shards_[self_].known[shard] != 0;
  }
  std::uint32_t shards() const override { return network_.shards(); }

 private:
  SimulatedNetwork& network_;
  const ShardId self_;
};

SimulatedNetwork::SimulatedNetwork(actor::Engine& engine, std::uint32_t shards, Options options)
    : engine_(engine), options_(options), is_here_(std::make_shared<bool>(true)) {
  SEAWAY_CHECK(options.latency_min_ns <= options.latency_max_ns);
  for (ShardId self = 0; self < shards; ++self) {
    ShardState state;
    state.known.assign(shards, 1);
    for (ShardId to = 0; to < shards; ++to) {
      state.links.emplace_back(
          RandomStream(options.seed, kLatencyStream ^ (std::uint64_t{self} << 32) ^ to));
    }
    shards_.push_back(std::move(state));
    ends_.push_back(std::make_unique<End>(*this, self));
  }
}

SimulatedNetwork::~SimulatedNetwork() { *is_here_ = false; }

Network& SimulatedNetwork::end_of(ShardId self) { return *ends_[self]; }

void SimulatedNetwork::connect(ShardId self, NetworkPort port) {
  shards_[self].port = std::move(port);
}

std::uint64_t SimulatedNetwork::arrival_ns(ShardId from, ShardId to) {
  Link& link = shards_[from].links[to];
  const std::uint64_t range_ns = options_.latency_max_ns - options_.latency_min_ns;
  // Most are fast and some are slow, as in real networks.
  const std::uint64_t extra_ns = link.random.below(1 + link.random.below(1 + range_ns));
  const std::uint64_t now_ns = engine_.clock().now_ns();
  link.last_arrival_ns =
      std::max(link.last_arrival_ns, now_ns + options_.latency_min_ns + extra_ns);
  return link.last_arrival_ns;
}

void SimulatedNetwork::send(ShardId from, ShardId to, std::vector<Envelope>& batch) {
  const std::uint32_t to_epoch = shards_[from].known[to];
  if (batch.empty() || to_epoch == 0 || !shards_[from].is_alive) return;
  auto parcels = std::make_shared<Parcels>();
  Frame frame = encode_batch(from, batch, engine_.clock().now_ns(), *parcels);
  const std::uint64_t at_ns = arrival_ns(from, to);
  ++counts_.batches;
  counts_.bytes += frame.size_bytes();
  hash_ = mix64(hash_ ^ at_ns ^ (std::uint64_t{from} << 48) ^ (std::uint64_t{to} << 56));
  for (const std::uint64_t word : frame.words()) hash_ = mix64(hash_ ^ word);
  engine_.schedule(at_ns, [this, here = is_here_, from, to, from_epoch = shards_[from].epoch,
                           to_epoch, frame = std::move(frame), parcels = std::move(parcels)] {
    if (!*here) return;
    if (shards_[from].epoch != from_epoch || shards_[to].epoch != to_epoch ||
        !shards_[to].is_alive) {
      ++counts_.dropped;
      return;
    }
    auto read = decode_batch(frame, engine_.clock().now_ns(), shards(), *parcels);
    SEAWAY_CHECK(read.ok(), read.status().to_string());
    shards_[to].port.door->deliver(read->envelopes);
  });
}

void SimulatedNetwork::tell(ShardId to, ShardId about, std::uint32_t epoch) {
  if (to == about || !shards_[to].is_alive) return;
  engine_.schedule(arrival_ns(about, to), [this, here = is_here_, to, about, epoch,
                                           to_epoch = shards_[to].epoch] {
    if (!*here || shards_[to].epoch != to_epoch || !shards_[to].is_alive) return;
    shards_[to].known[about] = epoch;
    const auto& word = epoch == 0 ? shards_[to].port.on_lost : shards_[to].port.on_back;
    if (word) word(about);
  });
}

void SimulatedNetwork::kill(ShardId shard) {
  ShardState& state = shards_[shard];
  SEAWAY_CHECK(state.is_alive);
  state.is_alive = false;
  ++state.epoch;
  state.port = {};
  for (ShardId other = 0; other < shards_.size(); ++other) tell(other, shard, 0);
}

void SimulatedNetwork::restart(ShardId shard, NetworkPort port) {
  ShardState& state = shards_[shard];
  SEAWAY_CHECK(!state.is_alive);
  state.is_alive = true;
  state.port = std::move(port);
  for (ShardId other = 0; other < shards_.size(); ++other) {
    state.known[other] = shards_[other].is_alive ? shards_[other].epoch : 0;
  }
  for (ShardId other = 0; other < shards_.size(); ++other) tell(other, shard, state.epoch);
}

}  // namespace seaway::app
