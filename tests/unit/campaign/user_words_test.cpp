// What `seaway chaos user` says to a program.

#include "campaign/user_words.hpp"

#include <gtest/gtest.h>

#include <string>

namespace seaway::campaign {
namespace {

TEST(UserWords, AreReadAsTheyWereWritten) {
  UserWords words;
  words.command = "seaway chaos user ./bank_test";
  words.arguments = "--size 3";
  words.test = "transfers";
  words.first_seed = 3;
  words.last_seed = 18'446'744'073'709'551'615u;
  words.jobs = 4;
  words.json = words.lists = words.shrinks = words.shows_progress = true;
  words.time_budget_s = 2.5;
  words.failures_max = 0;
  words.edits.without = {"host-kill#0"};
  words.replay = "repro \"7\".json";
  words.until_event = 12;
  words.shrink_s = 0.5;
  words.repro_directory = "repros";
  words.trace_path = "t.json";
  words.range_path = "clean.txt";
  words.names = 5;

  const auto again = parse_user_words(to_json(words));

  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(to_json(*again), to_json(words));
  EXPECT_EQ(again->replay, "repro \"7\".json");
  EXPECT_EQ(again->last_seed, words.last_seed);
  EXPECT_EQ(again->edits, words.edits);
}

TEST(UserWords, WithoutSeedsLeaveThemToTheExploration) {
  const auto again = parse_user_words(to_json({}));

  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_FALSE(again->first_seed);
  EXPECT_FALSE(again->last_seed);
}

TEST(UserWords, ThatAreNoneNameTheirVariable) {
  for (const std::string text : {"", "1", "{}", R"({"command":1})"}) {
    const auto words = parse_user_words(text);

    ASSERT_FALSE(words.ok()) << text;
    EXPECT_TRUE(words.status().message().starts_with(
        "SEAWAY_CHAOS is not what `seaway chaos user` writes: "))
        << words.status().message();
  }
}

TEST(ParseSeed, TakesNumbersAlone) {
  EXPECT_EQ(parse_seed("7"), 7u);
  EXPECT_EQ(parse_seed("18446744073709551615"), 18'446'744'073'709'551'615u);
  for (const char* const text : {"", "./7", "7 ", "-7", "7..8", "18446744073709551616"}) {
    EXPECT_FALSE(parse_seed(text)) << text;
  }
}

}  // namespace
}  // namespace seaway::campaign
