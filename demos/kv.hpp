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
  static constexpr Intensity kOften{.restarts_max = 1000};  // So many deaths are nothing special.
  static std::uint32_t shard_of(std::uint64_t key) { return key % kShards; }

  /// Starts a store that belongs to `client`, on hosts 1 to 3.
  static Result<Store> open(const Client& client);

  /// The same store with primaries of their own, which begin behind so many epochs: more than the
  /// ones before can have had. From their first decision on those answer nobody any more, whether
  /// they know it or not.
  Result<Store> taken_over(const Client& client, std::uint64_t epochs_before) const;

  /// `command` may be asked again and again with the same number; it is carried out once. Errors:
  /// kActorLost, kHostLost or kDeadlineExceeded when too many members have died for too long, and
  /// kInvalidArgument when others have taken over: then it has been carried out or not.
  Future<Reply<Answer>> ask(const Message<Command>& command) const;

  /// The handle as a message, for actors that are to use the store, and back. Errors: those of
  /// Message::mesh().
  Message<Stores> message() const;
  static Result<Store> from(const Message<Stores>& said);

  // Where its members are, for those who kill them: primaries by "shard", replicas by "shard" and
  // "replica".
  ActorMesh<Primary> primaries;
  ActorMesh<Replica> replicas;
};

}  // namespace seaway::demos::kv
