// Edits as JSON: what is written is read, and nothing else is.

#include "campaign/edits_json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace seaway::campaign {
namespace {

sim::Edits all_of_them() {
  sim::Edits edits;
  edits.is_wild = true;
  edits.without = {"pause#2", "wire cut"};
  edits.families = {"kill", "wire"};
  edits.at_ns = {{"loss 0/1", 20'000'000}};
  edits.for_ns = {{"pause#1", 18'446'744'073'709'551'615u}};
  edits.skipped = {{0, 3}, {1, 0}};
  edits.clients = 2;
  edits.islands = 1;
  edits.devices = 4;
  edits.choices = 1'000;
  return edits;
}

std::string why(const std::string& json) { return parse_edits(json).status().message(); }

TEST(EditsJson, IsReadAsItWasWritten) {
  const auto again = parse_edits(to_json(all_of_them()));

  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, all_of_them());
}

TEST(EditsJson, OfNoEditsIsEmptyAndOneLine) {
  EXPECT_EQ(to_json({}), "{}");
  EXPECT_EQ(parse_edits("{}").value(), sim::Edits());
  EXPECT_EQ(to_json(all_of_them()).find('\n'), std::string::npos);
}

TEST(EditsJson, OfNoFamiliesIsNotThatOfAll) {
  sim::Edits none;
  none.families.emplace();

  EXPECT_EQ(parse_edits(to_json(none)).value(), none);
  EXPECT_NE(to_json(none), to_json({}));
}

TEST(EditsJson, ThatIsNoneSaysWhereItIsNot) {
  EXPECT_EQ(why("[]"), "edits: not an object of JSON: []");
  EXPECT_EQ(why("{"), "edits: not an object of JSON: {");
  EXPECT_EQ(why(R"({"whithout":[]})"), "edits: there is nothing called \"whithout\"");
  EXPECT_EQ(why(R"({"wild":1})"), "edits: \"wild\" is not true or false");
  EXPECT_EQ(why(R"({"without":"a"})"), "edits: \"without\" is not a list of names");
  EXPECT_EQ(why(R"({"families":[1]})"), "edits: \"families\" is not a list of names");
  EXPECT_EQ(why(R"({"at_ns":{"a":-1}})"), "edits: \"at_ns\" is not an object of times in ns");
  EXPECT_EQ(why(R"({"for_ns":[]})"), "edits: \"for_ns\" is not an object of times in ns");
  EXPECT_EQ(why(R"({"skipped":[[1]]})"),
            "edits: \"skipped\" is not a list of pairs [client, action]");
  EXPECT_EQ(why(R"({"islands":4294967296})"), "edits: \"islands\" is not a number");
  EXPECT_EQ(why(R"({"choices":1.5})"), "edits: \"choices\" is not a number");
}

}  // namespace
}  // namespace seaway::campaign
