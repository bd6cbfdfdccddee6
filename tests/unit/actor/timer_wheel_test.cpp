// TimerWheel: what fires when and in which order, against a sorted list of all that is pending.

#include "actor/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace seaway::actor {
namespace {

constexpr std::uint64_t kTick = TimerWheel::kTickNs;

struct Timer : TimerNode {
  explicit Timer(int number_ = 0) : number(number_) {}
  int number;
};

std::vector<int> fired_at(TimerWheel& wheel, std::uint64_t now_ns) {
  std::vector<int> fired;
  wheel.advance(now_ns,
                [&fired](TimerNode& node) { fired.push_back(static_cast<Timer&>(node).number); });
  return fired;
}

using Numbers = std::vector<int>;

TEST(TimerWheel, FiresNeverBeforeItsTimeAndLessThanOneTickLate) {
  for (const std::uint64_t start_ns : {std::uint64_t{0}, 3 * (kTick << 32) + 77 * kTick}) {
    for (const std::uint64_t ahead_ns :
         {std::uint64_t{1}, kTick, kTick + 1, 255 * kTick, 256 * kTick + 7, 70'000 * kTick - 1,
          (kTick << 24) + 3, (kTick << 32) + 3, 5 * (kTick << 32) + 9}) {
      TimerWheel wheel(start_ns);
      Timer timer(1);
      const std::uint64_t at_ns = start_ns + ahead_ns;

      wheel.add(timer, at_ns);

      EXPECT_EQ(fired_at(wheel, at_ns - 1), Numbers{}) << at_ns;
      EXPECT_EQ(fired_at(wheel, at_ns + kTick - 1), Numbers{1}) << at_ns;
    }
  }
}

TEST(TimerWheel, FiresInOrderOfTicksAndThenOfAdding) {
  TimerWheel wheel;
  Timer late(1), first(2), second(3), third(4);
  wheel.add(late, 3 * kTick);
  wheel.add(first, 2 * kTick);
  wheel.add(second, 2 * kTick - 1);
  wheel.add(third, 2 * kTick);

  EXPECT_EQ(fired_at(wheel, 10 * kTick), (Numbers{2, 3, 4, 1}));
}

TEST(TimerWheel, KeepsTheOrderOfAddingThroughAllLevels) {
  TimerWheel wheel;
  const std::uint64_t at_ns = (kTick << 33) + 3 * (kTick << 16) + 5 * kTick;
  std::vector<std::unique_ptr<Timer>> timers;
  Numbers expected;
  // Each is added when the common time is nearer: from beyond the last level to the tick before.
  for (const std::uint64_t ahead : {kTick << 33, kTick << 30, kTick << 20, kTick << 10, kTick}) {
    wheel.advance(at_ns - ahead, [](TimerNode&) { FAIL(); });
    timers.push_back(std::make_unique<Timer>(static_cast<int>(timers.size())));
    wheel.add(*timers.back(), at_ns);
    expected.push_back(timers.back()->number);
  }

  EXPECT_EQ(fired_at(wheel, at_ns), expected);
}

TEST(TimerWheel, WhatIsAddedTooLateFiresAtTheNextTick) {
  TimerWheel wheel(300 * kTick);
  Timer timer(1);

  wheel.add(timer, 7);

  EXPECT_EQ(fired_at(wheel, 301 * kTick - 1), Numbers{});
  EXPECT_EQ(fired_at(wheel, 301 * kTick), Numbers{1});
}

TEST(TimerWheel, RemovingForgetsAndIsHarmlessTwice) {
  TimerWheel wheel;
  Timer kept(1), removed(2), never(3);
  wheel.add(removed, 2 * kTick);
  wheel.add(kept, 2 * kTick);

  wheel.remove(removed);
  wheel.remove(removed);
  wheel.remove(never);

  EXPECT_FALSE(removed.is_pending());
  EXPECT_EQ(wheel.size(), 1u);
  EXPECT_EQ(fired_at(wheel, 10 * kTick), Numbers{1});
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next_ns(), std::nullopt);
}

TEST(TimerWheel, FiringMayAddItselfAgainAndRemoveItsNeighbours) {
  TimerWheel wheel;
  Timer again(1), before(2), after(3), elsewhere(4);
  wheel.add(before, kTick);
  wheel.add(again, kTick);
  wheel.add(after, kTick);
  wheel.add(elsewhere, 2 * kTick);
  Numbers fired;

  wheel.advance(3 * kTick, [&](TimerNode& node) {
    fired.push_back(static_cast<Timer&>(node).number);
    if (&node != &again) return;
    if (fired.size() < 4) wheel.add(again, kTick);  // Its time has passed: at the next tick.
    wheel.remove(after);
    wheel.remove(elsewhere);
  });

  EXPECT_EQ(fired, (Numbers{2, 1, 1, 1}));
  EXPECT_TRUE(wheel.empty());
}

TEST(TimerWheel, TheEndOfTimeIsNever) {
  TimerWheel wheel;
  Timer never(1);
  wheel.add(never, ~std::uint64_t{0});

  EXPECT_EQ(fired_at(wheel, ~std::uint64_t{0}), Numbers{});
  EXPECT_EQ(wheel.next_ns(), ~std::uint64_t{0});
  wheel.remove(never);
}

TEST(TimerWheel, TimeThatGoesBackChangesNothing) {
  TimerWheel wheel;
  Timer timer(1);
  wheel.advance(10 * kTick, [](TimerNode&) {});

  EXPECT_EQ(fired_at(wheel, 5 * kTick), Numbers{});
  wheel.add(timer, 11 * kTick);
  EXPECT_EQ(fired_at(wheel, 10 * kTick), Numbers{});
  EXPECT_EQ(fired_at(wheel, 11 * kTick), Numbers{1});
}

TEST(TimerWheel, NextIsExactForWhatIsNearAndLeadsToWhatIsFar) {
  TimerWheel wheel(1000 * kTick);
  Timer near(1), far(2);
  wheel.add(far, 1'000'000 * kTick);
  wheel.add(near, 1004 * kTick - 1);

  const auto first_ns = wheel.next_ns();
  const Numbers first = fired_at(wheel, *first_ns);
  int steps = 0;
  Numbers second;
  for (; second.empty() && steps < 10; ++steps) second = fired_at(wheel, *wheel.next_ns());

  EXPECT_EQ(first_ns, 1004 * kTick);
  EXPECT_EQ(first, Numbers{1});
  EXPECT_EQ(second, Numbers{2});
  EXPECT_LE(steps, 4);
}

TEST(TimerWheelDeathTest, ANodeThatGoesWhilePendingIsABug) {
  TimerWheel wheel;

  EXPECT_DEATH(
      {
        Timer timer;
        wheel.add(timer, 12345);
      },
      "12345");
}

/// All that is pending by the tick at which it has to fire, in order of adding.
class Oracle {
 public:
  explicit Oracle(std::uint64_t now_ns) : tick_(now_ns / kTick) {}

  void add(int number, std::uint64_t at_ns) {
    const std::uint64_t rounded = at_ns / kTick + (at_ns % kTick != 0);
    pending_.emplace(std::max(rounded, tick_ + 1), number);
  }
  void remove(int number) {
    std::erase_if(pending_, [number](const auto& entry) { return entry.second == number; });
  }
  /// Takes the next that is due; nothing when there is none.
  std::optional<int> take(std::uint64_t now_ns) {
    if (pending_.empty() || pending_.begin()->first > now_ns / kTick) return std::nullopt;
    tick_ = std::max(tick_, pending_.begin()->first);
    const int number = pending_.begin()->second;
    pending_.erase(pending_.begin());
    return number;
  }
  void advanced(std::uint64_t now_ns) { tick_ = std::max(tick_, now_ns / kTick); }
  std::size_t size() const { return pending_.size(); }
  std::optional<std::uint64_t> first_ns() const {
    if (pending_.empty()) return std::nullopt;
    return pending_.begin()->first * kTick;
  }

 private:
  std::multimap<std::uint64_t, int> pending_;
  std::uint64_t tick_;
};

/// A wheel and its oracle under the same random calls.
class RandomWheel {
 public:
  explicit RandomWheel(std::uint64_t seed)
      : random_(seed, 0), now_ns_(random_.below(kTick << 34)), wheel_(now_ns_), oracle_(now_ns_) {
    for (int i = 0; i < 200; ++i) timers_.push_back(std::make_unique<Timer>(i));
  }
  ~RandomWheel() {
    for (auto& timer : timers_) wheel_.remove(*timer);
  }

  void step() {
    if (random_.chance(70)) {
      change();
    } else {
      advance(random_.chance(50) ? wheel_.next_ns().value_or(now_ns_) : now_ns_ + some_ns());
    }
    ASSERT_EQ(wheel_.size(), oracle_.size());
    ASSERT_EQ(wheel_.next_ns().has_value(), oracle_.first_ns().has_value());
    if (wheel_.empty()) return;
    ASSERT_LE(*wheel_.next_ns(), *oracle_.first_ns());
    ASSERT_GE(*wheel_.next_ns(), now_ns_ / kTick * kTick);
  }
  /// Follows next_ns() alone until all has fired, each at its very tick.
  void run_dry() {
    while (const auto next_ns = wheel_.next_ns()) {
      ASSERT_GT(*next_ns, now_ns_ / kTick * kTick);  // Each step leads on.
      advance(*next_ns);
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_EQ(oracle_.size(), 0u);
  }
  int fired() const { return fired_; }

 private:
  /// Of all orders of magnitude, up to beyond the last level.
  std::uint64_t some_ns() { return random_.next() >> random_.between(8, 50); }

  void change() {
    Timer& timer = *timers_[random_.below(timers_.size())];
    if (timer.is_pending()) {
      wheel_.remove(timer);
      oracle_.remove(timer.number);
    } else {
      const std::uint64_t ahead_ns = some_ns();
      const std::uint64_t at_ns =
          random_.chance(10) ? now_ns_ - std::min(now_ns_, ahead_ns) : now_ns_ + ahead_ns;
      wheel_.add(timer, at_ns);
      oracle_.add(timer.number, at_ns);
    }
  }
  void advance(std::uint64_t to_ns) {
    const std::uint64_t first_ns = oracle_.first_ns().value_or(0);
    now_ns_ = std::max(now_ns_, to_ns);
    wheel_.advance(now_ns_, [&](TimerNode& node) {
      Timer& timer = static_cast<Timer&>(node);
      ASSERT_LE(timer.at_ns(), now_ns_);
      ASSERT_FALSE(timer.is_pending());
      ASSERT_EQ(oracle_.take(now_ns_), timer.number) << first_ns;
      ++fired_;
      if (random_.chance(30)) change();
    });
    ASSERT_EQ(oracle_.take(now_ns_), std::nullopt);
    oracle_.advanced(now_ns_);
  }

  RandomStream random_;
  std::uint64_t now_ns_;
  TimerWheel wheel_;
  Oracle oracle_;
  std::vector<std::unique_ptr<Timer>> timers_;
  int fired_ = 0;
};

TEST(TimerWheel, UnderRandomCallsFiresWhatASortedListWould) {
  int fired = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("replay: seed " + std::to_string(seed));
    RandomWheel random(seed);

    for (int i = 0; i < 500; ++i) {
      ASSERT_NO_FATAL_FAILURE(random.step());
    }
    ASSERT_NO_FATAL_FAILURE(random.run_dry());

    fired += random.fired();
  }
  EXPECT_GT(fired, 10'000);
}

}  // namespace
}  // namespace seaway::actor
