// Process: one role of a cluster whose roles are real processes, with all that it stands on.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "cluster/log.hpp"
#include "cluster/peers.hpp"
#include "controller/controller_core.hpp"
#include "device/cpu_backend.hpp"
#include "seaway/client.hpp"
#include "seaway/host_main.hpp"
#include "seaway/status.hpp"
#include "transport/caller.hpp"
#include "transport/data_plane.hpp"
#include "transport/token.hpp"

namespace seaway::cluster {

struct ProcessOptions {
  RoleName name;  // A client's index is given to it.
  /// That a client works for. Empty: the tenant of what it shows, else ClientOptions().tenant.
  std::string tenant = {};
  std::string join;  // Where the controller listens; the controller's own: empty.
  /// As SocketOptions::listen; of clients empty: nobody connects to them.
  std::string listen;
  /// The host by which others reach what listens at a network, where that is not the one in
  /// `listen`; it has to be said for 0.0.0.0 and [::].
  std::string advertise = {};
  /// What it shows, and by which it knows others.
  transport::Credentials credentials = {};
  /// How long it may take until there is a controller that takes it.
  std::uint64_t join_timeout_ns = 10'000'000'000;

  // Of the controller's process alone; others are told.
  std::string spec = "embedded";  // What the cluster is made of, in the words of connect().
  std::uint64_t cluster = 1;      // A number that no other cluster has; not 0.
  std::uint32_t life = 1;         // How often this controller has begun, with this time.
  /// As PeersOptions.
  std::uint64_t heartbeat_ns = 250'000'000, silence_ns = 1'000'000'000;
  /// The tokens that count, if they have changed since it was asked last: each 250 ms. Empty: there
  /// are none. On the control thread.
  std::function<std::optional<Result<transport::TokenStore>>()> tokens = {};
  /// A line for each caller who is let in or not, and for each session that ends by force. On the
  /// control thread.
  std::function<void(const std::string& line)> audit = [](const std::string&) {};
  /// Seconds of UTC.
  std::function<std::uint64_t()> utc_s = [] { return std::uint64_t{0}; };

  /// Of the process of a host or an annex: what can be made and run there. Null: what needs no
  /// registration.
  std::shared_ptr<const Registry> registry;

  /// Who comes and who is lost, and why; why this process begins anew.
  Log log = [](LogLevel, const std::string&) {};
  /// Nothing that this process knows means anything any more: it is to end, and to begin anew.
  /// Once, on the control thread.
  std::function<void()> on_orphaned = [] {};
  /// Of the controller's: somebody who may has asked the cluster to end. On the control thread.
  std::function<void()> on_stop = [] {};
};

/// A role, its engine and its sockets. The process that it is in may have others, of other roles or
/// clusters. Thread-safe. Not made or ended on its own control thread.
class Process {
 public:
  /// Returns when the role is enrolled and listens; a client, when it can connect. Errors:
  /// kInvalidArgument for words that are wrong; kDeadlineExceeded, with the last reason, when no
  /// controller took it in time; those of its sockets. Without a `compiler` functions are compiled
  /// for the CPU, and where islands have several hosts for exchanges beside which they go on.
  static Result<std::shared_ptr<Process>> start(ProcessOptions options,
                                                std::shared_ptr<const Clock> clock,
                                                device::Compiler compiler = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// A client's: says hello and waits for the answer; once. `keep_alive` lives as long as it does.
  Result<Client> connect(ClientOptions options, std::shared_ptr<void> keep_alive);

  /// Where others reach it: "unix:/run/..", or several with commas between them. Empty: nowhere.
  const std::string& address() const;
  const RoleName& name() const;
  std::uint32_t life() const;
  /// Of the controller's: who is there, as JSON.
  std::string status() const;
  bool on_control_thread() const;
  /// Of a host's. Not on the control thread.
  struct Exchanged {
    std::uint64_t loans = 0;  // Values that hosts of its machine have read where they lie here.
    transport::DataPlane::Counts data;  // What it has fetched from hosts that it cannot read.
  };
  Exchanged exchanged() const;

  struct State;

 private:
  explicit Process(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Asks the controller that listens at `address` for the state of its cluster: JSON. Blocks.
/// Errors: kHostLost when nobody listens, kDeadlineExceeded, kUnauthenticated.
Result<std::string> ask_status(const std::string& address, const Clock& clock,
                               std::uint64_t timeout_ns, const transport::Credentials& shown = {});
/// "2 slices, 5 arrays, 0 parts of runs and 1 read".
std::string text_of(const controller::ControllerCore::Left& left);
/// Asks it to drain `island` (ControllerCore::drain_island), or to end that: what is left there
/// now. As often as somebody waits: each time what could not leave is tried again.
/// kPermissionDenied for who is neither the cluster's owner nor an admin, nor the host of that
/// island.
Result<controller::ControllerCore::Left> ask_to_drain(const std::string& address, IslandId island,
                                                      std::optional<controller::Drain> how,
                                                      const Clock& clock, std::uint64_t timeout_ns,
                                                      const transport::Credentials& shown = {});
/// Asks it why `run` has no outcome yet; 0: all that have none. Lines for people. kPermissionDenied
/// for who is neither the cluster's owner nor an admin.
Result<std::string> ask_why(const std::string& address, RunId run, const Clock& clock,
                            std::uint64_t timeout_ns, const transport::Credentials& shown = {});
/// Asks it to end its cluster. Returns when it has said that it does. kPermissionDenied for who is
/// neither its owner nor an admin.
Status ask_to_stop(const std::string& address, const Clock& clock, std::uint64_t timeout_ns,
                   const transport::Credentials& shown = {});

}  // namespace seaway::cluster
