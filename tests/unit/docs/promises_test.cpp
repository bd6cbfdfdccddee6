// Promises of docs/promises.md that the rooms' own tests do not hold; in virtual time.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <seaway/app/simulation.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "shelf.hpp"

namespace shelves {
namespace {

using namespace seaway;
using namespace std::chrono_literals;

/// Runs `body` with a client of a simulated cluster of four hosts.
void in_a_world(const std::function<void(Simulation& world, const Client& client)>& body) {
  const auto report = simulate({}, [&](Simulation& world) {
    const Client client = world.connect().value();
    body(world, client);
  });
  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

const auto one_more = [](Take::Builder m) { m.setAmount(1); };

TEST(Promises, AMessageIsBuiltOnceForAllMembers) {
  in_a_world([](Simulation&, const Client& client) {
    const auto shelves = client.spawn<Shelf>(client.hosts().each("row", 8), 10).value();
    int built = 0;

    const auto all = shelves.call(&Shelf::put, [&](Put::Builder m) {
      m.setAmount(1);
      ++built;
    });

    for (const auto& level : all.get()) EXPECT_EQ(level.value()->getAmount(), 11u);
    EXPECT_EQ(built, 1);
  });
}

TEST(Promises, ACallWithoutADeadlineHas30Seconds) {
  in_a_world([](Simulation& world, const Client& client) {
    const auto shelf = client.spawn<Shelf>(client.hosts(), 0).value().at(1);

    const auto begin = world.now();
    const auto late = shelf.call(&Shelf::take, one_more).get();
    const auto took = world.now() - begin;

    EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded) << late.status().to_string();
    EXPECT_GE(took, 30s);
    EXPECT_LT(took, 31s);
  });
}

/// Counts how many of it live; the last of the mesh does not come to life.
class Stillborn {
 public:
  static void describe(ActorType<Stillborn>& type) { type.on(&Stillborn::hello); }
  Stillborn(const Self& self, std::shared_ptr<std::pair<int, int>> count)
      : count_(std::move(count)) {
    if (self.index() + 1 == self.mesh_size()) throw std::runtime_error("not the last");
    ++count_->first;
  }
  ~Stillborn() { ++count_->second; }
  void hello(Request<Hello>) {}

 private:
  std::shared_ptr<std::pair<int, int>> count_;  // Made, and gone.
};

TEST(Promises, ASpawnThatFailsLeavesNobody) {
  in_a_world([](Simulation& world, const Client& client) {
    const auto count = std::make_shared<std::pair<int, int>>();

    const auto failed =
        client.spawn<Stillborn>(SpawnOptions(client.hosts().each("row", 2)).named("all"), count);
    world.sleep(1s);

    EXPECT_EQ(failed.status().code(), StatusCode::kUserFunctionError);
    EXPECT_EQ(client.find<Stillborn>("all").status().code(), StatusCode::kNotFound);
    EXPECT_GT(count->first, 0);
    EXPECT_EQ(count->first, count->second);
  });
}

TEST(Promises, TheNameOfAMemberIsNeverUsedAgain) {
  in_a_world([](Simulation&, const Client& client) {
    const auto spawn = [&] {
      return client.spawn<Shelf>(SpawnOptions(client.hosts()).named("shelves"), 10).value();
    };

    const auto first = spawn();
    ASSERT_TRUE(first.stop().get().ok());
    const auto second = spawn();

    EXPECT_NE(first.at(1).name(), second.at(1).name());
    EXPECT_EQ(first.at(1).call(&Shelf::look).get().status().code(), StatusCode::kActorLost);
    EXPECT_TRUE(second.at(1).call(&Shelf::look).get().ok());
  });
}

/// Saved after every third payment.
class Purse {
 public:
  static void describe(ActorType<Purse>& type) {
    type.on(&Purse::pay).snapshot(&Purse::save, &Purse::restore, 3);
  }
  explicit Purse(const Self&) {}
  Reply<Balance> pay(Request<Pay> request) {
    cents_ += request->getCents();
    return save();
  }

 private:
  Message<Balance> save() const {
    return make<Balance>([this](Balance::Builder m) { m.setCents(cents_); });
  }
  Status restore(Message<Balance> saved) {
    cents_ = saved->getCents();
    return {};
  }
  std::uint64_t cents_ = 0;
};

TEST(Promises, RarerSnapshotsForgetAtMostWhatCameSinceTheLast) {
  in_a_world([](Simulation& world, const Client& client) {
    const auto purse = client.spawn<Purse>(client.hosts()).value().at(2);
    const auto pay = [&](std::uint64_t cents) {
      const auto fill = [=](Pay::Builder m) { m.setCents(cents); };
      return purse.call(&Purse::pay, fill, CallOptions{.retries = 8}).get().value()->getCents();
    };
    for (int i = 0; i < 5; ++i) pay(1);
    world.sleep(1s);

    purse.kill();

    EXPECT_EQ(pay(10), 13u);  // The fourth and the fifth are forgotten.
  });
}

TEST(Promises, AMailboxTakes1024MessagesOfOneHostUnlessItsTypeSaysOtherwise) {
  in_a_world([](Simulation&, const Client& client) {
    const auto shelf = client.spawn<Shelf>(client.hosts(), 0).value().at(1);
    std::vector<Future<Reply<Level>>> waiting;
    for (int i = 0; i < 1024; ++i) waiting.push_back(shelf.call(&Shelf::take, one_more));

    const auto refused = shelf.call(&Shelf::look).get();
    const bool was_ready = waiting.back().ready();
    for (auto& call : waiting) call.cancel();

    EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
    EXPECT_FALSE(was_ready);
  });
}

}  // namespace
}  // namespace shelves
