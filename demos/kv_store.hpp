// The store of the kv demo: shards with a primary and replicas, linearizable through all deaths.
//
// Why it is: the primary of a shard handles one command after the other. It decides, has all
// replicas store the decision, and only then answers. A replica's answer leaves it when its
// snapshot is safe, so that what it has stored once is never forgotten. A primary that dies is
// started anew with the next epoch; it tells all replicas to refuse older ones, takes the newest
// state among them, gives that to the others and goes on. What had been answered was on all
// replicas, and so is in it. What had been stored on some but not answered goes on as if it had
// been: whoever asks again has the same number, and gets what was decided then.

#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "demos/kv.capnp.h"
#include "seaway/app.hpp"

namespace seaway::demos::kv {

/// What is replicated: values, and the last answer to each client. Copies are equal at one
/// position.
class Data {
 public:
  struct Session {
    std::uint64_t number = 0;
    std::int64_t result = 0;
  };

  std::uint64_t position() const { return position_; }
  std::int64_t value(std::uint64_t key) const;
  Session session(std::uint32_t client) const;

  void apply(Decision::Reader decision);
  void save(State::Builder state) const;
  void load(State::Reader state);

 private:
  std::uint64_t position_ = 0;
  std::map<std::uint64_t, std::int64_t> values_;
  std::map<std::uint32_t, Session> sessions_;
};

/// Keeps one copy of a shard.
class Replica {
 public:
  static void describe(ActorType<Replica>& type) {
    // With a snapshot after each message, an answer of this actor is a promise that it keeps.
    type.on(&Replica::follow).on(&Replica::install).on(&Replica::store);
    type.snapshot(&Replica::save, &Replica::restore);
  }
  explicit Replica(const Self&) {}

  Result<Reply<State>> follow(Request<Follow> request);
  Status install(Request<State> request);
  Status store(Request<Decision> request);

  Message<State> save() const;
  Status restore(Message<State> state);

 private:
  /// Refuses who has been replaced.
  Status check(std::uint64_t epoch);

  std::uint64_t epoch_ = 0;
  Data data_;
};

/// Decides for one shard: that of its own index.
class Primary {
 public:
  static void describe(ActorType<Primary>& type) { type.on(&Primary::execute); }
  /// `replicas` of all shards, on the axes "shard" and "replica".
  Primary(Self self, const ActorMesh<Replica>& replicas);

  Task<Reply<Answer>> execute(Request<Command> request);

 private:
  Task<Status> lead();
  Message<Decision> decide(Command::Reader command) const;

  const std::uint64_t epoch_;
  const ActorMesh<Replica> replicas_;
  bool is_leading_ = false;
  Data data_;
};

/// How everybody asks here: again and again while somebody is being restarted.
inline constexpr CallOptions kAgain{.retries = 20};

}  // namespace seaway::demos::kv
