// The table that philosophers sit at: who holds which fork, seen from outside.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace seaway::demos {

/// An observer who knows nothing of actors. Thread-safe.
class Table {
 public:
  explicit Table(std::uint32_t seats) : holders_(seats, kNobody), meals_(seats, 0) {}

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

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  mutable std::mutex mutex_;            // Guards what follows.
  std::vector<std::uint32_t> holders_;  // Of each fork.
  std::vector<std::uint32_t> meals_;
  std::uint32_t clashes_ = 0;
  std::uint32_t dropped_ = 0;
};

}  // namespace seaway::demos
