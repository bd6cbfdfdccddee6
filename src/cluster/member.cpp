// One role, and what its process hears of others.

#include "cluster/member.hpp"

#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "client/frames.hpp"
#include "client/session.hpp"
#include "cluster/door.hpp"
#include "cluster/member_messages.hpp"
#include "cluster/registry.hpp"
#include "cluster/role_options.hpp"

namespace seaway::cluster {

using actor::Role;

namespace {

/// The controller waits longer than the others wait for it, whose clocks may be slower by a tenth.
constexpr std::uint64_t kControllerPatiencePercent = 140;

}  // namespace

Member::Member(MemberOptions options, MemberWiring wiring, const BackendFactory& make_backend)
    : options_(std::move(options)), shape_(options_.cluster), wiring_(wiring) {
  PeersOptions peers;
  peers.self = process_of(options_.name, shape_);
  peers.life = options_.life;
  peers.seed = options_.seed;
  peers.on_out_of_memory = options_.on_out_of_memory;
  peers.tap = options_.tap;
  peers.heartbeat_ns = options_.heartbeat_ns;
  peers.silence_max_ns = options_.silence_ns;
  peers.control = options_.control;
  peers.bulk = options_.bulk;
  peers.reject_client = [this](const RoleName& client, const Status& why) { lose(client, why); };
  peers.tells_of_strangers = options_.clients_max == 0;
  if (options_.name.role == Role::kController) {
    peers.silence_max_ns = options_.silence_ns / 100 * kControllerPatiencePercent;
  }
  peers_ = std::make_unique<Peers>(
      wiring_.engine, wiring_.wires, peers,
      [this](const RoleName& from, const RoleName& to, Frame frame) {
        hear(from, to, std::move(frame));
      },
      [this](const PeerNews& news) { on_news(news); });
  router_.set_elsewhere([this](Role role, std::uint32_t index, Frame frame, transport::Lane lane) {
    // A host hears of a client before the client itself has found this life of the host.
    if (role == Role::kClient && options_.clients_max == 0) meet_client(index);
    peers_->send({role, index}, std::move(frame), lane);
  });
  router_.on_malformed([this](Role role, std::uint32_t index, const Status& why) {
    lose({role, index}, why);
  });
  play(make_backend);
  begin_actors();
  meet_all();
}

Member::~Member() = default;

/// Nothing ends in a role that has ended.
actor::OffloadOptions Member::offload() const {
  actor::OffloadOptions options = wiring_.offload;
  if (!options.offload) return options;
  options.offload = [offload = options.offload, here = std::weak_ptr<bool>(is_here_)](
                        std::function<void()> work, std::function<void()> then) {
    offload(std::move(work), [here, then = std::move(then)] {
      if (!here.expired()) then();
    });
  };
  return options;
}

void Member::play(const BackendFactory& make_backend) {
  const RoleName& name = options_.name;
  actor::Engine& engine = wiring_.engine;
  switch (name.role) {
    case Role::kController: {
      binder_ = make_binder(options_.cluster);
      controller::ControllerOptions options = controller_options(options_.cluster);
      options.has_members = true;
      options.life = options_.life;
      options.offload = offload();
      auto role = std::make_unique<controller::ControllerActor>(options, *binder_, router_,
                                                                engine.clock(), wiring_.events);
      controller_ = role.get();
      controller_->supervise(engine, [this](IslandId island) {
        const Status failed(StatusCode::kIslandUnavailable, "its island has failed");
        peers_->begin_anew({Role::kHost, island}, failed);
        peers_->begin_anew({Role::kIsland, island}, failed);
      });
      return router_.bind(name.role, name.index, engine.spawn("controller", std::move(role)));
    }
    case Role::kIsland: {
      auto role =
          std::make_unique<island::SchedulerActor>(name.index, scheduler_options(options_.cluster),
                                                   router_, engine.clock(), wiring_.events, true);
      scheduler_ = role.get();
      scheduler_->use(offload());
      return router_.bind(name.role, name.index,
                          engine.spawn("scheduler" + std::to_string(name.index), std::move(role)));
    }
    case Role::kHost: {
      backend_ = make_backend(name.index, [this] { host_->idle(); });
      device::HostCore::Options options = host_options(options_.cluster, name.index);
      options.is_process = true;
      options.life = options_.life;
      options.hosts = shape_.hosts;
      auto role = std::make_unique<device::HostActor>(
          options,
          device::HostWiring{engine, router_, *bulk_, wiring_.natives, wiring_.events, nullptr,
                             wiring_.near, wiring_.data, wiring_.spill, offload()},
          *backend_);
      host_ = role.get();
      return router_.bind(name.role, name.index,
                          engine.spawn("host" + std::to_string(name.index), std::move(role)));
    }
    case Role::kAnnex: {
      const IslandId island = actor::island_of_annex(name.index);
      const std::uint32_t host = actor::host_of_annex(name.index);
      backend_ = make_backend(island, [this] { annex_->idle(); });
      auto role = std::make_unique<device::AnnexActor>(
          island, host,
          device::AnnexWiring{router_, wiring_.natives, wiring_.near, wiring_.data,
                              options_.cluster.exchange, offload()},
          *backend_);
      annex_ = role.get();
      return router_.bind(name.role, name.index,
                          engine.spawn("host" + std::to_string(island) + "." + std::to_string(host),
                                       std::move(role)));
    }
    case Role::kClient:
      return;  // Its role begins with connect().
  }
}

void Member::hear(const RoleName& from, const RoleName& to, Frame frame) {
  // What is for a role that is not here was not meant for this process.
  if (!router_.is_here(to.role, to.index)) return;
  DoorLimits limits{shape_.islands, options_.cluster.devices};
  if (from.role == Role::kClient && options_.tenant_of)
    limits.tenant = options_.tenant_of(from.index);
  const Status status = check_at_door(from, to, frame, limits);
  if (!status.ok()) return lose(from, status);
  if (relay_ && !relay_->hand_on(frame)) return;
  router_.send(to.role, to.index, std::move(frame));
}

/// Both hear of it as of any other loss: a client's own things go, of two roles of the mesh the
/// controller begins what they share anew, and whoever loses the controller begins a new life.
void Member::lose(const RoleName& peer, const Status& why) {
  if (why.code() != StatusCode::kDeadlineExceeded) ++counts_.malformed;  // It is only late.
  // Not within what its conversation is about to do.
  wiring_.engine.post([this, peer, why, here = std::weak_ptr<bool>(is_here_)] {
    if (here.expired()) return;
    if (peer.role == Role::kClient && options_.end_session) {
      options_.end_session(process_of(peer, shape_), why);
    } else {
      peers_->begin_anew(peer, why);
    }
  });
}

void Member::begin_actors() {
  const Role self = options_.name.role;
  if (!options_.has_actors || self == Role::kIsland) return;
  ActorsOptions actors;
  actors.name = options_.name;
  actors.shape = shape_;
  actors.life = options_.life;
  actors.seed = options_.seed;
  actors.types = options_.types;
  actors.frame_bytes_max = options_.cluster.frame_bytes;
  actors.tenant_of = options_.tenant_of;
  actors.lose = [this](transport::ProcessId process, const Status& why) {
    lose(role_of(process, shape_), why);
  };
  actors.client_of = [this](std::uint32_t client) -> Result<Client> {
    if (delegates_) return delegates_->client_of(client);
    return invalid_argument("only actors in hosts' processes have sessions");
  };
  actors_ = std::make_unique<Actors>(wiring_.engine, *peers_, std::move(actors));
  peers_->hear_silos([this](transport::ProcessId from, std::uint32_t silo, Frame frame) {
    actors_->on_frame(from, silo, std::move(frame));
  });
  begin_sharing();
}

/// What a client and its actors on hosts have in common: its session.
void Member::begin_sharing() {
  if (options_.name.role == Role::kController) return;
  if (options_.name.role == Role::kClient) {
    RelayOptions relay;
    relay.shape = shape_;
    relay.client = options_.name.index;
    relay.life = options_.life;
    relay.devices = options_.cluster.devices;
    relay_ = std::make_unique<Relay>(wiring_.engine, *peers_, *actors_, router_, std::move(relay));
    actors_->use(*relay_);
  } else {
    DelegatesOptions delegates;
    delegates.shape = shape_;
    delegates.host = app::host_of_silo(actors_->self());
    delegates.life = options_.life;
    delegates.devices = options_.cluster.devices;
    delegates.device_memory = options_.cluster.device_memory;
    delegates.frame_bytes_max = options_.cluster.frame_bytes;
    delegates.meet = [this](ClientId client) {
      if (options_.clients_max == 0) meet_client(client);
    };
    delegates.check_native = [this](const function::NativeFunction& native) -> Status {
      if (options_.check_native) return options_.check_native(name_of(native));
      return not_found("this host knows no native functions");
    };
    delegates_ =
        std::make_unique<Delegates>(wiring_.engine, *peers_, *actors_, std::move(delegates));
    actors_->use(*delegates_);
  }
  peers_->hear_relayed([this](const RoleName& from, std::uint32_t number, Frame frame) {
    hear_relayed(from, number, std::move(frame));
  });
}

void Member::hear_relayed(const RoleName& from, std::uint32_t number, Frame frame) {
  Status status = protocol_error(to_string(from) + " has no delegates, and is none");
  if (delegates_ && from.role == Role::kClient) {
    status = number == kRelayWords ? delegates_->on_words(from.index, frame)
                                   : delegates_->on_answer(from.index, std::move(frame));
  } else if (relay_ && from.role != Role::kController && from.role != Role::kIsland) {
    const app::SiloId silo = actors_->silo_of(from);
    status = number == kRelayWords ? relay_->on_words(silo, frame)
                                   : relay_->on_payload(silo, number - 1, std::move(frame));
  }
  if (!status.ok()) lose(from, status);
}

/// Of two hosts.
bool Member::is_of_own_island(const RoleName& other) const {
  const auto island_of = [](const RoleName& name) -> std::optional<IslandId> {
    if (name.role == Role::kHost) return name.index;
    if (name.role == Role::kAnnex) return actor::island_of_annex(name.index);
    return std::nullopt;
  };
  const auto own = island_of(options_.name);
  return own && own == island_of(other);
}

/// Schedulers and clients have nothing to say to each other, nor has one island's scheduler to
/// another one's host. An annex talks with its island's other hosts, and the controller knows who
/// lives; whoever has actors talks with whoever else has.
bool Member::talks_with(const RoleName& other) const {
  const RoleName& self = options_.name;
  if (self.role == Role::kController) return true;
  switch (other.role) {
    case Role::kController:
      return true;
    case Role::kIsland:
      return self.role == Role::kIsland || (self.role == Role::kHost && self.index == other.index);
    case Role::kHost:
      if (self.role == Role::kIsland) return self.index == other.index;
      return self.role != Role::kAnnex || actors_ ||
             actor::island_of_annex(self.index) == other.index;
    case Role::kAnnex:
      return actors_ || is_of_own_island(other);
    case Role::kClient:
      return self.role == Role::kHost || (self.role == Role::kAnnex && actors_);
  }
  return false;
}

void Member::meet_all() {
  const auto meet = [this](RoleName other) {
    if (talks_with(other)) peers_->meet(process_of(other, shape_), other);
  };
  const transport::ProcessId roles = last_role_process(shape_);
  for (transport::ProcessId process = 0; process <= roles; ++process)
    meet(role_of(process, shape_));
  for (ClientId client = 1; client <= options_.clients_max; ++client) {
    meet({Role::kClient, client});
  }
}

void Member::leave() {
  if (actors_) actors_->finish();
  // The controller last.
  for (transport::ProcessId process = last_role_process(shape_) + 1; process-- > 0;) {
    peers_->leave(process);
  }
}

void Member::meet_client(ClientId client) {
  const RoleName name{Role::kClient, client};
  if (talks_with(name)) peers_->meet(process_of(name, shape_), name);
}

void Member::on_news(const PeerNews& news) {
  if (is_orphaned_) return;
  if (news.is_lost && options_.explain_loss) {
    const std::string more = options_.explain_loss(news.name);
    if (!more.empty()) return tell_role({news.name, news.life, true, news.reason + ": " + more});
  }
  tell_role(news);
}

void Member::tell_role(const PeerNews& news) {
  if (options_.on_peer) options_.on_peer(news);
  const bool ends_session =
      options_.name.role == Role::kClient && news.is_lost && news.name.role == Role::kController;
  if (actors_ && ends_session) {
    // Before its calls hear of the loss itself, which is less than the reason.
    actors_->end_calls(client::frames::controller_lost(options_.name.index, news.reason));
  }
  if (actors_) actors_->on_news(news);
  if (relay_ && news.is_lost && news.name.role != Role::kIsland) {
    relay_->on_gone(actors_->silo_of(news.name), news.life);
  }
  if (news.is_lost && news.name.role == Role::kClient && options_.clients_max == 0) {
    // Its number is never used again. Not within what the conversation is about to do.
    wiring_.engine.post(
        [this, process = process_of(news.name, shape_), here = std::weak_ptr<bool>(is_here_)] {
          if (!here.expired()) peers_->leave(process);
        });
  }
  const RoleName& self = options_.name;
  const auto host = data_peer_of(news.name);
  const bool is_reader =
      is_of_own_island(news.name) || (self.role == Role::kHost && news.name.role == Role::kHost);
  if (wiring_.near && host && is_reader) {
    news.is_lost ? wiring_.near->lose(*host) : wiring_.near->meet(*host, news.life);
  }
  const bool is_follower =
      self.role == Role::kIsland || self.role == Role::kHost || self.role == Role::kAnnex;
  if (is_follower && news.name.role == Role::kController) {
    if (!news.is_lost && controller_life_ == 0) {
      controller_life_ = news.life;
      return join();
    }
    // One that it has never talked with, but has enrolled with, is as gone: the next one does not
    // know this life.
    return is_orphaned_ ? void() : orphan();
  }
  if (news.name.role == Role::kAnnex) return on_annex(news);
  if (router_.is_here(self.role, self.index)) router_.send(self.role, self.index, peer_frame(news));
}

/// No role hears of annexes. For their host the loss of one is its own: what lay there is gone, and
/// what ran there. The controller knows of hosts alone, which end with their annexes. What one
/// annex has said to another may be lost, too: their host learns of it by losing the one that
/// tells.
void Member::on_annex(const PeerNews& news) {
  const RoleName& self = options_.name;
  if (annex_ && news.is_lost && is_of_own_island(news.name) &&
      annex_->core().exchanges().has_begun()) {
    SEAWAY_PROBE("an annex loses another one");
    const RoleName host{Role::kHost, actor::island_of_annex(self.index)};
    const Status why(StatusCode::kHostLost,
                     to_string(self) + " has lost " + to_string(news.name) + ": " + news.reason);
    wiring_.engine.post([this, host, why, here = std::weak_ptr<bool>(is_here_)] {
      if (!here.expired()) peers_->begin_anew(host, why);
    });
  }
  if (self.role != Role::kHost || actor::island_of_annex(news.name.index) != self.index) return;
  if (annexes_.contains(news.name.index)) return orphan();
  if (news.is_lost) return;  // Nobody was there yet.
  annexes_.insert(news.name.index);
  join();
}

void Member::orphan() {
  is_orphaned_ = true;
  options_.on_orphaned();
}

void Member::data_came() {
  if (host_) host_->idle();
  if (annex_) annex_->idle();
}

void Member::call_back(ClientId client) {
  if (host_) host_->call_back(client);
}

Status Member::take_file(ArrayId array, transport::Payload payload) {
  return host_->take_file(array, std::move(payload));
}

void Member::end_data() {
  if (session_) session_->end_streams();
}

/// The first word of this life. A host has nothing to lend before its annexes are there, and for
/// them it speaks.
void Member::join() {
  const Role self = options_.name.role;
  const std::size_t annexes = self == Role::kHost ? shape_.hosts - 1 : 0;
  if (self == Role::kAnnex || controller_life_ == 0 || annexes_.size() < annexes) return;
  router_.send(Role::kController, 0, join_frame(options_.name, options_.life));
}

Result<Client> Member::connect(ClientOptions options, std::shared_ptr<void> keep_alive) {
  SEAWAY_CHECK(options_.name.role == Role::kClient, options_.name.index);
  client::Wiring wiring;
  wiring.engine = &wiring_.engine;
  wiring.router = &router_;
  wiring.bulk = bulk_.get();
  wiring.owns = bulk_;
  wiring.client = options_.name.index;
  wiring.islands = shape_.islands;
  wiring.hosts = shape_.hosts;
  wiring.devices = options_.cluster.devices;
  wiring.device_memory = options_.cluster.device_memory;
  wiring.frame_bytes_max = options_.cluster.frame_bytes;
  wiring.is_process = true;
  wiring.register_native = [this](const function::NativeFunction& native) -> Status {
    if (options_.check_native) {
      if (Status status = options_.check_native(name_of(native)); !status.ok()) return status;
    }
    if (wiring_.natives.add(native.name, function::make_native(native))) return {};
    return invalid_argument("native function " + native.name +
                            " is registered already; choose another name");
  };
  if (actors_) {
    wiring.open_caller = [this]() -> Result<std::shared_ptr<internal::Caller>> {
      auto caller = actors_->open();
      if (!caller.ok()) return caller.status();
      return std::shared_ptr<internal::Caller>(*std::move(caller));
    };
  }
  wiring.keeper = relay_.get();
  wiring.data = wiring_.data;
  wiring.give_file = wiring_.give_file;
  session_ = client::make_session(std::move(wiring), std::move(options));
  if (relay_) relay_->use(session_);
  if (Status status = session_->open(); !status.ok()) return status;
  return client::make_client(session_, std::move(keep_alive));
}

}  // namespace seaway::cluster
