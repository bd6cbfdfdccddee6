// WorldActor, Account: the actors of random worlds. All they do is told to the ledger.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "seaway/app/type_table.hpp"
#include "sim/app_ledger.hpp"
#include "sim/app_messages.hpp"
#include "sim/app_stage.hpp"

namespace seaway::internal {

/// The stage is the same for all, and known to whoever makes actors: it says nothing in bytes.
template <>
struct ArgumentCodec<sim::AppStage*> {
  static std::string name() { return "stage"; }
  static void write(ArgumentWriter&, sim::AppStage*) {}
};

}  // namespace seaway::internal

namespace seaway::sim {

template <bool kTight>
class WorldActor;
/// With a mailbox as large as most, and deaths of others are heard.
using Roomy = WorldActor<false>;
/// With a small one, and it dies of meshes of its own that were given up.
using Tight = WorldActor<true>;
constexpr std::uint32_t kTightMailbox = 3;

/// Level of actors that ask nobody. Who waits asks higher levels only, so that none waits in a
/// ring.
constexpr std::uint32_t kTopLevel = 100;

/// What member `index` answers to request `number`.
constexpr std::uint64_t value_of(std::uint64_t number, std::uint32_t index) {
  return mix64(number * 64 + index);
}
/// What it answers to an answer.
constexpr std::uint64_t value_after(std::uint64_t value) { return mix64(value + 1); }

AppLife life_of(const Self& self, MemberName name);

template <bool kTight>
class WorldActor {
 public:
  static void describe(ActorType<WorldActor>& type) {
    type.on(&WorldActor::plain)
        .on(&WorldActor::slow)
        .on(&WorldActor::poll, Interleave::kYes)
        .on(&WorldActor::relay)
        .on(&WorldActor::nest)
        .on(&WorldActor::feed)
        .on(&WorldActor::later)
        .on(&WorldActor::meet)
        .on(&WorldActor::watch)
        .on(&WorldActor::crash)
        .on(&WorldActor::chain);
    if constexpr (kTight) {
      type.mailbox_max(kTightMailbox);
    } else {
      type.on_death(&WorldActor::hear);
    }
  }
  WorldActor(Self self, AppStage* stage, std::uint32_t level);
  ~WorldActor();
  WorldActor(const WorldActor&) = delete;
  WorldActor& operator=(const WorldActor&) = delete;

  Reply<Told> plain(Request<Plain> request);
  Reply<Told> chain(Request<Told> request);
  Task<Reply<Told>> slow(Request<Slow> request);
  Task<Reply<Told>> poll(Request<Poll> request);
  Task<Reply<Told>> relay(Request<Relay> request);
  Task<Reply<Told>> meet(Request<Meet> request);
  Result<Reply<Told>> watch(Request<Watch> request);
  Task<Reply<Told>> nest(Request<Nest> request);
  Task<> feed(Request<Feed> request, Writer<Told> writer);
  void later(Request<Later> request, Promise<Told> promise);
  Status crash(Request<Crash> request);
  void hear(const Death& death);

 private:
  Reply<Told> tell(std::uint64_t number, std::uint64_t value) const;
  Reply<Told> tell(std::uint64_t number) const { return tell(number, value_of(number, index())); }
  std::uint32_t index() const { return life_.member.index; }
  /// What this actor asks another one.
  AppAsked asked(std::string_view what) const;
  void note_answer(std::uint64_t number, const Result<Reply<Told>>& reply, MemberName member) const;

  Self self_;
  AppStage& stage_;
  const std::uint32_t level_;
  const AppLife life_;
  std::set<std::uint64_t> watched_;  // Meshes.
};

/// Its deposits outlive it.
class Account {
 public:
  static void describe(ActorType<Account>& type) {
    type.on(&Account::deposit).on(&Account::audit).on(&Account::crash);
    type.snapshot(&Account::save, &Account::restore);
  }
  Account(Self self, AppStage* stage);
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  Reply<Told> deposit(Request<Deposit> request);
  Reply<Deposits> audit(Request<Audit> request);
  Status crash(Request<Crash> request);
  Message<Deposits> save() const;
  Status restore(Message<Deposits> saved);

 private:
  Self self_;
  AppStage& stage_;
  const AppLife life_;
  std::vector<std::uint64_t> numbers_;
};

/// Adds up what actors have told; hosts know it by its name.
inline constexpr Combining kAddTold{"add", [](Told::Reader a, Told::Reader b, Told::Builder out) {
                                      out.setValue(a.getValue() + b.getValue());
                                    }};

/// What hosts know by name, as processes would: all actors of a world but accounts, which travel as
/// functions beside their frames, so that both are seen.
void register_actors(internal::TypeTable& table, AppStage* stage);

}  // namespace seaway::sim
