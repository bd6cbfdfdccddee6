// Which gangs may read what changes under their hands: those whose sender has taken them for lost.

#pragma once

#include <algorithm>
#include <cstdint>

#include "device/backend.hpp"
#include "device/host_core.hpp"

namespace seaway::sim {

/// A sender that takes a reader for lost takes back what it has lent him. One that lives all the
/// same, as its clock stands still, may work with what has changed: its gang fails when it ends.
inline bool reads_what_was_taken_back(const device::HostCore& host, const device::GangWork& work) {
  const device::PartRun* const part = host.find_part(work.stamp);
  if (!part) return false;
  const auto& receives = part->plan->gangs[work.gang].receives;
  return std::ranges::any_of(receives, [part](std::uint32_t receive) {
    const auto& loan = part->receives[receive].kept;
    return loan && !loan->holds();
  });
}

}  // namespace seaway::sim
