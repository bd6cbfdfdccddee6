// Router: which actor plays which role, so that roles meet through messages alone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "actor/actor.hpp"
#include "base/ids.hpp"
#include "seaway/status.hpp"
#include "transport/lane.hpp"

namespace seaway::actor {

/// The hosts of an island are numbered from 0. That one is its host, which speaks for all; the
/// others are its annexes, which lend it their devices. Users' actors live on all of them.
enum class Role : std::uint8_t { kController, kIsland, kHost, kClient, kAnnex };
inline constexpr std::size_t kRoles = 5;

/// Annexes have numbers of their own, among those of all islands.
inline constexpr std::uint32_t kHostsMax = 64;  // Of one island.
constexpr std::uint32_t annex_of(std::uint32_t island, std::uint32_t host) {
  return island * kHostsMax + host;
}
constexpr std::uint32_t island_of_annex(std::uint32_t annex) { return annex / kHostsMax; }
constexpr std::uint32_t host_of_annex(std::uint32_t annex) { return annex % kHostsMax; }

/// What connections for data and memory that is lent call a host: an island's first one by the
/// island, and others, apart from these, as annexes.
constexpr std::uint32_t kAnnexPeer = std::uint32_t{1} << 31;
constexpr std::uint32_t data_peer_of(std::uint32_t island, std::uint32_t host) {
  return host == 0 ? island : kAnnexPeer | annex_of(island, host);
}
/// And clients, which lend nothing.
constexpr std::uint32_t kClientPeer = std::uint32_t{1} << 30;
constexpr std::uint32_t data_peer_of_client(ClientId client) { return kClientPeer | client; }

/// The roles of one cluster, by index, as one process sees them. Filled in by the wiring and read
/// by roles, both on the control thread.
class Router {
 public:
  /// Takes what is for a role that is not in this process: it is elsewhere, or nowhere.
  using Elsewhere =
      std::function<void(Role role, std::uint32_t index, Frame frame, transport::Lane lane)>;

  void bind(Role role, std::uint32_t index, Address address);
  void unbind(Role role, std::uint32_t index);

  /// Sends to a role; to one that is nowhere (a client that has gone) the frame is dropped.
  /// The lane matters between processes alone: payload, and whatever is to come behind it, goes on
  /// the bulk lane.
  void send(Role role, std::uint32_t index, Frame frame,
            transport::Lane lane = transport::Lane::kControl) const;

  /// Where frames go whose role is not bound here; without, they are dropped.
  void set_elsewhere(Elsewhere elsewhere) { elsewhere_ = std::move(elsewhere); }

  /// Hears who has sent a frame that is none: it is to be lost for this process, as nothing that it
  /// says from there on means anything. So is who has not done in time what it was told.
  using Malformed = std::function<void(Role from, std::uint32_t index, const Status& why)>;
  void on_malformed(Malformed malformed) { malformed_ = std::move(malformed); }
  /// `why` is not ok: what was read so far of a frame of that role counts. Where all roles are one
  /// process, that is a broken promise of its own, and ends it.
  void malformed(Role from, std::uint32_t index, const Status& why) const;

  bool is_here(Role role, std::uint32_t index) const {
    const auto& addresses = addresses_[static_cast<std::size_t>(role)];
    return index < addresses.size() && addresses[index];
  }

  /// Frames and bytes sent to each role so far, for the proofs that payload never passes the
  /// controller and that messages do not grow with shards.
  struct Count {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };
  /// Calls `observer` with each frame before it is sent; null: no longer. For tests that count
  /// records. Control thread, or while nothing runs.
  using Observer = std::function<void(Role role, std::uint32_t index, const Frame& frame)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  const Count& count(Role role) const { return counts_[static_cast<std::size_t>(role)]; }

 private:
  std::vector<Address> addresses_[kRoles];
  mutable Count counts_[kRoles];
  Observer observer_;
  Elsewhere elsewhere_;
  Malformed malformed_;
};

}  // namespace seaway::actor
