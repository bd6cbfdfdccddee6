// Sessions: which processes were let in, as whom, and whose time is over.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/doorkeeper.hpp"
#include "seaway/status.hpp"
#include "transport/pass.hpp"

namespace seaway::cluster {

/// Of the processes of one cluster, as one of them sees it. Whoever has the key of passes checks
/// what others show. The controller's also knows who they are. A pure core; not thread-safe.
class Sessions {
 public:
  /// Clients of one tenant at once.
  static constexpr std::size_t kClientsOfTenantMax = 256;
  /// Who is not welcome any more is remembered, the last so many of them.
  static constexpr std::size_t kUnwelcomeMax = 4096;
  static constexpr std::uint64_t kSilentSeconds = 30;

  /// `key` as make_pass_key(); empty: this process hears nobody.
  Sessions(std::string key, std::uint64_t cluster) : key_(std::move(key)), cluster_(cluster) {}

  const std::string& key() const { return key_; }
  /// `tenant`: that a client works for.
  std::string pass_of(transport::ProcessId process, std::uint32_t life,
                      transport::TenantKey tenant = transport::kNoTenant) const;

  /// Whether `caller` may talk as `process`. Errors: kPermissionDenied for a user of another
  /// cluster's; `without_pass` for a pass that is not that life's, which may be known to others;
  /// kUnauthenticated with the reason when the session was ended.
  Status check_talk(transport::ProcessId process, const transport::Caller& caller,
                    StatusCode without_pass = StatusCode::kPermissionDenied) const;

  // The controller's.
  /// Whether one more client of this tenant fits. kResourceExhausted.
  Status check_room(const Identity& identity) const;
  void begin(transport::ProcessId process, Identity identity, bool is_client,
             std::uint64_t now_s = 0);
  /// It talks; whoever does not within kSilentSeconds has ended.
  void came(transport::ProcessId process);
  /// Null: it has none.
  const Identity* find(transport::ProcessId process) const;
  /// Its process has gone.
  void end(transport::ProcessId process);
  /// Those that may not go on, with the reason; they have ended then.
  std::vector<std::pair<transport::ProcessId, Status>> end_invalid(const Doorkeeper& doorkeeper,
                                                                   std::uint64_t now_s);

  /// It is not heard any more, whatever it shows: numbers of clients are never used again.
  void refuse(transport::ProcessId process, Status why);
  bool is_refused(transport::ProcessId process) const { return unwelcome_.contains(process); }

 private:
  struct Session {
    Identity identity;
    bool is_client = false;
    bool has_come = false;
    std::uint64_t began_s = 0;
  };
  std::string key_;
  std::uint64_t cluster_;
  std::map<transport::ProcessId, Session> sessions_;
  std::map<transport::ProcessId, Status> unwelcome_;
};

}  // namespace seaway::cluster
