// Supervision: who is stopped and started anew, and when a mesh is given up.

#include "actor/restart_policy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace seaway::actor {
namespace {

using State = Supervision::State;
using Life = Supervision::Life;
using Lives = std::vector<Life>;

constexpr std::uint64_t kSecond = 1'000'000'000;

/// A mesh all of whose members run.
Supervision running(Restart restart, std::uint32_t members = 3, Intensity intensity = {}) {
  Supervision mesh(restart, intensity, members);
  for (std::uint32_t m = 0; m < members; ++m) EXPECT_TRUE(mesh.on_started(m, 1));
  return mesh;
}

std::vector<State> states(const Supervision& mesh) {
  std::vector<State> all;
  for (std::uint32_t m = 0; m < mesh.size(); ++m) all.push_back(mesh.state(m));
  return all;
}

TEST(Supervision, MembersStartInIncarnationOne) {
  Supervision mesh(Restart::kMember, {}, 2);

  const bool is_current = mesh.on_started(1, 1);

  EXPECT_TRUE(is_current);
  EXPECT_EQ(states(mesh), (std::vector{State::kStarting, State::kRunning}));
  EXPECT_EQ(mesh.incarnation(0), 1u);
}

TEST(Supervision, AMemberIsStartedAnewAlone) {
  Supervision mesh = running(Restart::kMember);

  const auto decision = mesh.on_death(1, 1, 0);

  EXPECT_EQ(decision.stop, Lives{});
  EXPECT_EQ(decision.start, (Lives{{1, 2}}));
  EXPECT_TRUE(decision.given_up.ok());
  EXPECT_EQ(states(mesh), (std::vector{State::kRunning, State::kStarting, State::kRunning}));
}

TEST(Supervision, AGangIsStoppedAndStartedAnewTogether) {
  Supervision mesh = running(Restart::kGang);

  const auto decision = mesh.on_death(1, 1, 0);

  EXPECT_EQ(decision.stop, (Lives{{0, 1}, {2, 1}}));
  EXPECT_EQ(decision.start, (Lives{{0, 2}, {1, 2}, {2, 2}}));
  EXPECT_TRUE(decision.given_up.ok());
  EXPECT_EQ(states(mesh), std::vector(3, State::kStarting));
}

TEST(Supervision, AMemberThatIsNeverStartedAnewStaysDeadAndCountsForNothing) {
  Supervision mesh = running(Restart::kNever, 3, {.restarts_max = 0});

  const auto decision = mesh.on_death(1, 1, 0);
  const auto again = mesh.on_death(1, 1, 1);

  EXPECT_EQ(decision, Supervision::Decision());
  EXPECT_EQ(again, Supervision::Decision());
  EXPECT_EQ(states(mesh), (std::vector{State::kRunning, State::kDead, State::kRunning}));
  EXPECT_FALSE(mesh.is_given_up());
  EXPECT_FALSE(mesh.on_started(1, 1));
}

TEST(Supervision, WhatIsSaidOfAnEarlierIncarnationChangesNothing) {
  Supervision mesh = running(Restart::kMember);
  (void)mesh.on_death(1, 1, 0);

  const auto death = mesh.on_death(1, 1, 1);
  const auto failure = mesh.on_start_failed(1, 1, 1);
  const bool is_current = mesh.on_started(1, 1);

  EXPECT_EQ(death, Supervision::Decision());
  EXPECT_EQ(failure, Supervision::Decision());
  EXPECT_FALSE(is_current);
  EXPECT_EQ(mesh.state(1), State::kStarting);
  EXPECT_TRUE(mesh.on_started(1, 2));
  EXPECT_EQ(mesh.state(1), State::kRunning);
}

TEST(Supervision, AnIncarnationThatNobodyStartedChangesNothing) {
  Supervision mesh = running(Restart::kMember);

  EXPECT_EQ(mesh.on_death(1, 2, 0), Supervision::Decision());
  EXPECT_FALSE(mesh.on_started(1, 2));
  EXPECT_EQ(mesh.incarnation(1), 1u);
}

TEST(Supervision, AStartThatIsReportedTwiceIsCurrentBothTimes) {
  Supervision mesh(Restart::kMember, {}, 1);

  EXPECT_TRUE(mesh.on_started(0, 1));
  EXPECT_TRUE(mesh.on_started(0, 1));
}

TEST(Supervision, AGangCountsOnceHoweverManyOfItsMembersDied) {
  Supervision mesh = running(Restart::kGang, 3, {.restarts_max = 1});

  const auto first = mesh.on_death(0, 1, 5);
  const auto second = mesh.on_death(1, 1, 5);
  const auto third = mesh.on_death(2, 1, 6);

  EXPECT_EQ(first.start.size(), 3u);
  EXPECT_EQ(second, Supervision::Decision());
  EXPECT_EQ(third, Supervision::Decision());
  EXPECT_FALSE(mesh.is_given_up());
}

TEST(Supervision, MembersThatDieTogetherCountOneEach) {
  Supervision mesh = running(Restart::kMember, 3, {.restarts_max = 2});

  EXPECT_TRUE(mesh.on_death(0, 1, 5).given_up.ok());
  EXPECT_TRUE(mesh.on_death(1, 1, 5).given_up.ok());
  EXPECT_FALSE(mesh.on_death(2, 1, 5).given_up.ok());
}

TEST(Supervision, AStartThatFailsCountsAsADeath) {
  Supervision mesh(Restart::kMember, {.restarts_max = 1}, 1);

  const auto first = mesh.on_start_failed(0, 1, 0);
  const auto second = mesh.on_start_failed(0, 2, 1);

  EXPECT_EQ(first.start, (Lives{{0, 2}}));
  EXPECT_EQ(second.start, Lives{});
  EXPECT_TRUE(mesh.is_given_up());
}

TEST(Supervision, AGangWhoseRestartFailsStopsWhatThatHasStarted) {
  Supervision mesh = running(Restart::kGang);
  (void)mesh.on_death(0, 1, 0);
  EXPECT_TRUE(mesh.on_started(0, 2));

  const auto decision = mesh.on_start_failed(1, 2, 1);

  EXPECT_EQ(decision.stop, (Lives{{0, 2}, {2, 2}}));
  EXPECT_EQ(decision.start, (Lives{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(Supervision, OneRestartMoreThanItIsWorthGivesTheMeshUpAndSaysWhy) {
  Supervision mesh = running(Restart::kMember);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    EXPECT_TRUE(mesh.on_death(1, i, i * kSecond).given_up.ok());
  }

  const auto decision = mesh.on_death(1, 4, 10 * kSecond);

  EXPECT_EQ(decision.stop, (Lives{{0, 1}, {2, 1}}));
  EXPECT_EQ(decision.start, Lives{});
  EXPECT_EQ(decision.given_up,
            actor_lost("the mesh of 3 is given up: member 1 died in incarnation 4, after 3 "
                       "restarts in 10000 ms, and no more are allowed; see why it died, or raise "
                       "Intensity::restarts_max"));
  EXPECT_EQ(states(mesh), std::vector(3, State::kGivenUp));
}

TEST(Supervision, AMeshThatWasGivenUpStaysSo) {
  Supervision mesh = running(Restart::kGang, 2, {.restarts_max = 0});
  EXPECT_FALSE(mesh.on_death(0, 1, 0).given_up.ok());

  EXPECT_EQ(mesh.on_death(1, 1, 100 * kSecond), Supervision::Decision());
  EXPECT_FALSE(mesh.on_started(1, 1));
  EXPECT_EQ(mesh.state(1), State::kGivenUp);
}

TEST(Supervision, TheWindowSlides) {
  Supervision mesh = running(Restart::kMember, 1, {.restarts_max = 2, .window_ns = 10});
  std::uint32_t incarnation = 1;
  const auto survives = [&](std::uint64_t now_ns) {
    return mesh.on_death(0, incarnation++, now_ns).given_up.ok();
  };

  EXPECT_TRUE(survives(0));
  EXPECT_TRUE(survives(9));
  EXPECT_TRUE(survives(10));  // The first is a whole window ago.
  EXPECT_TRUE(survives(19));
  EXPECT_FALSE(survives(19));
}

TEST(Supervision, ACopyGoesItsOwnWay) {
  Supervision mesh = running(Restart::kMember);
  Supervision copy = mesh;

  (void)copy.on_death(0, 1, 0);

  EXPECT_EQ(mesh.state(0), State::kRunning);
  EXPECT_EQ(copy.state(0), State::kStarting);
}

TEST(SupervisionDeathTest, AMemberBeyondTheMeshIsABug) {
  const Supervision mesh(Restart::kMember, {}, 3);

  EXPECT_DEATH((void)mesh.state(3), "member < members_.size\\(\\); operands: 3, 3");
}

TEST(Restart, HasAName) {
  EXPECT_EQ(to_string(Restart::kMember), "member");
  EXPECT_EQ(to_string(Restart::kGang), "gang");
  EXPECT_EQ(to_string(Restart::kNever), "never");
  EXPECT_EQ(to_string(Intensity{}), "3 restarts in 10000 ms");
  EXPECT_EQ(to_string(Intensity{.restarts_max = 1, .window_ns = 5'000'000}), "1 restart in 5 ms");
}

}  // namespace
}  // namespace seaway::actor
