// Any bytes as words of delegates and of their client, as an array that travels, and as what a
// relay hands on: an error, or what reads back as the same once it is written.

#include <algorithm>

#include "base/check.hpp"
#include "cluster/door.hpp"
#include "cluster/relay_frames.hpp"
#include "cluster/relay_messages.hpp"
#include "target.hpp"

namespace seaway::fuzz {
namespace {

using actor::Role;

template <class Read>
void read_twice(const Frame& frame, Read read) {
  const auto first = read(frame);
  if (!first.ok()) {
    SEAWAY_CHECK(first.status().code() == StatusCode::kProtocolError, first.status().to_string());
    return;
  }
  const Frame written = cluster::to_frame(*first);
  const auto second = read(written);
  SEAWAY_CHECK(second.ok(), second.status().to_string());
  SEAWAY_CHECK(std::ranges::equal(written.words(), cluster::to_frame(*second).words()));
}

template <class Read>
void read_once(const Frame& frame, Read read) {
  const auto found = read(frame);
  if (found.ok()) return;
  SEAWAY_CHECK(found.status().code() == StatusCode::kProtocolError, found.status().to_string());
}

}  // namespace

void relay(std::span<const std::uint8_t> input) {
  const cluster::DoorLimits limits{.islands = 3, .devices = 4};
  Sayings sayings(input);
  for (Said said; sayings.next(said);) {
    switch (said.from % 6) {
      case 0:
        read_twice(said.frame, cluster::read_delegate_words);
        break;
      case 1:
        read_twice(said.frame, cluster::read_client_words);
        break;
      case 2:
        read_twice(said.frame, cluster::read_given_array);
        break;
      case 3:
        read_once(said.frame, cluster::read_upload);
        break;
      case 4:
        read_once(said.frame, cluster::read_answer);
        break;
      default:
        // Behind the door, as the relay reads it.
        if (cluster::check_at_door({Role::kClient, 1}, {Role::kController, 0}, said.frame, limits)
                .ok()) {
          static_cast<void>(cluster::read_records(said.frame));
        }
    }
  }
}

}  // namespace seaway::fuzz
