// Whose handler runs here, and what it may not do.

#include "actor/handler_scope.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actor/control_engine.hpp"
#include "actor/engine_waiter.hpp"
#include "base/clock.hpp"

namespace seaway::actor {
namespace {

class Named final : public Handling {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  std::string describe() const override { return name_; }

 private:
  std::string name_;
};

TEST(HandlerScope, ScopesNestAndTheInnermostCounts) {
  const Named outer("outer"), inner("inner");
  std::vector<const Handling*> seen{current_handling()};

  {
    const HandlerScope first(outer);
    seen.push_back(current_handling());
    {
      const HandlerScope second(inner);
      seen.push_back(current_handling());
    }
    seen.push_back(current_handling());
  }
  seen.push_back(current_handling());

  EXPECT_EQ(seen, (std::vector<const Handling*>{nullptr, &outer, &inner, &outer, nullptr}));
}

TEST(HandlerScope, IsThatOfOneThread) {
  const Named here("here");
  const HandlerScope scope(here);
  const Handling* there = &here;

  std::thread([&there] { there = current_handling(); }).join();

  EXPECT_EQ(there, nullptr);
}

TEST(HandlerScope, SaysWhoWouldBlockWhomAndWhatToDo) {
  const Named counter("actor \"counter\" 17");

  const Status outside = check_may_block("Future::get", "co_await the future instead");
  const HandlerScope scope(counter);
  const Status inside = check_may_block("Future::get", "co_await the future instead");

  EXPECT_TRUE(outside.ok());
  EXPECT_EQ(inside,
            invalid_argument("Future::get would block actor \"counter\" 17, and with it every "
                             "actor of its worker; co_await the future instead"));
}

TEST(HandlerScopeDeathTest, ScopesThatEndOutOfOrderAreABug) {
  const Named outer("outer"), inner("inner");

  EXPECT_DEATH(
      {
        auto first = std::make_unique<HandlerScope>(outer);
        auto second = std::make_unique<HandlerScope>(inner);
        first.reset();
      },
      "outer");
}

/// A future of an engine that is not the one whose handler waits for it.
class BlockingHandlerTest : public ::testing::Test {
 protected:
  RealClock clock_;
  std::unique_ptr<Engine> engine_ = make_control_engine(clock_);
  std::shared_ptr<internal::FutureState<int>> state_ =
      std::make_shared<internal::FutureState<int>>(make_engine_waiter(*engine_));
  Future<int> future_{state_};
  const Named counter_{"actor \"counter\" 17"};
};

TEST_F(BlockingHandlerTest, IsRefusedWhicheverEngineMakesTheOutcome) {
  const HandlerScope scope(counter_);

  const Status forever = future_.get().status();
  const Status for_a_while = future_.get(std::chrono::milliseconds(1)).status();

  EXPECT_EQ(forever,
            invalid_argument("Future::get would block actor \"counter\" 17, and with it every "
                             "actor of its worker; co_await the future instead"));
  EXPECT_EQ(for_a_while, forever);
  EXPECT_FALSE(future_.ready());
}

TEST_F(BlockingHandlerTest, MayTakeWhatIsThereAndLookWithoutWaiting) {
  const HandlerScope scope(counter_);

  const Status look = future_.get(std::chrono::milliseconds(0)).status();
  state_->complete(7);

  EXPECT_EQ(look.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(future_.get().value(), 7);
}

TEST_F(BlockingHandlerTest, MayWaitOnceItsScopeHasEnded) {
  { const HandlerScope scope(counter_); }

  engine_->post([this] { state_->complete(7); });

  EXPECT_EQ(future_.get().value(), 7);
}

}  // namespace
}  // namespace seaway::actor
