// SimDataPlane: values that simulated hosts fetch from each other, piece by piece, over connections
// that break.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "actor/engine.hpp"
#include "base/random.hpp"
#include "transport/data_plane.hpp"

namespace seaway::sim {

class SimDataPlane;

/// What all ends of one world have in common.
struct SimDataNetwork {
  std::uint64_t bytes_min = 0;
  std::uint64_t step_ns_max = 0;  // A piece comes so late at most,
  std::uint32_t break_1_in = 0;   // and one of so many not at all; 0: each does.
  RandomStream draws;
  /// The end of `peer` that `self` talks with now; null: there is none, or nothing passes.
  std::function<SimDataPlane*(transport::DataPeer self, transport::DataPeer peer)> find;
};

/// One process's end. Nothing of it happens while its process does not run.
class SimDataPlane final : public transport::DataPlane {
 public:
  /// All outlive it. `on_progress`: see SocketDataPlane.
  SimDataPlane(transport::DataPeer self, actor::Engine& engine, SimDataNetwork& network,
               std::function<void()> on_progress)
      : self_(self), engine_(engine), network_(network), on_progress_(std::move(on_progress)) {}

  std::uint64_t bytes_min() const override { return network_.bytes_min; }
  void offer(transport::DataPeer reader, transport::DataKey key,
             transport::DataSource source) override;
  void withdraw(transport::DataPeer reader, transport::DataKey key) override;
  void fetch(transport::DataPeer from, transport::DataKey key, transport::DataTarget target,
             std::function<void(Status)> done) override;
  void cancel(transport::DataPeer from, transport::DataKey key) override;
  void set_weight(std::uint32_t, std::uint32_t) override {}
  Counts counts() const override { return counts_; }

  /// Its process ends: nothing is read or written from here on, and nobody is told of anything.
  void close();

  std::size_t open() const override { return offers_.size() + fetches_.size(); }

 private:
  using Name = std::pair<transport::DataPeer, transport::DataKey>;
  struct Fetch {
    transport::DataTarget target;
    std::function<void(Status)> done;
    std::uint64_t next = 0;      // Bytes that have come.
    std::uint64_t heard_ns = 0;  // When the last ones did.
    Status ending;               // Not ok: it is cancelled.
  };
  void step_later(const Name& name, std::uint64_t most_ns);
  void step(const Name& name);
  void end(const Name& name, Status status);

  const transport::DataPeer self_;
  actor::Engine& engine_;
  SimDataNetwork& network_;
  const std::function<void()> on_progress_;
  std::map<Name, transport::DataSource> offers_;
  std::map<Name, Fetch> fetches_;
  Counts counts_;
  bool is_closed_ = false;
};

}  // namespace seaway::sim
