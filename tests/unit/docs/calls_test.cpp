// The first half of docs/build-an-app.md: actors, and all ways to call them.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "shelf.hpp"

namespace shelves {
namespace {

using namespace seaway;

class CallsInTheGuide : public testing::Test {
 protected:
  static auto put(std::uint32_t amount) {
    return [amount](Put::Builder m) { m.setAmount(amount); };
  }
  Client client = connect("embedded:islands=4,devices=1").value();
};

TEST_F(CallsInTheGuide, SpawnAShelfOnEachHostAndAskAllOrOneOrAny) {
  // [spawn]
  Client client = connect("embedded:islands=4,devices=1").value();
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();  // Four, with 10 on each.

  auto five = [](Put::Builder m) { m.setAmount(5); };
  auto one = shelves.at(2).call(&Shelf::put, five);  // A Future<Reply<Level>>, at once.
  auto all = shelves.call(&Shelf::look);             // One call of each.
  auto any = shelves.choose(&Shelf::look);           // Whichever has the least to do.
  // [/spawn]

  // [answers]
  const Result<Reply<Level>> level = one.get();  // Waits.
  EXPECT_EQ(level.value()->getAmount(), 15u);
  EXPECT_STREQ(level.value()->getShelf().cStr(), "Shelf[2]");

  std::uint32_t sum = 0;
  for (const Result<Reply<Level>>& each : all.get()) {
    if (each.ok()) sum += each.value()->getAmount();
  }
  EXPECT_EQ(sum, 45u);  // The one behind put() in the mailbox of Shelf[2] has seen it.
  EXPECT_TRUE(any.get().ok());
  // [/answers]
}

TEST_F(CallsInTheGuide, ARefusalIsTheOutcome) {
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();

  // [refusal]
  const auto refused =
      shelves.at(1).call(&Shelf::put, [](Put::Builder m) { m.setAmount(95); }).get();

  EXPECT_EQ(refused.status().to_string(),
            "INVALID_ARGUMENT: Shelf[1] has room for 100, not for 105");
  // [/refusal]
}

TEST_F(CallsInTheGuide, AMessageWithoutAnAnswerIsSent) {
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();

  // [send]
  const auto three = [](Put::Builder m) { m.setAmount(3); };
  ASSERT_TRUE(shelves.at(0).send(&Shelf::put, three).ok());
  ASSERT_TRUE(shelves.broadcast(&Shelf::put, three).ok());

  EXPECT_EQ(shelves.at(0).call(&Shelf::look).get().value()->getAmount(), 16u);
  EXPECT_EQ(shelves.at(3).call(&Shelf::look).get().value()->getAmount(), 13u);
  // [/send]
}

TEST_F(CallsInTheGuide, ACoroutineWaitsForAnotherActorsPromise) {
  // [wait]
  auto shelf = client.spawn<Shelf>(client.hosts(), 10).value().at(3);
  auto clerk = client.spawn<Clerk>(client.hosts(), shelf).value().at(0);

  auto receipt = clerk.call(&Clerk::sell, [](Sell::Builder m) { m.setAmount(12); });
  static_cast<void>(shelf.call(&Shelf::look).get());
  const bool was_ready = receipt.ready();  // No: 12 are more than 10.
  static_cast<void>(shelf.call(&Shelf::put, [](Put::Builder m) { m.setAmount(5); }).get());

  EXPECT_FALSE(was_ready);
  EXPECT_STREQ(receipt.get().value()->getText().cStr(), "12 from Shelf[3], 3 left");
  // [/wait]
}

TEST_F(CallsInTheGuide, SubMeshesAreMeshes) {
  // [sub]
  auto shelves = client.spawn<Shelf>(client.hosts().each("row", 3), 10).value();
  auto lower = shelves.sub("host", {1, 3}).sub("row", {0, 1});

  EXPECT_EQ(shelves.to_string(), "Shelf mesh(host=4, row=3)");
  EXPECT_EQ(lower.to_string(), "Shelf mesh(host=2, row=1)");
  EXPECT_EQ(lower.at(1).to_string(), "Shelf[6]");
  EXPECT_EQ(lower.call(&Shelf::look).get().size(), 2u);
  // [/sub]
}

TEST_F(CallsInTheGuide, AnAnswerIsAnArgumentBeforeItIsThere) {
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();

  // [chain]
  // Nobody waits here: each call is on its way before the one before it has been answered.
  auto level = shelves.at(0).call(&Shelf::put, [](Put::Builder m) { m.setAmount(7); });
  for (std::size_t i = 1; i < 4; ++i) level = shelves.at(i).call(&Shelf::match, level);

  EXPECT_EQ(level.get().value()->getAmount(), 17u);
  // [/chain]
}

TEST_F(CallsInTheGuide, AFailedArgumentFailsWhatFollows) {
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();

  // [poison]
  auto refused = shelves.at(0).call(&Shelf::put, [](Put::Builder m) { m.setAmount(95); });
  const auto next = shelves.at(1).call(&Shelf::match, refused).get();

  EXPECT_EQ(next.status().code(), StatusCode::kInputLost);
  EXPECT_NE(next.status().message().find("has room for 100, not for 105"), std::string::npos);
  // [/poison]
}

TEST_F(CallsInTheGuide, AStreamIsReadAsItComes) {
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();

  // [stream]
  // At most two answers of each shelf lie unread; its handler waits for more credit then.
  auto sales = shelves.stream(&Shelf::sell_off, CallOptions{.credit = 2});
  int sold = 0;
  for (;;) {
    const auto item = sales.next().get();
    if (!item.value()) break;               // All members' streams have ended.
    if (!item.value()->reply.ok()) break;   // That one's has, too early.
    EXPECT_LT(item.value()->position, 4u);  // Whose it is.
    EXPECT_LT(item.value()->reply.value()->getAmount(), 10u);
    ++sold;
  }

  EXPECT_EQ(sold, 40);
  // [/stream]
}

TEST_F(CallsInTheGuide, AReductionBringsOneAnswer) {
  auto shelves = client.spawn<Shelf>(client.hosts().each("row", 3), 10).value();

  // [reduce]
  const auto there = shelves.reduce(&Shelf::look, plus).get();      // Combined on the way.
  const auto here = shelves.call(&Shelf::look).reduce(plus).get();  // Combined in the caller.

  EXPECT_EQ(there.value()->getAmount(), 120u);
  EXPECT_EQ(here.value()->getAmount(), 120u);
  // [/reduce]
}

TEST_F(CallsInTheGuide, FuturesHaveDeadlinesAndAreGivenUp) {
  auto shelf = client.spawn<Shelf>(client.hosts(), 0).value().at(1);
  const auto one = [](Take::Builder m) { m.setAmount(1); };

  // [options]
  const auto late =
      shelf.call(&Shelf::take, one, CallOptions{.deadline = std::chrono::milliseconds(5)}).get();
  auto given_up = shelf.call(&Shelf::take, one);
  given_up.cancel();

  EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(given_up.get().status().code(), StatusCode::kCancelled);
  // [/options]
}

TEST_F(CallsInTheGuide, AMeshIsFoundByItsName) {
  // [named]
  auto shelves = client.spawn<Shelf>(SpawnOptions(client.hosts()).named("shelves"), 10).value();
  auto found = client.find<Shelf>("shelves").value();

  EXPECT_EQ(found.at(1).name(), shelves.at(1).name());
  ASSERT_TRUE(shelves.stop().get().ok());  // What was asked before is answered before.
  EXPECT_EQ(client.find<Shelf>("shelves").status().code(), StatusCode::kNotFound);
  // [/named]
}

}  // namespace
}  // namespace shelves
