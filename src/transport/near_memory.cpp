// Loans of memory: who has lent what to whom, and whose memory can be read.

#include "transport/near_memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/probe.hpp"

namespace seaway::transport {

NearMemory::NearMemory(SharedRegion own, Fetch fetch)
    : own_(std::move(own)), fetch_(std::move(fetch)), is_here_(std::make_shared<bool>(true)) {
  if (own_.bytes.size() < kTableBytes) return;
  for (std::uint32_t slot = kLoansMax; slot > 0; --slot) slots_.push_back(slot - 1);
}

std::span<std::byte> NearMemory::lendable() const {
  if (own_.bytes.size() < kTableBytes) return {};
  return own_.bytes.subspan(kTableBytes);
}

std::optional<NearMemory::Place> NearMemory::lend(const std::byte* base, std::size_t bytes) {
  const std::span<std::byte> all = lendable();
  const std::less<const std::byte*> before;
  if (all.empty() || before(base, all.data()) || !before(base, all.data() + all.size())) {
    return std::nullopt;
  }
  if (bytes > static_cast<std::size_t>(all.data() + all.size() - base)) return std::nullopt;
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t slot = slots_.back();
  slots_.pop_back();
  ++lent_;
  ++loans_;
  Turn& turn = turns()[slot];
  const std::uint64_t number = turn.load(std::memory_order_relaxed) + 1;
  turn.store(number, std::memory_order_release);
  return Place{static_cast<std::uint64_t>(base - own_.bytes.data()), bytes, slot, number};
}

void NearMemory::take_back(const Place& place) {
  Turn& turn = turns()[place.slot];
  SEAWAY_CHECK(turn.load(std::memory_order_relaxed) == place.turn, place.slot, place.turn);
  turn.store(place.turn + 1, std::memory_order_relaxed);
  // Nothing is written there before whoever reads it can see that.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  slots_.push_back(place.slot);
  --lent_;
}

void NearMemory::meet(HostId peer, std::uint32_t life) {
  lose(peer);
  peers_[peer].life = life;
  fetch_(peer, life,
         [this, peer, life, here = std::weak_ptr<bool>(is_here_)](Result<SharedRegion> region) {
           if (here.expired()) return;
           const auto found = peers_.find(peer);
           if (found == peers_.end() || found->second.life != life || !region.ok()) return;
           if (region->bytes.size() < kTableBytes) return;
           SEAWAY_PROBE("a host's memory can be read");
           found->second.region = std::move(*region);
         });
}

void NearMemory::lose(HostId peer) { peers_.erase(peer); }

bool NearMemory::reads(HostId peer) const {
  const auto found = peers_.find(peer);
  return found != peers_.end() && !found->second.region.bytes.empty();
}

Result<NearMemory::Read> NearMemory::read(HostId peer, const Place& place) const {
  if (!reads(peer)) {
    return Status(StatusCode::kInputLost,
                  "the memory of host " + std::to_string(peer) + " is not to be had here any more");
  }
  const SharedRegion& region = peers_.at(peer).region;
  const std::size_t size = region.bytes.size();
  const bool is_within = place.offset >= kTableBytes && place.offset <= size &&
                         place.bytes <= size - place.offset && place.slot < kLoansMax;
  if (!is_within) {
    return protocol_error("host " + std::to_string(peer) + " lends " + std::to_string(place.bytes) +
                          " bytes at " + std::to_string(place.offset) +
                          " of its memory, which has " + std::to_string(size));
  }
  const auto* const turns = reinterpret_cast<const Turn*>(region.bytes.data());
  return Read{region.bytes.data() + place.offset,
              std::make_shared<const Loan>(region.owner, turns[place.slot], place.turn)};
}

}  // namespace seaway::transport
