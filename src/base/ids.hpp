// Ids: which number names what, who chooses it, and when it may be used again (never).

#pragma once

#include <cstdint>

namespace seaway {

using ClientId = std::uint32_t;    // Chosen by the controller at connect; > 0.
using TenantId = std::uint32_t;    // Chosen by the controller, one per tenant name.
using IslandId = std::uint32_t;    // Index of the island in the cluster.
using HostId = std::uint32_t;      // Index of the host in the cluster.
using DeviceId = std::uint32_t;    // Index of the device *within its island*.
using SliceId = std::uint64_t;     // Chosen by the client.
using FunctionId = std::uint64_t;  // Chosen by the client.
using ProgramId = std::uint64_t;   // Chosen by the client.
using ArrayId = std::uint64_t;     // Chosen by the client; internal arrays by the controller.
using RunId = std::uint64_t;       // Chosen by the client.
using PlanId = std::uint64_t;      // One lowering of a program segment; chosen by the controller.
using Stamp = std::uint64_t;       // One rising sequence, given by the controller; > 0.

/// Ids that a client chooses carry the client in their upper bits, so that two clients never
/// choose the same one and a forged one is seen at once.
constexpr unsigned kSequenceBits = 40;
constexpr std::uint64_t make_id(ClientId client, std::uint64_t sequence) {
  return (static_cast<std::uint64_t>(client) << kSequenceBits) | sequence;
}
constexpr ClientId client_of(std::uint64_t id) {
  return static_cast<ClientId>(id >> kSequenceBits);
}
constexpr std::uint64_t sequence_of(std::uint64_t id) {
  return id & ((std::uint64_t{1} << kSequenceBits) - 1);
}
/// From here on a client's sequences are chosen by its actors in hosts' processes, not by itself
/// (client/id_blocks.hpp).
constexpr std::uint64_t kDelegateSequences = std::uint64_t{1} << (kSequenceBits - 2);
constexpr bool is_of_delegate(std::uint64_t id) { return sequence_of(id) >= kDelegateSequences; }

}  // namespace seaway
