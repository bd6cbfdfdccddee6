// Each promise that the history checker looks after, and a history that breaks it: calls of actors.

#include <gtest/gtest.h>

#include "unit/sim/history_by_hand.hpp"

namespace seaway::sim {
namespace {

TEST(ActorHistory, ARequestWithTwoOutcomesIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.handle(1);
  hand.answer(1);
  hand.answer(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP1"});
}

TEST(ActorHistory, ARequestWithoutAnOutcomeIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.handle(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP1"});
}

TEST(ActorHistory, AnAnswerBehindItsDeadlineIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.handle(1);
  hand.now_ns += 10 * kMs + 1;
  hand.answer(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP1"});
  hand.deeds.late_ns = 1;
  EXPECT_EQ(hand.broken(), Names());
}

TEST(ActorHistory, ADeadlineThatPassesEarlyIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.now_ns += 10 * kMs - 1;
  hand.answer(1, StatusCode::kDeadlineExceeded);

  EXPECT_EQ(hand.broken(), Names{"H-P3"});
}

TEST(ActorHistory, ALostActorWhenNobodyHadDiedIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.answer(1, StatusCode::kActorLost);
  EXPECT_EQ(hand.broken(), Names{"H-P3"});

  hand.history.note_death_wish();
  EXPECT_EQ(hand.broken(), Names());
}

TEST(ActorHistory, AMailboxThatIsFullWithoutAReasonIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.answer(1, StatusCode::kResourceExhausted);

  EXPECT_EQ(hand.broken(), Names{"H-P3"});
}

TEST(ActorHistory, ALostArgumentThatWasGoodIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.ask(2);
  hand.history.calls[1].input = 1;
  hand.handle(1);
  hand.answer(1);
  hand.answer(2, StatusCode::kInputLost);

  EXPECT_EQ(hand.broken(), Names{"H-P3"});
}

TEST(ActorHistory, WhatAHandlerAsksIsGivenUpWithItsRequestOnly) {
  Hand hand;
  hand.ask(1);
  hand.begin(1);
  HistoryCall nested;
  nested.kind = CallKind::kAsk;
  nested.caller = {.client = 0, .member = kMember, .incarnation = 1};
  nested.number = 2;
  hand.history.begin(std::move(nested));
  hand.answer(2, StatusCode::kCancelled);
  hand.end(1);
  hand.answer(1);
  EXPECT_EQ(hand.broken(), Names{"H-P3"});

  hand.history.cancel_number(1);
  EXPECT_EQ(hand.broken(), Names());
}

TEST(ActorHistory, ARequestThatOvertakesIsSeen) {
  Hand hand;
  hand.ask(1, CallKind::kTell);
  hand.ask(2, CallKind::kTell);
  hand.handle(2);
  hand.handle(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP2"});
}

TEST(ActorHistory, ARequestThatIsSentAgainMayBeOvertaken) {
  Hand hand;
  hand.ask(1, CallKind::kTell, 1);
  hand.ask(2, CallKind::kTell);
  hand.handle(2);
  hand.handle(1);

  EXPECT_EQ(hand.broken(), Names());
}

TEST(ActorHistory, ARequestThatIsHandledTwiceIsSeen) {
  Hand hand;
  hand.ask(1, CallKind::kTell);
  hand.handle(1);
  hand.handle(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP3"});
}

TEST(ActorHistory, ARequestThatTwoLivesHandleIsSeenUnlessItWasSentAgain) {
  for (const std::uint32_t retries : {0u, 1u}) {
    Hand hand;
    hand.ask(1, CallKind::kTell, retries);
    hand.handle(1, 1);
    hand.handle(1, 2);

    EXPECT_EQ(hand.broken(), retries == 0 ? Names{"H-AP3"} : Names());
  }
}

TEST(ActorHistory, WhatNobodyAskedIsSeen) {
  Hand hand;
  hand.handle(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP3"});
}

TEST(ActorHistory, HandlersThatRunAtTheSameTimeAreSeenUnlessOneIsMarked) {
  for (const bool is_marked : {false, true}) {
    Hand hand;
    hand.ask(1, CallKind::kTell);
    hand.ask(2, CallKind::kTell);
    hand.begin(1);
    hand.begin(2, 1, is_marked);

    EXPECT_EQ(hand.broken(), is_marked ? Names() : Names{"H-AP5"});
  }
}

TEST(ActorHistory, AnAnswerOfAnotherLifeIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.handle(1, 1);
  hand.answer(1, StatusCode::kOk, 2);

  EXPECT_EQ(hand.broken(), Names{"H-AP8"});
}

TEST(ActorHistory, AnAnswerBeforeItsHandlerIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.answer(1);
  hand.handle(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP8"});
}

TEST(ActorHistory, AnAnswerThatIsNotWhatTheHandlerComputesIsSeen) {
  Hand hand;
  hand.ask(1);
  hand.handle(1);
  hand.answer(1);
  hand.history.compare(1, 4, 5);

  EXPECT_EQ(hand.broken(), Names{"H-P2"});
}

TEST(ActorHistory, AnAnswerOfAStreamThatIsLeftOutIsSeen) {
  Hand hand;
  hand.ask(1, CallKind::kTell);
  hand.history.item(1, 0, 0);
  hand.history.item(1, 1, 0);
  hand.history.item(1, 0, 2);

  EXPECT_EQ(hand.broken(), Names{"H-stream"});
}

TEST(ActorHistory, ADeathThatIsHeardTwiceOrOutOfOrderIsSeen) {
  for (const std::uint32_t second : {1u, 2u, 3u}) {
    Hand hand;
    hand.history.note_death_wish();
    hand.hear(2);
    hand.hear(second);

    EXPECT_EQ(hand.broken(), second == 3 ? Names() : Names{"H-AP9"});
  }
}

TEST(ActorHistory, ADeathBehindTheLastOneIsSeen) {
  Hand hand;
  hand.history.note_death_wish();
  hand.hear(0);
  hand.hear(4);

  EXPECT_EQ(hand.broken(), Names{"H-AP9"});
}

TEST(ActorHistory, AMeshThatIsGivenUpTwiceIsSeen) {
  Hand hand;
  hand.history.note_death_wish();
  hand.hear(0, true);
  hand.hear(0, true, 4);
  EXPECT_EQ(hand.broken(), Names());

  hand.hear(0, true);
  EXPECT_EQ(hand.broken(), Names{"H-AP9"});
}

TEST(ActorHistory, ADeathBeforeAnybodyDiedIsSeen) {
  Hand hand;
  hand.hear(1);

  EXPECT_EQ(hand.broken(), Names{"H-AP9"});
}

TEST(ActorHistory, ANameOfTwoMeshesIsSeen) {
  Hand hand;
  hand.name(CallKind::kSpawn, "one", 3);
  hand.name(CallKind::kSpawn, "other", 4);
  EXPECT_EQ(hand.broken(), Names());

  hand.name(CallKind::kSpawn, "one", 5);
  EXPECT_EQ(hand.broken(), Names{"H-name"});
}

TEST(ActorHistory, ANameThatNobodyHasIsNotTaken) {
  Hand hand;
  hand.name(CallKind::kSpawn, "one", 0, StatusCode::kInvalidArgument);

  EXPECT_EQ(hand.broken(), Names{"H-name"});
}

TEST(ActorHistory, AMeshThatIsNotFoundWhileItLivesIsSeen) {
  Hand hand;
  hand.name(CallKind::kSpawn, "one", 3);
  hand.name(CallKind::kFind, "one", 3);
  EXPECT_EQ(hand.broken(), Names());

  hand.name(CallKind::kFind, "one", 0, StatusCode::kNotFound);
  EXPECT_EQ(hand.broken(), Names{"H-name"});
}

TEST(ActorHistory, AnotherMeshUnderANameIsSeen) {
  Hand hand;
  hand.history.note_death_wish();
  hand.name(CallKind::kSpawn, "one", 3);
  hand.name(CallKind::kFind, "one", 4);

  EXPECT_EQ(hand.broken(), Names{"H-name"});
}

/// A deposit that was answered, and what its member has of it in the end.
Names after_audit(const std::vector<std::uint64_t>& kept) {
  Hand hand;
  hand.ask(1, CallKind::kDeposit);
  hand.handle(1);
  hand.answer(1);
  hand.history.audit(1, kMember.index, kept);
  return hand.broken();
}

TEST(ActorHistory, ADepositThatIsLostOrDoubledIsSeen) {
  EXPECT_EQ(after_audit({1}), Names());
  EXPECT_EQ(after_audit({}), Names{"H-AP3"});
  EXPECT_EQ(after_audit({1, 1}), Names{"H-AP3"});
  EXPECT_EQ(after_audit({1, 2}), Names{"H-AP3"});
}

}  // namespace
}  // namespace seaway::sim
