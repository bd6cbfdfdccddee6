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
RealDone fault(RealFault kind, std::uint64_t begin_s, std::uint64_t end_s) {
  RealDone done;
  done.event.fault = kind;
  done.begin_ns = begin_s * kSecond;
  done.end_ns = end_s * kSecond;
  return done;
}
RealVerdict judge(std::vector<RealLine> lines, const std::vector<RealDone>& done = {}) {
  return judge_real({{"client 0, life 1", std::move(lines), {}}}, done);
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
      {{"client 0, life 1", {submit(1, 1), submit(2, 1), outcome(1, 2)}, 3 * kSecond}}, {});
  EXPECT_TRUE(verdict.is_clean());
  EXPECT_EQ(verdict.given_up, 1u);
}

TEST(RealJudge, AnErrorWithoutALossHasNoCause) {
  const std::vector<RealLine> lines = {submit(1, 100), outcome(1, 101, StatusCode::kHostLost)};
  EXPECT_EQ(judge(lines).unexplained, 1u);
  EXPECT_EQ(judge(lines, {fault(RealFault::kStraggle, 99, 100)}).unexplained, 1u);
  EXPECT_EQ(judge(lines, {fault(RealFault::kKill, 102, 102)}).unexplained, 1u) << "it came later";
  EXPECT_EQ(judge(lines, {fault(RealFault::kKill, 50, 50)}).unexplained, 1u) << "it was long ago";
  EXPECT_TRUE(judge(lines, {fault(RealFault::kKill, 90, 90)}).is_clean());
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
  EXPECT_EQ(judge(lines, {fault(RealFault::kStop, 11, 24)}).late, 1u);
  EXPECT_TRUE(judge(lines, {fault(RealFault::kStop, 11, 26)}).is_clean());
}

}  // namespace
}  // namespace seaway::campaign
