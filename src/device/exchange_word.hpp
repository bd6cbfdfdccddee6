// What hosts of an island say to each other while shards of a gang exchange values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "seaway/status.hpp"
#include "transport/near_memory.hpp"

namespace seaway::device {

/// Gangs are numbered by the island's first host, over all of its lives: the upper bits are the
/// lower ones of its life. Its annexes have begun with the same controller as it, and of the lives
/// that one controller gives the others are the same (cluster::Enrolment).
constexpr unsigned kGangBits = 40;
constexpr std::uint64_t first_gang_of(std::uint32_t life) {
  return std::uint64_t{life} << kGangBits;
}

struct ExchangeId {
  std::uint64_t gang = 0;
  std::uint32_t stage = 0;
};

/// A message, as collective::Message: its pieces one behind the other.
struct PackedMessage {
  std::vector<std::byte> data;
};
/// Its pieces lie in the sender's memory, so far behind where the loan begins.
struct LentMessage {
  transport::NearMemory::Place place;
  std::vector<std::uint64_t> pieces;
};
/// It can be fetched, as the sender packs it.
struct OfferedMessage {
  std::uint64_t id = 0;
};
/// The other host has what was lent or offered to it.
struct TakenMessage {};
/// It cannot read what was lent: it is to come in another way.
struct UnreadMessage {};
/// The gang has failed at the sender.
struct FailedGang {
  Status status;
};

/// In round `round` of a block.
struct ExchangeWord {
  using What = std::variant<PackedMessage, LentMessage, OfferedMessage, TakenMessage, UnreadMessage,
                            FailedGang>;
  ExchangeId id;
  std::uint32_t block = 0, round = 0;
  What what;
};

}  // namespace seaway::device
