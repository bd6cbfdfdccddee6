// kv: a key-value store with get, put and swap. Each of its shards has a primary, which decides,
// and replicas, which remember. All of them die now and then, and nobody who asks can tell.
//
//    user --- Command ---> Primary[shard] --- Update ---> Replica[shard, 0]
//         <--- Answer ---                 <--- stored --- Replica[shard, 1]
//
// A primary decides, has all replicas store the decision, and then answers. One that dies is
// started anew with the next epoch. It has all replicas refuse older ones, takes the newest state
// among them, gives that to all, and goes on. What was answered had been on all, and so is in it.
// What is only on some counts as decided: who asks again has the same number, and gets that.

#include "demos/kv.hpp"

#include <utility>

#include "demos/list.hpp"
#include "demos/support/kv_shard.hpp"
#include "seaway/host_main.hpp"

namespace seaway::demos::kv {

/// Keeps one copy of a shard.
class Replica {
 public:
  static void describe(ActorType<Replica>& type) {
    // With a snapshot after each message, an answer of this actor is a promise that it keeps.
    type.on(&Replica::store).snapshot(&Replica::save, &Replica::restore);
  }
  explicit Replica(const Self&) {}

  /// Stores what is new here, and answers with what is new to the primary.
  Result<Reply<Update>> store(Request<Update> request) {
    if (request->getEpoch() < shard_.epoch) return invalid_argument("this primary was replaced");
    shard_.epoch = request->getEpoch();
    if (request->getPosition() < shard_.position) return shard_.update();
    shard_.apply(*request);
    return Reply<Update>();
  }
  Message<Update> save() const { return shard_.update(); }
  Status restore(Message<Update> saved) { return shard_.apply(*saved), Status(); }

 private:
  Shard shard_;
};

/// Decides for one shard. While it waits for its replicas, commands wait in its mailbox.
class Primary {
 public:
  static void describe(ActorType<Primary>& type) { type.on(&Primary::execute); }
  Primary(const Self& self, const ActorMesh<Replica>& replicas, std::uint64_t epochs_before)
      : replicas_(replicas.sub("shard", {self.index(), self.index() + 1})) {
    shard_.epoch = epochs_before + self.incarnation();  // No two of a shard ever share one.
  }

  Task<Reply<Answer>> execute(Request<Command> request) {
    if (!is_leading_) {
      // All learn of the epoch, and this one learns the newest state; then all have that.
      Status status = co_await store(shard_.update());
      if (status.ok()) status = co_await store(shard_.update());
      if (!status.ok()) co_return status;
    }
    const auto& [last, result] = shard_.sessions[request->getClient()];
    if (request->getNumber() < last) co_return invalid_argument("its client has gone on");
    if (request->getNumber() > last) {
      const auto decision = decide(*request);
      if (Status status = co_await store(decision); !status.ok()) co_return status;
      shard_.apply(*decision);
    }
    co_return make<Answer>([&](auto m) { m.setResult(result), m.setEpoch(shard_.epoch); });
  }

 private:
  Task<Status> store(Message<Update> update) {
    is_leading_ = false;  // Whether all have it is to be found out before the next decision.
    const auto answers = co_await replicas_.call(&Replica::store, update, kAgain).all();
    for (const auto& answer : answers.value()) {
      if (!answer.ok()) co_return answer.status();
      if ((*answer)->getPosition() > shard_.position) shard_.apply(**answer);
    }
    is_leading_ = true;
    co_return Status();
  }
  Message<Update> decide(Command::Reader command) {
    const std::int64_t now = shard_.values[command.getKey()];
    const auto kind = command.getKind();
    const bool swaps = kind == Command::Kind::SWAP && now == command.getExpected();
    Shard changed{shard_.epoch, shard_.position + 1, {}, {}};
    if (swaps || kind == Command::Kind::PUT) changed.values[command.getKey()] = command.getValue();
    const std::int64_t result = kind == Command::Kind::GET ? now : swaps;
    changed.sessions[command.getClient()] = {command.getNumber(), result};
    return changed.update();
  }

  static constexpr CallOptions kAgain{.retries = 20};  // While one is being restarted.
  const ActorMesh<Replica> replicas_;
  bool is_leading_ = false;
  Shard shard_;
};

/// The same where there are fewer hosts, as far as it can be.
std::vector<std::uint32_t> hosts_of(const Client& client, std::vector<std::uint32_t> hosts) {
  const auto all = static_cast<std::uint32_t>(client.hosts().size());
  for (std::uint32_t& host : hosts) host = all > 1 ? 1 + (host - 1) % (all - 1) : 0;
  return hosts;
}

Result<Store> Store::open(const Client& client) {
  // All of one shard on different hosts, and none on host 0, where its users are.
  const Placement places{{{"shard", kShards}, {"replica", kReplicas}},
                         hosts_of(client, {2, 3, 3, 1, 1, 2})};
  const auto replicas = client.spawn<Replica>(SpawnOptions(places).intensity(kOften));
  if (!replicas.ok()) return replicas.status();
  return Store{{}, *replicas}.taken_over(client, 0);
}

Result<Store> Store::taken_over(const Client& client, std::uint64_t epochs_before) const {
  const SpawnOptions places = Placement{{{"shard", kShards}}, hosts_of(client, {1, 2, 3})};
  auto own = client.spawn<Primary>(SpawnOptions(places).intensity(kOften), replicas, epochs_before);
  if (!own.ok()) return own.status();
  return Store{*own, replicas};
}

Future<Reply<Answer>> Store::ask(const Message<Command>& command) const {
  return primaries.at(shard_of(command->getKey()))
      .call(&Primary::execute, command, CallOptions{.retries = 20, .once = true});
}

Message<Stores> Store::message() const {
  return make<Stores>([this](Stores::Builder m, Attached& beside) {
    m.setPrimaries(beside.add(primaries));
    m.setReplicas(beside.add(replicas));
  });
}

Result<Store> Store::from(const Message<Stores>& said) {
  const auto primaries = said.mesh<Primary>(said->getPrimaries());
  const auto replicas = said.mesh<Replica>(said->getReplicas());
  if (!primaries.ok()) return primaries.status();
  if (!replicas.ok()) return replicas.status();
  return Store{*primaries, *replicas};
}

}  // namespace seaway::demos::kv

void seaway::demos::register_kv(Registry& registry) {
  registry.actor<kv::Replica>().actor<kv::Primary, ActorMesh<kv::Replica>, std::uint64_t>();
}
