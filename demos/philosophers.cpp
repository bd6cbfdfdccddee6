// philosophers: five at a round table with five forks, of which each needs two. One dies while it
// eats, and nobody starves.

#include "demos/philosophers.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "demos/list.hpp"
#include "demos/philosophers.capnp.h"
#include "demos/support/report.hpp"
#include "demos/support/simulated.hpp"
#include "demos/support/table.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/app.hpp"

namespace seaway::demos {
namespace {

using namespace philosophers;  // The messages.

constexpr const char* kCluster = "embedded:islands=5,devices=1";
constexpr std::uint32_t kSeats = 5;
constexpr std::uint32_t kSleeper = 2, kSleepsAt = 3;

/// One life of one philosopher.
struct Guest {
  MemberName name;
  std::uint32_t incarnation = 0;
  friend bool operator==(const Guest&, const Guest&) = default;
};

/// Lies on the table or is in somebody's hand.
class Fork {
 public:
  static void describe(ActorType<Fork>& type) {
    type.on(&Fork::lay).on(&Fork::take).on(&Fork::put).on_death(&Fork::on_death);
  }
  explicit Fork(Self self) : self_(std::move(self)) {}

  Task<Status> lay(Request<Lay> request);

  /// A handler with a Promise answers when it likes; until then others are handled.
  void take(Request<Take> request, Promise<Taken> promise) {
    const Guest guest{request.caller(), request->getIncarnation()};
    // What the dead have said last may come later than the word of their death.
    if (guest.incarnation < lives_[guest.name]) return;
    queue_.emplace_back(guest, std::move(promise));
    hand_on();
  }
  void put(Request<Put> request) { leave({request.caller(), request->getIncarnation()}); }

  /// Whoever dies lets go of the fork, and does not stand in the queue any more.
  void on_death(const Death& death) {
    lives_[death.member] = death.incarnation + 1;
    std::erase_if(queue_, [&](const auto& waiting) {
      return waiting.first.name == death.member && waiting.first.incarnation <= death.incarnation;
    });
    leave({death.member, death.incarnation});
  }

 private:
  void leave(const Guest& guest) {
    if (holder_ != guest) return;
    holder_.reset();
    hand_on();
  }
  void hand_on() {
    if (holder_ || queue_.empty()) return;
    holder_ = queue_.front().first;
    queue_.front().second.keep([](Taken::Builder) {});
    queue_.pop_front();
  }

  Self self_;
  std::optional<Guest> holder_;
  std::deque<std::pair<Guest, Promise<Taken>>> queue_;
  std::map<MemberName, std::uint32_t> lives_;  // The first one of each that is not known as dead.
};

class Philosopher {
 public:
  static void describe(ActorType<Philosopher>& type) { type.on(&Philosopher::dine); }
  Philosopher(Self self, ActorMesh<Fork> forks, std::shared_ptr<Table> table)
      : self_(std::move(self)), forks_(std::move(forks)), table_(std::move(table)) {}

  Task<> dine(Request<Dine> request, Writer<Bite> writer) {
    // The fork with the smaller number first: so there is no circle of people with one fork each.
    const std::uint32_t left = self_.index(), right = (left + 1) % kSeats;
    const auto first = forks_.at(std::min(left, right)), second = forks_.at(std::max(left, right));
    const auto who = [this](auto m) { m.setIncarnation(self_.incarnation()); };
    for (std::uint32_t meal = 1; meal <= request->getMeals(); ++meal) {
      const auto one = co_await first.call(&Fork::take, who);
      if (!one.ok()) co_return;
      Table::Held in_one_hand(*table_, std::min(left, right), left);
      const auto other = co_await second.call(&Fork::take, who);
      if (!other.ok()) co_return;
      Table::Held in_the_other(*table_, std::max(left, right), left);

      table_->eats(left);
      const bool sleeps = left == request->getSleeper() && meal == request->getSleepsAt();
      const auto told = co_await writer.write([&](Bite::Builder m) {
        m.setMeal(meal);
        m.setIsAsleep(sleeps);
      });
      static_cast<void>(co_await self_.sleep(sleeps ? kForEver : kMeal));
      if (!told.ok()) co_return;
      // If the philosopher is killed while it waits here, its hands are opened like any scope that
      // is left; and the forks hear that it has died.
      in_one_hand.lay_down();
      in_the_other.lay_down();
      if (!first.send(&Fork::put, who).ok() || !second.send(&Fork::put, who).ok()) co_return;
    }
  }

 private:
  static constexpr std::chrono::nanoseconds kMeal = std::chrono::milliseconds(1);
  static constexpr std::chrono::nanoseconds kForEver = std::chrono::hours(1);

  Self self_;
  ActorMesh<Fork> forks_;
  std::shared_ptr<Table> table_;
};

/// Forks were there first; the philosophers are found by their name.
Task<Status> Fork::lay(Request<Lay>) {
  const auto guests = co_await self_.find<Philosopher>("philosophers");
  if (!guests.ok()) co_return guests.status();
  self_.monitor(*guests);
  co_return Status();
}

Status wrong(std::string what) { return {StatusCode::kDataCorruption, std::move(what)}; }

Status check(const Table& table, std::uint32_t meals) {
  if (table.clashes() > 0) return wrong("a fork was in two hands at once");
  if (table.dropped() != 2) {
    return wrong(std::to_string(table.dropped()) + " forks were dropped, not the two of the dead");
  }
  if (table.held() > 0) return wrong("dinner is over, and somebody still holds a fork");
  for (std::uint32_t i = 0; i < kSeats; ++i) {
    // Who is back from the dead begins anew.
    const std::uint32_t wanted = meals + (i == kSleeper ? kSleepsAt : 0);
    if (table.meals(i) == wanted) continue;
    return wrong("philosopher " + std::to_string(i) + " has eaten " +
                 std::to_string(table.meals(i)) + " times, not " + std::to_string(wanted));
  }
  return {};
}

}  // namespace

Status dine(const Client& client, const DinnerOptions& options) {
  const auto say = [&](const std::string& word) {
    if (options.say) options.say(word);
  };
  const auto table = std::make_shared<Table>(kSeats);
  Placement seats = client.hosts();
  for (std::size_t i = 0; seats.hosts.size() < kSeats; ++i) seats.hosts.push_back(seats.hosts[i]);
  seats.hosts.resize(kSeats);
  seats.axes = {{"seat", kSeats}};
  const auto forks = client.spawn<Fork>(seats);
  if (!forks.ok()) return forks.status();
  const auto guests =
      client.spawn<Philosopher>(SpawnOptions(seats).named("philosophers"), *forks, table);
  if (!guests.ok()) return guests.status();
  for (const auto& laid : forks->call(&Fork::lay).get()) {
    if (!laid.ok()) return laid.status();
  }

  const auto fill = [&](Dine::Builder m) { m.setMeals(options.meals); };
  const auto fill_first = [&](Dine::Builder m) {
    fill(m);
    m.setSleeper(kSleeper);
    m.setSleepsAt(kSleepsAt);
  };
  // Nobody who eats has to wait until we have looked: as much credit as there are bites.
  const CallOptions eager{.credit = options.meals};
  const CallOptions eager_again{.retries = 20, .credit = options.meals};
  std::deque<Stream<Bite>> dinners;
  dinners.push_back(guests->stream(&Philosopher::dine, fill_first, eager));
  while (!dinners.empty()) {
    const auto item = dinners.front().next().get();
    if (!item.ok()) return item.status();
    if (!item->has_value()) {
      dinners.pop_front();
      continue;
    }
    const auto& [position, bite] = **item;
    if (options.show) options.show(table->picture());
    if (!bite.ok()) {
      if (position != kSleeper || bite.status().code() != StatusCode::kActorLost) {
        return bite.status();
      }
      say("its dinner ended: " + bite.status().to_string());
      // It is restarted; this call is repeated until it is there.
      dinners.push_back(guests->at(kSleeper).stream(&Philosopher::dine, fill, eager_again));
    } else if (bite.value()->getIsAsleep()) {
      say("philosopher " + std::to_string(position) + " sleeps over its meal and is killed");
      guests->at(position).kill();
    }
  }
  for (const Status& status : {guests->stop().get().status(), forks->stop().get().status()}) {
    if (!status.ok()) return status;
  }
  if (Status status = check(*table, options.meals); !status.ok()) return status;
  say("all have eaten: " + table->picture());
  return {};
}

int run_philosophers(const DemoOptions& options) {
  const Screen screen = standard_screen();
  DinnerOptions dinner;
  dinner.meals = options.size > 0 ? static_cast<std::uint32_t>(options.size) : 20;
  if (dinner.meals < kSleepsAt) {
    return finish("philosophers", invalid_argument("--size has to be 3 meals at least"));
  }
  dinner.say = [&](const std::string& word) {
    std::printf("%s%s\n", screen.is_terminal ? "\r\x1b[K" : "", word.c_str());
  };
  if (screen.is_terminal) {
    dinner.show = [](const std::string& picture) {
      std::printf("\r%s\x1b[K", picture.c_str());
      std::fflush(stdout);
    };
  }
  if (options.simulation_seed) {
    return finish("philosophers", show_simulated(kCluster, *options.simulation_seed,
                                                 [&](Simulation&, const Client& simulated) {
                                                   return dine(simulated, dinner);
                                                 }));
  }
  const auto client = connect(kCluster);
  return finish("philosophers", client.ok() ? dine(*client, dinner) : client.status());
}

}  // namespace seaway::demos
