// Who gets a place among the unauthenticated callers.

#include "transport/caller_places.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace seaway::transport {
namespace {

class CallerPlacesTest : public testing::Test {
 protected:
  using Place = std::unique_ptr<CallerPlaces::Place>;

  Place enter(const std::string& group, const std::string& name = "?") {
    return places_.enter(group, [this, name] { displaced_ += name; });
  }

  CallerPlaces places_{4};
  std::string displaced_;
};

Caller caller_at(const std::string& host) {
  Caller caller;
  caller.host = host;
  return caller;
}

TEST_F(CallerPlacesTest, OneGroupAloneHasAllPlaces) {
  std::vector<Place> all;
  for (int i = 0; i < 4; ++i) all.push_back(enter("a"));
  for (const Place& place : all) EXPECT_TRUE(place);

  EXPECT_FALSE(enter("a"));
  all.pop_back();
  EXPECT_TRUE(enter("a"));
  EXPECT_EQ(displaced_, "");
}

TEST_F(CallerPlacesTest, NewGroupDisplacesTheNewestOfTheLargest) {
  const Place small = enter("b", "b");
  std::vector<Place> large;
  for (const char* const name : {"1", "2", "3"}) large.push_back(enter("a", name));

  const Place first = enter("c");

  EXPECT_TRUE(first);
  EXPECT_EQ(displaced_, "3");
  EXPECT_EQ(places_.taken(), 4u);
  EXPECT_EQ(places_.taken("a"), 2u);
}

TEST_F(CallerPlacesTest, NoGroupDisplacesOneThatIsNotLarger) {
  const Place places[] = {enter("a"), enter("a"), enter("b"), enter("c")};

  EXPECT_FALSE(enter("a"));
  EXPECT_FALSE(enter("b"));  // It would have two then, and "a" one.
  EXPECT_TRUE(enter("d"));
  EXPECT_EQ(displaced_, "?");
}

TEST_F(CallerPlacesTest, DisplacedPlaceIsGivenBackOnce) {
  std::vector<Place> large;
  for (int i = 0; i < 4; ++i) large.push_back(enter("a"));
  const Place other = enter("b");
  EXPECT_EQ(places_.taken("a"), 3u);

  large.clear();

  EXPECT_EQ(places_.taken("a"), 0u);
  EXPECT_EQ(places_.taken(), 1u);
}

TEST_F(CallerPlacesTest, NobodyEntersWithoutPlaces) {
  CallerPlaces none(0);
  EXPECT_FALSE(none.enter("a", [] {}));
}

TEST(CallerGroup, IsAnIpv4Address) {
  EXPECT_EQ(caller_group(caller_at("10.0.0.7")), "10.0.0.7");
  EXPECT_EQ(caller_group(caller_at("::ffff:10.0.0.7")), "10.0.0.7");
}

TEST(CallerGroup, IsTheFirstHalfOfAnIpv6Address) {
  EXPECT_EQ(caller_group(caller_at("2001:db8:1:2:3:4:5:6")), "2001:db8:1:2::/64");
  EXPECT_EQ(caller_group(caller_at("2001:db8:1:2::9")), "2001:db8:1:2::/64");
  EXPECT_EQ(caller_group(caller_at("fe80::1%eth0")), "fe80::/64");
}

TEST(CallerGroup, IsAUserOfThisMachine) {
  Caller caller;
  caller.is_local = true;
  caller.user = 1000;
  EXPECT_EQ(caller_group(caller), "user 1000");
}

}  // namespace
}  // namespace seaway::transport
