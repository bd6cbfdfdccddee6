// Frames on their way between silos.

#include "app/simulated_network.hpp"

#include <algorithm>
#include <utility>

#include "app/envelope_codec.hpp"
#include "base/check.hpp"

namespace seaway::app {
namespace {

constexpr std::uint64_t kLatencyStream = 0x6c6174656e637900;

}  // namespace

/// One silo's view of the others.
class SimulatedNetwork::End final : public Network {
 public:
  End(SimulatedNetwork& network, SiloId self) : network_(network), self_(self) {}

  void send(SiloId from, SiloId to, std::vector<Envelope>& batch) override {
    network_.send(from, to, batch);
    batch.clear();
  }
  std::uint32_t epoch(SiloId silo) const override {
    return silo < network_.silos_.size() ? network_.silos_[self_].known[silo] : 0;
  }
  std::uint32_t silos() const override { return network_.silos(); }

 private:
  SimulatedNetwork& network_;
  const SiloId self_;
};

SimulatedNetwork::SimulatedNetwork(actor::Engine& engine, std::uint32_t silos, Options options)
    : engine_(engine), options_(options), is_here_(std::make_shared<bool>(true)) {
  SEAWAY_CHECK(options.latency_min_ns <= options.latency_max_ns);
  for (SiloId self = 0; self < silos; ++self) {
    SiloState state;
    state.known.assign(silos, 1);
    for (SiloId to = 0; to < silos; ++to) {
      state.links.emplace_back(
          RandomStream(options.seed, kLatencyStream ^ (std::uint64_t{self} << 32) ^ to));
    }
    silos_.push_back(std::move(state));
    ends_.push_back(std::make_unique<End>(*this, self));
  }
}

SimulatedNetwork::~SimulatedNetwork() { *is_here_ = false; }

Network& SimulatedNetwork::end_of(SiloId self) { return *ends_[self]; }

void SimulatedNetwork::connect(SiloId self, NetworkPort port) {
  silos_[self].port = std::move(port);
}

std::uint64_t SimulatedNetwork::arrival_ns(SiloId from, SiloId to) {
  Link& link = silos_[from].links[to];
  const std::uint64_t range_ns = options_.latency_max_ns - options_.latency_min_ns;
  // Most are fast and some are slow, as in real networks.
  const std::uint64_t extra_ns = link.random.below(1 + link.random.below(1 + range_ns));
  const std::uint64_t now_ns = engine_.clock().now_ns();
  link.last_arrival_ns =
      std::max(link.last_arrival_ns, now_ns + options_.latency_min_ns + extra_ns);
  return link.last_arrival_ns;
}

void SimulatedNetwork::send(SiloId from, SiloId to, std::vector<Envelope>& batch) {
  const std::uint32_t to_epoch = silos_[from].known[to];
  if (batch.empty() || to_epoch == 0 || !silos_[from].is_alive) return;
  auto parcels = std::make_shared<Parcels>();
  Frame frame = encode_batch(from, batch, engine_.clock().now_ns(), *parcels);
  const std::uint64_t at_ns = arrival_ns(from, to);
  ++counts_.batches;
  counts_.bytes += frame.size_bytes();
  hash_ = mix64(hash_ ^ at_ns ^ (std::uint64_t{from} << 48) ^ (std::uint64_t{to} << 56));
  for (const std::uint64_t word : frame.words()) hash_ = mix64(hash_ ^ word);
  engine_.schedule(at_ns, [this, here = is_here_, from, to, from_epoch = silos_[from].epoch,
                           to_epoch, frame = std::move(frame), parcels = std::move(parcels)] {
    if (!*here) return;
    if (silos_[from].epoch != from_epoch || silos_[to].epoch != to_epoch || !silos_[to].is_alive) {
      ++counts_.dropped;
      return;
    }
    auto read = decode_batch(frame, engine_.clock().now_ns(), silos(), *parcels);
    SEAWAY_CHECK(read.ok(), read.status().to_string());
    silos_[to].port.door->deliver(read->envelopes);
  });
}

void SimulatedNetwork::tell(SiloId to, SiloId about, std::uint32_t epoch) {
  if (to == about || !silos_[to].is_alive) return;
  engine_.schedule(arrival_ns(about, to), [this, here = is_here_, to, about, epoch,
                                           to_epoch = silos_[to].epoch] {
    if (!*here || silos_[to].epoch != to_epoch || !silos_[to].is_alive) return;
    silos_[to].known[about] = epoch;
    const auto& word = epoch == 0 ? silos_[to].port.on_lost : silos_[to].port.on_back;
    if (word) word(about);
  });
}

void SimulatedNetwork::kill(SiloId silo) {
  SiloState& state = silos_[silo];
  SEAWAY_CHECK(state.is_alive);
  state.is_alive = false;
  ++state.epoch;
  state.port = {};
  for (SiloId other = 0; other < silos_.size(); ++other) tell(other, silo, 0);
}

void SimulatedNetwork::restart(SiloId silo, NetworkPort port) {
  SiloState& state = silos_[silo];
  SEAWAY_CHECK(!state.is_alive);
  state.is_alive = true;
  state.port = std::move(port);
  for (SiloId other = 0; other < silos_.size(); ++other) {
    state.known[other] = silos_[other].is_alive ? silos_[other].epoch : 0;
  }
  for (SiloId other = 0; other < silos_.size(); ++other) tell(other, silo, state.epoch);
}

}  // namespace seaway::app
