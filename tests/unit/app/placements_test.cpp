// Placements that are no meshes: each is refused by spawn, by a client and by an actor.

#include "cast.hpp"

namespace seaway::app_test {
namespace {

/// Spawns counters where it was told to, and says what became of it.
class Parent {
 public:
  static void describe(ActorType<Parent>& type) { type.on(&Parent::ask); }
  Parent(Self self, Placement placement)
      : self_(std::move(self)), placement_(std::move(placement)) {}

  Task<Reply<Answer>> ask(Request<Ask>) {
    const auto spawned = co_await self_.spawn<Counter>(placement_);
    co_return make<Answer>([&](Answer::Builder m) { m.setText(spawned.status().to_string()); });
  }

 private:
  Self self_;
  Placement placement_;
};

class Placements : public OnACluster {
 protected:
  /// What a spawn there says; the same for both who spawn.
  std::string refusal(const Placement& placement) {
    std::string text = client.spawn<Counter>(placement).status().to_string();
    EXPECT_EQ(said(client.spawn<Parent>(client.hosts(), placement).value().at(2), &Parent::ask),
              text);
    return text;
  }
};

TEST_F(Placements, WithAnAxisOfSizeZeroAreRefused) {
  EXPECT_EQ(refusal({{{"row", 0}}, {1}}),
            "INVALID_ARGUMENT: Counter: the axes of its placement have 0 places, and it names 1 "
            "hosts");
  EXPECT_EQ(refusal({{{"row", 2}, {"column", 0}}, {1, 2}}),
            "INVALID_ARGUMENT: Counter: the axes of its placement have 0 places, and it names 2 "
            "hosts");
}

TEST_F(Placements, WithoutPlacesAreRefused) {
  const std::string text = "INVALID_ARGUMENT: Counter: the placement has no places";

  EXPECT_EQ(refusal(client.hosts().each("worker", 0)), text);
  EXPECT_EQ(refusal({{{"row", 0}}, {}}), text);
}

TEST_F(Placements, WhoseAxesHaveOtherPlacesThanHostsAreRefused) {
  EXPECT_EQ(refusal({{{"row", 2}, {"column", 2}}, {0, 1, 2}}),
            "INVALID_ARGUMENT: Counter: the axes of its placement have 4 places, and it names 3 "
            "hosts");
  EXPECT_EQ(refusal({{}, {0, 1}}),
            "INVALID_ARGUMENT: Counter: the axes of its placement have 1 places, and it names 2 "
            "hosts");
}

TEST_F(Placements, WhoseAxesHaveMorePlacesThanCanBeCountedAreRefused) {
  // Their product is 2^64 + 4, which is 4 if nobody looks.
  EXPECT_EQ(refusal({{{"row", 111'620}, {"column", 429'509'837}, {"page", 384'773}}, {0, 1, 2, 3}}),
            "INVALID_ARGUMENT: Counter: 18446744073709551615 actors; the limit is 4194304");
}

TEST_F(Placements, ThatWereRefusedLeaveNothingBehind) {
  EXPECT_FALSE(client.spawn<Counter>(Placement{{{"row", 0}}, {1}}).ok());

  EXPECT_TRUE(is_clean());
  EXPECT_TRUE(client.spawn<Counter>(Placement{{{"row", 1}}, {1}}).ok());
}

}  // namespace
}  // namespace seaway::app_test
