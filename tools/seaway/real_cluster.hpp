// The processes of a campaign: a cluster, and clients of it, and what is done to them.

#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "campaign/real_growth.hpp"
#include "campaign/real_history.hpp"
#include "campaign/real_plan.hpp"
#include "campaign_directory.hpp"
#include "children.hpp"
#include "connection_names.hpp"
#include "fault_proxy.hpp"
#include "net_namespaces.hpp"

namespace seaway::tools {

/// A process that is not there any more, though nobody has killed it.
struct RealCrash {
  std::string what;  // "host 1 (process 4711) was killed by signal 6; started again".
  std::vector<std::string> last_words;  // Lines of its log.
  std::uint64_t at_ns = 0;
};

/// Roles and clients, all started again when they end. On one machine they talk over Unix sockets,
/// and hosts read each other's memory; with a proxy, over TLS through it; with networks of their
/// own, over TLS from one to the other. One thread.
class RealCluster {
 public:
  /// Returns when all roles are there. `is_interrupted`: nobody wants it any more; kCancelled.
  static Result<std::unique_ptr<RealCluster>> start(const campaign::RealPlanOptions& options,
                                                    const std::atomic<bool>& is_interrupted);
  ~RealCluster();

  /// 0: it is not there now.
  pid_t process_of(const campaign::RealProcess& process) const;
  /// False: it is not there.
  bool kill(const campaign::RealProcess& process, std::uint64_t now_ns);
  bool signal(const campaign::RealProcess& process, int number);
  /// Bounds its memory, or its descriptors, by what it has now; without `is_bounded`, by nothing.
  bool bound(const campaign::RealProcess& process, campaign::RealFault what, bool is_bounded);
  /// Where all roles write to there is no room any more, or there is again when as many have said
  /// so.
  bool fill_disk(bool is_full);
  /// A connection to where it listens, of somebody who keeps to no protocol; -1: there is none.
  int connect_to(const campaign::RealProcess& process) const;
  /// Of all processes: "host 1", "client 0".
  std::vector<std::string> names() const;
  /// The annexes of an island.
  std::vector<campaign::RealProcess> annexes_of(std::uint32_t island) const;
  /// Null without.
  FaultProxy* proxy() { return proxy_.get(); }
  NetNamespaces* networks() { return networks_.get(); }

  /// Whoever has ended begins anew. Errors: of a role that cannot be started; kCancelled.
  Status look_after();
  /// Ends by a SIGKILL of kill()'s, so far.
  std::uint64_t kills_of(campaign::RealRole role) const;
  /// All ends that nothing explains, so far.
  const std::vector<RealCrash>& crashes() const { return crashes_; }
  /// Roles that could not join, listen or write and ended for that, with a word: it may be that
  /// something was done to others.
  const std::vector<RealCrash>& surrenders() const { return surrenders_; }
  /// Clients are told to end, and have `most_s` for that. Those that have not are killed; a line
  /// each.
  Result<std::vector<std::string>> end_clients(double most_s);
  /// What all lives of all clients have written.
  std::vector<campaign::RealHistory> histories() const;
  /// Whether each client has an outcome for all that it asked for before `since_ns`, and values for
  /// what it asked for after that.
  bool is_healed(std::uint64_t since_ns) const;

  /// What each process has now, this one among them.
  std::vector<campaign::RealSample> samples() const;
  /// Memory of hosts that are not there any more, and who has it.
  std::vector<std::string> memory_of_dead_hosts() const;
  /// Logs and histories stay; returns where they are.
  std::string keep();
  /// Ends the cluster. What is left of it then: processes, files, mounts, networks, memory.
  std::vector<std::string> end();

 private:
  RealCluster(const campaign::RealPlanOptions& options, const std::atomic<bool>& is_interrupted)
      : options_(options), is_interrupted_(is_interrupted) {}
  Status begin();
  Status begin_tls();
  Status start_role(const campaign::RealProcess& process);
  Status wait_for_roles();
  Status start_client(std::uint32_t index);
  void judge_end(const ChildEnd& end);
  std::string put_by_history(const campaign::RealProcess& client, pid_t process);
  void trim_audit();
  std::vector<campaign::RealProcess> roles() const;
  /// Roles and clients.
  std::vector<campaign::RealProcess> all() const;
  std::map<std::string, pid_t> processes() const;
  bool is_proxied() const { return options_.net == campaign::RealNet::kProxy; }
  bool is_network() const { return options_.net != campaign::RealNet::kNone; }
  /// Where it listens, as others see it, and itself.
  std::string host_of(const campaign::RealProcess& process) const;
  std::string own_host_of(const campaign::RealProcess& process) const;
  std::string address() const;
  std::string log_of(const std::string& name) const;

  const campaign::RealPlanOptions options_;
  const std::atomic<bool>& is_interrupted_;
  const RealClock clock_;
  std::unique_ptr<CampaignDirectory> directory_;
  std::map<campaign::RealProcess, std::uint16_t> ports_;                     // Of roles, with TLS.
  std::string authority_, certificate_, key_, client_token_, worker_token_;  // Paths; the same.
  ConnectionNames names_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<NetNamespaces> networks_;
  std::unique_ptr<Children> children_;
  std::size_t full_disks_ = 0;
  bool are_clients_to_end_ = false;
  std::map<pid_t, std::uint64_t> killed_ns_;  // By kill(), and not seen to have ended yet.
  std::map<std::string, std::uint64_t> histories_killed_ns_;  // And that have, by their histories.
  std::map<pid_t, std::uint64_t> bounded_ns_;  // Until when it had to do with less memory.
  std::map<campaign::RealRole, std::uint64_t> kills_;
  std::uint64_t histories_over_ = 0;  // Of clients that have ended.
  std::vector<RealCrash> crashes_, surrenders_;
  std::set<std::string> shared_before_;
  std::size_t descriptors_before_ = 0;
};

}  // namespace seaway::tools
