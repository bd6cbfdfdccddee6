// lost_write: a table with a primary and a backup, which loses what it has acknowledged.
//
//    user --- Put ---> Primary --- Put ---> Backup
//         <--- Value --
//
// The primary answers; its host dies before the copy has left it; the next primary begins with
// what the backup has. The fix is one word: it waits for the backup, and answers then.

#include <map>
#include <string>
#include <utility>

#include "demos/list.hpp"
#include "demos/mistakes.capnp.h"
#include "demos/support/explored.hpp"
#include "seaway/app.hpp"

namespace seaway::demos {
namespace {

using mistakes::All;
using mistakes::Entries;
using mistakes::Get;
using mistakes::Put;
using mistakes::Value;

constexpr CallOptions kAgain{.retries = 100};  // While somebody is being restarted.
constexpr Intensity kOften{.restarts_max = 1000};

/// Stores, and forgets nothing when it dies.
class Backup {
 public:
  static void describe(ActorType<Backup>& type) {
    type.on(&Backup::put).on(&Backup::all).snapshot(&Backup::save, &Backup::restore);
  }
  explicit Backup(Self) {}

  void put(Request<Put> request) { values_[request->getKey()] = request->getValue(); }
  Reply<Entries> all(Request<All>) { return save(); }

 private:
  Message<Entries> save() const {
    return make<Entries>([this](Entries::Builder m) {
      auto entries = m.initEntries(static_cast<unsigned>(values_.size()));
      for (unsigned i = 0; const auto& [key, value] : values_) {
        entries[i].setKey(key);
        entries[i++].setValue(value);
      }
    });
  }
  Status restore(Message<Entries> saved) {
    for (const auto entry : saved->getEntries()) values_[entry.getKey()] = entry.getValue();
    return {};
  }
  std::map<std::uint32_t, std::int64_t> values_;
};

/// Answers from what it has; a new one asks the backup for that first.
class Primary {
 public:
  static void describe(ActorType<Primary>& type) { type.on(&Primary::put).on(&Primary::get); }
  Primary(Self, const ActorRef<Backup>& backup, bool is_fixed)
      : backup_(backup), is_fixed_(is_fixed) {}

  Task<Reply<Value>> put(Request<Put> request) {
    if (const Status status = co_await begin(); !status.ok()) co_return status;
    const std::uint32_t key = request->getKey();
    const std::int64_t value = values_[key] = request->getValue();
    const auto copy = [=](Put::Builder m) { m.setKey(key), m.setValue(value); };
    if (is_fixed_) {
      const auto stored = co_await backup_.call(&Backup::put, copy, kAgain);
      if (!stored.ok()) co_return stored.status();
    } else {
      // The mistake: what was sent is not stored.
      if (const Status sent = backup_.send(&Backup::put, copy); !sent.ok()) co_return sent;
    }
    co_return answer(value);
  }

  Task<Reply<Value>> get(Request<Get> request) {
    if (const Status status = co_await begin(); !status.ok()) co_return status;
    co_return answer(values_[request->getKey()]);
  }

 private:
  Task<Status> begin() {
    if (has_begun_) co_return Status();
    const auto all = co_await backup_.call(&Backup::all, kAgain);
    if (!all.ok()) co_return all.status();
    for (const auto entry : (*all)->getEntries()) values_[entry.getKey()] = entry.getValue();
    has_begun_ = true;
    co_return Status();
  }
  static Reply<Value> answer(std::int64_t value) {
    return make<Value>([value](Value::Builder m) { m.setValue(value); });
  }

  const ActorRef<Backup> backup_;
  const bool is_fixed_;
  bool has_begun_ = false;
  std::map<std::uint32_t, std::int64_t> values_;
};

/// A user who writes five times, and reads each time what it has written last.
void write_and_read(Simulation& world, bool is_fixed) {
  Client client = world.connect().value();
  const auto at = [&client](std::uint32_t host) {
    return SpawnOptions(client.hosts().at({host})).intensity(kOften);
  };
  const auto backups = client.spawn<Backup>(at(2));
  if (!backups.ok()) return;
  const auto primaries = client.spawn<Primary>(at(1), backups->at(0), is_fixed);
  if (!primaries.ok()) return;
  const auto primary = primaries->at(0);
  for (std::uint32_t key = 1; key <= 5; ++key) {
    const auto stored =
        primary
            .call(
                &Primary::put, [key](Put::Builder m) { m.setKey(key), m.setValue(7 * key); },
                kAgain)
            .get();
    if (!stored.ok()) return;  // Nobody has said that it is stored.
    world.sleep(std::chrono::milliseconds(world.random() % 4));
    const auto read = primary
                          .call(
                              &Primary::get, [key](Get::Builder m) { m.setKey(key); }, kAgain)
                          .get();
    world.expect(!read.ok() || (*read)->getValue() == 7 * key, "acknowledged writes are kept",
                 "what was stored under " + std::to_string(key) + " is not there");
  }
}

}  // namespace

sim::ExploreReport explore_lost_write(bool is_fixed, const sim::ExploreOptions& options) {
  return sim::explore(options, {.cluster = "embedded:islands=3,devices=1"},
                      [is_fixed](Simulation& world) { write_and_read(world, is_fixed); });
}

int run_lost_write(const DemoOptions& options) {
  return run_mistake("lost_write", options, explore_lost_write);
}

}  // namespace seaway::demos
