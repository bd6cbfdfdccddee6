// Supervision: what is started anew when an actor of a mesh dies, and when to give up.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seaway {

/// Who is started anew when a member of a mesh of actors dies. Erlang/OTP's word in brackets.
enum class Restart : std::uint8_t {
  kMember,  // That member alone; the others go on (one_for_one).
  kGang,    // All: the others are stopped first, for none can go on without it (one_for_all).
  kNever,   // Nobody: the member stays dead, and asking it is kActorLost (temporary).
};
/// "member", "gang", "never".
std::string_view to_string(Restart restart);

/// How many restarts a mesh is worth: with one more than `restarts_max` within any `window_ns` the
/// cause is not one that restarting cures, and the whole mesh is given up. A gang that starts anew
/// counts once, however many of its members died.
struct Intensity {
  std::uint32_t restarts_max = 3;
  std::uint64_t window_ns = 10'000'000'000;

  friend bool operator==(const Intensity&, const Intensity&) = default;
};
/// For example "3 restarts in 10000 ms".
std::string to_string(const Intensity& intensity);

}  // namespace seaway
