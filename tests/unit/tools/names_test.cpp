// Which names are meant by a mistyped one.

#include "names.hpp"

#include <gtest/gtest.h>

#include <array>

namespace seaway::tools {
namespace {

constexpr std::array<std::string_view, 4> kDemos = {"fig2", "digits", "deadlock", "two_clients"};
using Names = std::vector<std::string_view>;

TEST(CloseNames, AWrongMissingExtraOrSwappedLetterIsClose) {
  EXPECT_EQ(close_names("digitz", kDemos), Names{"digits"});
  EXPECT_EQ(close_names("digts", kDemos), Names{"digits"});
  EXPECT_EQ(close_names("diggits", kDemos), Names{"digits"});
  EXPECT_EQ(close_names("idgits", kDemos), Names{"digits"});
}

TEST(CloseNames, TheBeginningOfANameIsClose) {
  EXPECT_EQ(close_names("two", kDemos), Names{"two_clients"});
}

TEST(CloseNames, TheClosestComesFirst) {
  const std::array<std::string_view, 2> known = {"fig44", "fig3"};

  EXPECT_EQ(close_names("fig4", known), (Names{"fig44", "fig3"}));
}

TEST(CloseNames, AnythingElseIsNotClose) {
  EXPECT_EQ(close_names("train", kDemos), Names{});
  EXPECT_EQ(close_names("", kDemos), Names{});
}

TEST(UnknownName, SaysWhatWasMeantAndWhatThereIs) {
  EXPECT_EQ(unknown_name("demo", "digts", kDemos),
            "no demo 'digts'; did you mean digits? There are: fig2, digits, deadlock, two_clients. "
            "Type `seaway demo list`.");
  EXPECT_EQ(unknown_name("bench", "x", {}),
            "no bench 'x'; there are: none. Type `seaway bench list`.");
}

}  // namespace
}  // namespace seaway::tools
