// Histories that could have happened one after the other, and some that could not.

#include "demos/support/linearizability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace seaway::demos {
namespace {

using testing::HasSubstr;
using Kind = Operation::Kind;
using Operations = std::vector<Operation>;

constexpr std::uint64_t kNever = Operation::kNever;

Operation get(std::int64_t result, std::uint64_t begin, std::uint64_t end) {
  return {.kind = Kind::kGet, .result = result, .begin = begin, .end = end};
}
Operation put(std::int64_t value, std::uint64_t begin, std::uint64_t end) {
  return {.kind = Kind::kPut, .value = value, .begin = begin, .end = end};
}
Operation swap(std::int64_t expected, std::int64_t value, bool result, std::uint64_t begin,
               std::uint64_t end) {
  return {.kind = Kind::kSwap,
          .value = value,
          .expected = expected,
          .result = result,
          .begin = begin,
          .end = end};
}
bool is_linearizable(const Operations& history) { return check_linearizable(history).ok(); }

TEST(CheckLinearizable, TakesWhatCameOneAfterTheOther) {
  EXPECT_TRUE(is_linearizable({}));
  EXPECT_TRUE(is_linearizable({get(0, 1, 2), put(7, 3, 4), get(7, 5, 6)}));
  EXPECT_TRUE(is_linearizable({swap(0, 3, true, 1, 2), swap(0, 4, false, 3, 4), get(3, 5, 6)}));
}

TEST(CheckLinearizable, RefusesAnAnswerThatIsTooOld) {
  EXPECT_FALSE(is_linearizable({put(1, 1, 2), get(0, 3, 4)}));
  EXPECT_FALSE(is_linearizable({put(1, 1, 2), put(2, 3, 4), get(1, 5, 6)}));
}

TEST(CheckLinearizable, RefusesAnAnswerFromTheFuture) {
  EXPECT_FALSE(is_linearizable({get(1, 1, 2), put(1, 3, 4)}));
}

TEST(CheckLinearizable, LeavesTheOrderOfWhatOverlapsOpen) {
  EXPECT_TRUE(is_linearizable({put(1, 1, 10), get(0, 2, 3), get(1, 4, 5)}));
  EXPECT_TRUE(is_linearizable({put(1, 1, 10), put(2, 2, 9), get(2, 11, 12)}));
  EXPECT_TRUE(is_linearizable({put(1, 1, 10), put(2, 2, 9), get(1, 11, 12)}));
}

TEST(CheckLinearizable, RefusesToGoBackWithinWhatOverlaps) {
  // Two readers during one write: the later one may not see the older value.
  EXPECT_FALSE(is_linearizable({put(1, 1, 10), get(1, 2, 3), get(0, 4, 5)}));
  // Two writers, and two readers that disagree about who was last.
  EXPECT_FALSE(is_linearizable({put(1, 1, 4), put(2, 2, 3), get(1, 5, 6), get(2, 7, 8)}));
}

TEST(CheckLinearizable, RefusesTwoWinnersOfOneSwap) {
  EXPECT_FALSE(is_linearizable({swap(0, 1, true, 1, 10), swap(0, 2, true, 2, 9)}));
  EXPECT_TRUE(is_linearizable({swap(0, 1, true, 1, 10), swap(0, 2, false, 2, 9)}));
}

TEST(CheckLinearizable, RefusesASwapThatFailedForNoReason) {
  EXPECT_FALSE(is_linearizable({put(5, 1, 2), swap(5, 6, false, 3, 4)}));
}

TEST(CheckLinearizable, RefusesAWriteThatHappenedTwice) {
  // What a store does that repeats a request whose answer was lost.
  EXPECT_FALSE(
      is_linearizable({put(1, 1, 8), get(1, 2, 3), put(2, 4, 5), get(2, 6, 7), get(1, 9, 10)}));
}

TEST(CheckLinearizable, LetsWhatWasNeverAnsweredHappenLaterOrNotAtAll) {
  EXPECT_TRUE(is_linearizable({put(1, 1, kNever), get(0, 2, 3), get(0, 4, 5)}));
  EXPECT_TRUE(is_linearizable({put(1, 1, kNever), get(0, 2, 3), get(1, 4, 5)}));
  EXPECT_TRUE(is_linearizable({swap(0, 1, false, 1, kNever), get(1, 2, 3)}));
  EXPECT_FALSE(is_linearizable({put(1, 1, kNever), get(1, 2, 3), get(0, 4, 5)}));
  EXPECT_FALSE(is_linearizable({get(1, 1, 2), put(1, 3, kNever)}));
}

TEST(CheckLinearizable, LooksAtEachKeyAlone) {
  Operation other = put(1, 3, 4);
  other.key = 8;

  EXPECT_FALSE(is_linearizable({other, get(1, 5, 6)}));
  EXPECT_TRUE(is_linearizable({other, get(0, 5, 6)}));
}

TEST(CheckLinearizable, SaysWhichKeyAndWhereItIsStuck) {
  const Status status = check_linearizable(Operations{put(1, 1, 2), get(4, 3, 4)});

  EXPECT_EQ(status.code(), StatusCode::kDataCorruption);
  EXPECT_EQ(status.message(),
            "the history of key 0 is not linearizable: 1 of 2 operations can be put in order\n"
            "  client 0: put key 0 to 1 [1, 2]\n"
            "and no order goes on to\n"
            "  client 0: get key 0 = 4 [3, 4]");
}

/// Tries all orders, one after the other.
bool is_linearizable_by_force(const Operations& history) {
  std::vector<std::size_t> order(history.size());
  std::iota(order.begin(), order.end(), 0u);
  do {
    std::int64_t value = 0;
    bool is_good = true;
    for (std::size_t i = 0; i < order.size() && is_good; ++i) {
      const Operation& one = history[order[i]];
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        is_good = is_good && history[order[j]].end > one.begin;
      }
      const bool is_swapped = one.kind == Kind::kSwap && value == one.expected;
      if (one.kind == Kind::kGet) is_good = is_good && one.result == value;
      if (one.kind == Kind::kSwap) is_good = is_good && one.result == (is_swapped ? 1 : 0);
      if (one.kind == Kind::kPut || is_swapped) value = one.value;
    }
    if (is_good) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

TEST(CheckLinearizable, AgreesWithTryingAllOrders) {
  RandomStream random(7, 1);
  std::size_t good = 0;
  constexpr std::size_t kHistories = 2000;

  for (std::size_t i = 0; i < kHistories; ++i) {
    Operations history;
    for (std::uint64_t j = 0; j < 6; ++j) {
      Operation one;
      one.kind = static_cast<Kind>(random.below(3));
      one.value = static_cast<std::int64_t>(random.below(3));
      one.expected = static_cast<std::int64_t>(random.below(3));
      one.result = static_cast<std::int64_t>(random.below(one.kind == Kind::kGet ? 3 : 2));
      one.begin = 100 * random.below(12) + j;
      one.end = one.begin + 1 + 100 * random.below(8) + 10 * j;
      history.push_back(one);
    }
    const bool expected = is_linearizable_by_force(history);
    good += expected;
    ASSERT_EQ(is_linearizable(history), expected) << "history " << i;
  }

  EXPECT_GT(good, kHistories / 20);
  EXPECT_LT(good, kHistories - kHistories / 20);
}

TEST(CheckLinearizable, IsQuickForLongHistoriesOfFewClients) {
  // Four clients at a time: it is the memory of what was tried that makes this end.
  Operations history;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    history.push_back(put(static_cast<std::int64_t>(i), 10 * i, 10 * i + 35));
  }
  history.push_back(get(-1, 60'000, 60'001));

  EXPECT_FALSE(is_linearizable(history));
}

TEST(History, KeepsTheOrderInWhichAnswersAndQuestionsCame) {
  History history;
  const std::size_t first = history.begin({.kind = Kind::kPut, .value = 3, .client = 1});
  const std::size_t second = history.begin({.kind = Kind::kGet, .client = 2});
  history.end(second, 3);
  history.end(first, 0);
  history.begin({.kind = Kind::kSwap, .key = 4, .value = 9, .expected = 3, .client = 1});

  const Operations operations = history.operations();

  ASSERT_EQ(operations.size(), 3u);
  EXPECT_EQ(to_string(operations[0]), "client 1: put key 0 to 3 [1, 4]");
  EXPECT_EQ(to_string(operations[1]), "client 2: get key 0 = 3 [2, 3]");
  EXPECT_EQ(to_string(operations[2]), "client 1: swap key 4 from 3 to 9, never answered [5, ..]");
  EXPECT_TRUE(check_linearizable(operations).ok());
}

}  // namespace
}  // namespace seaway::demos
