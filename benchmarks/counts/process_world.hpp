// A simulated cluster of processes, whose one client runs a program.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "actor/seeded_engine.hpp"
#include "benchmarks/counts/operations.hpp"
#include "sim/process_cluster.hpp"

namespace seaway::benchmarks {

/// One island of one host, and `idle_clients` beside the one that works. Wires take 10 us; nothing
/// fails.
class ProcessWorld {
 public:
  /// What the client does: called in its process, `count` times for each run().
  using Work = std::function<Status()>;
  using Begin = std::function<Result<Work>(Client client)>;

  ProcessWorld(Begin begin, std::uint32_t idle_clients);
  ~ProcessWorld();

  Status run(std::uint32_t count);
  Traffic traffic() const { return {frames_, frame_bytes_, engine_->steps()}; }

 private:
  void be_client(cluster::Member& member, actor::SeededProcess& process);
  void be_idle(cluster::Member& member, actor::SeededProcess& process);

  const Begin begin_;
  std::uint64_t frames_ = 0, frame_bytes_ = 0;
  std::uint64_t wanted_ = 0, done_ = 0;
  std::uint32_t idle_wanted_ = 0, idle_ = 0;  // Clients that have connected.
  Status status_;
  bool is_over_ = false;
  actor::SeededProcess* client_ = nullptr;
  events::EventStream events_{1024};
  std::unique_ptr<actor::SeededEngine> engine_ =
      actor::make_seeded_engine(1, {.policy = actor::SchedulePolicy::kFifo});
  std::unique_ptr<sim::ProcessCluster> cluster_;
};

}  // namespace seaway::benchmarks
