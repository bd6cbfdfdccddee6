// HostOutbox: what a host has to say to others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "actor/router.hpp"
#include "base/ids.hpp"
#include "seaway/status.hpp"
#include "transport/near_memory.hpp"

namespace seaway::device {

/// What a host has to say after it was told something; the actor turns it into frames.
struct HostOutbox {
  struct Done {
    enum class Kind : std::uint8_t { kGangs, kReceived, kSpilled, kMoved, kFenced };
    Kind kind = Kind::kGangs;
    std::uint64_t id = 0;
    std::uint32_t first = 0, last = 0;
  };
  struct Failure {
    Stamp stamp = 0;
    Status status;
  };
  struct Edge {
    enum class Kind : std::uint8_t { kArmed, kDeclined, kDelivered, kConsumed, kReturned };
    Kind kind = Kind::kArmed;
    HostId peer = 0;
    Stamp stamp = 0;
    std::uint32_t edge = 0;
    Status status = {};
    std::uint64_t bytes = 0;      // kDelivered: payload, for the link's bandwidth.
    std::uint32_t shards = 0;     // The same: of so many shards,
    std::size_t shard_bytes = 0;  // without what they are rounded up by; is_process alone.
    /// The same: it is not sent but lent, its shards so far apart.
    std::optional<transport::NearMemory::Place> place = {};
    std::size_t stride = 0;
    bool keeps = false;         // kDelivered: it may be kept; kConsumed: it is, until kReturned.
    std::uint64_t streams = 0;  // kDelivered: so many bytes are to be fetched; 0: none.
  };
  struct Fetched {
    ClientId client = 0;
    std::uint64_t request = 0;
    Status status;
    std::vector<std::byte> value = {};  // Where clients are other processes: what was asked for.
    std::uint64_t streams = 0;  // The same: it is offered, so many bytes, under this number.
    std::uint32_t offer = 0;
  };
  std::vector<Done> dones;
  std::vector<Failure> failures;
  std::vector<Edge> edges;
  std::vector<Fetched> fetched;
  struct LostDevice {
    DeviceId device = 0;
    Status status;
  };
  std::vector<Stamp> enqueued;  // Parts whose enqueueing was to be acknowledged.
  std::vector<LostDevice> lost;
  std::vector<ArrayId> pulls;    // Uploads whose bytes are still with their clients,
  std::vector<ArrayId> arrived;  // and those whose bytes are here now.
  /// A role has sent what it cannot mean, or is far too late: the conversation with it ends.
  struct Wrong {
    actor::Role role = actor::Role::kController;
    std::uint32_t index = 0;
    Status why;
  };
  std::vector<Wrong> wrong;
};

}  // namespace seaway::device
