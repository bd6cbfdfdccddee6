// pingpong: two actors on two hosts hit a ball to and fro, which is the price of one question.

#include "demos/pingpong.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include "demos/list.hpp"
#include "demos/pingpong.capnp.h"
#include "demos/support/simulated.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/host_main.hpp"

namespace seaway::demos {
namespace {

using pingpong::Ball;
using pingpong::Play;
using pingpong::Score;

/// An actor is a class: describe() names its handlers, and a message finds its handler by its type.
/// Handlers of one actor never run at the same time, so its members need no lock.
class Player {
 public:
  static void describe(ActorType<Player>& type) { type.on(&Player::play).on(&Player::hit); }

  /// `self` is what an actor knows of itself; the runtime hands it to each one it makes.
  explicit Player(Self self) : self_(std::move(self)) {}

  /// A handler that asks others is a coroutine. While it waits at co_await, its host goes on with
  /// whatever else there is to do, but no other message of this actor begins.
  Task<Reply<Score>> play(Request<Play> request) {
    const ActorRef<Player> partner = self_.mesh<Player>().at(1);
    const auto begin = self_.now();
    std::uint64_t returned = 0;
    for (std::uint64_t i = 0; i < request->getRounds(); ++i) {
      // A call's lambda writes the message in place; its outcome is a Result, like everywhere.
      const auto ball =
          co_await partner.call(&Player::hit, [i](Ball::Builder m) { m.setNumber(i); });
      if (!ball.ok()) co_return ball.status();
      returned += ball.value()->getNumber() == i + 1;
    }
    co_return make<Score>([&](Score::Builder m) {
      m.setReturned(returned);
      m.setNanoseconds(static_cast<std::uint64_t>((self_.now() - begin).count()));
    });
  }

  /// A handler that has its answer at once returns it.
  Reply<Ball> hit(Request<Ball> ball) {
    ++hits_;
    // A ball that is not the next one would have been lost or hit twice: it goes back as it came.
    const std::uint64_t next = ball->getNumber() + 1 == hits_ ? hits_ : ball->getNumber();
    return make<Ball>([next](Ball::Builder m) { m.setNumber(next); });
  }

 private:
  Self self_;
  std::uint64_t hits_ = 0;
};

}  // namespace

// What a user would write: a program is a function of its client.
Status play_pingpong(const Client& client, std::uint64_t rounds) {
  if (client.hosts().size() < 2) return invalid_argument("it takes two hosts to play");
  // One player on each of two hosts; together they are a mesh.
  const auto players = client.spawn<Player>(client.hosts().at({0, 1}));
  if (!players.ok()) return players.status();

  const auto score =
      players->at(0).call(&Player::play, [&](Play::Builder m) { m.setRounds(rounds); }).get();
  if (!score.ok()) return score.status();
  if (score.value()->getReturned() != rounds) {
    return {StatusCode::kDataCorruption, std::to_string(score.value()->getReturned()) + " of " +
                                             std::to_string(rounds) + " balls came back in order"};
  }
  const double seconds = static_cast<double>(score.value()->getNanoseconds()) * 1e-9;
  std::printf("%llu round trips between two hosts in %.3f s: %s a second, %.2f us each\n",
              static_cast<unsigned long long>(rounds), seconds,
              short_number(static_cast<double>(rounds) / seconds).c_str(),
              seconds * 1e6 / static_cast<double>(rounds));
  return players->stop().get().status();
}

void register_pingpong(Registry& registry) { registry.actor<Player>(); }

int run_pingpong(const DemoOptions& options) {
  const std::uint64_t rounds = options.size > 0                           ? options.size
                               : options.quick || options.simulation_seed ? 1'000
                                                                          : 100'000;
  return run_app("pingpong", "embedded:islands=2,devices=1", options,
                 [=](const Client& client) { return play_pingpong(client, rounds); });
}

}  // namespace seaway::demos
