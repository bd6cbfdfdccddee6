// Mutants, as a file has them that is compiled with them.

#define SEAWAY_FAULT_POINTS 1
#include "base/mutant.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace seaway {
namespace {

constexpr int kFirstLine = __LINE__ + 1;
bool first() { return SEAWAY_MUTANT("a first one"); }
bool second() { return SEAWAY_MUTANT("a second one"); }

/// No test leaves one behind.
class Mutants : public testing::Test {
 protected:
  ~Mutants() override { switch_mutant(""); }
};

TEST_F(Mutants, AreOffUntilOneIsSwitchedOn) {
  EXPECT_EQ(std::pair(first(), second()), std::pair(false, false));
}

TEST_F(Mutants, AreOnOneAtATime) {
  ASSERT_TRUE(switch_mutant("a first one"));
  const std::pair only_first(first(), second());
  ASSERT_TRUE(switch_mutant("a second one"));
  const std::pair only_second(first(), second());
  ASSERT_TRUE(switch_mutant(""));

  EXPECT_EQ(only_first, std::pair(true, false));
  EXPECT_EQ(only_second, std::pair(false, true));
  EXPECT_EQ(std::pair(first(), second()), std::pair(false, false));
}

TEST_F(Mutants, ThatDoNotExistChangeNothing) {
  switch_mutant("a second one");

  EXPECT_FALSE(switch_mutant("a third one"));

  EXPECT_TRUE(second());
}

TEST_F(Mutants, AreListedWithTheirNamesAndPlaces) {
  const Mutant* const found = find_mutant("a first one");

  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::string(found->name), "a first one");
  EXPECT_TRUE(std::string(found->file).ends_with("mutant_test.cpp")) << found->file;
  EXPECT_EQ(found->line, kFirstLine);
  EXPECT_EQ(mutants().size(), 2u);
  EXPECT_EQ(find_mutant("a third one"), nullptr);
}

}  // namespace
}  // namespace seaway
