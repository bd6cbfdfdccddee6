// Doorkeeper: who a caller is, by what the system, his certificate or his token says, and what he
// may.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "cluster/peers.hpp"
#include "seaway/status.hpp"
#include "transport/caller.hpp"
#include "transport/token.hpp"
#include "transport/tries_limiter.hpp"

namespace seaway::cluster {

/// Somebody whom the controller's process knows.
struct Identity {
  enum class Kind : std::uint8_t {
    kClient,  // Runs programs, for its tenant.
    kWorker,  // Plays schedulers and hosts; trusted with all that is in the cluster.
    kAdmin,   // A client who may end the cluster.
    kOwner,   // The user whose cluster it is, on this machine: all of it.
  };
  Kind kind = Kind::kClient;
  std::string name;                // For logs: "user 1000", "token 66687aad", "certificate host/1".
  std::string tenant;              // Empty: any.
  std::string token;               // Its id; empty: known by something else.
  std::uint64_t end_s = 0;         // Of a certificate: seconds of UTC; 0: no end.
  std::optional<RoleName> only{};  // Of a certificate for one role: no other.
};

/// The controller's. A pure core: tokens come as values. Not thread-safe.
class Doorkeeper {
 public:
  /// `clock` outlives it; `utc_s` gives seconds of UTC.
  Doorkeeper(const Clock& clock, std::function<std::uint64_t()> utc_s)
      : tries_(clock), utc_s_(std::move(utc_s)) {}

  /// From now on these tokens count.
  void use(transport::TokenStore store);

  /// Who calls. A token decides if one is shown, else a certificate, else the user at the other end
  /// of a Unix socket, who is this process's own.
  /// Errors: kUnauthenticated for a token that is not accepted, in the same words whatever the
  /// reason, for nothing shown at all, and after too many such tries from one address, in words
  /// that say so; what is right counts all the same;
  /// kPermissionDenied for another user, or for a certificate that says nothing that is known here.
  Result<Identity> enter(const transport::Caller& caller);
  /// Why the last one was not let in, for logs alone; once. Empty: it has tried too often, and the
  /// log has had its lines.
  std::string take_why() { return std::exchange(why_, {}); }

  /// Whether a session of `identity` may go on. kUnauthenticated when its token was revoked or is
  /// over, or its certificate is.
  Status check(const Identity& identity) const;

  /// Bytes of memory that the holders of a tenant's tokens may keep together: the smallest quota
  /// that an active token of it names; 0: none does.
  std::uint64_t quota_of(const std::string& tenant) const;

  // Errors: kPermissionDenied, with who may.
  static Status may_enrol(const Identity& identity, const RoleName& name);
  static Status may_work(const Identity& identity);     // Announce, and ask about clients.
  static Status may_see_all(const Identity& identity);  // Of every tenant.
  static Status may_stop(const Identity& identity);
  static Status may_drain(const Identity& identity, IslandId island);

 private:
  Status fail(const std::string& address, const std::string& why, Status told);
  Result<Identity> by_token(const transport::Caller& caller);
  Result<Identity> by_certificate(const transport::Caller& caller);

  transport::TokenStore store_;
  std::map<std::string, const transport::TokenRecord*, std::less<>> records_;  // Of store_, by id.
  transport::TriesLimiter tries_;
  const std::function<std::uint64_t()> utc_s_;
  std::string why_;
};

}  // namespace seaway::cluster
