// Wiring a world, sending damaged messages in it, and what has to hold.

#include "hostile/damaged_world.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "cluster/door.hpp"
#include "cluster/registry.hpp"
#include "hostile/refusals.hpp"
#include "seaway/app.hpp"
#include "sim/sim_backend.hpp"

namespace seaway::hostile {
namespace {

using actor::Role;
using cluster::RoleName;
using transport::ProcessId;

constexpr std::uint64_t kUs = 1'000, kMs = 1'000 * kUs, kSecond = 1'000 * kMs;
constexpr std::uint32_t kIslands = 3, kDevices = 2;
/// Where clients take part they often come back.
constexpr std::uint32_t kClientsMax = 64, kPairedClientsMax = 400;
/// No island fails.
constexpr std::uint32_t kRestarts = 1'000'000;
/// Share of messages that receivers refuse as they read them which are sent nevertheless.
constexpr unsigned kRefusedSentPercent = 3;
constexpr std::uint64_t kRefusedMax = 50;  // Per probe.
constexpr std::uint64_t kRequestNs = 3 * kSecond;
/// Until a gang that hangs is given up. Who runs behind it waits as long, on other islands too.
constexpr std::uint64_t kHangNs = kSecond;
/// Longer than any request, or any loss that is found out by silence.
constexpr std::uint64_t kPatienceNs = 20 * kSecond;
constexpr std::uint64_t kWarmUpNs = 20 * kSecond, kSettleNs = 40 * kSecond;
constexpr std::uint64_t kScoutNs = 20 * kMs, kScoutNsMax = 200 * kMs;
constexpr std::uint64_t kLatencyNs = 100 * kUs;  // At most.
constexpr unsigned kShortPausePercent = 75;      // Behind a message that was sent.
constexpr std::uint64_t kFrameNsMax = 20 * kMs;  // Until one of the kind is sent by itself.
/// Share of probes that wait for a message to be sent; the others follow with one that was. Where
/// none came in time, the share is halved each time, as far down as the second number.
constexpr unsigned kWaitingPercent = 32, kWaitingPercentMin = 1;
constexpr std::uint64_t kUnsentMax = 60;  // Probes of a world.
constexpr std::size_t kPoolMax = 32;
constexpr std::uint64_t kIdleNsMax = 100 * kMs;  // Of clients that use neither of the two.

bool has_annexes(const MessageKind& kind) {
  return kind.from == Role::kAnnex || kind.to == Role::kAnnex ||
         kind.name.starts_with("exchangeWords") || kind.name.starts_with("annex");
}

/// They are sent when the two lose each other, or their islands' roles do.
bool is_of_losses(const std::string& name) {
  return name == "view" || name == "islandState" || name == "complaint" || name == "cutEdges" ||
         name == "turn" || name == "weights";
}

bool is_unpacked(const std::string& name) {
  return name.starts_with("exchangeWords") && !name.ends_with("packed");
}

/// Sent to a client's hosts when it has lost another one of them.
bool is_of_heirs(const std::string& name) { return name == "relay.clientWords"; }
/// Its actors are on islands 0 and 1.
constexpr std::uint32_t kUserOfHeirs = 4, kIslandsOfHeirs = 2;

std::uint32_t island_of(const RoleName& name) {
  return name.role == Role::kAnnex ? actor::island_of_annex(name.index) : name.index;
}

bool is_of_island(const RoleName& name) {
  return name.role == Role::kIsland || name.role == Role::kHost || name.role == Role::kAnnex;
}

}  // namespace

DamagedWorld::DamagedWorld(std::uint64_t seed, const std::optional<MessageKind>& kind,
                           const std::set<Pair>& pairs, Report report)
    : seed_(seed),
      clients_max_(kClientsMax),
      kind_(pairs.empty() ? std::nullopt : kind),
      report_(std::move(report)),
      random_(seed, 0x64616d61676564),
      waiting_percent_(kWaitingPercent) {
  registry_.actor<sim::Sharer, Slice, std::vector<Array>, std::vector<std::int64_t>>();
  options_.islands = kIslands;
  options_.devices = kDevices;
  options_.threads = 1;
  options_.restarts = kRestarts;
  options_.gang_timeout_ns = kHangNs;
  options_.device_memory = options_.host_memory = options_.send_memory = std::uint64_t{1} << 22;
  const bool wants_annexes = kind ? has_annexes(*kind) : random_.chance(50);
  if (wants_annexes || random_.chance(15)) options_.hosts = random_.chance(70) ? 2 : 3;
  options_.devices = options_.hosts == 3 ? 3 : kDevices;
  constexpr std::uint64_t kPacked[] = {0, 16, 64, 4096};
  const std::uint64_t packed = kPacked[random_.below(std::size(kPacked))];
  // All messages of these worlds are small.
  options_.exchange.packed_bytes_max = kind && is_unpacked(kind->name) ? 0 : packed;
  options_.exchange.block_bytes = std::uint64_t{16} << random_.below(8);
  shape_ = cluster::Shape(options_);
  add_users();
  if (kind_) draw_pair(pairs);
  if (kind_ && (kind_->from == Role::kClient || kind_->to == Role::kClient)) {
    clients_max_ = kPairedClientsMax;
  }
  for (std::size_t user = 0; user < users_.size(); ++user) {
    CheckedClient::Habits& habits = users_[user].habits;
    if (kind_ && !is_touched(user)) {
      habits.pause_ns_max = kIdleNsMax;
      habits.may_rebind = islands_.empty();  // Else it could come to an island of the two.
    }
    if (kind_ && kind_->name.starts_with("why")) habits.why_percent = 100;
    if (kind_ && kind_->name == "cancels") habits.cancel_percent = 100;
  }
  actor::SeededOptions seeded;
  seeded.step_ns_max = 2'000;
  engine_ = actor::make_seeded_engine(seed, seeded);
  sim::ProcessCluster::Options cluster;
  cluster.cluster = options_;
  cluster.seed = seed;
  cluster.clients_max = clients_max_;
  cluster.tenant_of = [this](ClientId client) { return tenants_[client]; };
  cluster.types = &registry_.state().types;
  cluster.faults.wires.latency_max_ns = kLatencyNs;
  cluster.sinks = {this};
  cluster.tap = [this](const RoleName& from, ProcessId to, std::uint32_t channel, Frame& frame) {
    on_frame(from, to, channel, frame);
  };
  cluster.on_peer = [this](const RoleName& name, const cluster::PeerNews& news) {
    on_peer(name, news);
  };
  sim::CostModel cost;
  cost.in_stages = options_.hosts > 1;
  if (random_.chance(50)) cost.inline_percent = 50;
  if (random_.chance(50)) cost.ahead_percent = 50;
  cluster_ = std::make_unique<sim::ProcessCluster>(
      std::move(cluster), *engine_, events_,
      [this, cost](actor::Engine& engine, IslandId island, std::function<void()> on_progress) {
        return std::make_unique<sim::SimBackend>(engine, seed_, island, cost,
                                                 std::move(on_progress), [](const std::string&) {});
      });
  for (std::size_t user = 0; user < users_.size(); ++user) begin(user);
}

DamagedWorld::~DamagedWorld() {
  engine_->abandon_bodies();
  cluster_.reset();
  engine_.reset();
}

void DamagedWorld::add_users() {
  const auto add = [this](std::vector<std::uint32_t> islands, std::string tenant, bool has_actors,
                          std::string spawns = "", std::string finds = "") {
    User user;
    user.habits.islands = std::move(islands);
    user.habits.devices = options_.hosts == 3 ? 1 : kDevices;
    user.habits.hosts = options_.hosts;
    user.habits.has_actors = has_actors;
    user.habits.spawns = std::move(spawns);
    user.habits.finds = std::move(finds);
    user.tenant = std::move(tenant);
    users_.push_back(std::move(user));
  };
  add({0}, "one", false);
  add({2}, "two", false);
  add({0, 1}, "three", false);
  add({1, 2}, "four", false);
  add({0, 1}, "five", true, "sharer");
  add({2}, "six", true);
  add({0}, "five", true, "", "sharer");
}

void DamagedWorld::draw_pair(const std::set<Pair>& pairs) {
  std::tie(from_, to_) = *std::next(pairs.begin(), random_.below(pairs.size()));
  const bool has_client = kind_->from == Role::kClient || kind_->to == Role::kClient;
  for (const RoleName& name : {from_, to_}) {
    if (!is_of_island(name)) continue;
    islands_.insert(island_of(name));
    // They end with each other.
    if (options_.hosts == 1 || name.role == Role::kIsland) continue;
    allowed_.insert({Role::kHost, island_of(name)});
    for (std::uint32_t host = 1; host < options_.hosts; ++host) {
      allowed_.insert({Role::kAnnex, actor::annex_of(island_of(name), host)});
    }
  }
  if (is_of_heirs(kind_->name)) {
    is_stirring_ = true;
    lost_ = kIslandsOfHeirs - 1 - island_of(to_);
    islands_.insert(lost_);
    allowed_.insert({Role::kHost, lost_});
    for (std::uint32_t host = 1; host < options_.hosts; ++host) {
      allowed_.insert({Role::kAnnex, actor::annex_of(lost_, host)});
    }
  }
  if (is_of_losses(kind_->name) && !has_client) {
    is_stirring_ = true;
    for (const std::uint32_t of : islands_) {
      allowed_.insert({Role::kIsland, of});
      allowed_.insert({Role::kHost, of});
    }
  }
}

void DamagedWorld::begin(std::size_t user) {
  User& state = users_[user];
  if (last_client_ == clients_max_) return;
  if (state.client != 0) {
    gone_.insert(state.client);
    // As a process does that ends.
    cluster_->post({Role::kClient, state.client}, [](cluster::Member& member) { member.leave(); });
  }
  state.client = ++last_client_;
  state.changed_ns = engine_->now_ns();
  user_of_[state.client] = user;
  tenants_[state.client] = transport::tenant_key(state.tenant);
  cluster_->start_client(state.client,
                         [this, user](cluster::Member& member, actor::SeededProcess& process) {
                           be(user, member, process);
                         });
}

void DamagedWorld::be(std::size_t user, cluster::Member& member, actor::SeededProcess& process) {
  const ClientId id = member.name().index;
  const auto complain = [this, user, id](const std::string& what) {
    if (is_touched(user) || is_over_) return;
    effect("client " + std::to_string(id) + " of tenant " + users_[user].tenant + ": " + what);
  };
  ClientOptions options;
  options.tenant = users_[user].tenant;
  options.request_timeout = std::chrono::nanoseconds(kRequestNs);
  auto connected = member.connect(std::move(options));
  if (!connected.ok()) return complain("connecting failed: " + connected.status().to_string());
  User& state = users_[user];
  CheckedClient::Surroundings around;
  around.pause = [this, user, &process](std::uint64_t time_ns) {
    // Others are waited for, perhaps for long.
    if (!wanted_.empty() && rounds(user) >= wanted_[user]) time_ns = kIdleNsMax;
    process.wait([] { return false; }, process.clock().now_ns() + time_ns);
  };
  around.complain = complain;
  around.is_over = [this] { return is_over_; };
  CheckedClient behaviour(state.habits, std::move(around), seed_ + id);
  // Its process may be killed meanwhile.
  struct Present {
    Present(User& of, CheckedClient& client) : user(of) { user.behaviour = &client; }
    ~Present() {
      user.whole_rounds += user.behaviour->whole_rounds();
      user.behaviour = nullptr;
    }
    User& user;
  };
  const Present present(state, behaviour);
  behaviour.live(*std::move(connected));
}

bool DamagedWorld::is_of(const RoleName& name, const RoleName& target) const {
  if (target.role != Role::kClient) return name == target;
  if (name.role != Role::kClient) return false;
  const auto found = user_of_.find(name.index);
  return found != user_of_.end() && found->second == target.index;
}

bool DamagedWorld::is_allowed(const RoleName& name) const {
  if (!kind_) return false;
  if (is_of(name, from_) || is_of(name, to_) || allowed_.contains(name)) return true;
  // A client that has ended is lost for everybody.
  return name.role == Role::kClient && gone_.contains(name.index);
}

bool DamagedWorld::is_touched(std::size_t user) const {
  if (!kind_) return false;
  // All hosts compile all functions, and what one of them says of a function holds everywhere.
  if (kind_->name == "compiled" || kind_->name == "compile") return true;
  const auto& used = users_[user].habits.islands;
  if (is_of_heirs(kind_->name) && std::ranges::count(used, lost_) > 0) return true;
  if (from_.role == Role::kClient || to_.role == Role::kClient) {
    const RoleName& client = from_.role == Role::kClient ? from_ : to_;
    if (client.index == user) return true;
    // It may call an actor of that one.
    return users_[user].tenant == users_[client.index].tenant;
  }
  if (std::ranges::any_of(used, [this](std::uint32_t one) { return islands_.contains(one); })) {
    return true;
  }
  return islands_.empty();
}

void DamagedWorld::started(const RoleName& name, std::uint32_t life) {
  if (life == 1 || is_over_) return;
  if (!is_allowed(name)) effect(cluster::to_string(name) + " begins life " + std::to_string(life));
}

void DamagedWorld::on_peer(const RoleName& name, const cluster::PeerNews& news) {
  if (!news.is_lost || is_over_) return;
  const bool is_pair = (is_of(name, from_) && is_of(news.name, to_)) ||
                       (is_of(name, to_) && is_of(news.name, from_));
  if (kind_ && is_pair) has_lost_ = true;
  if (is_allowed(name) || is_allowed(news.name)) return;
  effect(cluster::to_string(name) + " loses " + cluster::to_string(news.name) + ": " + news.reason);
}

void DamagedWorld::on_frame(const RoleName& from, ProcessId to, std::uint32_t channel,
                            Frame& frame) {
  if (is_sending_) return;
  const RoleName receiver = cluster::role_of(to, shape_);
  if (!kind_) {
    const auto with_user = [this](RoleName name) {
      if (name.role == Role::kClient) name.index = static_cast<std::uint32_t>(user_of_[name.index]);
      return name;
    };
    return report_.seen({from.role, receiver.role, name_of(from.role, channel, frame)},
                        {with_user(from), with_user(receiver)});
  }
  if (!is_of(from, from_) || !is_of(receiver, to_)) return;
  if (name_of(from.role, channel, frame) != kind_->name) return;
  const Frame other = pool_.empty() ? frame : pool_[random_.below(pool_.size())].frame;
  const Frame honest = frame;
  if (is_armed_) {
    is_armed_ = false;
    const Frame changed = draw(from, receiver, channel, frame, other);
    if (replaces_) {
      inject(from, receiver, channel, changed);
      frame = changed;
    } else {
      cluster_->post(from, [this, from, receiver, to, channel, changed](cluster::Member& member) {
        inject(from, receiver, channel, changed);
        is_sending_ = true;
        member.peers().send_raw(to, channel, changed, transport::Lane::kControl);
        is_sending_ = false;
      });
    }
  }
  pool_.push_back({from, to, channel, honest});
  if (pool_.size() > kPoolMax) pool_.pop_front();
}

bool DamagedWorld::is_refused(const RoleName& from, const RoleName& to, std::uint32_t channel,
                              const Frame& frame) {
  Receiver receiver{{options_.islands, options_.devices}, shape_, &registry_.state().types};
  if (from.role == Role::kClient) receiver.limits.tenant = tenants_[from.index];
  return hostile::is_refused(from, to, channel, kind_->name, frame, receiver);
}

/// Draws a damaged message to send; most of those that are refused as they are read are counted.
Frame DamagedWorld::draw(const RoleName& from, const RoleName& to, std::uint32_t channel,
                         const Frame& frame, const Frame& other) {
  for (std::uint64_t refused = 0;; ++refused) {
    Frame made = damaged(from.role, channel, frame, other, random_);
    const bool is_counted = refused < kRefusedMax && !random_.chance(kRefusedSentPercent) &&
                            is_refused(from, to, channel, made);
    if (!is_counted) return made;
    report_.refused();
  }
}

void DamagedWorld::inject(const RoleName& from, const RoleName& to, std::uint32_t channel,
                          Frame changed) {
  was_sent_ = is_damaging_ = true;
  was_refused_ = is_refused(from, to, channel, changed);
  report_.sends("probe " + std::to_string(probes_) + " at " + std::to_string(engine_->now_ns()) +
                " ns: " + cluster::to_string(from) + " to " + cluster::to_string(to) +
                (replaces_ ? ", replaced" : ", beside"));
}

/// Nothing of the kind was sent by itself.
void DamagedWorld::send_pooled() {
  if (pool_.empty()) return;
  is_armed_ = false;
  const Pooled& pooled = pool_[random_.below(pool_.size())];
  RoleName from = pooled.from, to = cluster::role_of(pooled.to, shape_);
  if (from.role == Role::kClient) from.index = users_[from_.index].client;
  if (to.role == Role::kClient) to.index = users_[to_.index].client;
  const Frame changed =
      draw(from, to, pooled.channel, pooled.frame, pool_[random_.below(pool_.size())].frame);
  const ProcessId process = cluster::process_of(to, shape_);
  std::uint32_t channel = pooled.channel;
  const bool is_role_of_client =
      channel >> cluster::kChannelKindShift == static_cast<std::uint32_t>(Role::kClient);
  if (is_role_of_client) {
    channel = static_cast<std::uint32_t>(Role::kClient) << cluster::kChannelKindShift | to.index;
  }
  cluster_->post(from, [this, from, to, process, channel, changed](cluster::Member& member) {
    replaces_ = false;
    inject(from, to, channel, changed);
    is_sending_ = true;
    member.peers().send_raw(process, channel, changed, transport::Lane::kControl);
    is_sending_ = false;
  });
}

void DamagedWorld::step_until(const std::function<bool()>& is_there, std::uint64_t time_ns) {
  const std::uint64_t end_ns = engine_->now_ns() + time_ns;
  for (std::uint64_t steps = 0; engine_->now_ns() < end_ns && engine_->step(); ++steps) {
    if (steps % 16 == 0) look();
    if (is_there()) return;
  }
}

/// Clients that have ended come back; who is not concerned does not wait for ever.
void DamagedWorld::look() {
  for (std::size_t user = 0; user < users_.size(); ++user) {
    User& state = users_[user];
    if (!is_over_ && cluster_->has_ended(state.client)) begin(user);
    const std::string& doing = state.behaviour ? state.behaviour->doing() : state.tenant;
    const std::uint64_t now_ns = engine_->now_ns();
    if (doing != state.doing || state.changed_ns == 0) {
      state.doing = doing;
      state.changed_ns = now_ns;
    } else if (now_ns > state.changed_ns + kPatienceNs && !is_touched(user) && !is_over_) {
      effect("client " + std::to_string(state.client) + " of tenant " + state.tenant +
             " waits for ever: " + doing);
      state.changed_ns = now_ns + kSettleNs;
    }
  }
}

bool DamagedWorld::is_used_up() const { return last_client_ + users_.size() >= clients_max_; }

/// The roles of an island, or two hosts, lose each other: then they tell each other what they know.
/// Or a client loses a host.
void DamagedWorld::stir() {
  if (is_of_heirs(kind_->name)) return cluster_->restart({Role::kHost, lost_});
  const Status why(StatusCode::kHostLost, "the test has them lose each other");
  const std::uint32_t island = *islands_.begin();
  if (islands_.size() > 1) {
    const RoleName other{Role::kHost, *islands_.rbegin()};
    cluster_->post({Role::kHost, island},
                   [other, why](cluster::Member& member) { member.drop_role(other, why); });
  } else if (random_.chance(50)) {
    const RoleName other{Role::kIsland, island};
    cluster_->post({Role::kHost, island},
                   [other, why](cluster::Member& member) { member.drop_role(other, why); });
  } else {
    const RoleName other{Role::kHost, island};
    cluster_->post({Role::kIsland, island},
                   [other, why](cluster::Member& member) { member.drop_role(other, why); });
  }
}

/// Mostly until the receiver has read it; else longer, as what it brings about may be late.
std::uint64_t DamagedWorld::draw_pause_ns() {
  if (random_.chance(kShortPausePercent)) return kLatencyNs + random_.below(3 * kLatencyNs);
  return 3 * kLatencyNs + random_.below(random_.chance(95) ? 2 * kMs : 20 * kMs);
}

void DamagedWorld::probe() {
  was_sent_ = was_refused_ = has_lost_ = false;
  replaces_ = random_.chance(75);
  const bool waits = pool_.empty() || random_.chance(waiting_percent_);
  if (is_stirring_ && random_.chance(waits ? 50 : 10)) stir();
  const auto was_sent = [this] { return was_sent_; };
  if (!waits) {
    send_pooled();
    step_until(was_sent, kMs);
  }
  if (!was_sent_) {
    is_armed_ = true;
    step_until(was_sent, kFrameNsMax);
    is_armed_ = false;
    waiting_percent_ =
        was_sent_ ? kWaitingPercent : std::max(waiting_percent_ / 2, kWaitingPercentMin);
  }
  if (!was_sent_) {
    send_pooled();
    step_until(was_sent, kMs);
  }
  if (!was_sent_) return;
  ++probes_;
  step_until([] { return false; }, draw_pause_ns());
  report_.fate(was_refused_ ? Fate::kRefused : has_lost_ ? Fate::kDecoded : Fate::kTaken);
}

std::uint64_t DamagedWorld::rounds(std::size_t user) const {
  const User& state = users_[user];
  return state.whole_rounds + (state.behaviour ? state.behaviour->whole_rounds() : 0);
}

bool DamagedWorld::are_warm() const {
  for (std::size_t user = 0; user < users_.size(); ++user) {
    if (rounds(user) < 1) return false;
  }
  return true;
}

std::set<DamagedWorld::Pair> DamagedWorld::pairs_of(std::uint64_t seed, const MessageKind& kind) {
  std::set<Pair> pairs;
  if (is_of_heirs(kind.name)) {
    for (std::uint32_t island = 0; island < kIslandsOfHeirs; ++island) {
      const std::uint32_t index = kind.to == Role::kAnnex ? actor::annex_of(island, 1) : island;
      pairs.insert({{Role::kClient, kUserOfHeirs}, {kind.to, index}});
    }
    return pairs;
  }
  Report report;
  report.effect = [](const std::string&) {};
  report.seen = [&](const MessageKind& seen, const Pair& pair) {
    if (seen == kind) pairs.insert(pair);
  };
  DamagedWorld world(seed, kind, {}, std::move(report));
  world.step_until([&world] { return world.are_warm(); }, kWarmUpNs);
  world.step_until([&pairs] { return !pairs.empty(); }, kScoutNsMax);
  world.step_until([] { return false; }, kScoutNs);
  world.is_over_ = true;
  return pairs;
}

void DamagedWorld::run(std::uint64_t probes) {
  step_until([this] { return are_warm(); }, kWarmUpNs);
  if (!are_warm()) effect("the world does not begin");
  std::uint64_t unsent = 0;
  for (std::uint64_t left = kind_ ? probes : 0; left > 0 && !is_used_up(); --left) {
    const std::uint64_t before = probes_;
    probe();
    if (probes_ == before && ++unsent == kUnsentMax) break;
  }
  if (!kind_) step_until([] { return false; }, kSecond);
  settle();
}

/// Sender and receiver begin anew: then everybody gets all values. Beside a client its host goes
/// on, for others use it. Where only the receiver begins anew, who uses them may wait for ever.
void DamagedWorld::settle() {
  step_until([] { return false; }, 20 * kMs);
  const bool has_client = from_.role == Role::kClient || to_.role == Role::kClient;
  bool is_mended = !kind_ || !is_damaging_ || has_client;
  if (kind_ && is_damaging_) {
    for (const RoleName& name : {from_, to_}) {
      if (name.role == Role::kClient) cluster_->restart({name.role, users_[name.index].client});
      if (has_client || !is_of_island(name)) continue;
      cluster_->restart(name);
      is_mended |= name == from_;
    }
  }
  std::vector<std::uint64_t> wanted;
  for (std::size_t user = 0; user < users_.size(); ++user) wanted.push_back(rounds(user) + 2);
  wanted_ = std::move(wanted);
  const auto has_worked = [this](std::size_t user) { return rounds(user) >= wanted_[user]; };
  const auto have_worked = [&] {
    for (std::size_t user = 0; user < users_.size(); ++user) {
      if (!has_worked(user) && (is_mended || !is_touched(user))) return false;
    }
    return true;
  };
  step_until(have_worked, kSettleNs);
  for (std::size_t user = 0; user < users_.size(); ++user) {
    if (has_worked(user) || last_client_ == clients_max_) continue;
    if (!is_mended && is_touched(user)) continue;
    const User& state = users_[user];
    effect("at the end a client of tenant " + state.tenant + " gets no values any more: " +
           (state.behaviour ? state.behaviour->doing() : "connects"));
  }
  is_over_ = true;
}

void DamagedWorld::effect(const std::string& what) { report_.effect(what); }

}  // namespace seaway::hostile
