// Member: one process of a cluster, and the role that it plays.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "actor/engine.hpp"
#include "actor/offload.hpp"
#include "actor/router.hpp"
#include "client/session.hpp"
#include "cluster/actors.hpp"
#include "cluster/delegates.hpp"
#include "cluster/embedded.hpp"
#include "cluster/enrolment.hpp"
#include "cluster/peers.hpp"
#include "cluster/relay.hpp"
#include "cluster/shape.hpp"
#include "device/annex_actor.hpp"
#include "events/event_stream.hpp"
#include "function/native_registry.hpp"
#include "seaway/client.hpp"
#include "store/spill_file.hpp"
#include "transport/bulk.hpp"
#include "transport/data_plane.hpp"
#include "transport/near_memory.hpp"
#include "transport/wires.hpp"

namespace seaway::cluster {

/// What a process is given at its start. All of it outlives the member.
struct MemberWiring {
  actor::Engine& engine;  // Its own.
  transport::Wires& wires;
  events::EventStream& events;
  function::NativeRegistry& natives;
  /// Of a host: what it lends to others of its machine, and reads of theirs; null: nothing.
  transport::NearMemory* near = nullptr;
  /// Of a host or a client: how large values come from others; null: as small ones. Whoever makes
  /// it says by data_came() that something has ended.
  transport::DataPlane* data = nullptr;
  /// Of a host: where arrays lie that its memory has no room for; null: it has room for all.
  store::SpillFile* spill = nullptr;
  /// Of a client: see client::Wiring.
  std::function<void(HostId host, ArrayId array, const transport::Payload& payload,
                     std::function<void(Status)> done)>
      give_file = {};
  /// How roles do what takes long; see actor::Offload.
  actor::OffloadOptions offload = {};
};

struct MemberOptions {
  EmbeddedOptions cluster;
  RoleName name;
  /// The largest id of a client; 0: clients are met as they come, and forgotten when they go.
  std::uint32_t clients_max = 1;
  std::uint32_t life = 1;  // How often this process has begun, with this time.
  std::uint64_t seed = 0;
  /// As PeersOptions; the controller waits longer than the others.
  std::uint64_t heartbeat_ns = 250'000'000, silence_ns = 1'000'000'000;
  transport::FrameLaneOptions control = transport::control_lane();
  transport::FrameLaneOptions bulk = {};
  /// Called once when a scheduler, a host or an annex has lost its controller, or when the
  /// controller has begun a new life, and when a host has lost one of its annexes: nothing that it
  /// knows means anything any more, and its process is to end and to begin anew. From the control
  /// thread; the member may not end within the call.
  std::function<void()> on_orphaned;
  /// See PeersOptions.
  std::function<void()> on_out_of_memory;
  std::function<void(transport::ProcessId to, std::uint32_t channel, Frame& frame)> tap = {};
  /// Whether it has users' actors, or ends of their calls; schedulers have neither. All processes
  /// of a cluster, or none.
  bool has_actors = false;
  /// Of a host or an annex with actors: what it can make. It outlives the member.
  const internal::TypeTable* types = nullptr;
  /// Of a client: whether all hosts know a native function as it is here; of a host: whether this
  /// one does, without a wait. May be empty.
  std::function<Status(const NativeName& native)> check_native = {};
  /// Hears what became of others before the role does. May be empty.
  std::function<void(const PeerNews& news)> on_peer;
  /// The tenant that an admitted client works for; of a client's process, its own. May be empty:
  /// all clients are of one tenant, whatever name it has.
  std::function<transport::TenantKey(ClientId client)> tenant_of;
  /// Of the controller: a client's process has broken the protocol. Ends its session; the client
  /// gets `why`. Empty: their conversation begins anew.
  std::function<void(transport::ProcessId process, const Status& why)> end_session = {};
  /// More about why another one is lost; empty: nothing. May be empty itself.
  std::function<std::string(const RoleName& name)> explain_loss;
};

/// The wiring of one process: role, router, transport and conversations. Control thread only,
/// unless said otherwise. It ends before its engine, or with it.
class Member {
 public:
  Member(MemberOptions options, MemberWiring wiring, const BackendFactory& make_backend = {});
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// A client's: says hello and waits for the answer. From a body or a thread of its own.
  Result<Client> connect(ClientOptions options, std::shared_ptr<void> keep_alive = nullptr);

  /// Of a host: see device::Backend::close(). Not on the control thread, and not while it ends.
  void close_backend() {
    if (backend_) backend_->close();
  }
  /// A fetch has ended.
  void data_came();
  /// A host's: it waits for a connection for data with a client that it cannot call.
  void call_back(ClientId client);
  /// A client's: no fetch ends any more.
  void end_data();
  /// A host's: an upload lies in a file. Errors: kProtocolError when it has other bytes.
  Status take_file(ArrayId array, transport::Payload payload);
  /// Values that are offered or fetched.
  std::size_t open_data() const { return wiring_.data ? wiring_.data->open() : 0; }

  /// A client's: the others are told that it goes, as far as there are connections.
  void leave();

  /// A client that is about to connect, where they are met as they come. Of the controller, of
  /// hosts, and of annexes with actors; others have nothing to say to it.
  void meet_client(ClientId client);

  /// It is lost for this process, as if it had died. Of the controller and hosts.
  void drop_client(ClientId client, const Status& why) {
    peers_->begin_anew({actor::Role::kClient, client}, why);
  }
  /// The same of a scheduler, a host or an annex.
  void drop_role(const RoleName& name, const Status& why) { peers_->begin_anew(name, why); }

  /// Peers that acknowledge nothing.
  std::vector<Peers::Stalled> stalled() const { return peers_->stalled(); }

  struct Counts {
    std::uint64_t malformed = 0;  // Frames of others that were none, or not theirs to send.
  };
  const Counts& counts() const { return counts_; }

  const RoleName& name() const { return options_.name; }
  /// For processes that break the rules on purpose.
  Peers& peers() { return *peers_; }
  std::uint32_t life() const { return options_.life; }
  /// Which life of the controller it serves; 0: none yet. For checkers.
  std::uint32_t controller_life() const { return controller_life_; }
  actor::Router& router() { return router_; }
  transport::LocalBulk& bulk() { return *bulk_; }
  /// The core of the role that this one plays; null for the others. For checkers.
  controller::ControllerCore* controller() { return controller_ ? &controller_->core() : nullptr; }
  /// See ControllerActor::explain; of the controller's.
  bool explain(RunId run, std::function<void(std::string)> done) {
    return controller_->explain(run, std::move(done));
  }
  /// See ControllerCore::drain_island; none: the drain ends. What is left there. Of the
  /// controller's.
  Result<controller::ControllerCore::Left> drain_island(IslandId island,
                                                        std::optional<controller::Drain> how) {
    if (Status status = controller_->drain_island(island, how); !status.ok()) return status;
    return controller_->core().left_on(island);
  }
  const island::SchedulerActor* scheduler() const { return scheduler_; }
  /// What its client, if it has one, waits for.
  std::string waiting() { return session_ ? session_->waiting() : ""; }
  /// Null without. Before the engine stops it is to be detached.
  Actors* actors() { return actors_.get(); }
  /// Of a client with actors; null otherwise. For tests.
  const Relay* relay() const { return relay_.get(); }
  /// Before the engine stops: the sessions of clients' actors end.
  void close_delegates() {
    if (delegates_) delegates_->close();
  }
  device::HostCore* host() { return host_ ? &host_->core() : nullptr; }
  device::AnnexCore* annex() { return annex_ ? &annex_->core() : nullptr; }

 private:
  actor::OffloadOptions offload() const;
  void play(const BackendFactory& make_backend);
  void begin_actors();
  void begin_sharing();
  void hear_relayed(const RoleName& from, std::uint32_t number, Frame frame);
  bool is_of_own_island(const RoleName& other) const;
  bool talks_with(const RoleName& other) const;
  void meet_all();
  void hear(const RoleName& from, const RoleName& to, Frame frame);
  void lose(const RoleName& peer, const Status& why);
  void on_news(const PeerNews& news);
  void tell_role(const PeerNews& news);
  void on_annex(const PeerNews& news);
  void orphan();
  void join();

  const MemberOptions options_;
  const Shape shape_;
  const MemberWiring wiring_;
  actor::Router router_;
  /// A session outlives its process in the hands of arrays, and touches it.
  const std::shared_ptr<transport::LocalBulk> bulk_ = std::make_shared<transport::LocalBulk>();
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<Actors> actors_;
  std::unique_ptr<Delegates> delegates_;  // Of a host,
  std::unique_ptr<Relay> relay_;          // and of a client.
  std::unique_ptr<program::SliceBinder> binder_;
  std::unique_ptr<device::Backend> backend_;
  controller::ControllerActor* controller_ = nullptr;  // Owned by the engine, as all actors.
  island::SchedulerActor* scheduler_ = nullptr;
  device::HostActor* host_ = nullptr;
  device::AnnexActor* annex_ = nullptr;
  std::shared_ptr<client::Session> session_;
  std::uint32_t controller_life_ = 0;  // The one that it serves; 0: none yet.
  std::set<std::uint32_t> annexes_;    // Of a host: those that have come.
  bool is_orphaned_ = false;
  Counts counts_;
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace seaway::cluster
