// ProcessTrace: the trace of one world of processes.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "sim/process_sink.hpp"
#include "sim/world_trace.hpp"

namespace seaway::sim {

/// The controller, each island and each client is a machine; an island's has tracks for its
/// scheduler, its host and each device. Lives of processes are spans of their tracks.
class ProcessTrace final : public ProcessSink {
 public:
  /// `now_ns`: the world's own time, as clocks of processes may be wrong.
  explicit ProcessTrace(std::function<std::uint64_t()> now_ns) : now_ns_(std::move(now_ns)) {}

  void started(const cluster::RoleName& name, std::uint32_t life) override;
  void ended(const cluster::RoleName& name, std::uint32_t life) override;
  void began(const ProcessFault& fault) override;
  void record(const cluster::RoleName& teller, const events::Event& event) override;
  /// `arrives_ns` is 0 when it is lost.
  void wrote(const cluster::RoleName& from, const cluster::RoleName& to, std::uint64_t bytes,
             std::uint64_t arrives_ns);

  /// Closes what is open, and writes all.
  std::string to_json();

 private:
  WorldTrace::Track track_of(const cluster::RoleName& name);
  void end_life(const cluster::RoleName& name);

  const std::function<std::uint64_t()> now_ns_;
  WorldTrace trace_;
  std::map<cluster::RoleName, std::pair<std::uint32_t, std::uint64_t>> lives_;  // Number, begin.
  std::map<std::tuple<IslandId, Stamp, std::uint32_t>, std::uint64_t> gangs_;   // Begin.
};

}  // namespace seaway::sim
