// Any frame of anybody for anybody: it is taken at the door, or refused with a reason.

#include "base/check.hpp"
#include "cluster/door.hpp"
#include "target.hpp"

namespace seaway::fuzz {
namespace {

const cluster::DoorLimits kLimits{.islands = 3, .devices = 4};

cluster::RoleName name_of(std::uint8_t number) {
  if (number >= 128)
    return {actor::Role::kAnnex, actor::annex_of((number >> 2 & 31) % 3, number & 3)};
  return {static_cast<actor::Role>(number & 3), static_cast<std::uint32_t>(number >> 2) % 3};
}

}  // namespace

void door(std::span<const std::uint8_t> input) {
  Said said;
  for (Sayings sayings(input); sayings.next(said);) {
    const Status status =
        cluster::check_at_door(name_of(said.from), name_of(said.to), said.frame, kLimits);
    SEAWAY_CHECK(status.ok() || status.code() == StatusCode::kProtocolError, status.to_string());
  }
}

}  // namespace seaway::fuzz
