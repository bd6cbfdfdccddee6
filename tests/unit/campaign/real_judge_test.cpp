// What a campaign against real processes is blamed for, and what not.

#include "campaign/real_judge.hpp"

#include <gtest/gtest.h>

namespace seaway::campaign {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

RealLine submit(std::uint64_t id, std::uint64_t at_s) {
  return {RealLine::Kind::kSubmit, id, at_s * kSecond, StatusCode::kOk, false};
}
RealLine outcome(std::uint64_t id, std::uint64_t at_s, StatusCode code = StatusCode::kOk,
                 bool is_right = true) {
  return {RealLine::Kind::kOutcome, id, at_s * kSecond, code, is_right};
}
RealDone fault(RealFault kind, std::uint64_t begin_s, std::uint64_t end_s,
               const RealProcess& target = {RealRole::kHost, 0}) {
  RealDone done;
  done.event.fault = kind;
  done.event.target = target;
  done.begin_ns = begin_s * kSecond;
  done.end_ns = end_s * kSecond;
  return done;
}
RealVerdict judge(std::vector<RealLine> lines, const std::vector<RealDone>& done = {}) {
  return judge_real({{"client 0, life 1", std::move(lines), {}, 0}}, done);
}

TEST(RealHistory, IsReadAsItWasWrittenAndWithoutItsTornEnd) {
  const std::vector<RealLine> lines = {submit(1, 2),
                                       outcome(1, 3, StatusCode::kHostLost, false),
                                       {RealLine::Kind::kEnd, 1, 4, StatusCode::kOk, false}};
  std::string text;
  for (const RealLine& line : lines) text += to_text(line);
  EXPECT_EQ(text.substr(0, 20), "submit 1 2000000000\n");
  EXPECT_EQ(read_real_history("it", text).lines, lines);
  EXPECT_EQ(read_real_history("it", text + "submit 2 12").lines, lines);
  EXPECT_EQ(
      read_real_history("it", "nonsense\nsubmit x 1\noutcome 1 2 ALL_WELL right\n").lines.size(),
      0u);
}

TEST(RealJudge, ValuesThatAreRightAreClean) {
  const auto verdict = judge({submit(1, 1), submit(2, 1), outcome(2, 2), outcome(1, 4)});
  EXPECT_TRUE(verdict.is_clean());
  EXPECT_EQ(verdict.requests, 2u);
  EXPECT_EQ(verdict.values, 2u);
  EXPECT_EQ(verdict.longest_ns, 3 * kSecond);
}

TEST(RealJudge, AWrongValueIsWrong) {
  const auto verdict = judge({submit(1, 1), outcome(1, 2, StatusCode::kOk, false)});
  EXPECT_EQ(verdict.wrong, 1u);
  ASSERT_EQ(verdict.examples.size(), 1u);
  EXPECT_EQ(verdict.examples[0], "client 0, life 1, request 1 has a value that it must not have");
}

TEST(RealJudge, EachRequestHasOneOutcome) {
  EXPECT_EQ(judge({submit(1, 1), outcome(1, 2), outcome(1, 3)}).twice, 1u);
  EXPECT_EQ(judge({outcome(1, 2), submit(1, 3)}).twice, 1u);
  EXPECT_EQ(judge({submit(1, 1)}).pending, 1u);
}

TEST(RealJudge, WhoWasKilledWaitsForNothing) {
  const auto verdict = judge_real(
      {{"client 0, life 1", {submit(1, 1), submit(2, 1), outcome(1, 2)}, 3 * kSecond, 0}}, {});
  EXPECT_TRUE(verdict.is_clean());
  EXPECT_EQ(verdict.given_up, 1u);
}

TEST(RealJudge, AnErrorWithoutALossHasNoCause) {
  const std::vector<RealLine> lines = {submit(1, 100), outcome(1, 101, StatusCode::kHostLost)};
  EXPECT_EQ(judge(lines).unexplained, 1u);
  EXPECT_EQ(judge(lines, {fault(RealFault::kStraggle, 99, 100)}).unexplained, 1u);
  EXPECT_EQ(judge(lines, {fault(RealFault::kKill, 102, 102)}).unexplained, 1u) << "it came later";
  EXPECT_EQ(judge(lines, {fault(RealFault::kKill, 87, 87)}).unexplained, 1u) << "it was long ago";
  EXPECT_TRUE(judge(lines, {fault(RealFault::kKill, 95, 95)}).is_clean());
}

TEST(RealJudge, ErrorsThatNoLossGivesAreNeverExplained) {
  const std::vector<RealDone> kill = {fault(RealFault::kKill, 1, 1)};
  EXPECT_EQ(judge({submit(1, 1), outcome(1, 2, StatusCode::kDataCorruption)}, kill).unexplained,
            1u);
  EXPECT_EQ(judge({submit(1, 1), outcome(1, 2, StatusCode::kInvalidArgument)}, kill).unexplained,
            1u);
  const std::vector<RealLine> full = {submit(1, 1), outcome(1, 2, StatusCode::kResourceExhausted)};
  EXPECT_EQ(judge(full, kill).unexplained, 1u);
  EXPECT_TRUE(judge(full, {fault(RealFault::kMemory, 0, 1)}).is_clean());
}

TEST(RealJudge, AnOutcomeComesSoonBehindTheLastFault) {
  const std::vector<RealLine> lines = {submit(1, 10), outcome(1, 40)};
  EXPECT_EQ(judge(lines).late, 1u);
  EXPECT_EQ(judge(lines, {fault(RealFault::kStop, 11, 27)}).late, 1u);
  const auto verdict = judge(lines, {fault(RealFault::kStop, 11, 28)});
  EXPECT_TRUE(verdict.is_clean());
  EXPECT_EQ(verdict.settled_ns, 12 * kSecond);
}

TEST(RealJudge, BehindKillsItComesSooner) {
  const std::vector<RealLine> lines = {submit(1, 10), outcome(1, 20)};
  EXPECT_TRUE(judge(lines, {fault(RealFault::kKill, 13, 13)}).is_clean());
  EXPECT_EQ(judge(lines, {fault(RealFault::kKill, 12, 12)}).late, 1u);
  EXPECT_TRUE(
      judge(lines, {fault(RealFault::kStop, 11, 12), fault(RealFault::kKill, 12, 12)}).is_clean())
      << "it was no kill alone";
  EXPECT_EQ(judge({submit(1, 110), outcome(1, 120)},
                  {fault(RealFault::kStop, 11, 12), fault(RealFault::kKill, 112, 112)})
                .late,
            1u)
      << "what was long before counts no more";
}

/// Faults a second apart from 0 s to 29 s, from 60 s to 89 s and so on, each of another kind.
std::vector<RealDone> rounds() {
  std::vector<RealDone> done;
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (std::uint64_t i = 0; i < 30; ++i) {
      const auto kind =
          static_cast<RealFault>(i % (static_cast<std::uint64_t>(kLastRealFault) + 1));
      done.push_back(fault(kind, round * 60 + i, round * 60 + i + 1));
    }
  }
  return done;
}
/// A client that gets a value each second, for ever.
std::vector<RealLine> values() {
  std::vector<RealLine> lines;
  for (std::uint64_t s = 0; s < 300; ++s) {
    lines.push_back(submit(1000 + s, s));
    lines.push_back(outcome(1000 + s, s + 1));
  }
  return lines;
}
RealVerdict judge_amid_faults(const std::vector<RealLine>& more) {
  std::vector<RealLine> lines = values();
  lines.insert(lines.end(), more.begin(), more.end());
  return judge(std::move(lines), rounds());
}

TEST(RealJudge, EachPromiseThatIsBrokenAmidManyFaultsIsSeen) {
  EXPECT_TRUE(judge_amid_faults({}).is_clean());
  EXPECT_TRUE(judge_amid_faults({submit(1, 65), outcome(1, 102)}).is_clean())
      << "12 s behind the round";

  EXPECT_EQ(judge_amid_faults({submit(1, 65), outcome(1, 103)}).late, 1u);
  EXPECT_EQ(judge_amid_faults({submit(1, 65), outcome(1, 125)}).late, 1u)
      << "the next round does not excuse it";
  EXPECT_EQ(judge_amid_faults({submit(1, 65), outcome(1, 290, StatusCode::kHostLost)}).late, 1u);
  EXPECT_EQ(judge_amid_faults({submit(1, 65)}).pending, 1u);
  EXPECT_EQ(judge_amid_faults({submit(1, 65)}).late, 1u);
  EXPECT_EQ(judge_amid_faults({submit(1, 65), outcome(1, 66), outcome(1, 67)}).twice, 1u);
  EXPECT_EQ(judge_amid_faults({submit(1, 65), outcome(1, 66, StatusCode::kOk, false)}).wrong, 1u);
  EXPECT_EQ(
      judge_amid_faults({submit(1, 65), outcome(1, 66, StatusCode::kDataCorruption)}).unexplained,
      1u);
  EXPECT_TRUE(
      judge_amid_faults({submit(1, 100), outcome(1, 101, StatusCode::kHostLost)}).is_clean());
  EXPECT_EQ(judge_amid_faults({submit(1, 103), outcome(1, 104, StatusCode::kHostLost)}).unexplained,
            1u)
      << "all was well for 12 s";
}

TEST(RealJudge, WhoWasKilledLateHadWaitedForTooLong) {
  const auto waited = [](std::uint64_t until_s) {
    return judge_real({{"client 0, life 1", {submit(1, 10)}, until_s * kSecond, 0}}, {});
  };
  EXPECT_TRUE(waited(15).is_clean());
  EXPECT_EQ(waited(25).late, 1u);
}

TEST(RealJudge, AClientThatGetsNothingMoreBehindAllFaultsIsSeen) {
  const std::vector<RealDone> done = {fault(RealFault::kKill, 10, 10)};
  RealJudgeOptions options;
  options.end_ns = 40 * kSecond;
  const auto judged = [&](std::vector<RealLine> of_one) {
    return judge_real(
        {{"client 0, life 1", values(), {}, 0}, {"client 1, life 1", std::move(of_one), {}, 1}},
        done, options);
  };
  EXPECT_TRUE(judged(values()).is_clean());
  EXPECT_EQ(judged({}).stalled, 1u) << "it could not even ask";
  EXPECT_EQ(judged({submit(1, 5), outcome(1, 6)}).stalled, 1u);
  EXPECT_TRUE(judged({submit(1, 38), outcome(1, 39)}).is_clean());
}

TEST(RealJudge, RolesGiveUpWhereSomethingWasDone) {
  const std::vector<RealDone> done = {fault(RealFault::kFiles, 10, 12)};
  EXPECT_FALSE(may_give_up(9 * kSecond, done));
  EXPECT_TRUE(may_give_up(20 * kSecond, done));
  EXPECT_FALSE(may_give_up(25 * kSecond, done));
}

TEST(RealJudge, ErrorsComeOfWhatWasDoneToTheirs) {
  const std::vector<RealLine> lines = {submit(1, 100), outcome(1, 101, StatusCode::kHostLost)};
  const auto unexplained = [&](RealFault kind, const RealProcess& target) {
    return judge(lines, {fault(kind, 99, 99, target)}).unexplained;
  };
  EXPECT_EQ(unexplained(RealFault::kKill, {RealRole::kController}), 0u);
  EXPECT_EQ(unexplained(RealFault::kKill, {RealRole::kAnnex, 1, 1}), 0u);
  EXPECT_EQ(unexplained(RealFault::kKill, {RealRole::kHost, 2}), 1u) << "nobody uses that island";
  EXPECT_EQ(unexplained(RealFault::kStop, {RealRole::kClient, 1}), 1u) << "it is another one";
  EXPECT_EQ(unexplained(RealFault::kStop, {RealRole::kClient, 0}), 0u);
  EXPECT_EQ(unexplained(RealFault::kKill, {RealRole::kScheduler, 0}), 1u) << "nobody notices";
  EXPECT_EQ(unexplained(RealFault::kDelay, {RealRole::kHost, 0}), 1u) << "it costs time alone";
  RealDone severed = fault(RealFault::kSever, 99, 100);
  severed.event.peer = RealProcess{RealRole::kClient, 1};
  EXPECT_EQ(judge(lines, {severed}).unexplained, 1u);
  severed.event.peer = RealProcess{RealRole::kHost, 1};
  EXPECT_TRUE(judge(lines, {severed}).is_clean());
}

}  // namespace
}  // namespace seaway::campaign
