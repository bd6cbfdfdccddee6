// Processes that come and go.

#include "sim/process_cluster.hpp"

#include <utility>

#include "base/check.hpp"

namespace seaway::sim {

using actor::Role;
using cluster::RoleName;
using transport::ProcessId;
using Kind = ProcessFault::Kind;

namespace {

constexpr std::uint64_t kDelayStream = 0x64656c6179730000;
constexpr std::uint64_t kDeathStream = 0x6465617468730000;
constexpr std::uint64_t kBulkStream = 0x62756c6b00000000;
constexpr std::uint64_t kControlStream = 0x636f6e74726f6c00;
constexpr std::uint64_t kOffloadStream = 0x6f66666c6f616400;
constexpr std::uint64_t kMachineStream = 0x6d616368696e6573;
constexpr std::uint64_t kDataStream = 0x6461746100000000;
/// How long it takes until another host's memory is there to be read.
constexpr std::uint64_t kFetchNsMax = 10'000'000;
constexpr std::uint64_t kValueBytes = 2048, kValueNsMax = 50'000'000;
constexpr std::uint64_t kPrepareNsMax = 5'000'000;
constexpr std::uint64_t kControlBytes = 16'384, kCreditPackets = 32;
/// How soon whoever supervises a process starts it again.
constexpr std::uint64_t kRestartNsMax = 100'000'000;

bool is_of_links(Kind kind) {
  return kind == Kind::kIsolate || kind == Kind::kDeafen || kind == Kind::kMute ||
         kind == Kind::kCutPair;
}

std::uint32_t process_count(const ProcessCluster::Options& options) {
  return cluster::process_of({Role::kClient, options.clients_max},
                             cluster::Shape(options.cluster)) +
         1;
}

/// Values of worlds are small: chunks are smaller, or there is one a value, as in real clusters.
/// Not so small that a value takes long over these wires: requests have their time.
transport::FrameLaneOptions draw_bulk(std::uint64_t seed, const transport::WireOptions& wires) {
  RandomStream draws(seed, kBulkStream);
  transport::FrameLaneOptions bulk;
  if (draws.below(4) == 0) return bulk;
  bulk.packet_bytes = sizeof(std::uint64_t) << draws.below(6);
  bulk.credit_packets = 1 + draws.below(4);
  const auto trips = [&bulk] { return kValueBytes / (bulk.packet_bytes * bulk.credit_packets); };
  while (trips() * 2 * wires.latency_max_ns > kValueNsMax) bulk.packet_bytes *= 2;
  return bulk;
}

/// In half of all worlds ordinary control frames take several packets.
transport::FrameLaneOptions draw_control(std::uint64_t seed, const transport::WireOptions& wires) {
  RandomStream draws(seed, kControlStream);
  transport::FrameLaneOptions control = transport::control_lane();
  if (draws.below(2) == 0) return control;
  control.packet_bytes = std::size_t{64} << draws.below(4);
  const auto trips = [&control] { return kControlBytes / (kCreditPackets * control.packet_bytes); };
  while (trips() * 2 * wires.latency_max_ns > kValueNsMax) control.packet_bytes *= 2;
  control.credit_bytes = kCreditPackets * control.packet_bytes;
  return control;
}

/// In half of all worlds work is offloaded, and in half of these hardly anything may wait for it.
std::optional<actor::HeldLimits> draw_offload(std::uint64_t seed) {
  RandomStream draws(seed, kOffloadStream);
  if (draws.below(2) != 0) return std::nullopt;
  actor::HeldLimits held;
  if (draws.below(2) == 0) held.frames = 1 + draws.below(8);
  return held;
}

/// In half of all worlds values are fetched, in most of these all of them.
SimDataNetwork draw_data(std::uint64_t seed) {
  SimDataNetwork network{UINT64_MAX, 0, 0, RandomStream(seed, kDataStream), {}};
  if (network.draws.below(2) == 0) return network;
  network.bytes_min = network.draws.below(4) == 0 ? 64 : 1;
  network.step_ns_max = network.draws.below(4) == 0 ? 2'000'000 : 100'000;
  if (network.draws.below(2) == 0)
    network.break_1_in = 4 + static_cast<std::uint32_t>(network.draws.below(16));
  return network;
}

}  // namespace

ProcessCluster::ProcessCluster(Options options, actor::SeededEngine& engine,
                               events::EventStream& events, MakeBackend make_backend)
    : options_(std::move(options)),
      shape_(options_.cluster),
      engine_(engine),
      events_(events),
      make_backend_(std::move(make_backend)),
      wires_(process_count(options_), options_.faults.wires, engine.clock(),
             [this](std::uint64_t at_ns, std::function<void()> work) {
               engine_.schedule(at_ns, std::move(work));
             }),
      delays_(options_.seed, kDelayStream),
      machines_(options_.seed, kMachineStream),
      has_one_machine_(machines_.below(2) == 0),
      data_(draw_data(options_.seed)),
      control_(draw_control(options_.seed, options_.faults.wires)),
      bulk_(draw_bulk(options_.seed, options_.faults.wires)),
      offload_(draw_offload(options_.seed)),
      done_(kProcessFaultKinds) {
  data_.find = [this](HostId self, HostId peer) { return find_data(self, peer); };
  start({Role::kController, 0});
  for (IslandId island = 0; island < shape_.islands; ++island) {
    start({Role::kIsland, island});
    start({Role::kHost, island});
    for (std::uint32_t host = 1; host < shape_.hosts; ++host) {
      start({Role::kAnnex, actor::annex_of(island, host)});
    }
  }
  for (const ProcessFault& fault : options_.faults.faults) {
    engine_.schedule(fault.at_ns, [this, &fault] { begin(fault); });
  }
}

ProcessCluster::~ProcessCluster() {
  for (auto& [id, place] : places_) {
    if (place.process && place.process->is_alive()) {
      wires_.detach(cluster::process_of(place.name, shape_), false);
      if (place.data) place.data->close();
      place.process->kill();
    }
    release(place);
  }
}

/// Its process has ended. As with a real one: whoever still waits for a value holds the session,
/// and that holds whoever waits.
void ProcessCluster::release(Place& place) {
  if (place.member) {
    refusals_ += refusals_in(place);
    place.member->end_data();
  }
  place.data.reset();
  place.member.reset();
  place.near.reset();
}

ProcessCluster::Voice::Voice(ProcessCluster& heard_in, RoleName of)
    : cluster(heard_in), name(of), stream(1) {
  stream.add_observer(*this);
}

void ProcessCluster::Voice::record(const events::Event& event) {
  cluster.events_.record(event);
  // A process that ends has nobody who could answer questions about what it says.
  if (!cluster.member(name)) return;
  for (ProcessSink* sink : cluster.options_.sinks) sink->record(name, event);
}

ProcessCluster::Place& ProcessCluster::place_of(const RoleName& name) {
  Place& place = places_[cluster::process_of(name, shape_)];
  place.name = name;
  return place;
}

cluster::Member* ProcessCluster::member(const RoleName& name) {
  const Place& place = place_of(name);
  return place.process && place.process->is_alive() ? place.member.get() : nullptr;
}

void ProcessCluster::start(const RoleName& name) {
  Place& place = place_of(name);
  SEAWAY_CHECK(!place.process);
  ++place.life;
  ++starts_;
  place.process =
      engine_.make_process(cluster::to_string(name) + ", life " + std::to_string(place.life));
  place.process->set_clock(place.skew);
  cluster::MemberOptions options;
  options.cluster = options_.cluster;
  options.name = name;
  options.clients_max = options_.clients_max;
  options.life = place.life;
  options.seed = options_.seed;
  options.control = control_;
  options.bulk = bulk_;
  options.on_orphaned = [this, name, life = place.life] {
    engine_.post([this, name, life] {
      const Place& orphan = place_of(name);
      if (orphan.life != life || !orphan.process) return;
      for (ProcessSink* sink : options_.sinks) sink->orphaned(name);
      kill(name, 1 + delays_.below(kRestartNsMax));
    });
  };
  options.has_actors = options_.types != nullptr;
  options.types = options_.types;
  options.on_out_of_memory = [this, name] { die(name); };
  options.tenant_of = options_.tenant_of;
  if (options_.tap) {
    options.tap = [this, name](ProcessId to, std::uint32_t channel, Frame& frame) {
      options_.tap(name, to, channel, frame);
    };
  }
  if (options_.on_peer) {
    options.on_peer = [this, name](const cluster::PeerNews& news) { options_.on_peer(name, news); };
  }
  actor::Engine& engine = *place.process;
  place.voice = std::make_unique<Voice>(*this, name);
  const auto host = cluster::data_peer_of(name);
  if (host && has_one_machine_) place.near = make_near(*host, place.life, engine);
  if (name.role == Role::kHost && options_.make_spill) {
    place.spill = options_.make_spill(engine, name.index, place.life);
  }
  const auto peer =
      name.role == Role::kClient ? std::optional(actor::data_peer_of_client(name.index)) : host;
  if (peer && data_.bytes_min != UINT64_MAX) {
    place.data = std::make_unique<SimDataPlane>(*peer, engine, data_,
                                                [&place] { place.member->data_came(); });
  }
  place.member = std::make_unique<cluster::Member>(
      std::move(options),
      cluster::MemberWiring{engine,
                            wires_,
                            place.voice->stream,
                            natives_,
                            place.near.get(),
                            place.data.get(),
                            place.spill.get(),
                            {},
                            offload(engine)},
      [this, &engine](IslandId island, std::function<void()> on_progress) {
        return make_backend_(engine, island, std::move(on_progress));
      });
  for (ProcessSink* sink : options_.sinks) sink->started(name, place.life);
}

/// In half of all worlds programs of a few nodes are prepared as long ones are: later, and while
/// other things happen.
actor::OffloadOptions ProcessCluster::offload(actor::Engine& engine) {
  if (!offload_) return {};
  return {.offload =
              [this, &engine](std::function<void()> work, std::function<void()> then) {
                engine.schedule(engine.clock().now_ns() + 1 + machines_.below(kPrepareNsMax),
                                [work = std::move(work), then = std::move(then)] {
                                  work();
                                  then();
                                });
              },
          .frame_bytes_min = 0,
          .nodes_min = 0,
          .held = *offload_};
}

/// A host's memory is there for others as long as it lives; who has it keeps it. Some have little
/// that can be lent, and cannot be read by everybody.
std::unique_ptr<transport::NearMemory> ProcessCluster::make_near(HostId host, std::uint32_t life,
                                                                 actor::Engine& engine) {
  constexpr std::size_t kLine = 64;
  const std::size_t lines =
      transport::NearMemory::kTableBytes / kLine + (std::size_t{64} << machines_.below(12));
  struct alignas(kLine) Line {
    std::byte bytes[kLine];
  };
  const auto all = std::make_shared<std::vector<Line>>(lines);
  transport::SharedRegion region{{all->front().bytes, lines * kLine}, all};
  regions_[host] = {life, region};
  return std::make_unique<transport::NearMemory>(
      std::move(region), [this, &engine](HostId peer, std::uint32_t peer_life, auto done) {
        engine.schedule(engine.clock().now_ns() + 1 + machines_.below(kFetchNsMax),
                        [this, peer, peer_life, done] {
                          const auto found = regions_.find(peer);
                          const bool is_there =
                              found != regions_.end() && found->second.first == peer_life;
                          if (!is_there || machines_.below(8) == 0) {
                            return done(not_found("that host lends nothing"));
                          }
                          done(found->second.second);
                        });
      });
}

SimDataPlane* ProcessCluster::find_data(HostId self, HostId peer) {
  const Place& place = place_of(cluster::role_of_peer(peer));
  if (!place.data || !place.process->is_alive() || place.process->is_paused()) return nullptr;
  const ProcessId one = cluster::process_of(cluster::role_of_peer(self), shape_);
  const ProcessId other = cluster::process_of(cluster::role_of_peer(peer), shape_);
  const auto is_blocked = [this](ProcessId from, ProcessId to) {
    const auto found = blocks_.find({from, to});
    return found != blocks_.end() && found->second > 0;
  };
  return is_blocked(one, other) || is_blocked(other, one) ? nullptr : place.data.get();
}

/// Nothing of it is heard from here on; what is left of it goes with end().
void ProcessCluster::fall_silent(Place& place) {
  if (!place.process->is_alive()) return;
  for (ProcessSink* sink : options_.sinks) sink->ended(place.name, place.life);
  wires_.detach(cluster::process_of(place.name, shape_), false);
  if (place.data) place.data->close();
  place.process->kill();
  if (const auto host = cluster::data_peer_of(place.name)) regions_.erase(*host);
}

void ProcessCluster::end(const RoleName& name) {
  Place& place = place_of(name);
  if (!place.process) return;
  fall_silent(place);
  release(place);
  place.process.reset();
  place.spill.reset();
  place.voice.reset();
}

void ProcessCluster::kill(const RoleName& name, std::uint64_t delay_ns) {
  end(name);
  if (name.role == Role::kClient) {
    if (!ended_clients_.contains(name.index)) killed_clients_.insert(name.index);
    ended_clients_.insert(name.index);
    return;
  }
  restart_later(name, is_healed_ ? 1 : delay_ns);
}

void ProcessCluster::crash_again(const ProcessFault& fault) {
  if (is_healed_ || engine_.now_ns() >= fault.at_ns + fault.duration_ns) return;
  if (place_of(fault.target).process) kill(fault.target, 1 + delays_.below(kRestartNsMax));
  engine_.schedule(engine_.now_ns() + static_cast<std::uint64_t>(fault.amount),
                   [this, &fault] { crash_again(fault); });
}

/// Within a handler of its own, which goes on to its end unheard.
void ProcessCluster::die(const RoleName& name) {
  Place& place = place_of(name);
  if (!place.process || !place.process->is_alive()) return;
  ProcessFault fault;
  fault.kind = Kind::kKill;
  fault.at_ns = engine_.now_ns();
  fault.duration_ns =
      1 + RandomStream(options_.seed, kDeathStream + done(fault.kind)).below(kRestartNsMax);
  fault.target = name;
  ++done_[static_cast<std::size_t>(fault.kind)];
  for (ProcessSink* sink : options_.sinks) sink->began(fault);
  fall_silent(place);
  engine_.post([this, name, life = place.life, delay_ns = fault.duration_ns] {
    const Place& dead = place_of(name);
    if (dead.life == life && dead.process) kill(name, delay_ns);
  });
}

void ProcessCluster::restart_later(const RoleName& name, std::uint64_t delay_ns) {
  Place& place = place_of(name);
  if (std::exchange(place.is_starting, true)) return;
  engine_.schedule(engine_.now_ns() + delay_ns, [this, name] {
    Place& down = place_of(name);
    down.is_starting = false;
    if (!down.process) start(name);
  });
}

void ProcessCluster::start_client(ClientId client, Body body) {
  const RoleName name{Role::kClient, client};
  start(name);
  Place& place = place_of(name);
  place.process->spawn_body("client" + std::to_string(client),
                            [this, client, &place, body = std::move(body)] {
                              body(*place.member, *place.process);
                              engine_.post([this, client] { ended_clients_.insert(client); });
                            });
}

bool ProcessCluster::has_ended(ClientId client) const { return ended_clients_.contains(client); }

void ProcessCluster::begin(const ProcessFault& fault) {
  if (is_healed_) return;
  const Place& place = place_of(fault.target);
  if (!is_of_links(fault.kind) && !place.process) return;
  if (fault.kind == Kind::kCutPair && fault.target == fault.other) return;
  ++done_[static_cast<std::size_t>(fault.kind)];
  for (ProcessSink* sink : options_.sinks) sink->began(fault);
  if (fault.kind != Kind::kKill && fault.kind != Kind::kKillMachine) {
    engine_.schedule(fault.at_ns + fault.duration_ns, [this, &fault] { finish(fault); });
  }
  switch (fault.kind) {
    case Kind::kKill:
      return kill(fault.target, fault.duration_ns);
    case Kind::kKillMachine:
      kill({Role::kIsland, fault.target.index}, fault.duration_ns);
      return kill({Role::kHost, fault.target.index}, fault.duration_ns);
    case Kind::kCrashLoop:
      return crash_again(fault);
    case Kind::kDrain: {
      const auto how =
          fault.number % 2 == 0 ? controller::Drain::kUntilEnded : controller::Drain::kUntilJoined;
      // Whoever waits for the end asks again.
      engine_.schedule(fault.at_ns + fault.duration_ns / 2, [this, &fault, how] {
        if (!is_healed_) drain(fault.target.index, how);
      });
      return drain(fault.target.index, how);
    }
    case Kind::kPause:
      return place.process->pause();
    case Kind::kIsolate:
      return block(fault.target, true, true, true);
    case Kind::kDeafen:
      return block(fault.target, true, false, true);
    case Kind::kMute:
      return block(fault.target, false, true, true);
    case Kind::kCutPair: {
      const ProcessId one = cluster::process_of(fault.target, shape_);
      const ProcessId other = cluster::process_of(fault.other, shape_);
      block(one, other, true);
      return block(other, one, true);
    }
    case Kind::kClockJump:
    case Kind::kClockRate:
      return set_clock(fault.target, fault, true);
  }
}

void ProcessCluster::finish(const ProcessFault& fault) {
  if (is_healed_) return;
  for (ProcessSink* sink : options_.sinks) sink->finished(fault);
  switch (fault.kind) {
    case Kind::kKill:
    case Kind::kKillMachine:
    case Kind::kCrashLoop:
      return;
    case Kind::kPause: {
      const Place& place = place_of(fault.target);
      if (place.process && place.process->is_paused()) place.process->resume();
      return;
    }
    case Kind::kIsolate:
      return block(fault.target, true, true, false);
    case Kind::kDeafen:
      return block(fault.target, true, false, false);
    case Kind::kMute:
      return block(fault.target, false, true, false);
    case Kind::kCutPair: {
      const ProcessId one = cluster::process_of(fault.target, shape_);
      const ProcessId other = cluster::process_of(fault.other, shape_);
      block(one, other, false);
      return block(other, one, false);
    }
    case Kind::kDrain:
      return drain(fault.target.index, {});
    case Kind::kClockJump:
    case Kind::kClockRate:
      return set_clock(fault.target, fault, false);
  }
}

std::uint64_t ProcessCluster::refusals_in(const Place& place) {
  // A client's relay may reject messages of a delegate's previous conversation (seed 59080).
  const bool is_counted = place.member && place.name.role != Role::kClient;
  return is_counted ? place.member->counts().malformed : 0;
}

std::uint64_t ProcessCluster::refusals() const {
  std::uint64_t count = refusals_;
  for (const auto& [process, place] : places_) count += refusals_in(place);
  return count;
}

/// As its operator asks the controller, if that is there.
void ProcessCluster::drain(IslandId island, std::optional<controller::Drain> how) {
  post({Role::kController, 0}, [island, how](cluster::Member& controller) {
    const auto left = controller.drain_island(island, how);
    SEAWAY_CHECK(left.ok(), island, left.status().to_string());
  });
}

void ProcessCluster::post(const RoleName& name, std::function<void(cluster::Member& member)> work) {
  const Place& place = place_of(name);
  if (!place.process || !place.process->is_alive()) return;
  place.process->post([this, name, work = std::move(work), life = place.life] {
    const Place& asked = place_of(name);
    if (asked.life == life && asked.member) work(*asked.member);
  });
}

void ProcessCluster::block(const RoleName& name, bool in, bool out, bool is_blocked) {
  const ProcessId self = cluster::process_of(name, shape_);
  for (ProcessId other = 0; other < process_count(options_); ++other) {
    if (other == self) continue;
    if (in) block(other, self, is_blocked);
    if (out) block(self, other, is_blocked);
  }
}

/// A direction that several faults block is open again when the last of them is over.
void ProcessCluster::watch_writes(WatchWrites watch) {
  wires_.watch([this, watch = std::move(watch)](ProcessId from, ProcessId to, std::uint64_t bytes,
                                                std::uint64_t arrives_ns) {
    const auto one = places_.find(from), other = places_.find(to);
    if (one == places_.end() || other == places_.end()) return;
    watch(one->second.name, other->second.name, bytes, arrives_ns);
  });
}

void ProcessCluster::block(ProcessId from, ProcessId to, bool is_blocked) {
  int& blocks = blocks_[{from, to}];
  blocks += is_blocked ? 1 : -1;
  if (blocks == (is_blocked ? 1 : 0)) wires_.block(from, to, is_blocked);
}

void ProcessCluster::set_clock(const RoleName& name, const ProcessFault& fault, bool is_wrong) {
  Place& place = place_of(name);
  const std::int64_t amount = is_wrong ? fault.amount : 0;
  (fault.kind == Kind::kClockJump ? place.skew.offset_ns : place.skew.rate_ppm) = amount;
  if (place.process) place.process->set_clock(place.skew);
}

void ProcessCluster::heal() {
  if (std::exchange(is_healed_, true)) return;
  for (ProcessSink* sink : options_.sinks) sink->healed();
  for (const auto& [link, blocks] : blocks_) {
    if (blocks > 0) wires_.block(link.first, link.second, false);
  }
  blocks_.clear();
  for (IslandId island = 0; island < shape_.islands; ++island) drain(island, {});
  for (auto& [id, place] : places_) {
    if (place.process && place.process->is_paused()) place.process->resume();
    place.skew = {};
    if (place.process) place.process->set_clock({});
    if (!place.process && place.name.role != Role::kClient && !place.is_starting) {
      restart_later(place.name, 1);
    }
  }
}

}  // namespace seaway::sim
