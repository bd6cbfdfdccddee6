// Three silos, what connects them, and what may happen to them.

#include "sim/exhaustive/call_world.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "actor/engine_waiter.hpp"
#include "base/check.hpp"

namespace seaway::exhaustive {
namespace {

using app::Envelope;
using app::SiloId;

/// Longer waits are deadlines, which nothing here comes to.
constexpr std::uint64_t kPauseNsMax = 1'000'000'000;

std::string text(std::uint64_t number) { return std::to_string(number); }
std::string name_of(SiloId silo) {
  return silo == app::kHub ? "the hub" : "host " + text(silo - 1);
}

}  // namespace

/// Runs nothing by itself: silos are given their turns, and time passes when a timer is told to.
class CallCluster::Timers final : public actor::Engine {
 public:
  actor::Address spawn(std::string, std::unique_ptr<actor::Actor>) override { return {}; }
  void stop() override {}
  void post(std::function<void()> work) override { work(); }
  actor::TimerId schedule(std::uint64_t at_ns, std::function<void()> work) override {
    timers_[{at_ns, ++last_}] = std::move(work);
    return last_;
  }
  void cancel(actor::TimerId timer) override {
    std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
  }
  bool wait(const std::function<bool()>& ready, std::uint64_t) override { return ready(); }
  void notify() override {}
  const Clock& clock() const override { return clock_; }
  bool on_control_thread() const override { return true; }

  /// When a pause ends; 0: there is none.
  std::uint64_t next_ns() const {
    if (timers_.empty() || timers_.begin()->first.first > clock_.now_ns() + kPauseNsMax) return 0;
    return std::max<std::uint64_t>(timers_.begin()->first.first, 1);
  }
  void fire() {
    clock_.advance_to(timers_.begin()->first.first);
    const auto work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work();
  }

 private:
  ManualClock clock_;
  std::map<std::pair<std::uint64_t, actor::TimerId>, std::function<void()>> timers_;
  actor::TimerId last_ = 0;
};

class CallCluster::End final : public app::Network {
 public:
  End(CallCluster& cluster, SiloId self) : cluster_(cluster), self_(self) {}
  void send(SiloId from, SiloId to, std::vector<Envelope>& batch) override {
    cluster_.send(from, to, batch);
    batch.clear();
  }
  std::uint32_t epoch(SiloId silo) const override {
    return silo < kSilos ? cluster_.lives_[self_].known[silo] : 0;
  }
  std::uint32_t silos() const override { return kSilos; }

 private:
  CallCluster& cluster_;
  const SiloId self_;
};

CallCluster::CallCluster(const CallSpec& spec)
    : spec_(spec),
      timers_(std::make_unique<Timers>()),
      waiter_(actor::make_engine_waiter(*timers_)) {
  for (SiloId id = 0; id < kSilos; ++id) begin(id);
  client_ = std::make_shared<app::ClientCaller>(1, 0, *lives_[app::kHub].silo);
  const SpawnOptions options(Placement{{{"host", 2}}, {0, 1}});
  const auto spawned = client_->spawn(
      options.order(internal::actor_type<Echo>(), internal::factory_of<Echo>(&ledger_)));
  // The mesh is there before anything else happens.
  turn(app::kHub);
  for (bool is_over = false; !is_over;) {
    is_over = true;
    for (SiloId from = 0; from < kSilos; ++from)
      for (SiloId to = 0; to < kSilos; ++to)
        if (!channels_[from][to].empty()) {
          deliver(from, to);
          is_over = false;
        }
  }
  SEAWAY_CHECK(spawned.ready() && spawned.get().ok());
  mesh_ = internal::whole_mesh<Echo>(client_, *spawned.get());
  has_begun_ = true;
}

CallCluster::~CallCluster() {
  is_muted_ = true;
  waiter_->detach();
  for (SiloId id = kSilos; id-- > 0;) lives_[id].silo.reset();
}

void CallCluster::begin(SiloId id) {
  Life& life = lives_[id];
  life.end = std::make_unique<End>(*this, id);
  life.door = std::make_shared<app::Door>();
  app::Silo::Wiring wiring;
  wiring.id = id;
  wiring.epoch = life.epoch;
  wiring.engine = timers_.get();
  wiring.network = life.end.get();
  wiring.door = life.door;
  wiring.waiter = waiter_;
  wiring.client_of = [](std::uint32_t) -> Result<Client> {
    return invalid_argument("nobody runs programs here");
  };
  life.silo = std::make_unique<app::Silo>(std::move(wiring));
}

std::string CallCluster::setting() const {
  std::string out = "a client, two hosts with a member each\n";
  for (std::size_t i = 0; i < spec_.calls.size(); ++i)
    out += "  call " + text(i + 1) + " of member " + text(spec_.calls[i].member) +
           (spec_.calls[i].is_relayed ? ", which asks member 1" : "") +
           (spec_.calls[i].options.once ? ", once" : "") +
           (spec_.calls[i].options.retries > 0 ? ", may be sent again" : "") + "\n";
  return out;
}

void CallCluster::fail(const std::string& text) {
  if (violation_.empty()) violation_ = text;
}

// ---- The network ----------------------------------------------------------------------------

void CallCluster::send(SiloId from, SiloId to, std::vector<Envelope>& batch) {
  if (is_muted_ || lives_[from].known[to] == 0 || lives_[from].known[to] != lives_[to].epoch)
    return;
  History hash = lives_[from].history;
  hash.add(channels_[from][to].size() << 8 | from << 4 | to);
  if (spec_.weakening == CallSpec::Weakening::kTwice && from == app::kHub && has_begun_)
    channels_[from][to].push_back({batch, hash.hash()});
  channels_[from][to].push_back({std::move(batch), hash.hash()});
}

/// All that lies at its door, and all that comes of it there.
void CallCluster::turn(SiloId id) {
  lives_[id].silo->receive({});
  lives_[id].silo->receive({});
}

void CallCluster::deliver(SiloId from, SiloId to) {
  Batch batch = std::move(channels_[from][to].front());
  channels_[from][to].pop_front();
  lives_[to].history.add(batch.hash);
  lives_[to].door->deliver(batch.envelopes);
  turn(to);
}

// ---- What may happen ------------------------------------------------------------------------

void CallCluster::moves(std::vector<Move>& out) const {
  if (outcomes_.size() < spec_.calls.size()) out.push_back({Move::Kind::kAsk});
  for (SiloId from = 0; from < kSilos; ++from) {
    bool have_all_heard = true;
    for (SiloId to = 0; to < kSilos; ++to) {
      if (from == to || !lives_[to].is_alive) continue;
      if (!channels_[from][to].empty()) out.push_back({Move::Kind::kDeliver, from, to});
      if (lives_[from].is_alive) {
        if (lives_[to].known[from] == 0) out.push_back({Move::Kind::kHearBack, from, to});
      } else if (lives_[to].known[from] != 0) {
        have_all_heard = false;
        if (spec_.weakening != CallSpec::Weakening::kDeathUntold)
          out.push_back({Move::Kind::kHearLost, from, to});
      }
    }
    if (spec_.do_hosts_return && !lives_[from].is_alive && have_all_heard)
      out.push_back({Move::Kind::kReturn, from});
  }
  if (timers_->next_ns() != 0) out.push_back({Move::Kind::kTimer});
  const bool is_answered =
      outcomes_.size() == spec_.calls.size() &&
      std::all_of(outcomes_.begin(), outcomes_.end(), [](const auto& one) { return one.ready(); });
  if (is_answered && !is_closed_) out.push_back({Move::Kind::kClose});
  // The ends of all members reach nobody any more: one order of these is enough.
  if (is_closed_ && !out.empty()) out.resize(1);
  if (is_closed_) return;
  for (SiloId id = 1; id < kSilos; ++id) {
    if (host_kills_ < spec_.host_kills_max && lives_[id].is_alive)
      out.push_back({Move::Kind::kKillHost, id});
    if (member_kills_ < spec_.member_kills_max) out.push_back({Move::Kind::kKillMember, id - 1});
  }
  for (std::uint32_t i = 0; i < outcomes_.size(); ++i)
    if (cancels_ < spec_.cancels_max && !outcomes_[i].ready())
      out.push_back({Move::Kind::kCancel, i});
}

void CallCluster::take(const Move& move) {
  const auto tell = [&](SiloId id) {
    lives_[id].history.add(static_cast<std::uint64_t>(move.kind) << 32 | move.from << 8 | move.to);
  };
  switch (move.kind) {
    case Move::Kind::kAsk:
      tell(app::kHub);
      outcomes_.push_back(ask(mesh_, spec_.calls[outcomes_.size()], outcomes_.size() + 1));
      turn(app::kHub);
      break;
    case Move::Kind::kDeliver:
      deliver(move.from, move.to);
      break;
    case Move::Kind::kTimer:
      for (SiloId id = 0; id < kSilos; ++id) tell(id);
      timers_->fire();
      break;
    case Move::Kind::kHearLost:
      tell(move.to);
      channels_[move.from][move.to].clear();
      lives_[move.to].known[move.from] = 0;
      lives_[move.to].silo->on_silo_lost(move.from);
      turn(move.to);
      break;
    case Move::Kind::kReturn: {
      Life& life = lives_[move.from];
      life.is_alive = true;
      ++life.epoch;
      life.known = {1, 1, 1};
      life.known[move.from] = life.epoch;
      begin(move.from);
      tell(move.from);
      break;
    }
    case Move::Kind::kHearBack:
      tell(move.to);
      lives_[move.to].known[move.from] = lives_[move.from].epoch;
      lives_[move.to].silo->on_silo_back(move.from);
      turn(move.to);
      break;
    case Move::Kind::kClose:
      tell(app::kHub);
      is_closed_ = true;
      client_->close();
      turn(app::kHub);
      break;
    case Move::Kind::kKillHost: {
      ++host_kills_;
      Life& life = lives_[move.from];
      tell(move.from);
      is_muted_ = true;
      life.silo.reset();
      is_muted_ = false;
      life.is_alive = false;
      for (auto& channels : channels_) channels[move.from].clear();
      break;
    }
    case Move::Kind::kKillMember:
      ++member_kills_;
      tell(app::kHub);
      client_->kill(mesh_.at(move.from).members(), user_function_error("killed"));
      turn(app::kHub);
      break;
    case Move::Kind::kCancel:
      ++cancels_;
      tell(app::kHub);
      outcomes_[move.from].cancel();
      turn(app::kHub);
      break;
  }
  check();
}

// ---- What has to hold -----------------------------------------------------------------------

void CallCluster::check() {
  for (const auto& [life, handled] : ledger_.handled)
    for (std::size_t i = 0; i < handled.size(); ++i) {
      // What a member asks others it asks again when it is asked again in a new life.
      const std::uint64_t number = handled[i] % relayed(0);
      const bool may_repeat = handled[i] != number && spec_.calls[number - 1].options.retries > 0;
      if (!may_repeat && std::count(handled.begin(), handled.end(), handled[i]) > 1)
        fail("member " + text(life.first) + " handles request " + text(handled[i]) + " twice");
      // The client's, which are sent once only, in its order.
      for (std::size_t later = i + 1; later < handled.size(); ++later)
        if (handled[later] < handled[i] && handled[i] < relayed(0) && !has_fault())
          fail("member " + text(life.first) + " handles request " + text(handled[i]) +
               " before request " + text(handled[later]));
    }
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    if (!outcomes_[i].ready()) continue;
    const auto outcome = outcomes_[i].get();
    if (!outcome.ok()) {
      if (!has_fault()) fail("call " + text(i + 1) + ": " + outcome.status().to_string());
      continue;
    }
    std::size_t times = 0;
    for (const auto& [life, handled] : ledger_.handled)
      times += static_cast<std::size_t>(std::count(handled.begin(), handled.end(), i + 1));
    if (number_of(*outcome) != i + 1 || times == 0)
      fail("call " + text(i + 1) + " is answered with " + text(number_of(*outcome)) +
           ", and was handled " + text(times) + " times");
    if (spec_.calls[i].options.retries == 0 && times > 1)
      fail("call " + text(i + 1) + ", which may be sent once, was handled " + text(times) +
           " times");
  }
  check_end();
}

bool CallCluster::is_quiet() const {
  std::vector<Move> open;
  moves(open);
  return std::all_of(open.begin(), open.end(), is_fault);
}

void CallCluster::check_end() {
  if (!is_closed_ || !is_quiet()) return;
  for (SiloId id = 0; id < kSilos; ++id) {
    if (!lives_[id].is_alive) continue;
    app::Silo::Stock left = lives_[id].silo->stock();
    left.timers = 0;  // Those of deadlines may be set for calls that are over.
    if (!(left == app::Silo::Stock{}))
      fail("something is left at " + name_of(id) + ": " + text(left.members) + " members, " +
           text(left.deliveries) + " deliveries, " + text(left.calls) + " calls, " +
           text(left.meshes) + " meshes, " + text(left.owned) + " owned, " + text(left.nodes) +
           " nodes, " + text(left.watches) + " watches, " + text(left.moved) + " moved");
  }
}

bool CallCluster::is_done() const { return is_closed_ && is_quiet(); }

// ---- How it stands --------------------------------------------------------------------------

std::uint64_t CallCluster::hash() const {
  History history;
  for (const Life& life : lives_) {
    history.add(life.history.hash());
    history.add(life.epoch << 1 | (life.is_alive ? 1u : 0u));
    for (const std::uint32_t epoch : life.known) history.add(epoch);
  }
  for (const auto& channels : channels_)
    for (const auto& channel : channels) {
      history.add(channel.size());
      for (const Batch& batch : channel) history.add(batch.hash);
    }
  history.add(outcomes_.size() | std::uint64_t{is_closed_} << 8 | host_kills_ << 16 |
              member_kills_ << 20 | cancels_ << 24);
  return history.hash();
}

std::string CallCluster::describe(const Move& move) {
  switch (move.kind) {
    case Move::Kind::kAsk:
      return "the client makes its next call";
    case Move::Kind::kDeliver:
      return name_of(move.to) + " gets the next batch of " + name_of(move.from);
    case Move::Kind::kTimer:
      return "a pause ends";
    case Move::Kind::kHearLost:
      return name_of(move.to) + " hears that " + name_of(move.from) + " has died";
    case Move::Kind::kReturn:
      return name_of(move.from) + " is back";
    case Move::Kind::kHearBack:
      return name_of(move.to) + " hears that " + name_of(move.from) + " is back";
    case Move::Kind::kClose:
      return "the client is done";
    case Move::Kind::kKillHost:
      return "fault: " + name_of(move.from) + " dies";
    case Move::Kind::kKillMember:
      return "fault: member " + text(move.from) + " is killed";
    case Move::Kind::kCancel:
      return "fault: call " + text(move.from + 1) + " is given up";
  }
  return {};
}

std::string CallCluster::to_string() const {
  std::string out;
  for (std::size_t i = 0; i < outcomes_.size(); ++i)
    out += "call " + text(i + 1) + ": " +
           (!outcomes_[i].ready()     ? "no outcome"
            : outcomes_[i].get().ok() ? "answered"
                                      : outcomes_[i].get().status().to_string()) +
           "\n";
  for (SiloId id = 0; id < kSilos; ++id)
    if (lives_[id].is_alive) out += name_of(id) + ": " + lives_[id].silo->why() + "\n";
  return out;
}

}  // namespace seaway::exhaustive
