// The store of the kv demo as its users see it.

#pragma once

#include <cstdint>

#include "demos/kv.capnp.h"
#include "seaway/app.hpp"

namespace seaway::demos::kv {

class Primary;
class Replica;

/// A handle: a value that users keep, on whatever host they are.
struct Store {
  static constexpr std::uint32_t kShards = 3, kReplicas = 2;
  static std::uint32_t shard_of(std::uint64_t key) { return key % kShards; }

  /// Starts a store that belongs to `client`. Errors: kInvalidArgument on fewer than two hosts.
  static Result<Store> open(const Client& client);

  /// `command` may be asked again and again with the same number; it is carried out once. Errors:
  /// kActorLost, kHostLost or kDeadlineExceeded when too many members have died for too long:
  /// then it has been carried out or not.
  Future<Reply<Answer>> ask(const Message<Command>& command) const;

  // Where its members are, for those who kill them: primaries by "shard", replicas by "shard" and
  // "replica".
  ActorMesh<Primary> primaries;
  ActorMesh<Replica> replicas;
};

}  // namespace seaway::demos::kv
