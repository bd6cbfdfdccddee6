// SimulatedNetwork: what connects silos that are simulated processes: batches travel as frames of
// conversations over connections that break, and are lost with the processes at either end.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actor/engine.hpp"
#include "app/door.hpp"
#include "app/envelope.hpp"
#include "app/envelope_codec.hpp"
#include "base/random.hpp"
#include "transport/conversation.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::app {

/// Where what comes for one life of a silo goes, one after the other, as work of its process.
struct NetworkPort {
  actor::Engine* process = nullptr;  // Whose clock is the silo's.
  std::shared_ptr<Door> door;
  std::function<void(SiloId)> on_lost = {};  // Another one has died: nothing more comes from it.
  std::function<void(SiloId)> on_back = {};  // It is back, and knows nothing.
};

/// Each silo has an end of its own, which knows of others what it has found out: that a process
/// does not exist any more when it reconnects and is refused, or that another life of it answers.
/// Between two silos everything arrives once and in the order of its sending, whatever their
/// connection does (transport::Conversation). A silo lives in *epochs*, one for each life; what was
/// sent from an earlier epoch, or to one, is never read, so nothing of a dead one arrives after the
/// word of its death. A process that is paused is connected all the same, as its machine goes on:
/// it hears everything later. Control thread only, or while nothing runs; the engine outlives it.
class SimulatedNetwork {
 public:
  struct Options {
    std::uint64_t seed = 0;
    std::uint64_t latency_min_ns = 10'000;
    std::uint64_t latency_max_ns = 2'000'000;
    std::uint64_t bytes_per_second = 0;  // Of each direction between two silos. 0: unlimited.
    transport::WireFaults faults = {};
    /// What goes by its name, as between processes; it outlives the network. Null: nothing.
    const internal::TypeTable* types = nullptr;
  };
  struct Counts {
    std::uint64_t batches = 0, bytes = 0;
  };

  SimulatedNetwork(actor::Engine& engine, std::uint32_t silos, Options options);
  ~SimulatedNetwork();

  /// What silo `self` sends through. Lives as long as the network.
  Network& end_of(SiloId self);
  /// Before anything is sent to `self`; once, at its first life.
  void connect(SiloId self, NetworkPort port);

  /// From now on nothing reaches `silo`; what it said last perhaps arrives. The others find out.
  void kill(SiloId silo);
  /// It begins a new epoch, with a new port. It knows who lives now.
  void restart(SiloId silo, NetworkPort port);
  /// No connection has faults any more.
  void heal() { wires_.heal(); }
  bool is_alive(SiloId silo) const { return silos_[silo].is_alive; }
  std::uint32_t epoch(SiloId silo) const { return silos_[silo].epoch; }
  std::uint32_t silos() const { return static_cast<std::uint32_t>(silos_.size()); }

  const Counts& counts() const { return counts_; }
  const transport::SimulatedWires::Counts& wire_counts() const { return wires_.counts(); }
  /// Hears of each write between two silos, as SimulatedWires::watch().
  void watch(transport::SimulatedWires::Watch watch) { wires_.watch(std::move(watch)); }
  /// Of all bytes, and when they were to arrive: equal for equal runs.
  std::uint64_t hash() const { return wires_.hash(); }

 private:
  class End;
  /// What one silo has to do with another one.
  struct Peer {
    std::uint32_t known = 1;  // Its epoch, as far as it is known here; 0: it is known to be dead.
    std::uint32_t epoch_min = 1;
    std::unique_ptr<transport::Conversation> conversation;
    transport::PacketReader reader;
    /// What travels beside the frames that were sent and have not been read yet.
    std::deque<std::shared_ptr<Parcels>> beside;
    std::uint32_t beside_epoch = 0;  // In which life.
    bool is_reconnecting = false;
  };
  struct SiloState {
    std::uint32_t epoch = 1;
    bool is_alive = true;
    NetworkPort port;
    std::vector<Peer> peers;
  };

  Peer& peer(SiloId self, SiloId other) { return silos_[self].peers[other]; }
  std::uint64_t now_ns() const { return engine_.clock().now_ns(); }
  /// The same by the clock of a silo that lives.
  std::uint64_t now_ns(SiloId silo) const { return silos_[silo].port.process->clock().now_ns(); }
  void attach(SiloId self);
  void begin_conversation(SiloId self, SiloId other);
  void send(SiloId from, SiloId to, std::vector<Envelope>& batch);
  void on_bytes(SiloId self, SiloId other, std::span<const std::byte> bytes);
  /// What the conversation has to say is written, and what it has heard is delivered.
  void turn(SiloId self, SiloId other);
  void write(SiloId self, SiloId other);
  void deliver(SiloId self, SiloId other);
  void lose(SiloId self, SiloId other);
  void reconnect(SiloId self, SiloId other);

  actor::Engine& engine_;
  const Options options_;
  transport::SimulatedWires wires_;
  RandomStream pauses_;
  const std::size_t packet_bytes_;  // Of a frame in one packet.
  std::vector<SiloState> silos_;
  std::vector<std::unique_ptr<End>> ends_;
  Counts counts_;
  std::shared_ptr<bool> is_here_;  // False once it has ended: what is still under way is dropped.
};

}  // namespace seaway::app
