// SimulatedNetwork: silos of one process as if each were a host of its own: batches travel as
// frames, take their time, and are lost with the hosts at either end.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "actor/engine.hpp"
#include "app/door.hpp"
#include "app/envelope.hpp"
#include "base/random.hpp"

namespace seaway::app {

/// Where what comes for one silo goes. The words are called on the control thread.
struct NetworkPort {
  std::shared_ptr<Door> door;
  std::function<void(SiloId)> on_lost = {};  // Another one has died: nothing more comes from it.
  std::function<void(SiloId)> on_back = {};  // It is back, and knows nothing.
};

/// Each silo has an end of its own, which knows of others what it has heard: deaths and returns
/// travel like messages. Between two silos everything arrives in the order of its sending. A silo
/// lives in *epochs*, one for each life; what was sent from an earlier epoch, or to one, is
/// dropped, so nothing of a dead host arrives after the word of its death. Control thread only, or
/// while nothing runs; the engine outlives it.
class SimulatedNetwork {
 public:
  struct Options {
    std::uint64_t seed = 0;
    std::uint64_t latency_min_ns = 10'000;
    std::uint64_t latency_max_ns = 2'000'000;
  };
  struct Counts {
    std::uint64_t batches = 0, bytes = 0, dropped = 0;
  };

  SimulatedNetwork(actor::Engine& engine, std::uint32_t silos, Options options);
  ~SimulatedNetwork();

  /// What silo `self` sends through. Lives as long as the network.
  Network& end_of(SiloId self);
  /// Before anything is sent to `self`; and again for each life.
  void connect(SiloId self, NetworkPort port);

  /// From now on nothing reaches `silo` or comes from it; the others hear of it.
  void kill(SiloId silo);
  /// It begins a new epoch, with a new port. It knows who lives now.
  void restart(SiloId silo, NetworkPort port);
  bool is_alive(SiloId silo) const { return silos_[silo].is_alive; }
  std::uint32_t epoch(SiloId silo) const { return silos_[silo].epoch; }
  std::uint32_t silos() const { return static_cast<std::uint32_t>(silos_.size()); }

  const Counts& counts() const { return counts_; }
  /// Of all frames, and when they were to arrive: equal for equal runs.
  std::uint64_t hash() const { return hash_; }

 private:
  class End;
  struct Link {  // From one silo to another.
    explicit Link(RandomStream own) : random(own) {}
    RandomStream random;
    std::uint64_t last_arrival_ns = 0;
  };
  struct SiloState {
    std::uint32_t epoch = 1;
    bool is_alive = true;
    NetworkPort port;
    std::vector<std::uint32_t> known;  // The epoch of each other one; 0: it is known to be dead.
    std::vector<Link> links;           // To each other one.
  };

  void send(SiloId from, SiloId to, std::vector<Envelope>& batch);
  /// When what leaves now arrives: after all that left before.
  std::uint64_t arrival_ns(SiloId from, SiloId to);
  /// Tells `to` of `about`, behind all that came from there.
  void tell(SiloId to, SiloId about, std::uint32_t epoch);

  actor::Engine& engine_;
  const Options options_;
  std::vector<SiloState> silos_;
  std::vector<std::unique_ptr<End>> ends_;
  Counts counts_;
  std::uint64_t hash_ = 0;
  std::shared_ptr<bool> is_here_;  // False once it has ended: what is still under way is dropped.
};

}  // namespace seaway::app
