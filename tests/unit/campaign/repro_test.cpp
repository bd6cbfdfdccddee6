// Repro files: written, read by another process, and compared with what runs there.

#include "campaign/repro.hpp"

#include <gtest/gtest.h>

#include <string>

#include "campaign/build_identity.hpp"
#include "campaign/shrinking.hpp"
#include "campaign/user_campaign.hpp"

namespace seaway::campaign {
namespace {

Repro sample() {
  Repro repro;
  repro.world = "bank";
  repro.seed = 47;
  repro.edits.without = {"host-kill#0"};
  repro.failure = {sim::kChaosCorrectness, "balance", "bank_test.cpp:12"};
  repro.hash = 0xfedcba9876543210;
  repro.build = "0123456789abcdef";
  repro.commit = "abc";
  repro.faults = {"host 1 killed"};
  repro.story = {"seed 47: correctness", "a \"quoted\" line"};
  return repro;
}

std::string why(const std::string& json) { return parse_repro(json).status().message(); }

std::string without(const std::string& field) {
  std::string json = to_json(sample());
  const std::size_t at = json.find("\"" + field + "\"");
  return json.replace(at, field.size() + 2, "\"x\"");
}

TEST(Repro, IsReadAsItWasWritten) {
  const auto again = parse_repro(to_json(sample()));

  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->world, "bank");
  EXPECT_EQ(again->seed, 47u);
  EXPECT_EQ(again->edits, sample().edits);
  EXPECT_EQ(again->failure, sample().failure);
  EXPECT_EQ(again->hash, sample().hash);
  EXPECT_EQ(again->build, "0123456789abcdef");
}

TEST(Repro, HasOneNameForOneFailureOfOneWorld) {
  Repro other_story = sample();
  other_story.story.clear();
  Repro other_seed = sample();
  other_seed.seed = 48;
  Repro other_place = sample();
  other_place.failure.place = "bank_test.cpp:13";

  EXPECT_EQ(other_story.file_name(), sample().file_name());
  EXPECT_NE(other_seed.file_name(), sample().file_name());
  EXPECT_NE(other_place.file_name(), sample().file_name());
  EXPECT_EQ(sample().file_name().size(), std::string("repro-3fa21c08.json").size());
}

TEST(Repro, ThatIsNoneSaysWhatIsMissing) {
  EXPECT_EQ(why("all is well"), "repro file: it is not an object of JSON");
  EXPECT_NE(why(without("seaway_repro")).find("\"seaway_repro\" is not 1"), std::string::npos);
  EXPECT_EQ(why(without("world")), "repro file: \"world\" is not there");
  EXPECT_EQ(why(without("seed")), "repro file: \"seed\" is not a number");
  EXPECT_EQ(why(without("edits")), "repro file: \"edits\" is not there");
  EXPECT_EQ(why(without("hash")), "repro file: \"hash\" is not a text");
  EXPECT_EQ(why(without("place")),
            "repro file: \"failure\" is not an object of exit_code, invariant and place");
}

TEST(Repro, OfAFileThatIsNotThereNamesIt) {
  EXPECT_EQ(read_repro("/nowhere/x.json").status().message(),
            "/nowhere/x.json: cannot read it; --replay wants a seed or a repro file");
  EXPECT_FALSE(write_repro("/nowhere/x.json", sample()));
}

TEST(Repro, OfThisBuildIsNotToldApart) {
  Repro own = sample();
  own.build = build_id();

  EXPECT_NE(build_id(), "");
  EXPECT_EQ(build_difference("x.json", own), "");
  EXPECT_NE(
      build_difference("x.json", sample()).find("another build: 0123456789abcdef of commit abc"),
      std::string::npos);
}

TEST(Repro, IsTheSameAsARunThatFailsAtTheSamePlaceWithTheSameHash) {
  sim::SeedLine line;
  line.breach = sim::Breach::kCorrectness;
  line.invariant = "balance";
  line.place = "bank_test.cpp:12";
  line.hash = sample().hash;
  std::string words;

  EXPECT_TRUE(is_same(sample(), line, words));
  EXPECT_EQ(words, "the same as in the file, step by step: balance at bank_test.cpp:12");
  line.hash = 1;
  EXPECT_FALSE(is_same(sample(), line, words));
  EXPECT_NE(words.find("the same failure in another way"), std::string::npos) << words;
  line.invariant = "hang";
  EXPECT_FALSE(is_same(sample(), line, words));
  EXPECT_NE(words.find("had hang at bank_test.cpp:12"), std::string::npos) << words;
  line.breach = sim::Breach::kNone;
  EXPECT_FALSE(is_same(sample(), line, words));
  EXPECT_NE(words.find("was clean"), std::string::npos) << words;
}

}  // namespace
}  // namespace seaway::campaign
