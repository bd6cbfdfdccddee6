// Hands and forks.

#include "demos/support/table.hpp"

#include <algorithm>
#include <utility>

namespace seaway::demos {

void Table::take(std::uint32_t fork, Guest guest) {
  std::vector<Guest>& hands = hands_.at(fork);
  clashes_.insert(clashes_.end(), hands.begin(), hands.end());
  hands.push_back(guest);
}

void Table::lay_down(std::uint32_t fork, Guest guest) { std::erase(hands_.at(fork), guest); }

void Table::dies(Guest guest) {
  for (std::vector<Guest>& hands : hands_) {
    dropped_ += static_cast<std::uint32_t>(std::erase(hands, guest));
  }
  std::erase(clashes_, guest);
}

void Table::eats(std::uint32_t seat) { ++meals_.at(seat); }

std::uint32_t Table::held() const {
  return static_cast<std::uint32_t>(std::count_if(
      hands_.begin(), hands_.end(), [](const auto& hands) { return !hands.empty(); }));
}

std::string Table::picture() const {
  std::string seats, counts;
  const auto count = static_cast<std::uint32_t>(hands_.size());
  const auto holds = [this](std::uint32_t fork, std::uint32_t seat) {
    return !hands_[fork].empty() && hands_[fork].back().seat == seat;
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    // Fork i lies to the left of philosopher i.
    seats += holds(i, i) ? "|-" : "  ";
    seats += std::to_string(i);
    seats += holds((i + 1) % count, i) ? "-|" : "  ";
    counts += " " + std::to_string(meals_[i]);
  }
  return seats + "   meals:" + counts;
}

Status Table::check(std::uint32_t meals, const Victim& victim) const {
  const auto wrong = [](std::string what) {
    return Status(StatusCode::kDataCorruption, std::move(what));
  };
  if (clashes() > 0) return wrong("a fork was in two hands at once");
  if (dropped() != 2) {
    return wrong(std::to_string(dropped()) + " forks were dropped, not the two of the dead");
  }
  if (held() > 0) return wrong("dinner is over, and somebody still holds a fork");
  for (std::uint32_t i = 0; i < meals_.size(); ++i) {
    const std::uint32_t wanted = meals + (i == victim.seat ? victim.meals : 0);
    if (this->meals(i) == wanted) continue;
    return wrong("philosopher " + std::to_string(i) + " has eaten " +
                 std::to_string(this->meals(i)) + " times, not " + std::to_string(wanted));
  }
  return {};
}

}  // namespace seaway::demos
