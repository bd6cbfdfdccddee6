// The engine that waits for sockets: all that engines do, and what comes from other processes.

#include "actor/io_engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport/socket_wires.hpp"
#include "unit/actor/recorder.hpp"
#include "unit/transport/scarce_system.hpp"

namespace seaway::actor {
namespace {

class IoEngineTest : public ::testing::Test {
 protected:
  RealClock clock_;
  std::unique_ptr<IoEngine> engine_ = make_io_engine(clock_).value();
  std::atomic<std::uint64_t> heard_ = 0;
};

TEST_F(IoEngineTest, MessagesOfOneSenderArriveInOrderOnTheControlThread) {
  std::vector<std::uint64_t> numbers;
  bool all_on_control_thread = true;
  const Address address = engine_->spawn("a", std::make_unique<CallbackActor>([&](auto number) {
                                           numbers.push_back(number);
                                           all_on_control_thread &= engine_->on_control_thread();
                                           heard_ = number;
                                           engine_->notify();
                                         }));

  for (std::uint64_t i = 1; i <= 1000; ++i) address.send(number_frame(i));
  EXPECT_TRUE(engine_->wait([this] { return heard_ == 1000; }, 0));

  ASSERT_EQ(numbers.size(), 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(numbers[i], i + 1);
  EXPECT_TRUE(all_on_control_thread);
  EXPECT_FALSE(engine_->on_control_thread());
}

TEST_F(IoEngineTest, TimersFireInTimeAndInOrderUnlessCancelled) {
  std::vector<int> fired;
  bool was_early = false;
  std::atomic<bool> is_done = false;

  engine_->post([&] {
    const std::uint64_t now_ns = clock_.now_ns();
    const auto at = [&, now_ns](std::uint64_t delay_ns, int number) {
      return engine_->schedule(now_ns + delay_ns, [&, now_ns, delay_ns, number] {
        was_early |= clock_.now_ns() < now_ns + delay_ns;
        fired.push_back(number);
        if (number == 3) is_done = true;
        engine_->notify();
      });
    };
    at(3'000'000, 3);
    at(100'000, 1);
    engine_->cancel(at(200'000, 9));
    at(1'500'000, 2);
  });

  EXPECT_TRUE(engine_->wait([&] { return is_done.load(); }, 0));
  EXPECT_EQ(fired, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(was_early);
}

TEST_F(IoEngineTest, AWaitGivesUpAtItsDeadline) {
  EXPECT_FALSE(engine_->wait([] { return false; }, clock_.now_ns() + 1'000'000));
}

TEST_F(IoEngineTest, PostedWorkOfManyThreadsRunsAndThatOfOneInOrder) {
  constexpr int kThreads = 4, kEach = 1000;
  std::vector<std::vector<int>> ran(kThreads);
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        engine_->post([&, thread, i] {
          ran[thread].push_back(i);
          ++done;
          engine_->notify();
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_TRUE(engine_->wait([&] { return done == kThreads * kEach; }, 0));
  for (const auto& numbers : ran) {
    ASSERT_EQ(numbers.size(), std::size_t{kEach});
    for (int i = 0; i < kEach; ++i) ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i);
  }
}

TEST_F(IoEngineTest, ActorsThatAreAlwaysBusyDoNotKeepSocketsFromBeingRead) {
  std::unique_ptr<transport::SocketWires> wires;
  bool is_answered = false;
  std::atomic<bool> is_over = false;
  Address address;
  address = engine_->spawn("busy", std::make_unique<CallbackActor>([&](auto number) {
                             if (is_answered) {
                               is_over = true;
                               return engine_->notify();
                             }
                             address.send(number_frame(number + 1));
                           }));

  engine_->post([&] {
    transport::SocketOptions options;
    options.listen = "tcp:127.0.0.1:0";
    transport::SocketHandlers handlers;
    handlers.answer = [](const transport::Caller&, const Frame& frame, const auto& done) {
      done(frame);
    };
    auto made = transport::SocketWires::make(engine_->loop(), options, handlers);
    wires = std::move(*made);
    transport::ask(engine_->loop(), wires->address(), 0, number_frame(1), UINT64_MAX,
                   [&](const auto& answer) { is_answered = answer.ok(); });
    address.send(number_frame(1));
  });

  EXPECT_TRUE(engine_->wait([&] { return is_over.load(); }, 0));
  run_on_control_thread(*engine_, [&] { wires.reset(); });
}

TEST_F(IoEngineTest, ActorsEndWithTheirEngineAndWhatIsPostedAfterwardsIsDropped) {
  const auto alive = std::make_shared<int>(0);
  const Address address = engine_->spawn("a", std::make_unique<CallbackActor>([alive](auto) {}));
  ASSERT_EQ(alive.use_count(), 2);

  engine_->stop();
  engine_->post([alive] {});
  address.send(number_frame(1));
  engine_.reset();

  EXPECT_EQ(alive.use_count(), 1);
}

/// Two engines, each with an actor that a connection brings messages for.
class TwoIoEnginesTest : public ::testing::Test {
 protected:
  struct Side {
    std::unique_ptr<IoEngine> engine;
    std::unique_ptr<transport::SocketWires> wires;
    Address actor;
    std::atomic<bool> is_connected = false;
    std::atomic<std::uint64_t> heard = 0;
    std::atomic<std::thread::id> heard_on = {};
  };

  /// `address` is where process 0 listens.
  void begin(transport::ProcessId self, const std::string& address) {
    Side& side = sides_[self];
    side.engine = make_io_engine(clock_).value();
    // What an actor says goes to the other process, and comes back by one larger.
    side.actor =
        side.engine->spawn("a", std::make_unique<CallbackActor>([this, &side, self](auto number) {
                             const bool is_last = number >= last_;
                             side.heard_on = std::this_thread::get_id();
                             side.heard = number;
                             side.engine->notify();
                             const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
                             if (is_last) return;
                             ++number;
                             side.wires->write(self, 1 - self, {bytes, bytes + sizeof(number)});
                           }));
    run_on_control_thread(*side.engine, [&] {
      transport::SocketOptions options;
      options.self = self;
      options.cluster = 3;
      if (self == 0) options.listen = "tcp:127.0.0.1:0";
      transport::SocketHandlers handlers;
      handlers.find = [address](auto, const auto& found) { found(address); };
      auto made = transport::SocketWires::make(side.engine->loop(), options, handlers);
      ASSERT_TRUE(made.ok()) << made.to_string();
      side.wires = std::move(*made);
      side.wires->attach(self, 1 - self,
                         {[this, &side] {
                            side.engine->post([&side] {
                              side.is_connected = true;
                              side.engine->notify();
                            });
                            // It begins with 1, from the smaller one.
                            if (side.wires->address().empty() || is_called_) return;
                            side.actor.send(number_frame(1));
                          },
                          [&side](std::span<const std::byte> bytes) {
                            ASSERT_EQ(bytes.size(), sizeof(std::uint64_t));
                            std::uint64_t number = 0;
                            std::memcpy(&number, bytes.data(), sizeof(number));
                            side.actor.send(number_frame(number));
                          },
                          [] {}, [] {}});
    });
  }
  void end(Side& side) {
    run_on_control_thread(*side.engine, [&side] { side.wires.reset(); });
    side.engine->stop();
  }

  static constexpr std::uint64_t kLast = 2000;
  std::atomic<std::uint64_t> last_ = kLast;
  bool is_called_ = false;  // Nobody begins by himself.
  RealClock clock_;
  Side sides_[2];
};

TEST_F(TwoIoEnginesTest, MessagesOfActorsGoBackAndForthBetweenThem) {
  begin(0, "");
  std::string address;
  run_on_control_thread(*sides_[0].engine, [&] { address = sides_[0].wires->address(); });
  begin(1, address);

  run_on_control_thread(*sides_[1].engine, [&] { sides_[1].wires->connect(1, 0); });

  // The last number is even, and the second process hears those.
  EXPECT_TRUE(sides_[1].engine->wait([&] { return sides_[1].heard == kLast; }, 0));
  EXPECT_EQ(sides_[0].heard, kLast - 1);
  for (Side& side : sides_) {
    run_on_control_thread(*side.engine, [&side] { EXPECT_TRUE(side.is_connected); });
    end(side);
  }
}

TEST_F(TwoIoEnginesTest, AClientThatCallsAndWaitsInTurnsTakesThePlaceOfTheControlThread) {
  is_called_ = true;
  begin(0, "");
  std::string address;
  run_on_control_thread(*sides_[0].engine, [&] { address = sides_[0].wires->address(); });
  begin(1, address);
  Side& self = sides_[1];
  run_on_control_thread(*self.engine, [&] { self.wires->connect(1, 0); });
  ASSERT_TRUE(self.engine->wait([&] { return self.is_connected.load(); }, 0));
  std::atomic<int> asked = 0, done = 0;
  std::thread other([&] {
    for (int seen = 0; seen >= 0; seen = asked) {
      asked.wait(seen);
      run_on_control_thread(*self.engine, [&] { ++done; });
    }
  });

  // Each call is a number that comes back from the other process, larger by two. The calls go on
  // until the engine has also run ten jobs of the other thread: without them the test hangs.
  int here = 0;
  for (std::uint64_t i = 3; here < 1000 || done <= 10; i += 3) {
    last_ = i + 2;
    if (i % 96 == 0) {
      ++asked;
      asked.notify_one();
    }
    self.actor.send(number_frame(i));
    ASSERT_TRUE(self.engine->wait([&] { return self.heard == i + 2; }, 0));
    here += self.heard_on.load() == std::this_thread::get_id();
  }
  asked = -1;
  asked.notify_one();
  other.join();

  EXPECT_FALSE(self.engine->on_control_thread());
  for (Side& side : sides_) end(side);
}

TEST_F(TwoIoEnginesTest, WhatWasSaidLeavesBeforeWorkThatTakesLong) {
  is_called_ = true;
  begin(0, "");
  std::string address;
  run_on_control_thread(*sides_[0].engine, [&] { address = sides_[0].wires->address(); });
  begin(1, address);
  Side &self = sides_[1], &other = sides_[0];
  run_on_control_thread(*self.engine, [&] { self.wires->connect(1, 0); });
  ASSERT_TRUE(self.engine->wait([&] { return self.is_connected.load(); }, 0));
  std::vector<int> order;
  std::atomic<bool> is_over = false;
  constexpr std::uint64_t kSaid = 7, kEnoughNs = 10'000'000'000;
  last_ = kSaid;

  self.engine->post([&] {
    // It ends when the other process has heard what is said after it was asked for.
    self.engine->post_long([&] {
      const std::uint64_t until_ns = clock_.now_ns() + kEnoughNs;
      while (other.heard != kSaid && clock_.now_ns() < until_ns) std::this_thread::yield();
      EXPECT_EQ(other.heard, kSaid);
      order.push_back(1);
    });
    self.engine->post_long([&] {
      order.push_back(2);
      is_over = true;
      self.engine->notify();
    });
    const std::uint64_t number = kSaid;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
    self.wires->write(1, 0, {bytes, bytes + sizeof(number)});
  });

  ASSERT_TRUE(self.engine->wait([&] { return is_over.load(); }, 0));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  for (Side& side : sides_) end(side);
}

TEST(IoEngineAlone, IsMadeOrSaysWhatTheSystemHasNot) {
  const RealClock clock;
  const std::size_t before = transport::descriptors();

  transport::expect_refusals_below_what_it_needs([&clock] { return make_io_engine(clock); });

  EXPECT_EQ(transport::descriptors(), before);
}

}  // namespace
}  // namespace seaway::actor
