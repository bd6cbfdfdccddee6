// What people run into first, as docs/build-an-app.md tells of it.

#include <gtest/gtest.h>

#include <chrono>
#include <seaway/app/simulation.hpp>
#include <string>
#include <type_traits>
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

/// Says what was noted.
class Notebook {
 public:
  static void describe(ActorType<Notebook>& type) { type.on(&Notebook::note); }
  explicit Notebook(const Self&) {}
  Reply<Receipt> note(Request<Receipt> request) { return request; }
};

class Chronicler {
 public:
  static_assert(std::is_trivially_destructible_v<CallOptions>, "docs/decisions.md says why");
  static void describe(ActorType<Chronicler>& type) { type.on(&Chronicler::write); }
  Chronicler(Self self, ActorRef<Notebook> book) : self_(std::move(self)), book_(std::move(book)) {}

  // [gxx]
  Task<Reply<Receipt>> write(Request<Receipt> request) {
    const std::string line = self_.name() + " says " + request->getText().cStr();
    // By reference: the message is written before call() returns, so that nothing dangles.
    co_return co_await book_.call(
        &Notebook::note, [&](Receipt::Builder m) { m.setText(line); }, CallOptions{.deadline = 5s});
  }
  // [/gxx]

 private:
  Self self_;
  ActorRef<Notebook> book_;
};

TEST(TrapsInTheGuide, WhatIsWrittenWhereACallIsAwaitedHasNoDestructor) {
  Client client = connect("embedded:islands=4,devices=1").value();
  auto book = client.spawn<Notebook>(client.hosts()).value().at(0);
  auto writer = client.spawn<Chronicler>(client.hosts(), book).value().at(1);
  const std::string text(100, 'x');  // On the heap, where a second destruction would be noticed.

  const auto noted =
      writer.call(&Chronicler::write, [&](Receipt::Builder m) { m.setText(text); }).get();

  EXPECT_EQ(std::string(noted.value()->getText().cStr()), "Chronicler[1] says " + text);
}

}  // namespace
}  // namespace shelves
