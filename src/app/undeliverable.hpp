// Envelopes that cannot be sent: to whoever waits for them it is as if their receiver had refused.

#pragma once

#include <optional>

#include "app/envelope.hpp"

namespace seaway::app {

/// An envelope to `to` that has no bytes, or too many of them.
struct Undeliverable {
  /// What goes to the same receiver instead: an answer becomes the reason why there is none.
  std::optional<Envelope> instead;
  /// What its own sender hears: a call has failed, members were not made.
  std::optional<Envelope> back;
};
/// `why` has a code that such a call may end with. A snapshot that cannot be kept ends its member.
Undeliverable undeliverable(const Envelope& envelope, SiloId to, const Status& why);

}  // namespace seaway::app
