// transfer: money goes from one account to another, and sometimes there is more of it afterwards.
//
// A call with `retries` is sent again when the host that it went to has died. The account may have
// handled it before that: then it does so twice. `once` gives the call a number, under which the
// account remembers its answer. Here it was forgotten on one of the two sides.

#include <string>
#include <utility>

#include "demos/list.hpp"
#include "demos/mistakes.capnp.h"
#include "demos/support/explored.hpp"
#include "seaway/app.hpp"

namespace seaway::demos {
namespace {

using mistakes::Balance;
using mistakes::Move;

constexpr std::int64_t kAll = 100;

/// Knows its balance, also after its death.
class Account {
 public:
  static void describe(ActorType<Account>& type) {
    type.on(&Account::move).snapshot(&Account::save, &Account::restore);
  }
  Account(Self, std::int64_t amount) : amount_(amount) {}

  Result<Reply<Balance>> move(Request<Move> request) {
    if (amount_ + request->getAmount() < 0) return invalid_argument("there is not so much");
    amount_ += request->getAmount();
    return save();
  }

 private:
  Message<Balance> save() const {
    return make<Balance>([this](Balance::Builder m) { m.setAmount(amount_); });
  }
  Status restore(Message<Balance> saved) {
    amount_ = saved->getAmount();
    return {};
  }
  std::int64_t amount_;
};

const auto amount_of = [](std::int64_t amount) {
  return [amount](Move::Builder m) { m.setAmount(amount); };
};

/// Moves some of the money three times, and counts all of it.
void move_and_count(Simulation& world, bool is_fixed) {
  constexpr CallOptions kOnce{.retries = 100, .once = true};
  const CallOptions second{.retries = 100, .once = is_fixed};  // The mistake.
  Client client = world.connect().value();
  const auto accounts = client.spawn<Account>(
      SpawnOptions(client.hosts().at({1, 2})).intensity({.restarts_max = 1000}), kAll / 2);
  if (!accounts.ok()) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto from = accounts->at(i % 2), to = accounts->at((i + 1) % 2);
    if (!from.call(&Account::move, amount_of(-5), kOnce).get().ok()) return;
    if (!to.call(&Account::move, amount_of(5), second).get().ok()) return;
  }
  world.heal();
  std::int64_t all = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto balance = accounts->at(i).call(&Account::move, amount_of(0), kOnce).get();
    if (!balance.ok()) return;
    all += (*balance)->getAmount();
  }
  world.expect(all == kAll, "no money comes or goes",
               "there were " + std::to_string(kAll) + ", and there are " + std::to_string(all));
}

}  // namespace

sim::ExploreReport explore_transfer(bool is_fixed, const sim::ExploreOptions& options) {
  return sim::explore(options, {.cluster = "embedded:islands=3,devices=1"},
                      [is_fixed](Simulation& world) { move_and_count(world, is_fixed); });
}

int run_transfer(const DemoOptions& options) {
  return run_mistake("transfer", options, explore_transfer);
}

}  // namespace seaway::demos
