// Actors on an embedded cluster: calls, meshes, and what becomes of them.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "messages.capnp.h"
#include "seaway/app.hpp"

namespace seaway {
namespace {

using app_test::Add;
using app_test::Answer;
using app_test::Ask;
using app_test::Nothing;
using app_test::Total;

class Counter {
 public:
  static void describe(ActorType<Counter>& type) {
    type.on(&Counter::add).on(&Counter::ask).on(&Counter::total);
  }
  Counter(Self self, std::int64_t start) : self_(std::move(self)), total_(start) {
    if (start < 0) throw std::invalid_argument("it counts from 0");
  }

  Reply<Total> add(Request<Add> request) {
    total_ += request->getAmount();
    return reply();
  }
  Task<Reply<Answer>> ask(Request<Ask> request) {
    if (std::string(request->getText().cStr()) == "throw") throw std::runtime_error("asked to");
    static_cast<void>(co_await self_.sleep(std::chrono::milliseconds(1)));
    co_return make<Answer>([&](Answer::Builder m) {
      m.setText("you said " + std::string(request->getText().cStr()));
      m.setNumber(self_.index());
    });
  }
  Result<Reply<Total>> total(Request<Total> request) {
    total_ += request->getTotal();
    if (total_ > 1000) return invalid_argument("too much");
    return reply();
  }

 private:
  Reply<Total> reply() {
    return make<Total>([this](Total::Builder m) {
      m.setTotal(total_);
      m.setName(self_.name());
    });
  }
  Self self_;
  std::int64_t total_;
};

const auto three = [](Add::Builder m) { m.setAmount(3); };

class Actors : public testing::Test {
 protected:
  Client client = connect("embedded:islands=4,devices=1").value();
};

TEST_F(Actors, EachMemberAnswersACallOfItsMesh) {
  auto counters = client.spawn<Counter>(client.hosts(), 10).value();

  const auto totals = counters.call(&Counter::add, three).get();

  ASSERT_EQ(totals.size(), 4u);
  for (const auto& total : totals) {
    ASSERT_TRUE(total.ok()) << total.status().to_string();
    EXPECT_EQ(total.value()->getTotal(), 13);
  }
  EXPECT_STREQ(totals.at(2).value()->getName().cStr(), "Counter[2]");
}

TEST_F(Actors, AHandlerWaitsWithoutBlockingOthers) {
  auto counters = client.spawn<Counter>(client.hosts(), 0).value();

  auto answer = counters.at(1).call(&Counter::ask, [](Ask::Builder m) { m.setText("hello"); });

  const auto reply = std::move(answer).get();
  ASSERT_TRUE(reply.ok()) << reply.status().to_string();
  EXPECT_STREQ(reply.value()->getText().cStr(), "you said hello");
}

TEST_F(Actors, AnUnresolvedResultIsAnArgument) {
  auto counters = client.spawn<Counter>(client.hosts(), 0).value();

  auto chain = counters.at(0).call(&Counter::add, three);
  for (int i = 1; i < 128; ++i) {
    chain = counters.at(static_cast<std::size_t>(i % 4)).call(&Counter::total, chain);
  }

  const auto end = chain.get();
  EXPECT_EQ(end.status().code(), StatusCode::kInputLost) << end.status().to_string();
}

TEST_F(Actors, AReductionCombinesAllAnswers) {
  auto counters = client.spawn<Counter>(client.hosts().each("worker", 5), 1).value();

  const auto add = [](Total::Reader a, Total::Reader b, Total::Builder out) {
    out.setTotal(a.getTotal() + b.getTotal());
  };
  const auto sum = counters.reduce(&Counter::add, add, three).get();
  const auto again = counters.call(&Counter::add, three).reduce(add).get();

  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(sum.value()->getTotal(), 20 * 4);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again.value()->getTotal(), 20 * 7);
}

TEST_F(Actors, AConstructorThatThrowsFailsTheSpawn) {
  const auto counters = client.spawn<Counter>(client.hosts(), -1);

  EXPECT_EQ(
      counters.status().to_string(),
      "USER_FUNCTION_ERROR: Counter[0] on host 0 could not be made: it threw: it counts from 0");
}

TEST_F(Actors, AnActorThatThrowsDiesAndIsRestarted) {
  auto counters = client.spawn<Counter>(client.hosts(), 5).value();

  const auto died =
      counters.at(3).call(&Counter::ask, [](Ask::Builder m) { m.setText("throw"); }).get();
  const auto after = counters.at(3).call(&Counter::add, three, CallOptions{.retries = 5}).get();

  EXPECT_EQ(died.status().to_string(), "USER_FUNCTION_ERROR: it threw: asked to");
  ASSERT_TRUE(after.ok()) << after.status().to_string();
  EXPECT_EQ(after.value()->getTotal(), 8);
}

TEST_F(Actors, StopEndsThem) {
  auto counters = client.spawn<Counter>(client.hosts(), 5).value();

  ASSERT_TRUE(counters.stop().get().ok());
  const auto after = counters.at(3).call(&Counter::add, three).get();

  EXPECT_EQ(after.status().code(), StatusCode::kActorLost) << after.status().to_string();
}

}  // namespace
}  // namespace seaway
