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
#include "seaway/app.hpp"

namespace seaway::demos {
namespace {

using namespace philosophers;  // The messages.

constexpr std::uint32_t kSeats = 5;
constexpr std::uint32_t kVictim = 2, kLastMeal = 3;  // Who dies, and over which meal.

class Philosopher;

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
  Philosopher(Self self, std::shared_ptr<Table> table)
      : self_(std::move(self)), table_(std::move(table)) {}

  /// A handler that asks others is a coroutine: others go on while it waits at a co_await.
  Task<Status> dine(Request<Dine> request) {
    const auto forks = co_await self_.find<Fork>("forks");
    if (!forks.ok()) co_return forks.status();
    // The fork with the smaller number first: so there is no circle of people with one fork each.
    const auto [low, high] = std::minmax({self_.index(), (self_.index() + 1) % kSeats});
    const auto first = forks->at(low), second = forks->at(high);
    const auto who = [this](auto message) { message.setIncarnation(self_.incarnation()); };
    for (std::uint32_t meal = 1; meal <= request->getMeals(); ++meal) {
      const auto one = co_await first.call(&Fork::take, who);
      if (!one.ok()) co_return one.status();
      Table::Held in_one_hand(*table_, low, self_.index());
      const auto other = co_await second.call(&Fork::take, who);
      if (!other.ok()) co_return other.status();
      Table::Held in_the_other(*table_, high, self_.index());

      table_->eats(self_.index());
      if (self_.index() == kVictim && self_.incarnation() == 1 && meal == kLastMeal) {
        self_.fail(user_function_error("the fish was bad"));
      }
      // Whoever dies here leaves this scope as well, and drops what is in its hands.
      static_cast<void>(co_await self_.sleep(std::chrono::milliseconds(1)));
      in_one_hand.lay_down();
      in_the_other.lay_down();
      for (const auto& fork : {first, second}) {
        if (Status put = fork.send(&Fork::put, who); !put.ok()) co_return put;
      }
    }
    co_return Status();
  }

 private:
  Self self_;
  std::shared_ptr<Table> table_;  // Looks on, and says in the end whether all went well.
};

}  // namespace

Status dine(const Client& client, std::uint32_t meals, const std::optional<Screen>& screen) {
  if (meals < kLastMeal) return invalid_argument("--size has to be 3 meals at least");
  const auto table = std::make_shared<Table>(kSeats, screen);
  Placement seats{.axes = {{"seat", kSeats}}, .hosts = {}};
  for (std::uint32_t i = 0; i < kSeats; ++i) {
    seats.hosts.push_back(i % static_cast<std::uint32_t>(client.hosts().size()));
  }
  const auto guests = client.spawn<Philosopher>(seats, table);
  if (!guests.ok()) return guests.status();
  const auto forks = client.spawn<Fork>(SpawnOptions(seats).named("forks"), *guests);
  if (!forks.ok()) return forks.status();

  guests->on_death(inline_executor(),
                   [table](const Death& death) { table->say(to_string(death)); });
  // The victim is started anew, and dines from the beginning: its call is sent once more.
  const auto fill = [meals](Dine::Builder m) { m.setMeals(meals); };
  for (const auto& dined :
       guests->call(&Philosopher::dine, fill, CallOptions{.retries = 20}).get()) {
    if (!dined.ok()) return dined.status();
  }
  return table->check(meals, {.seat = kVictim, .meals = kLastMeal});
}

int run_philosophers(const DemoOptions& options) {
  const auto meals = options.size > 0 ? static_cast<std::uint32_t>(options.size) : 20;
  return run_app("philosophers", "embedded:islands=5,devices=1", options,
                 [&](const Client& client) { return dine(client, meals, standard_screen()); });
}

}  // namespace seaway::demos
