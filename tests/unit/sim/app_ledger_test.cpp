// The ledger of worlds of actors: for each promise something that breaks it, and something near it
// that does not.

#include "sim/app_ledger.hpp"

#include <gtest/gtest.h>

#include "sim/chaos.hpp"

namespace seaway::sim {
namespace {

class Ledger : public testing::Test {
 protected:
  AppAsked asked() const {
    AppAsked asked;
    asked.caller.client = 1;
    asked.what = "plain";
    return asked;
  }
  std::uint64_t ask() { return ledger.ask(asked()); }
  void handle(std::uint64_t number, const AppLife& life) {
    ledger.begin(number, life, false);
    ledger.end(number, life, false);
  }
  /// One violation, of this promise, with these words.
  void expect_broken(const std::string& invariant, const std::string& words) const {
    ASSERT_EQ(verdict.violations().size(), 1u);
    EXPECT_EQ(verdict.violations().front().invariant, invariant);
    EXPECT_NE(verdict.violations().front().text.find(words), std::string::npos)
        << verdict.violations().front().text;
  }

  std::uint64_t now_ns = 0;
  Verdict verdict;
  AppLedger ledger{verdict, [this] { return now_ns; }};
  const AppLife first{{7, 2}, 1}, second{{7, 2}, 2};
};

TEST_F(Ledger, AWorldWithoutFaultsIsClean) {
  ledger.be_born(first);
  const std::uint64_t one = ask();
  const std::uint64_t two = ask();
  handle(one, first);
  handle(two, first);
  ledger.answer(one, {}, first);
  ledger.answer(two, {}, first);
  ledger.die(first);
  ledger.be_born(second);
  ledger.die(second);
  ledger.finish();

  EXPECT_TRUE(verdict.ok()) << verdict.violations().front().text;
  EXPECT_EQ(verdict.counts.ok, 2u);
}

TEST_F(Ledger, Ap1ASecondOutcomeIsSeen) {
  const std::uint64_t number = ask();
  ledger.answer(number, {});
  ledger.answer(number, {});

  expect_broken("AP-1", "request 1 (plain of client 1) has one outcome too many");
}

TEST_F(Ledger, Ap1ACallWithoutAnOutcomeIsSeen) {
  ask();
  ledger.finish();

  expect_broken("AP-1", "request 1 (plain of client 1) lacks an outcome");
}

TEST_F(Ledger, Ap1AnOutcomeLongAfterTheDeadlineIsSeen) {
  AppAsked brief = asked();
  brief.deadline_ns = 1'000;
  const std::uint64_t number = ledger.ask(brief);
  now_ns = 60'000'000;
  ledger.answer(number, deadline_exceeded("late"));

  expect_broken("AP-1", "its deadline was 1 us");
}

TEST_F(Ledger, Ap1ACallThatWaitsUntilItsDefaultDeadlineHangs) {
  ledger.answer(ask(), deadline_exceeded("nobody answers"));

  expect_broken("AP-1", "waited until the end");
  EXPECT_EQ(verdict.breach(), Breach::kLiveness);
  EXPECT_EQ(exit_code_of(verdict.breach()), kChaosLiveness);
}

TEST_F(Ledger, Ap1AFailureNeedsAReason) {
  ledger.answer(ask(), actor_lost("it died"));

  expect_broken("AP-1", "failed without a reason: ACTOR_LOST");
  EXPECT_EQ(exit_code_of(verdict.breach()), kChaosCorrectness);
}

TEST_F(Ledger, Ap1EachReasonExcusesItsOwnFailure) {
  ledger.faults.host_kills = 1;
  ledger.answer(ask(), actor_lost("it died"));
  ledger.answer(ask(), {StatusCode::kHostLost, "it died"});
  const std::uint64_t cancelled_one = ask();
  ledger.cancel(cancelled_one);
  ledger.answer(cancelled_one, cancelled("given up"));
  AppAsked tight = asked();
  tight.is_tight = tight.has_input = tight.is_failing = true;
  ledger.answer(ledger.ask(tight), resource_exhausted("full"));
  ledger.answer(ledger.ask(tight), input_lost("it failed"));
  ledger.answer(ledger.ask(tight), user_function_error("it threw"));

  EXPECT_TRUE(verdict.ok()) << verdict.violations().front().text;
}

TEST_F(Ledger, Ap1AnothersAnswerIsSeen) {
  ledger.compare(ask(), 5, 6);

  expect_broken("AP-1", "was answered with 5 and not 6");
}

TEST_F(Ledger, Ap2WhatOvertakesIsSeen) {
  const std::uint64_t one = ask();
  const std::uint64_t two = ask();
  handle(two, first);
  handle(one, first);

  expect_broken("AP-2", "request 1 (plain of client 1) begins after request 2");
}

TEST_F(Ledger, Ap2CallersDoNotWaitForOneAnother) {
  const std::uint64_t one = ask();
  AppAsked of_other = asked();
  of_other.caller.client = 2;
  handle(ledger.ask(of_other), first);
  handle(one, first);

  EXPECT_TRUE(verdict.ok());
}

TEST_F(Ledger, Ap3AMessageThatIsHandledTwiceIsSeen) {
  const std::uint64_t number = ask();
  handle(number, first);
  handle(number, second);

  expect_broken("AP-3", "is handled again");
}

TEST_F(Ledger, Ap3ARequestWithAnIdIsHandledOnceInALife) {
  AppAsked once = asked();
  once.is_once = true;
  once.retries = 5;
  const std::uint64_t number = ledger.ask(once);
  handle(number, first);
  handle(number, second);
  EXPECT_TRUE(verdict.ok());

  handle(number, second);

  expect_broken("AP-3", "is handled again");
}

TEST_F(Ledger, Ap3DepositsThatAreLostOrDoubledAreSeen) {
  ledger.deposit_lost(ask(), first.member);
  expect_broken("AP-3", "has forgotten it");

  Verdict other;
  AppLedger again(other, [] { return 0; });
  again.deposit_twice(again.ask(asked()), first);
  EXPECT_EQ(other.violations().front().invariant, "AP-3");
}

TEST_F(Ledger, Ap4AMailboxThatHoldsMoreThanItTakesIsSeen) {
  ledger.fill(first.member, 3, 4, 4);
  EXPECT_TRUE(verdict.ok());

  ledger.fill(first.member, 3, 5, 4);

  expect_broken("AP-4", "5 messages of silo 3");
}

TEST_F(Ledger, Ap5AHandlerThatBeginsWhileAnotherWaitsIsSeen) {
  const std::uint64_t one = ask();
  const std::uint64_t two = ask();
  const std::uint64_t three = ask();
  ledger.begin(one, first, false);
  ledger.begin(two, first, true);  // It is marked.
  EXPECT_TRUE(verdict.ok());

  ledger.begin(three, first, false);

  expect_broken("AP-5", "begins while another handler waits");
}

TEST_F(Ledger, Ap6ActorsAndHandlersThatAreLeftAreSeen) {
  ledger.be_born(first);
  ledger.finish();
  expect_broken("AP-6", "1 actors are left");

  Verdict other;
  AppLedger again(other, [] { return 0; });
  AppAsked sent = asked();
  sent.is_send = true;
  again.begin(again.ask(sent), first, false);
  again.finish();
  EXPECT_EQ(other.violations().front().text, "1 handlers never ended");
}

TEST_F(Ledger, Ap8ALifeThatWasReplacedIsSeen) {
  ledger.be_born(first);
  ledger.be_born(second);
  handle(ask(), first);

  expect_broken("AP-8", "life 2 has begun");
}

TEST_F(Ledger, Ap8AnAnswerOfAnEarlierLifeIsSeen) {
  const std::uint64_t one = ask();
  const std::uint64_t two = ask();
  ledger.answer(two, {}, second);
  ledger.answer(one, {}, first);

  expect_broken("AP-8", "after life 2 has answered");
}

TEST_F(Ledger, Ap8ALifeThatComesTwiceIsSeen) {
  ledger.be_born(second);
  ledger.die(second);
  ledger.be_born(second);

  expect_broken("AP-8", "is born, and life 2 was there before");
}

TEST_F(Ledger, Ap9ADeathThatIsHeardOfTwiceOrTooLateIsSeen) {
  const AppCaller watcher{1, {}, 0};
  ledger.be_born(first);
  ledger.be_born(second);
  const Death death_of_first{first.member, "Counter[2]", actor_lost("killed"), 1, true, false};
  Death death_of_second = death_of_first;
  death_of_second.incarnation = 2;
  ledger.hear(watcher, death_of_first);
  ledger.hear(watcher, death_of_second);
  EXPECT_TRUE(verdict.ok());

  ledger.hear(watcher, death_of_first);

  expect_broken("AP-9", "hears of the death of member 2 of mesh 0/7, life 1 after that of life 2");
}

TEST_F(Ledger, Ap9ADeathBehindTheLastOneOrOfNobodyIsSeen) {
  const AppCaller watcher{1, {}, 0};
  ledger.be_born(first);
  ledger.be_born(second);
  ledger.hear(watcher, {first.member, "Counter[2]", actor_lost("killed"), 1, false, false});
  ledger.hear(watcher, {first.member, "Counter[2]", actor_lost("killed"), 2, false, false});
  expect_broken("AP-9", "whose death before was to be the last");

  Verdict other;
  AppLedger again(other, [] { return 0; });
  again.hear(watcher, {first.member, "Counter[2]", actor_lost("killed"), 1, false, false});
  EXPECT_EQ(other.violations().front().text,
            "client 1 hears of the death of member 2 of mesh 0/7, life 1, which was never born");
}

TEST_F(Ledger, Ap9ADeathThatIsNotWatchedIsSeen) {
  const AppCaller of_one{1, {}, 0}, of_all{2, {}, 0}, next_life{0, {9, 0}, 2};
  ledger.be_born(first);
  ledger.watch(of_one, first.member.mesh, first.member.index);
  ledger.watch(of_all, first.member.mesh);
  ledger.watch({0, {9, 0}, 1}, first.member.mesh);
  const Death death{first.member, "Counter[2]", actor_lost("killed"), 1, true, false};
  Death of_mesh{{7, 0}, "Counter mesh", actor_lost("too often"), 0, false, true};
  ledger.hear(of_one, death);
  ledger.hear(of_all, death);
  ledger.hear(of_one, of_mesh);
  EXPECT_TRUE(verdict.ok()) << verdict.violations().front().text;

  ledger.hear(next_life, death);

  expect_broken("AP-9", "hears of the death of member 2 of mesh 0/7, life 1, which it does not");
}

TEST_F(Ledger, Ap9ADeathOfAnotherMemberIsSeen) {
  const AppCaller of_one{1, {}, 0};
  ledger.be_born(first);
  ledger.watch(of_one, first.member.mesh, first.member.index + 1);

  ledger.hear(of_one, {first.member, "Counter[2]", actor_lost("killed"), 1, true, false});

  expect_broken("AP-9", "which it does not watch");
}

TEST_F(Ledger, TheStoryNamesWhoDidWhat) {
  ledger.be_born(first);
  now_ns = 5'000;
  const std::uint64_t number = ask();
  handle(number, first);

  EXPECT_EQ(ledger.story(2),
            "    #3 5 us: begins request 1 (plain of client 1) at member 2 of mesh 0/7, life 1\n"
            "    #4 5 us: ends request 1 (plain of client 1) at member 2 of mesh 0/7, life 1\n");
}

}  // namespace
}  // namespace seaway::sim
