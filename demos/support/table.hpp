// The table that philosophers sit at: who holds which fork, seen from outside.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::demos {

/// An observer who knows nothing of actors. A value.
class Table {
 public:
  /// One life of one philosopher.
  struct Guest {
    std::uint32_t seat = 0;
    std::uint32_t life = 1;
    friend bool operator==(const Guest&, const Guest&) = default;
  };

  explicit Table(std::uint32_t seats) : hands_(seats), meals_(seats, 0) {}

  void take(std::uint32_t fork, Guest guest);
  void lay_down(std::uint32_t fork, Guest guest);
  /// Whoever dies drops what is in its hands. Its death may be heard after somebody else has taken
  /// a fork that it held: then that was none of two hands.
  void dies(Guest guest);
  void eats(std::uint32_t seat);

  /// How often a fork was taken that another hand held: never, if all is well.
  std::uint32_t clashes() const { return static_cast<std::uint32_t>(clashes_.size()); }
  /// Forks that were dropped, and those that somebody holds now.
  std::uint32_t dropped() const { return dropped_; }
  std::uint32_t held() const;
  std::uint32_t meals(std::uint32_t seat) const { return meals_.at(seat); }
  /// "0 |-1-| 2  3 |-4-|", with the forks in hand beside who holds them, and how often each has
  /// eaten.
  std::string picture() const;

  /// A philosopher who dies over a meal, and begins anew when it is back.
  struct Victim {
    std::uint32_t seat = 0;
    std::uint32_t meals = 0;  // Those before, and the one it died over.
  };
  /// What is wrong when dinner is over and each was to have so many `meals`, as kDataCorruption: a
  /// fork was in two hands, or is in one still; other forks fell than the victim's two; somebody
  /// has eaten too little or too much.
  Status check(std::uint32_t meals, const Victim& victim) const;

 private:
  std::vector<std::vector<Guest>> hands_;  // That hold each fork: one at most, if all is well.
  std::vector<std::uint32_t> meals_;
  std::vector<Guest> clashes_;  // Who held what somebody else took.
  std::uint32_t dropped_ = 0;
};

}  // namespace seaway::demos
