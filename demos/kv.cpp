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

#include <map>
#include <utility>

namespace seaway::demos::kv {

/// What a shard is: values, and the last answer to each client.
struct Shard {
  std::uint64_t epoch = 0, position = 0;
  std::map<std::uint64_t, std::int64_t> values;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::int64_t>> sessions;  // Number and result.

  void apply(Update::Reader update) {
    epoch = update.getEpoch();
    position = update.getPosition();
    for (auto one : update.getEntries()) values[one.getKey()] = one.getValue();
    for (auto one : update.getSessions()) {
      sessions[one.getClient()] = {one.getNumber(), one.getResult()};
    }
  }
  Message<Update> update() const {
    return make<Update>([this](Update::Builder m) {
      m.setEpoch(epoch);
      m.setPosition(position);
      auto entries = m.initEntries(static_cast<unsigned>(values.size()));
      for (unsigned i = 0; const auto& [key, value] : values) {
        entries[i].setKey(key);
        entries[i++].setValue(value);
      }
      auto answers = m.initSessions(static_cast<unsigned>(sessions.size()));
      for (unsigned i = 0; const auto& [client, last] : sessions) {
        answers[i].setClient(client);
        answers[i].setNumber(last.first);
        answers[i++].setResult(last.second);
      }
    });
  }
};

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

Result<Store> Store::open(const Client& client) {
  // All of one shard on different hosts, and none on host 0, where its users are.
  const Placement places{{{"shard", kShards}, {"replica", kReplicas}}, {2, 3, 3, 1, 1, 2}};
  const auto replicas = client.spawn<Replica>(SpawnOptions(places).intensity(kOften));
  if (!replicas.ok()) return replicas.status();
  return Store{{}, *replicas}.taken_over(client, 0);
}

Result<Store> Store::taken_over(const Client& client, std::uint64_t epochs_before) const {
  const SpawnOptions places = Placement{{{"shard", kShards}}, {1, 2, 3}};
  auto own = client.spawn<Primary>(SpawnOptions(places).intensity(kOften), replicas, epochs_before);
  if (!own.ok()) return own.status();
  return Store{*own, replicas};
}

Future<Reply<Answer>> Store::ask(const Message<Command>& command) const {
  return primaries.at(shard_of(command->getKey()))
      .call(&Primary::execute, command, CallOptions{.retries = 20, .once = true});
}

}  // namespace seaway::demos::kv
