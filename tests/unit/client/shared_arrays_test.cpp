// Who holds an array: what processes do to it and to each other, in every order that links allow.

#include "client/shared_arrays.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/random.hpp"

namespace seaway::client {
namespace {

using Ids = std::vector<ArrayId>;

constexpr Holder kClient{9, 1}, kOne{1, 1}, kTwo{2, 1}, kThree{3, 1};

TEST(SharedArrays, AnArrayGoesWithTheLastOfThoseWhoHoldIt) {
  SharedArrays arrays;
  arrays.made(kOne, 7, 2);
  arrays.grant(kOne, kTwo, 1, 7);
  EXPECT_TRUE(arrays.drop(kOne, 7));
  EXPECT_TRUE(arrays.drop(kOne, 8));
  EXPECT_EQ(arrays.take_released(), Ids{8});

  arrays.import(kTwo, kOne, 1, 7);
  EXPECT_TRUE(arrays.take_released().empty());
  EXPECT_FALSE(arrays.drop(kOne, 7));
  EXPECT_TRUE(arrays.drop(kTwo, 7));

  EXPECT_EQ(arrays.take_released(), Ids{7});
  EXPECT_EQ(arrays.size(), 0u);
}

TEST(SharedArrays, AnImportMayBeHeardBeforeItsGrant) {
  SharedArrays arrays;
  arrays.made(kOne, 7, 1);

  arrays.import(kTwo, kOne, 1, 7);
  arrays.drop(kTwo, 7);
  EXPECT_TRUE(arrays.take_released().empty());
  arrays.grant(kOne, kTwo, 1, 7);
  arrays.drop(kOne, 7);

  EXPECT_EQ(arrays.take_released(), Ids{7});
}

TEST(SharedArrays, WhatOneThatIsLostHasSentStaysUntilEachHeirHasSettled) {
  SharedArrays arrays;
  arrays.made(kOne, 7, 1);

  arrays.lose(kOne, {2, 3});
  arrays.settled(kOne, 3);
  EXPECT_TRUE(arrays.take_released().empty());
  // Its grant was lost with it, and its message was not.
  arrays.import(kTwo, kOne, 1, 7);
  arrays.settled(kOne, 2);
  EXPECT_TRUE(arrays.take_released().empty());
  arrays.drop(kTwo, 7);

  EXPECT_EQ(arrays.take_released(), Ids{7});
}

TEST(SharedArrays, AnHeirThatIsLostItselfMayHaveSentItOn) {
  SharedArrays arrays;
  arrays.made(kOne, 7, 1);
  arrays.lose(kOne, {2, 3});

  arrays.lose(kTwo, {3});
  arrays.settled(kOne, 3);
  EXPECT_TRUE(arrays.take_released().empty());
  arrays.settled(kTwo, 3);

  EXPECT_EQ(arrays.take_released(), Ids{7});
}

TEST(SharedArrays, GrantsToOneThatIsLostEndAlsoThoseThatAreHeardLater) {
  SharedArrays arrays;
  arrays.made(kOne, 7, 1);
  arrays.grant(kOne, kTwo, 1, 7);

  arrays.lose(kTwo, {});
  arrays.grant(kOne, kTwo, 2, 7);
  arrays.grant(kOne, {2, 2}, 3, 7);  // The next life.
  arrays.drop(kOne, 7);
  EXPECT_TRUE(arrays.take_released().empty());
  arrays.import({2, 2}, kOne, 3, 7);
  arrays.drop({2, 2}, 7);

  EXPECT_EQ(arrays.take_released(), Ids{7});
}

TEST(SharedArrays, WhatWasOnItsWayToOneThatIsLostMayHaveBeenSentOn) {
  SharedArrays arrays;
  arrays.made(kOne, 7, 1);
  arrays.grant(kOne, kTwo, 1, 7);
  arrays.drop(kOne, 7);

  arrays.lose(kTwo, {3});
  EXPECT_TRUE(arrays.take_released().empty());
  arrays.import(kThree, kTwo, 1, 7);
  arrays.settled(kTwo, 3);
  EXPECT_TRUE(arrays.take_released().empty());
  arrays.drop(kThree, 7);

  EXPECT_EQ(arrays.take_released(), Ids{7});
}

TEST(SharedArrays, AnImportEndsEarlierGrantsToTheSameReceiverWhichWereLost) {
  SharedArrays arrays;
  arrays.made(kOne, 7, 1);
  arrays.made(kOne, 8, 1);
  arrays.grant(kOne, kTwo, 1, 7);
  arrays.grant(kOne, kThree, 2, 7);
  arrays.grant(kOne, kTwo, 3, 8);
  arrays.drop(kOne, 7);

  arrays.import(kTwo, kOne, 3, 8);
  EXPECT_TRUE(arrays.take_released().empty());
  arrays.import(kThree, kOne, 2, 7);
  arrays.drop(kThree, 7);

  EXPECT_EQ(arrays.take_released(), Ids{7});
}

/// Processes that make arrays, give them to each other, drop them and die; and what the client
/// hears of it, over one link from each of them.
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed, 1) {}

  void run() {
    for (int i = 0; i < 400; ++i) step();
    finish();
  }

 private:
  static constexpr std::uint32_t kSilos = 4;

  struct Sent {
    Holder from;
    std::uint64_t number = 0;
    ArrayId array = 0;
  };
  /// It waits until the client has heard of `names`, or has lost who has made that.
  struct Word {
    std::function<void()> say;
    ArrayId names = 0;
  };
  struct Process {
    Holder name;
    std::multiset<ArrayId> handles;
    std::map<std::uint32_t, std::deque<Sent>> inbox;  // By the silo that has sent it.
    std::deque<Word> link;                            // To the client.
    std::uint64_t grants = 0;
  };

  std::uint64_t pick(std::uint64_t count) { return random_.below(count); }
  Process& any() { return processes_[1 + static_cast<std::uint32_t>(pick(kSilos))]; }

  void step() {
    Process& one = any();
    if (one.name.silo == 0) return begin(one);
    switch (pick(12)) {
      case 0:
      case 1:
        return make(one);
      case 2:
      case 3:
      case 4:
        return send(one, any());
      case 5:
      case 6:
      case 7:
        return receive(one);
      case 8:
      case 9:
        return drop(one);
      case 10:
        return pick(8) == 0 ? die(one) : hear(one);
      default:
        return hear(one);
    }
  }
  void begin(Process& one) {
    for (std::uint32_t silo = 1; silo <= kSilos; ++silo) {
      if (&processes_[silo] == &one) one.name = {silo, ++lives_[silo]};
    }
  }
  void make(Process& one) {
    const ArrayId array = ++last_;
    one.handles.insert(array);
    makers_[array] = one.name;
    one.link.push_back({[this, by = one.name, array] {
      arrays_.made(by, array, 1);
      heard_.insert(array);
    }});
  }
  void send(Process& one, Process& other) {
    if (one.handles.empty() || &one == &other || other.name.silo == 0) return;
    const ArrayId array =
        *std::next(one.handles.begin(), static_cast<long>(pick(one.handles.size())));
    const Sent sent{one.name, ++one.grants, array};
    one.link.push_back(
        {[this, sent, to = other.name] { arrays_.grant(sent.from, to, sent.number, sent.array); }});
    other.inbox[one.name.silo].push_back(sent);
  }
  void receive(Process& one) {
    for (auto& [silo, sent] : one.inbox) {
      if (sent.empty() || pick(2) == 0) continue;
      take(one, sent);
      return;
    }
  }
  void take(Process& one, std::deque<Sent>& inbox) {
    const Sent sent = inbox.front();
    inbox.pop_front();
    one.handles.insert(sent.array);
    const auto import = [this, sent, to = one.name] {
      arrays_.import(to, sent.from, sent.number, sent.array);
    };
    one.link.push_back({import, sent.array});
  }
  void drop(Process& one) {
    if (one.handles.empty()) return;
    const auto at = std::next(one.handles.begin(), static_cast<long>(pick(one.handles.size())));
    one.link.push_back({[this, by = one.name, array = *at] { arrays_.drop(by, array); }});
    one.handles.erase(at);
  }
  void hear(Process& one) {
    if (one.link.empty() || is_early(one.link.front().names)) return;
    one.link.front().say();
    one.link.pop_front();
    look();
  }
  /// Some of what it has said is lost with it, and some of what it has sent.
  void die(Process& one) {
    for (std::uint64_t left = pick(one.link.size() + 1); left > 0; --left) hear(one);
    const Holder dead = one.name;
    std::set<std::uint32_t> heirs;
    for (auto& [silo, other] : processes_) {
      if (&other == &one || other.name.silo == 0) continue;
      heirs.insert(silo);
      auto& sent = other.inbox[dead.silo];
      sent.resize(pick(sent.size() + 1));
      // Each hears of it by himself, and looks at all that has come before.
      notices_.push_back([this, silo = silo, life = other.name.life, dead] {
        Process& heir = processes_[silo];
        if (heir.name != Holder{silo, life}) return;
        while (!heir.inbox[dead.silo].empty()) take(heir, heir.inbox[dead.silo]);
        heir.link.push_back({[this, silo, dead] { arrays_.settled(dead, silo); }});
      });
    }
    one = Process();
    arrays_.lose(dead, heirs);
    look();
    // The next life sends nothing to anybody who has not noticed the end of this one.
    for (const auto& notice : std::exchange(notices_, {})) notice();
  }

  bool is_early(ArrayId array) const {
    const auto maker = makers_.find(array);
    if (maker == makers_.end() || heard_.contains(array)) return false;
    const auto process = processes_.find(maker->second.silo);
    return process != processes_.end() && process->second.name == maker->second;
  }

  /// Nothing that somebody holds, or will, has been let go; of what the client has never heard
  /// there is nothing to let go.
  void look() {
    for (const ArrayId array : arrays_.take_released()) {
      if (!heard_.contains(array)) continue;
      EXPECT_TRUE(released_.insert(array).second) << array << " was let go twice";
    }
    for (const auto& [silo, one] : processes_) {
      for (const ArrayId array : one.handles) EXPECT_FALSE(released_.contains(array)) << array;
      for (const auto& [from, inbox] : one.inbox) {
        for (const Sent& sent : inbox) EXPECT_FALSE(released_.contains(sent.array)) << sent.array;
      }
    }
  }
  void finish() {
    for (auto& [silo, one] : processes_) {
      for (auto& [from, inbox] : one.inbox) {
        while (!inbox.empty()) take(one, inbox);
      }
    }
    for (auto& [silo, one] : processes_) {
      while (!one.handles.empty()) drop(one);
    }
    for (bool is_quiet = false; !is_quiet;) {
      is_quiet = true;
      Process& one = any();
      hear(one);
      for (const auto& [silo, other] : processes_) is_quiet = is_quiet && other.link.empty();
    }
    EXPECT_EQ(arrays_.size(), 0u);
  }

  RandomStream random_;
  SharedArrays arrays_;
  std::map<std::uint32_t, Process> processes_;
  std::map<std::uint32_t, std::uint32_t> lives_;
  std::vector<std::function<void()>> notices_;
  std::map<ArrayId, Holder> makers_;
  std::set<ArrayId> heard_;  // By the client.
  std::set<ArrayId> released_;
  ArrayId last_ = 0;
};

TEST(SharedArrays, NothingIsLetGoThatSomebodyHoldsAndAllIsAtTheEnd) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace seaway::client
