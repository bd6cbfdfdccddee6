// Who goes to the file, who comes back when, and what it costs in bytes.

#include "store/spill_tiers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace seaway::store {
namespace {

using Place = SpillTiers::Place;
using Outcome = SpillTiers::Outcome;

/// Tiers whose transfers the test ends, one by one.
class Tiers {
 public:
  explicit Tiers(SpillTiers::Limits limits) : core(limits) {}

  void add(ArrayId array, std::uint64_t bytes = 100, const std::vector<Stamp>& readers = {}) {
    core.add(array, bytes, readers);
  }
  /// What begins now: "write 1, read 2".
  std::string begun() {
    std::string text;
    while (const auto next = core.next(now_ns)) {
      text += (text.empty() ? "" : ", ") + std::string(next->is_write ? "write " : "read ") +
              std::to_string(next->array);
      tickets[next->array] = next->ticket;
    }
    return text;
  }
  SpillTiers::Ended end(ArrayId array, Outcome outcome = Outcome::kOk) {
    return core.end(tickets.at(array), outcome, now_ns);
  }
  /// Until nothing moves any more.
  void settle() {
    for (std::string moved = begun(); !moved.empty(); moved = begun()) {
      while (!tickets.empty()) {
        core.end(tickets.begin()->second, Outcome::kOk, now_ns);
        tickets.erase(tickets.begin());
      }
    }
  }

  SpillTiers core;
  std::uint64_t now_ns = 0;
  std::map<ArrayId, std::uint64_t> tickets;
};

SpillTiers::Limits limits(std::uint64_t memory_bytes, std::uint64_t file_bytes = 10'000) {
  return {.memory_bytes = memory_bytes, .file_bytes = file_bytes, .writes_max = 8};
}

TEST(SpillTiers, NothingGoesToTheFileWhileMemoryHasRoom) {
  Tiers tiers(limits(200));
  tiers.add(1);
  tiers.add(2);

  EXPECT_EQ(tiers.begun(), "");
  EXPECT_EQ(tiers.core.counts().memory_bytes, 200u);
}

TEST(SpillTiers, WhatNobodyReadsGoesFirstAndThatUsedLongestAgoBeforeOthers) {
  Tiers tiers(limits(200));
  tiers.add(1, 100, {7});
  tiers.add(2);
  tiers.add(3);
  tiers.add(4);

  EXPECT_EQ(tiers.begun(), "write 2, write 3");
  EXPECT_TRUE(tiers.core.is_over());
  EXPECT_EQ(tiers.end(2).place, Place::kFile);
  EXPECT_EQ(tiers.end(3).place, Place::kFile);

  EXPECT_FALSE(tiers.core.is_over());
  EXPECT_EQ(tiers.core.counts().memory_bytes, 200u);
  EXPECT_EQ(tiers.core.counts().file_bytes, 200u);
}

TEST(SpillTiers, OfThoseThatAreReadTheOneWithTheLargestFirstStampGoes) {
  Tiers tiers(limits(200));
  tiers.add(1, 100, {5, 90});
  tiers.add(2, 100, {8});
  tiers.add(3, 100, {6});

  EXPECT_EQ(tiers.begun(), "write 2");
}

TEST(SpillTiers, WhatIsReadNextComesBackFirstAndWhatIsNeededLaterMakesRoom) {
  Tiers tiers(limits(200));
  for (ArrayId array = 1; array <= 4; ++array) tiers.add(array);
  tiers.settle();
  ASSERT_EQ(tiers.core.place_of(1), Place::kFile);
  ASSERT_EQ(tiers.core.place_of(2), Place::kFile);

  tiers.core.read_by(1, 12);
  tiers.core.read_by(2, 11);

  EXPECT_EQ(tiers.begun(), "write 3");
  tiers.end(3);
  EXPECT_EQ(tiers.begun(), "read 2, write 4");
  tiers.end(2);
  EXPECT_EQ(tiers.begun(), "");
  tiers.end(4);
  EXPECT_EQ(tiers.begun(), "read 1");
  tiers.end(1);
  EXPECT_EQ(tiers.begun(), "");
  EXPECT_EQ(tiers.core.counts().reads_ahead, 2u);
  EXPECT_EQ(tiers.core.counts().memory_bytes, 200u);
}

TEST(SpillTiers, WhatIsNeededSoonerIsNotDrivenOutByWhatIsNeededLater) {
  Tiers tiers(limits(100));
  tiers.add(1, 100, {20});
  tiers.add(2, 100, {10});
  tiers.settle();

  EXPECT_EQ(tiers.core.place_of(1), Place::kFile);
  EXPECT_EQ(tiers.core.place_of(2), Place::kMemory);
  EXPECT_EQ(tiers.begun(), "");
}

TEST(SpillTiers, WhatIsWantedComesAtOnceAndStaysWhateverMemoryHas) {
  Tiers tiers(limits(100));
  tiers.add(1);
  tiers.add(2, 100, {5});
  tiers.settle();
  ASSERT_EQ(tiers.core.place_of(1), Place::kFile);

  tiers.core.want(2, 5);
  tiers.core.want(1, 5);
  EXPECT_EQ(tiers.begun(), "read 1");
  EXPECT_EQ(tiers.end(1).place, Place::kMemory);

  EXPECT_EQ(tiers.begun(), "") << "both are wanted";
  EXPECT_EQ(tiers.core.counts().reads_waited, 1u);
  tiers.core.let_go(1, 5);
  EXPECT_EQ(tiers.begun(), "write 1");
}

TEST(SpillTiers, AWriteOfWhatIsWantedMeanwhileLeavesItInMemory) {
  Tiers tiers(limits(0));
  tiers.add(1);
  ASSERT_EQ(tiers.begun(), "write 1");

  tiers.core.want(1, 3);
  EXPECT_EQ(tiers.end(1).place, Place::kMemory);

  EXPECT_EQ(tiers.core.counts().file_bytes, 0u);
  EXPECT_EQ(tiers.core.counts().memory_bytes, 100u);
}

TEST(SpillTiers, WhatGoesWhileItIsOnItsWayKeepsItsPlaceUntilItsTransferEnds) {
  Tiers tiers(limits(0, 100));
  tiers.add(1);
  ASSERT_EQ(tiers.begun(), "write 1");

  tiers.core.remove(1);
  tiers.add(2);
  EXPECT_EQ(tiers.begun(), "") << "the file is full until the write ends";
  EXPECT_EQ(tiers.core.counts().file_bytes, 100u);
  EXPECT_EQ(tiers.end(1, Outcome::kCancelled).array, 0u);

  EXPECT_EQ(tiers.begun(), "write 2");
  tiers.end(2);
  tiers.core.want(2, 1);
  ASSERT_EQ(tiers.begun(), "read 2");
  tiers.core.remove(2);
  EXPECT_EQ(tiers.core.counts().memory_bytes, 100u);
  EXPECT_EQ(tiers.end(2).array, 0u);
  EXPECT_EQ(tiers.core.counts().memory_bytes, 0u);
  EXPECT_EQ(tiers.core.counts().file_bytes, 0u);
  EXPECT_EQ(tiers.core.counts().failures, 0u);
}

TEST(SpillTiers, AWriteThatFailsIsToldOnceAndTriedAgainLaterAndNotForEver) {
  Tiers tiers({.memory_bytes = 0, .file_bytes = 100, .pause_ns = 10, .tries_max = 3});
  tiers.add(1);
  ASSERT_EQ(tiers.begun(), "write 1");
  EXPECT_TRUE(tiers.end(1, Outcome::kFailed).is_first_failure);
  EXPECT_FALSE(tiers.core.is_over()) << "nobody waits for what does not come";
  EXPECT_EQ(tiers.begun(), "");

  EXPECT_EQ(tiers.core.resume_ns(), 10u);
  tiers.now_ns = 10;
  ASSERT_EQ(tiers.begun(), "write 1");
  EXPECT_FALSE(tiers.end(1, Outcome::kFailed).is_first_failure);
  EXPECT_EQ(tiers.begun(), "");
  EXPECT_EQ(tiers.core.resume_ns(), 30u);
  tiers.now_ns = 30;
  ASSERT_EQ(tiers.begun(), "write 1");
  EXPECT_FALSE(tiers.end(1, Outcome::kFailed).is_first_failure);

  EXPECT_EQ(tiers.core.resume_ns(), std::nullopt);
  tiers.now_ns = 1'000'000;
  EXPECT_EQ(tiers.begun(), "");
  tiers.add(2);
  EXPECT_EQ(tiers.begun(), "write 1") << "what comes anew is a reason to try";
  tiers.end(1);
  EXPECT_EQ(tiers.core.counts().failures, 3u);
}

TEST(SpillTiers, WhatCannotBeReadIsGone) {
  Tiers tiers(limits(0));
  tiers.add(1);
  tiers.settle();
  tiers.core.want(1, 0);
  ASSERT_EQ(tiers.begun(), "read 1");

  EXPECT_EQ(tiers.end(1, Outcome::kFailed).place, Place::kNowhere);

  EXPECT_EQ(tiers.core.array_count(), 0u);
  EXPECT_EQ(tiers.core.counts().file_bytes, 0u);
  EXPECT_EQ(tiers.core.counts().memory_bytes, 0u);
}

TEST(SpillTiers, OneThatIsLargerThanMemoryMayBeIsNotReadAhead) {
  Tiers tiers(limits(100));
  tiers.add(1, 101, {4});
  tiers.add(2, 50, {5});
  tiers.settle();

  EXPECT_EQ(tiers.core.place_of(1), Place::kFile);
  EXPECT_EQ(tiers.core.place_of(2), Place::kMemory) << "nor is it in the way of others";
}

/// What a model knows of an array: everything by looking at all of them.
struct Known {
  std::uint64_t bytes = 0;
  std::set<Stamp> readers = {}, wanters = {};
  std::uint64_t use = 0;
};

/// Larger: needed later.
std::pair<Stamp, std::uint64_t> need(const Known& known) {
  if (!known.readers.empty()) return {*known.readers.begin(), 0};
  return {UINT64_MAX, UINT64_MAX - known.use};
}

TEST(SpillTiers, DecidesAsAModelThatLooksAtEverything) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, 21);
    const std::uint64_t memory = random.below(600);
    Tiers tiers({.memory_bytes = memory, .file_bytes = 1500, .writes_max = 1 + random.below(3)});
    std::map<ArrayId, Known> model;
    std::map<std::uint64_t, SpillTiers::Transfer> moving;
    ArrayId last = 0;
    std::uint64_t uses = 0;
    const auto some = [&]() -> ArrayId {
      return model.empty()
                 ? 0
                 : std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())))
                       ->first;
    };
    for (int step = 0; step < 300; ++step) {
      const ArrayId chosen = some();
      const Stamp stamp = 1 + random.below(20);
      switch (random.below(7)) {
        case 0:
        case 1: {
          Known& known = model[++last];
          known = {.bytes = 1 + random.below(200), .use = ++uses};
          if (random.chance(50)) known.readers.insert(stamp);
          tiers.core.add(last, known.bytes, {known.readers.begin(), known.readers.end()});
          break;
        }
        case 2:
          if (chosen != 0) model[chosen].readers.insert(stamp);
          tiers.core.read_by(chosen, stamp);
          break;
        case 3:
          if (chosen != 0 && random.chance(40)) {
            model[chosen].wanters.insert(stamp);
            model[chosen].use = ++uses;
            tiers.core.want(chosen, stamp);
          }
          break;
        case 4:
          if (chosen != 0) {
            model[chosen].readers.erase(stamp);
            model[chosen].wanters.erase(stamp);
          }
          tiers.core.let_go(chosen, stamp);
          break;
        case 5:
          if (random.chance(60)) break;
          model.erase(chosen);
          tiers.core.remove(chosen);
          break;
        case 6:
          if (moving.empty()) break;
          {
            const auto ended =
                std::next(moving.begin(), static_cast<std::ptrdiff_t>(random.below(moving.size())));
            const auto said = tiers.core.end(ended->first, Outcome::kOk, 0);
            ASSERT_EQ(said.array, model.contains(ended->second.array) ? ended->second.array : 0)
                << seed;
            moving.erase(ended);
          }
          break;
      }
      // What begins is what everybody else would have to wait for.
      for (;;) {
        std::map<ArrayId, Place> before;
        for (const auto& [id, known] : model) before[id] = tiers.core.place_of(id);
        const auto next = tiers.core.next(0);
        if (!next) break;
        const Known& taken = model.at(next->array);
        for (const auto& [id, known] : model) {
          if (id == next->array) continue;
          if (next->is_write) {
            ASSERT_TRUE(taken.wanters.empty()) << seed;
            if (before[id] == Place::kMemory && known.wanters.empty()) {
              ASSERT_GE(need(taken), need(known)) << seed;
            }
          } else if (before[id] == Place::kFile) {
            ASSERT_TRUE(!taken.wanters.empty() || known.wanters.empty()) << seed;
            if (taken.wanters.empty() && !known.readers.empty() && known.bytes <= memory) {
              ASSERT_LE(need(taken), need(known)) << seed;
            }
          }
        }
        if (!next->is_write && taken.wanters.empty()) {
          ASSERT_LE(tiers.core.counts().memory_bytes, memory) << seed;
        }
        std::uint64_t placed = 0;
        for (const Extent& extent : next->extents) placed += extent.bytes;
        ASSERT_EQ(placed, taken.bytes) << seed;
        moving[next->ticket] = *next;
      }
      // And every byte is counted where it is.
      std::uint64_t in_memory = 0, in_file = 0;
      for (const auto& [id, known] : model) {
        const Place place = tiers.core.place_of(id);
        in_memory += place == Place::kMemory ? known.bytes : 0;
        in_file += place == Place::kFile ? known.bytes : 0;
      }
      for (const auto& [ticket, transfer] : moving) {
        in_memory += transfer.bytes;
        in_file += transfer.bytes;
      }
      ASSERT_EQ(tiers.core.counts().memory_bytes, in_memory) << seed;
      ASSERT_EQ(tiers.core.counts().file_bytes, in_file) << seed;
    }
  }
}

}  // namespace
}  // namespace seaway::store
