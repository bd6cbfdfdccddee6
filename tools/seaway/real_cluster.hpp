// The processes of a campaign: a cluster, and clients of it, and what is done to them.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "benchmarks/support/command.hpp"
#include "campaign/real_history.hpp"
#include "campaign/real_plan.hpp"
#include "children.hpp"
#include "fault_proxy.hpp"

namespace seaway::tools {

/// Roles and clients, all started again when they end. Without a proxy they talk over Unix sockets,
/// and hosts read each other's memory; with one, over TLS through it. One thread.
class RealCluster {
 public:
  /// Returns when all roles are there.
  static Result<std::unique_ptr<RealCluster>> start(const campaign::RealPlanOptions& options);
  ~RealCluster();

  /// 0: it is not there now.
  pid_t process_of(const campaign::RealProcess& process) const;
  /// False: it is not there, or has been killed so often that another time would be taken for a bug
  /// of it.
  bool kill(const campaign::RealProcess& process, std::uint64_t now_ns);
  bool signal(const campaign::RealProcess& process, int number);
  /// Bounds its memory, or its descriptors, by what it has now; without `is_bounded`, by nothing.
  bool bound(const campaign::RealProcess& process, campaign::RealFault what, bool is_bounded);
  /// Where all roles write to there is no room any more, or there is again.
  bool fill_disk(bool is_full);
  /// A connection to where it listens, of somebody who keeps to no protocol; -1: there is none.
  int connect_to(const campaign::RealProcess& process) const;
  /// Of all processes: "host 1", "client 0".
  std::vector<std::string> names() const;
  /// Null without.
  FaultProxy* proxy() { return proxy_.get(); }

  /// Whoever has ended begins anew. Errors: of a role that ends again and again.
  Status look_after();
  /// Clients are told to end, and have `most_s` for that. Those that have not are killed, which is
  /// no end.
  void end_clients(double most_s);
  /// What all lives of all clients have written.
  std::vector<campaign::RealHistory> histories() const;

  /// Resident memory of each role, in bytes.
  std::map<std::string, std::uint64_t> resident() const;
  /// Ends the cluster. What is left of it then: processes, sockets' files, shared memory.
  std::vector<std::string> end();

 private:
  struct Life {
    std::string name, history;
    std::optional<std::uint64_t> killed_ns;
  };
  struct Client {
    std::uint32_t lives = 0;
    std::optional<benchmarks::Command> command;
  };
  /// Which process has a local port; for the proxy, on its thread.
  class Names {
   public:
    void set(std::map<std::string, pid_t> processes);
    std::string find(std::uint16_t port) const;

   private:
    mutable std::mutex mutex_;
    std::map<std::string, pid_t> processes_;
  };

  explicit RealCluster(const campaign::RealPlanOptions& options);
  Status begin();
  Status begin_tls();
  Status start_role(const campaign::RealProcess& process);
  Status wait_for_roles();
  std::vector<campaign::RealProcess> roles() const;
  Status begin_disk();
  bool is_proxied() const { return options_.net == campaign::RealNet::kProxy; }
  std::string address() const;
  void start_clients();
  void start_client(std::uint32_t index);

  const campaign::RealPlanOptions options_;
  const RealClock clock_;
  const benchmarks::ScratchDirectory directory_, histories_;
  bool has_disk_ = false;                                 // directory_ is a file system of its own.
  std::map<campaign::RealProcess, std::uint16_t> ports_;  // Of roles, with a proxy.
  std::string authority_, certificate_, key_, client_token_, worker_token_;  // Paths; the same.
  Names names_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Children> children_;
  std::vector<Client> clients_;
  std::vector<Life> lives_;
  std::map<campaign::RealProcess, std::vector<std::uint64_t>> kills_ns_;
};

}  // namespace seaway::tools
