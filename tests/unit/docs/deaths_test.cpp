// Supervision in docs/build-an-app.md: who is started anew, who hears of it, and what is kept.

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "till.hpp"

namespace shelves {
namespace {

using namespace seaway;

class DeathsInTheGuide : public testing::Test {
 protected:
  Client client = connect("embedded:islands=4,devices=1").value();
};

TEST_F(DeathsInTheGuide, AMemberIsStartedAnewAtItsPlace) {
  // [restart]
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();
  static_cast<void>(shelves.call(&Shelf::put, [](Put::Builder m) { m.setAmount(5); }).get());

  shelves.at(1).kill();
  const auto again = shelves.at(1).call(&Shelf::look, CallOptions{.retries = 8}).get();
  const auto other = shelves.at(2).call(&Shelf::look).get();

  EXPECT_EQ(again.value()->getAmount(), 10u);  // As its constructor made it.
  EXPECT_EQ(other.value()->getAmount(), 15u);
  // [/restart]
}

TEST_F(DeathsInTheGuide, AMeshThatDiesTooOftenIsGivenUp) {
  // [intensity]
  auto shelves = client
                     .spawn<Shelf>(SpawnOptions(client.hosts())
                                       .restart(Restart::kGang)  // Die together, live together.
                                       .intensity({.restarts_max = 0}),
                                   10)
                     .value();
  std::promise<Death> heard;
  shelves.on_death(inline_executor(), [&](const Death& death) { heard.set_value(death); });

  shelves.at(1).kill(user_function_error("it fell"));
  const Death death = heard.get_future().get();

  EXPECT_TRUE(death.is_escalated);
  EXPECT_EQ(shelves.at(2).call(&Shelf::look).get().status().code(), StatusCode::kActorLost);
  // [/intensity]
}

TEST_F(DeathsInTheGuide, AParentHearsOfItsChildren) {
  auto manager = client.spawn<Manager>(client.hosts()).value().at(2);

  // [on_death]
  ASSERT_TRUE(manager.call(&Manager::open, [](Open::Builder m) { m.setShelves(3); }).get().ok());
  ASSERT_TRUE(manager.call(&Manager::drop).get().ok());  // Has Shelf[0] killed.

  EXPECT_STREQ(manager.call(&Manager::report).get().value()->getText().cStr(),
               "Shelf[0] died: USER_FUNCTION_ERROR: it fell; it restarts\n");
  // [/on_death]
}

TEST_F(DeathsInTheGuide, WhatWasAnsweredIsKept) {
  // [snapshot]
  auto till = client.spawn<Till>(client.hosts()).value().at(3);
  ASSERT_TRUE(till.call(&Till::pay, [](Pay::Builder m) { m.setCents(250); }).get().ok());

  till.kill();
  // Counted once, however often it has to be sent.
  const auto paid = till.call(
      &Till::pay, [](Pay::Builder m) { m.setCents(100); }, CallOptions{.retries = 8, .once = true});

  EXPECT_EQ(paid.get().value()->getCents(), 350u);
  // [/snapshot]
}

}  // namespace
}  // namespace shelves
