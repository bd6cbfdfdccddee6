// Hands and forks.

#include "demos/support/table.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace seaway::demos {

Table::Held::Held(Table& table, std::uint32_t fork, std::uint32_t philosopher)
    : table_(table), fork_(fork) {
  std::lock_guard guard(table_.mutex_);
  table_.clashes_ += table_.holders_.at(fork) != kNobody;
  table_.holders_[fork] = philosopher;
}

Table::Held::~Held() {
  if (!is_held_) return;
  lay_down();
  std::lock_guard guard(table_.mutex_);
  ++table_.dropped_;
}

void Table::Held::lay_down() {
  is_held_ = false;
  std::lock_guard guard(table_.mutex_);
  table_.holders_[fork_] = kNobody;
}

void Table::eats(std::uint32_t philosopher) {
  {
    std::lock_guard guard(mutex_);
    ++meals_.at(philosopher);
  }
  if (!screen_ || !screen_->is_terminal) return;
  std::printf("\r%s\x1b[K", picture().c_str());
  std::fflush(stdout);
}

std::uint32_t Table::clashes() const {
  std::lock_guard guard(mutex_);
  return clashes_;
}

std::uint32_t Table::dropped() const {
  std::lock_guard guard(mutex_);
  return dropped_;
}

std::uint32_t Table::held() const {
  std::lock_guard guard(mutex_);
  return static_cast<std::uint32_t>(std::count_if(holders_.begin(), holders_.end(),
                                                  [](auto holder) { return holder != kNobody; }));
}

std::uint32_t Table::meals(std::uint32_t philosopher) const {
  std::lock_guard guard(mutex_);
  return meals_.at(philosopher);
}

std::string Table::picture() const {
  std::lock_guard guard(mutex_);
  std::string seats, counts;
  const auto count = static_cast<std::uint32_t>(holders_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    // Fork i lies to the left of philosopher i.
    seats += holders_[i] == i ? "|-" : "  ";
    seats += std::to_string(i);
    seats += holders_[(i + 1) % count] == i ? "-|" : "  ";
    counts += " " + std::to_string(meals_[i]);
  }
  return seats + "   meals:" + counts;
}

void Table::say(const std::string& word) const {
  if (screen_) std::printf("%s%s\n", screen_->is_terminal ? "\r\x1b[K" : "", word.c_str());
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
  say("all have eaten: " + picture());
  return {};
}

}  // namespace seaway::demos
