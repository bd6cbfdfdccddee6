// HostileClient: a client process in a simulated world that breaks every rule it can.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actor/seeded_process.hpp"
#include "base/random.hpp"
#include "cluster/member.hpp"
#include "sim/hostile_frames.hpp"

namespace seaway::sim {

/// Collects what honest clients send, and sends it again in the name of a client of another tenant:
/// with foreign ids, or damaged. What comes of it concerns the hostile client alone: the honest
/// clients of its world are checked as in every other world.
///
/// A world has at most one at a time, which comes back as a new client when it is thrown out.
class HostileClient {
 public:
  static constexpr std::uint32_t kLivesMax = 6;
  static const std::string kTenant;

  HostileClient(std::uint64_t seed, std::uint32_t hosts);

  /// A frame of an honest client.
  void tap(ClientId from, transport::ProcessId to, std::uint32_t channel, const Frame& frame);
  /// One life of its process.
  void live(cluster::Member& member, actor::SeededProcess& process);

  std::uint64_t sent() const { return sent_; }

 private:
  const std::uint32_t hosts_;
  RandomStream random_;
  std::vector<TappedFrame> tapped_;
  std::uint64_t seen_ = 0, sent_ = 0;
};

}  // namespace seaway::sim
