// What people run into first, as docs/build-an-app.md tells of it.

#include <gtest/gtest.h>

#include <chrono>
#include <seaway/app/simulation.hpp>
#include <string>
#include <utility>

#include "shelf.hpp"

namespace shelves {
namespace {

using namespace seaway;
using namespace std::chrono_literals;

// [blocker]
class Impatient {
 public:
  static void describe(ActorType<Impatient>& type) { type.on(&Impatient::sell); }
  Impatient(Self, ActorRef<Shelf> shelf) : shelf_(std::move(shelf)) {}

  Result<Reply<Receipt>> sell(Request<Sell>) {
    const auto level = shelf_.call(&Shelf::look).get();  // Not in a handler!
    if (!level.ok()) return level.status();
    return Reply<Receipt>();
  }

 private:
  ActorRef<Shelf> shelf_;
};
// [/blocker]

TEST(TrapsInTheGuide, WaitingInAHandlerIsRefused) {
  Client client = connect("embedded:islands=4,devices=1").value();
  auto shelf = client.spawn<Shelf>(client.hosts(), 10).value().at(0);

  // [refused]
  auto impatient = client.spawn<Impatient>(client.hosts(), shelf).value().at(1);
  const auto refused = impatient.call(&Impatient::sell).get();

  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("co_await the future instead"), std::string::npos);
  // [/refused]
}

// [ring]
/// Asks the next of its mesh, which asks the next: after all of them, itself.
template <Interleave kInterleave>
class Ringer {
 public:
  static void describe(ActorType<Ringer>& type) { type.on(&Ringer::ring, kInterleave); }
  explicit Ringer(Self self) : self_(std::move(self)) {}

  Task<Reply<Ring>> ring(Request<Ring> request) {
    const std::uint32_t hops = request->getHops();
    if (hops == 0) co_return Reply<Ring>();
    const auto next = self_.mesh<Ringer>().at((self_.index() + 1) % self_.mesh_size());
    co_return co_await next.call(&Ringer::ring, [=](Ring::Builder m) { m.setHops(hops - 1); });
  }

 private:
  Self self_;
};
// [/ring]

TEST(TrapsInTheGuide, ACircleOfCallsEndsAtItsDeadlineUnlessHandlersInterleave) {
  const auto report = simulate({}, [](Simulation& world) {
    Client client = world.connect().value();
    // [circle]
    auto strict = client.spawn<Ringer<Interleave::kNo>>(client.hosts()).value();
    auto interleaved = client.spawn<Ringer<Interleave::kYes>>(client.hosts()).value();

    const auto five = [](Ring::Builder m) { m.setHops(5); };  // There are four of them.
    const auto stuck = strict.at(0).call(&Ringer<Interleave::kNo>::ring, five).get();
    const auto round = interleaved.at(0).call(&Ringer<Interleave::kYes>::ring, five).get();

    EXPECT_EQ(stuck.status().code(), StatusCode::kDeadlineExceeded);
    EXPECT_TRUE(round.ok());
    // [/circle]
  });

  EXPECT_TRUE(report.status.ok()) << report.to_string();
}

}  // namespace
}  // namespace shelves
