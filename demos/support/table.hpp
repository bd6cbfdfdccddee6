// The table that philosophers sit at: who holds which fork, seen from outside.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "demos/support/terminal.hpp"
#include "seaway/status.hpp"

namespace seaway::demos {

/// An observer who knows nothing of actors. Thread-safe.
class Table {
 public:
  /// Without a screen nothing is drawn.
  explicit Table(std::uint32_t seats, const std::optional<Screen>& screen = {})
      : screen_(screen), holders_(seats, kNobody), meals_(seats, 0) {}

  /// A fork in a hand. Whoever vanishes drops what was in its hands.
  class Held {
   public:
    Held(Table& table, std::uint32_t fork, std::uint32_t philosopher);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    /// Lays it down. At most once.
    void lay_down();

   private:
    Table& table_;
    const std::uint32_t fork_;
    bool is_held_ = true;
  };

  /// Counts a meal, and draws the table over its last picture, where there is a terminal.
  void eats(std::uint32_t philosopher);

  /// How often a fork was taken that another hand held: never, if all is well.
  std::uint32_t clashes() const;
  /// Forks that were dropped, and those that somebody holds now.
  std::uint32_t dropped() const;
  std::uint32_t held() const;
  std::uint32_t meals(std::uint32_t philosopher) const;
  /// "0 |-1-| 2  3 |-4-|", with the forks in hand beside who holds them, and how often each has
  /// eaten.
  std::string picture() const;
  /// Prints a line.
  void say(const std::string& word) const;

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
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  const std::optional<Screen> screen_;
  mutable std::mutex mutex_;            // Guards what follows.
  std::vector<std::uint32_t> holders_;  // Of each fork.
  std::vector<std::uint32_t> meals_;
  std::uint32_t clashes_ = 0;
  std::uint32_t dropped_ = 0;
};

}  // namespace seaway::demos
