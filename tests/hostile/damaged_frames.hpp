// MessageKind: who sends what to whom; and frames with damaged words.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "base/random.hpp"
#include "cluster/shape.hpp"

namespace seaway::hostile {

/// Sender and receiver by their roles, and a member of the union that the channel carries.
struct MessageKind {
  actor::Role from = actor::Role::kController;
  actor::Role to = actor::Role::kController;
  std::string name;  // "bulk.edge", "actors.call", "relay.words".

  friend auto operator<=>(const MessageKind&, const MessageKind&) = default;
};
/// "host>island:dones".
std::string to_string(const MessageKind& kind);
/// The same back. False for what is no kind.
bool parse(const std::string& text, MessageKind& kind);

/// The name of a frame's kind; "malformed" when it cannot be read.
std::string name_of(actor::Role from, std::uint32_t channel, const Frame& frame);

/// `frame` with one to three numbers of its schema changed; or with so many words changed, whatever
/// they are: bits flipped, extreme numbers, or words of `other`, a frame of the same kind.
Frame damaged(actor::Role from, std::uint32_t channel, const Frame& frame, const Frame& other,
              RandomStream& random);

}  // namespace seaway::hostile
