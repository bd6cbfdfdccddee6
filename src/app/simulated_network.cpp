// Conversations between silos, over simulated wires.

#include "app/simulated_network.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace seaway::app {
namespace {

constexpr std::uint64_t kPauseStream = 0x7061757365730000;
constexpr std::uint64_t kPacketStream = 0x7061636b65747300;
constexpr std::uint64_t kReconnectNsMax = 2'000'000;
/// Instead of heartbeats, for a world in which nothing happens any more is at its end.
constexpr std::uint64_t kKeepaliveNs = 20'000'000;
/// More than any world of actors has under way: what limits it are mailboxes.
constexpr std::size_t kFramesMax = std::size_t{1} << 24;
constexpr std::size_t kBytesMax = std::size_t{1} << 32;
constexpr std::size_t kCreditPackets = 32;

/// In half of all worlds an ordinary batch takes several packets.
std::size_t draw_packet_bytes(std::uint64_t seed) {
  RandomStream draws(seed, kPacketStream);
  return draws.below(2) == 0 ? transport::kPacketFrameBytesMax : std::size_t{64} << draws.below(4);
}

std::string name_of(SiloId silo) {
  return silo == kHub ? "the hub" : "host " + std::to_string(host_of_silo(silo));
}

/// Behind what came before.
void tell(const NetworkPort& port, const std::function<void(SiloId)>& word, SiloId other) {
  if (word) port.process->post([word, other] { word(other); });
}

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
    if (silo >= network_.silos_.size()) return 0;
    return silo == self_ ? network_.silos_[self_].epoch : network_.peer(self_, silo).known;
  }
  std::uint32_t silos() const override { return network_.silos(); }

 private:
  SimulatedNetwork& network_;
  const SiloId self_;
};

SimulatedNetwork::SimulatedNetwork(actor::Engine& engine, std::uint32_t silos, Options options)
    : engine_(engine),
      options_(options),
      wires_(silos,
             {options.seed, options.latency_min_ns, options.latency_max_ns,
              options.bytes_per_second, kKeepaliveNs, options.faults},
             engine.clock(),
             [this](std::uint64_t at_ns, std::function<void()> work) {
               engine_.schedule(at_ns, std::move(work));
             }),
      pauses_(options.seed, kPauseStream),
      packet_bytes_(draw_packet_bytes(options.seed)),
      silos_(silos),
      is_here_(std::make_shared<bool>(true)) {
  for (SiloId self = 0; self < silos; ++self) {
    silos_[self].peers = std::vector<Peer>(silos);
    ends_.push_back(std::make_unique<End>(*this, self));
  }
}

SimulatedNetwork::~SimulatedNetwork() { *is_here_ = false; }

Network& SimulatedNetwork::end_of(SiloId self) { return *ends_[self]; }

void SimulatedNetwork::connect(SiloId self, NetworkPort port) {
  silos_[self].port = std::move(port);
  attach(self);
  // Whoever is there from the start is connected from the start.
  for (SiloId other = 0; other < self; ++other) {
    if (!silos_[other].port.door) continue;
    wires_.join(self, other);
    peer(self, other).conversation->connected(now_ns());
    peer(other, self).conversation->connected(now_ns());
    for (auto [from, to] : {std::pair(self, other), std::pair(other, self)}) {
      for (transport::Packet& hello : peer(from, to).conversation->take_packets(now_ns())) {
        peer(to, from).conversation->receive(std::move(hello), now_ns());
      }
    }
  }
}

void SimulatedNetwork::attach(SiloId self) {
  for (SiloId other = 0; other < silos(); ++other) {
    if (other == self) continue;
    begin_conversation(self, other);
    wires_.attach(
        self, other,
        {[this, self, other] {
           peer(self, other).reader = transport::PacketReader();
           peer(self, other).conversation->connected(now_ns());
           turn(self, other);
         },
         [this, self, other](std::span<const std::byte> bytes) { on_bytes(self, other, bytes); },
         [this, self, other] {
           peer(self, other).conversation->disconnected();
           reconnect(self, other);
         },
         [this, self, other] {
           peer(self, other).conversation->refused();
           turn(self, other);
         }});
  }
}

void SimulatedNetwork::begin_conversation(SiloId self, SiloId other) {
  Peer& own = peer(self, other);
  transport::ConversationOptions options;
  options.epoch = silos_[self].epoch;
  options.peer = name_of(other);
  options.peer_epoch_min = own.epoch_min;
  options.control.frames_max = kFramesMax;
  options.control.waiting_bytes_max = kBytesMax;
  options.control.acknowledge_every = 16;
  options.control.packet_bytes = packet_bytes_;
  options.control.credit_bytes = kCreditPackets * packet_bytes_;
  own.conversation = std::make_unique<transport::Conversation>(std::move(options), now_ns());
  own.reader = transport::PacketReader();
  own.beside.clear();
  own.beside_epoch = silos_[self].epoch;
}

void SimulatedNetwork::send(SiloId from, SiloId to, std::vector<Envelope>& batch) {
  Peer& own = peer(from, to);
  if (batch.empty() || own.known == 0 || !silos_[from].is_alive) return;
  auto parcels = std::make_shared<Parcels>();
  Frame frame = encode_batch(from, batch, now_ns(from), {options_.types, parcels.get()});
  ++counts_.batches;
  counts_.bytes += frame.size_bytes();
  const Status taken = own.conversation->send(std::move(frame), now_ns());
  SEAWAY_CHECK(taken.ok(), taken.to_string());
  own.beside.push_back(std::move(parcels));
  write(from, to);
}

void SimulatedNetwork::on_bytes(SiloId self, SiloId other, std::span<const std::byte> bytes) {
  Peer& own = peer(self, other);
  own.reader.feed(bytes);
  for (;;) {
    auto packet = own.reader.next();
    if (!packet.ok()) {
      // This connection is of no use, another one is.
      own.conversation->unreadable(packet.status(), own.reader.is_refusal());
      if (own.conversation->has_ended()) break;
      wires_.close(self, other);
      reconnect(self, other);
      break;
    }
    if (!*packet) break;
    own.conversation->receive(std::move(**packet), now_ns());
  }
  turn(self, other);
}

void SimulatedNetwork::turn(SiloId self, SiloId other) {
  write(self, other);
  deliver(self, other);
  Peer& own = peer(self, other);
  if (own.conversation->take_close()) {
    wires_.close(self, other);
    if (own.conversation->has_ended()) return lose(self, other);
    reconnect(self, other);
  } else if (own.conversation->is_open() && own.known == 0) {
    own.known = static_cast<std::uint32_t>(own.conversation->peer_epoch());
    tell(silos_[self].port, silos_[self].port.on_back, other);
  }
}

void SimulatedNetwork::write(SiloId self, SiloId other) {
  std::vector<std::byte> bytes;
  for (const transport::Packet& packet : peer(self, other).conversation->take_packets(now_ns())) {
    transport::write_packet(packet, bytes);
  }
  wires_.write(self, other, std::move(bytes));
}

void SimulatedNetwork::deliver(SiloId self, SiloId other) {
  for (const transport::Letter& letter : peer(self, other).conversation->take_letters()) {
    // What travels beside frames of a life that is over has ended with it.
    Peer& sender = peer(other, self);
    if (sender.beside_epoch != peer(self, other).conversation->peer_epoch()) return;
    SEAWAY_CHECK(!sender.beside.empty());
    auto read = decode_batch(letter.frame, now_ns(self), silos(),
                             {options_.types, sender.beside.front().get()});
    sender.beside.pop_front();
    SEAWAY_CHECK(read.ok(), read.status().to_string());
    const NetworkPort& port = silos_[self].port;
    port.process->post(
        [door = port.door, batch = std::move(read->envelopes)]() mutable { door->deliver(batch); });
  }
}

/// That life of the other one is over; the next one will ask for a connection.
void SimulatedNetwork::lose(SiloId self, SiloId other) {
  Peer& own = peer(self, other);
  const auto heard = static_cast<std::uint32_t>(own.conversation->peer_epoch());
  own.epoch_min = std::max({own.epoch_min, own.known + 1, heard + 1});
  const bool was_known = std::exchange(own.known, 0) != 0;
  const bool is_back = own.conversation->successor_epoch() != 0;
  begin_conversation(self, other);
  if (was_known) tell(silos_[self].port, silos_[self].port.on_lost, other);
  if (is_back) reconnect(self, other);
}

void SimulatedNetwork::reconnect(SiloId self, SiloId other) {
  Peer& own = peer(self, other);
  if (std::exchange(own.is_reconnecting, true)) return;
  const std::uint64_t at_ns = now_ns() + 1 + pauses_.below(kReconnectNsMax);
  engine_.schedule(at_ns, [this, here = is_here_, self, other, epoch = silos_[self].epoch] {
    if (!*here || !silos_[self].is_alive || silos_[self].epoch != epoch) return;
    peer(self, other).is_reconnecting = false;
    if (peer(self, other).conversation->is_open()) return;
    wires_.connect(self, other);
  });
}

void SimulatedNetwork::kill(SiloId silo) {
  SiloState& state = silos_[silo];
  SEAWAY_CHECK(state.is_alive);
  state.is_alive = false;
  ++state.epoch;
  state.port = {};
  wires_.detach(silo, false);
}

void SimulatedNetwork::restart(SiloId silo, NetworkPort port) {
  SiloState& state = silos_[silo];
  SEAWAY_CHECK(!state.is_alive);
  state.is_alive = true;
  state.port = std::move(port);
  for (SiloId other = 0; other < silos(); ++other) {
    Peer& own = state.peers[other];
    own.is_reconnecting = false;
    own.known = silos_[other].is_alive ? silos_[other].epoch : 0;
    own.epoch_min = silos_[other].epoch;
  }
  attach(silo);
  for (SiloId other = 0; other < silos(); ++other) {
    if (other != silo && silos_[other].is_alive) wires_.connect(silo, other);
  }
}

}  // namespace seaway::app
