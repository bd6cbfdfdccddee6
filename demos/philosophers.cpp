// philosophers: five at a round table with five forks, of which each needs two. One dies while it
// eats, and nobody starves.
//
// A fork is an actor with a queue of those who want it. It monitors the philosophers: when the one
// that holds it dies, it goes to the next.

#include "demos/philosophers.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "demos/list.hpp"
#include "demos/philosophers.capnp.h"
#include "demos/support/simulated.hpp"
#include "demos/support/witness.hpp"
#include "seaway/host_main.hpp"

namespace seaway::demos {
namespace philosophers {

class Fork {
 public:
  static void describe(ActorType<Fork>& type) {
    type.on(&Fork::take).on(&Fork::put).on_death(&Fork::on_death);
  }
  Fork(const Self& self, const ActorMesh<Philosopher>& guests) { self.monitor(guests); }

  /// A handler with a Promise answers when it likes; until then others are handled.
  void take(Request<Take> request, Promise<Taken> promise) {
    const Guest guest{request.caller(), request->getIncarnation()};
    // What the dead have said last may come later than the word of their death.
    if (guest.second <= last_death_[guest.first]) return;
    queue_.emplace_back(guest, std::move(promise));
    hand_on();
  }
  void put(Request<Put> request) { leave({request.caller(), request->getIncarnation()}); }

  /// Whoever dies lets go of the fork, and does not stand in the queue any more.
  void on_death(const Death& death) {
    const Guest dead{death.member, death.incarnation};
    last_death_[dead.first] = dead.second;
    std::erase_if(queue_, [&](const auto& waiting) { return waiting.first == dead; });
    leave(dead);
  }

 private:
  using Guest = std::pair<MemberName, std::uint32_t>;  // One life of one philosopher.

  void leave(const Guest& guest) {
    if (holder_ != guest) return;
    holder_ = {};
    hand_on();
  }
  void hand_on() {
    if (holder_ != Guest() || queue_.empty()) return;
    holder_ = queue_.front().first;
    queue_.front().second.keep([](Taken::Builder) {});
    queue_.pop_front();
  }

  Guest holder_;  // {}: it lies on the table.
  std::deque<std::pair<Guest, Promise<Taken>>> queue_;
  std::map<MemberName, std::uint32_t> last_death_;
};

class Philosopher {
 public:
  static void describe(ActorType<Philosopher>& type) { type.on(&Philosopher::dine); }
  explicit Philosopher(Self self) : self_(std::move(self)) {}

  /// A handler that asks others is a coroutine: others go on while it waits at a co_await.
  Task<Status> dine(Request<Dine> request) {
    const auto forks = co_await self_.find<Fork>("forks");
    if (!forks.ok()) co_return forks.status();
    const auto witness = co_await self_.find<Witness>("witness");
    if (!witness.ok()) co_return witness.status();
    const auto beside = witness->at(0);  // Looks on, and says in the end whether all went well.
    // The fork with the smaller number first: so there is no circle of people with one fork each.
    const auto [low, high] = std::minmax({self_.index(), (self_.index() + 1) % kSeats});
    const auto first = forks->at(low), second = forks->at(high);
    const auto who = [this](auto message) { message.setIncarnation(self_.incarnation()); };
    for (std::uint32_t meal = 1; meal <= request->getMeals(); ++meal) {
      const auto one = co_await first.call(&Fork::take, who);
      if (!one.ok()) co_return one.status();
      if (Status told = co_await tell(beside, self_, low, true); !told.ok()) co_return told;
      const auto other = co_await second.call(&Fork::take, who);
      if (!other.ok()) co_return other.status();
      if (Status told = co_await tell(beside, self_, high, true); !told.ok()) co_return told;
      if (Status told = co_await tell_meal(beside, self_); !told.ok()) co_return told;
      if (self_.index() == kVictim && self_.incarnation() == 1 && meal == kLastMeal) {
        self_.fail(user_function_error("the fish was bad"));
      }
      // Whoever dies here drops what is in its hands.
      static_cast<void>(co_await self_.sleep(std::chrono::milliseconds(1)));
      if (Status told = co_await tell(beside, self_, low, false); !told.ok()) co_return told;
      if (Status told = co_await tell(beside, self_, high, false); !told.ok()) co_return told;
      for (const auto& fork : {first, second}) {
        if (Status put = fork.send(&Fork::put, who); !put.ok()) co_return put;
      }
    }
    co_return Status();
  }

 private:
  Self self_;
};

}  // namespace philosophers

using namespace philosophers;

Status dine(const Client& client, std::uint32_t meals, const std::optional<Screen>& screen) {
  if (meals < kLastMeal) return invalid_argument("--size has to be 3 meals at least");
  Placement seats{.axes = {{"seat", kSeats}}, .hosts = {}};
  const auto hosts = static_cast<std::uint32_t>(client.hosts().size());
  for (std::uint32_t i = 0; i < kSeats; ++i) seats.hosts.push_back(i % hosts);
  const auto guests = client.spawn<Philosopher>(seats);
  if (!guests.ok()) return guests.status();
  const auto forks = client.spawn<Fork>(SpawnOptions(seats).named("forks"), *guests);
  if (!forks.ok()) return forks.status();
  const auto witness =
      client.spawn<Witness>(SpawnOptions(client.hosts().at({0})).named("witness"), *guests);
  if (!witness.ok()) return witness.status();
  guests->on_death(inline_executor(),
                   [screen](const Death& death) { say(to_string(death), screen); });
  // The victim is started anew, and dines from the beginning: its call is sent once more.
  const auto dinner = guests->call(
      &Philosopher::dine, [meals](Dine::Builder m) { m.setMeals(meals); },
      CallOptions{.retries = 20});
  draw(dinner, witness->at(0), screen);
  for (const auto& dined : dinner.get()) {
    if (!dined.ok()) return dined.status();
  }
  return judge(witness->at(0), meals, screen);
}

void register_philosophers(Registry& registry) {
  registry.actor<Philosopher>();
  registry.actor<Fork, ActorMesh<Philosopher>>().actor<Witness, ActorMesh<Philosopher>>();
}

int run_philosophers(const DemoOptions& options) {
  const auto meals = options.size > 0 ? static_cast<std::uint32_t>(options.size) : 20;
  return run_app("philosophers", "embedded:islands=5,devices=1", options,
                 [&](const Client& client) { return dine(client, meals, standard_screen()); });
}

}  // namespace seaway::demos
