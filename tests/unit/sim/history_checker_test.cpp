// Each promise that the history checker looks after, and a history that breaks it: calls on arrays.

#include <gtest/gtest.h>

#include "unit/sim/history_by_hand.hpp"

namespace seaway::sim {
namespace {

TEST(HistoryChecker, AWorldWithoutMistakesIsClean) {
  Hand hand;
  const ValueId put = hand.put(5);
  const ValueId made = hand.run({put});
  hand.fetch(put, 5);
  hand.fetch(made, 9);
  hand.fetch(hand.run({put}), 9);
  hand.fetch(hand.history.moved(hand.done(CallKind::kReshard, {put}), put), 5);
  hand.ask(1);
  hand.ask(2);
  hand.handle(1);
  hand.handle(2);
  hand.answer(2);
  hand.answer(1);

  EXPECT_EQ(hand.broken(), Names());
}

TEST(HistoryChecker, ACallWithoutAnOutcomeIsSeen) {
  Hand hand;
  hand.call(CallKind::kRun);

  EXPECT_EQ(hand.broken(), Names{"H-P1"});
}

TEST(HistoryChecker, ACallOfAClientThatDiedNeedsNoOutcome) {
  Hand hand;
  hand.call(CallKind::kRun);

  EXPECT_TRUE(check_history(hand.history, hand.deeds).empty());
}

TEST(HistoryChecker, ASecondOutcomeIsSeen) {
  Hand hand;
  hand.history.end(hand.done(CallKind::kRun), StatusCode::kOk);

  EXPECT_EQ(hand.broken(), Names{"H-P1"});
}

TEST(HistoryChecker, AnOutcomeThatChangesIsSeen) {
  Hand hand;
  hand.history.read(hand.done(CallKind::kRun), StatusCode::kInputLost);

  EXPECT_EQ(hand.broken(), Names{"H-P1"});
}

TEST(HistoryChecker, AnOutcomeLongAfterTheLastFaultIsSeen) {
  Hand hand;
  hand.deeds.last_fault_ns = 50 * kMs;
  const CallId late = hand.call(CallKind::kRun), in_time = hand.call(CallKind::kRun);
  hand.now_ns = 50 * kMs + hand.deeds.settle_ns;
  hand.history.end(in_time, StatusCode::kOk);
  EXPECT_TRUE(check_history(hand.history, hand.deeds).empty());
  ++hand.now_ns;
  hand.history.end(late, StatusCode::kOk);

  EXPECT_EQ(hand.broken(), Names{"H-P1"});
}

TEST(HistoryChecker, AFetchOfSomethingElseThanWasPutIsSeen) {
  Hand hand;
  hand.fetch(hand.put(5), 6);

  EXPECT_EQ(hand.broken(), Names{"H-P2"});
}

TEST(HistoryChecker, AReshardThatChangesAValueIsSeen) {
  Hand hand;
  const ValueId made = hand.run({hand.put(5)});
  hand.fetch(made, 9);
  hand.fetch(hand.history.moved(hand.done(CallKind::kReshard, {made}), made), 10);

  EXPECT_EQ(hand.broken(), Names{"H-P2"});
}

TEST(HistoryChecker, EqualRunsWithValuesThatDifferAreSeen) {
  Hand hand;
  hand.fetch(hand.run({hand.put(5)}), 9);
  hand.fetch(hand.run({hand.put(6)}), 10);
  hand.fetch(hand.run({hand.put(5)}), 11);

  EXPECT_EQ(hand.broken(), Names{"H-P2"});
}

TEST(HistoryChecker, ValuesMayDifferWhereNobodyPromisedToNoticeFlips) {
  Hand hand;
  hand.deeds.flips_unseen = true;
  hand.fetch(hand.put(5), 6);

  EXPECT_EQ(hand.broken(), Names());
}

TEST(HistoryChecker, EqualRunsOfWhichOneFailsInItsFunctionAreSeen) {
  Hand hand;
  const ValueId put = hand.put(5);
  hand.run({put});
  const CallId call = hand.done(CallKind::kRun, {put}, StatusCode::kUserFunctionError);
  hand.history.calls[call].wishes = {StatusCode::kUserFunctionError};

  EXPECT_EQ(hand.broken(), Names{"H-P2"});
}

TEST(HistoryChecker, AnErrorBeforeTheFirstFaultIsSeen) {
  Hand hand;
  hand.deeds.faults_cause = {StatusCode::kDeviceLost};
  hand.deeds.first_fault_ns = 10;
  hand.run({}, StatusCode::kDeviceLost);
  EXPECT_EQ(hand.broken(), Names{"H-P3"});

  hand.deeds.first_fault_ns = 1;
  EXPECT_EQ(hand.broken(), Names());
}

TEST(HistoryChecker, AnErrorThatNoFaultOfTheWorldCausesIsSeen) {
  Hand hand;
  hand.deeds.faults_cause = {StatusCode::kDeviceLost};
  hand.deeds.first_fault_ns = 0;
  hand.run({}, StatusCode::kHostLost);

  EXPECT_EQ(hand.broken(), Names{"H-P3"});
}

TEST(HistoryChecker, ALostInputOfWhichNoneFailedIsSeen) {
  Hand hand;
  const ValueId good = hand.run({});
  hand.run({good}, StatusCode::kInputLost);

  EXPECT_EQ(hand.broken(), Names{"H-P3"});
}

TEST(HistoryChecker, WhatIsMadeOfAFailureMayFailLikewise) {
  Hand hand;
  const CallId call = hand.done(CallKind::kRun, {}, StatusCode::kUserFunctionError);
  hand.history.calls[call].wishes = {StatusCode::kUserFunctionError};
  const ValueId bad = hand.history.output(call, 0);
  hand.run({hand.run({bad}, StatusCode::kInputLost)}, StatusCode::kInputLost);
  ++hand.now_ns;
  hand.fetch(bad, 0, StatusCode::kUserFunctionError);

  EXPECT_EQ(hand.broken(), Names());
}

TEST(HistoryChecker, ACancelThatNobodyAskedForIsSeen) {
  Hand hand;
  hand.run({}, StatusCode::kCancelled);
  EXPECT_EQ(hand.broken(), Names{"H-P3"});

  hand.history.cancel(0);
  EXPECT_EQ(hand.broken(), Names());
}

TEST(HistoryChecker, MaybeExecutedOfARunWithoutEffectsIsSeen) {
  Hand hand;
  hand.deeds.faults_cause = {StatusCode::kMaybeExecuted};
  hand.deeds.first_fault_ns = 0;
  hand.run({}, StatusCode::kMaybeExecuted);

  EXPECT_EQ(hand.broken(), Names{"H-P4"});
}

/// Two runs of a function with effects on two devices: one is good, one failed.
void with_effects(Hand& hand, std::uint64_t times) {
  hand.deeds.faults_cause = {StatusCode::kMaybeExecuted};
  hand.deeds.first_fault_ns = 0;
  for (const StatusCode code : {StatusCode::kOk, StatusCode::kMaybeExecuted}) {
    const CallId call = hand.done(CallKind::kRun, {}, code);
    hand.history.calls[call].effects = {{kFunction, 2}};
  }
  for (std::uint64_t i = 0; i < times; ++i) hand.history.count_effect(kFunction);
}

TEST(HistoryChecker, EffectsHappenOnceForEachShardOrAtMostOnce) {
  for (const std::uint64_t times : {1u, 2u, 4u, 5u}) {
    Hand hand;
    with_effects(hand, times);

    const bool is_right = times == 2 || times == 4;
    EXPECT_EQ(hand.broken(), is_right ? Names() : Names{"H-P4"}) << times;
  }
}

TEST(HistoryChecker, EffectsOfARefusedRunAreSeen) {
  Hand hand;
  with_effects(hand, 3);
  hand.history.calls[1].is_refused = true;

  EXPECT_EQ(hand.broken(), Names{"H-P4"});
}

TEST(HistoryChecker, WhatTheTesterWorksOutHasNoEffects) {
  Hand hand;
  with_effects(hand, 4);
  hand.history.is_rehearsal = true;
  hand.history.count_effect(kFunction);

  EXPECT_EQ(hand.broken(), Names());
}

TEST(HistoryChecker, ACodeThatIsNotForUsersOfArraysIsSeen) {
  Hand hand;
  hand.run({}, StatusCode::kUnimplemented);

  EXPECT_EQ(hand.broken(), Names{"H-codes"});
}

TEST(HistoryChecker, ACodeThatIsNotForCallersOfActorsIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.answer(1, StatusCode::kMaybeExecuted);

  EXPECT_EQ(hand.broken(), Names{"H-codes"});
}

TEST(HistoryChecker, AValueThatWasGivenAwayAndIsThereIsSeen) {
  Hand hand;
  const ValueId value = hand.put(5);
  hand.fetch(value, 5);
  hand.history.donate_or_delete(value);
  hand.fetch(value, 0, StatusCode::kInvalidArgument);
  EXPECT_EQ(hand.broken(), Names());

  hand.fetch(value, 5);
  EXPECT_EQ(hand.broken(), Names{"H-freed"});
}

TEST(HistoryChecker, AValueOfARunThatHadFailedIsSeen) {
  Hand hand;
  const CallId call = hand.done(CallKind::kRun, {}, StatusCode::kUserFunctionError);
  hand.history.calls[call].wishes = {StatusCode::kUserFunctionError};
  const ValueId value = hand.history.output(call, 0);
  ++hand.now_ns;
  hand.fetch(value, 9);

  EXPECT_EQ(hand.broken(), Names{"H-final"});
}

}  // namespace
}  // namespace seaway::sim
