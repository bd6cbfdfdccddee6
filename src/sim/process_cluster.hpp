// ProcessCluster: a cluster whose roles are processes of their own, which end, stop and come back.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "actor/seeded_process.hpp"
#include "base/random.hpp"
#include "cluster/member.hpp"
#include "events/event_stream.hpp"
#include "sim/process_faults.hpp"
#include "sim/process_sink.hpp"
#include "sim/sim_data_plane.hpp"
#include "transport/near_memory.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::sim {

/// Starts the processes of one cluster on one engine, does to them what the plan says, and starts
/// those again that have ended: as whoever supervises them would. Clients' processes begin with a
/// body and are not started again. Outside of the processes; the engine outlives it.
class ProcessCluster {
 public:
  struct Options {
    cluster::EmbeddedOptions cluster;
    std::uint64_t seed = 0;
    std::uint32_t clients_max = 1;
    ProcessFaults faults;
    std::vector<ProcessSink*> sinks = {};  // They outlive the cluster.
    /// What hosts can make, which outlives the cluster; null: nobody has actors.
    const internal::TypeTable* types = nullptr;
    /// The file of a host in one of its lives. Empty: they have none.
    std::function<std::unique_ptr<store::SpillFile>(actor::Engine& engine, IslandId island,
                                                    std::uint32_t life)>
        make_spill = {};
    /// See cluster::MemberOptions.
    std::function<transport::TenantKey(ClientId client)> tenant_of = {};
    /// Called with each frame that a process sends, before it does; the frame may be replaced.
    std::function<void(const cluster::RoleName& from, transport::ProcessId to,
                       std::uint32_t channel, Frame& frame)>
        tap = {};
    /// Called with what `name` is told of another process, before its role is.
    std::function<void(const cluster::RoleName& name, const cluster::PeerNews& news)> on_peer = {};
  };
  /// The devices of an island's host in one of its lives.
  using MakeBackend = std::function<std::unique_ptr<device::Backend>(
      actor::Engine& engine, IslandId island, std::function<void()> on_progress)>;

  ProcessCluster(Options options, actor::SeededEngine& engine, events::EventStream& events,
                 MakeBackend make_backend);
  ~ProcessCluster();

  /// A client's process, whose body begins at once and ends with its process.
  using Body = std::function<void(cluster::Member& member, actor::SeededProcess& process)>;
  void start_client(ClientId client, Body body);
  /// Its body has ended, or it was killed.
  bool has_ended(ClientId client) const;
  bool was_killed(ClientId client) const { return killed_clients_.contains(client); }

  /// Ends what is wrong with processes and links, and starts whoever is down: from then on nothing
  /// fails any more.
  void heal();
  bool is_healed() const { return is_healed_; }

  /// Does `work` on the control thread of a process that is there, in its present life.
  void post(const cluster::RoleName& name, std::function<void(cluster::Member& member)> work);
  /// Kills it. All but clients start again at once.
  void restart(const cluster::RoleName& name) { kill(name, 1); }

  /// Null while it is down, starts or ends. For checkers.
  cluster::Member* member(const cluster::RoleName& name);
  /// How often it was started, with this time if it is there.
  std::uint32_t life(const cluster::RoleName& name) { return place_of(name).life; }
  /// What was done to it so far, by kind.
  std::uint64_t done(ProcessFault::Kind kind) const {
    return done_[static_cast<std::size_t>(kind)];
  }
  std::uint64_t starts() const { return starts_; }
  /// Messages rejected as malformed or not permitted, all processes except clients. O(processes).
  std::uint64_t refusals() const;
  const transport::SimulatedWires::Counts& wire_counts() const { return wires_.counts(); }
  std::uint64_t hash() const { return wires_.hash(); }
  /// Hears of each write, as SimulatedWires::watch().
  using WatchWrites = std::function<void(const cluster::RoleName& from, const cluster::RoleName& to,
                                         std::uint64_t bytes, std::uint64_t arrives_ns)>;
  void watch_writes(WatchWrites watch);
  std::uint64_t now_ns() const { return engine_.now_ns(); }

 private:
  /// What one life of a process records: for sinks under its name, and for everybody.
  struct Voice final : events::EventSink {
    Voice(ProcessCluster& heard_in, cluster::RoleName name);
    void record(const events::Event& event) override;

    ProcessCluster& cluster;
    const cluster::RoleName name;
    events::EventStream stream;
  };
  struct Place {
    cluster::RoleName name;
    std::unique_ptr<Voice> voice;             // Outlives its process.
    std::unique_ptr<store::SpillFile> spill;  // Of a host; outlives its process.
    std::unique_ptr<actor::SeededProcess> process;
    std::unique_ptr<transport::NearMemory> near;  // Of a host.
    std::unique_ptr<SimDataPlane> data;           // The same.
    std::unique_ptr<cluster::Member> member;
    std::uint32_t life = 0;
    bool is_starting = false;
    actor::ClockSkew skew;
  };

  Place& place_of(const cluster::RoleName& name);
  void start(const cluster::RoleName& name);
  void fall_silent(Place& place);
  static std::uint64_t refusals_in(const Place& place);
  void release(Place& place);
  void end(const cluster::RoleName& name);
  void die(const cluster::RoleName& name);
  std::unique_ptr<transport::NearMemory> make_near(HostId host, std::uint32_t life,
                                                   actor::Engine& engine);
  SimDataPlane* find_data(HostId self, HostId peer);
  void restart_later(const cluster::RoleName& name, std::uint64_t delay_ns);
  void begin(const ProcessFault& fault);
  void finish(const ProcessFault& fault);
  void kill(const cluster::RoleName& name, std::uint64_t delay_ns);
  void crash_again(const ProcessFault& fault);
  void drain(IslandId island, std::optional<controller::Drain> how);
  actor::OffloadOptions offload(actor::Engine& engine);
  void block(const cluster::RoleName& name, bool in, bool out, bool is_blocked);
  void block(transport::ProcessId from, transport::ProcessId to, bool is_blocked);
  void set_clock(const cluster::RoleName& name, const ProcessFault& fault, bool is_wrong);

  const Options options_;
  const cluster::Shape shape_;
  actor::SeededEngine& engine_;
  events::EventStream& events_;
  const MakeBackend make_backend_;
  transport::SimulatedWires wires_;
  function::NativeRegistry natives_;
  RandomStream delays_, machines_;
  const bool has_one_machine_;  // All hosts are on it, and read each other's memory.
  std::map<HostId, std::pair<std::uint32_t, transport::SharedRegion>> regions_;  // By life.
  SimDataNetwork data_;
  const transport::FrameLaneOptions control_, bulk_;
  const std::optional<actor::HeldLimits> offload_;  // Of what waits for work, which is offloaded.
  std::map<transport::ProcessId, Place> places_;
  std::map<std::pair<transport::ProcessId, transport::ProcessId>, int> blocks_;  // From, to.
  std::set<ClientId> ended_clients_, killed_clients_;
  std::vector<std::uint64_t> done_;
  std::uint64_t starts_ = 0, refusals_ = 0;
  bool is_healed_ = false;
};

}  // namespace seaway::sim
