// Turns of a silo: what has come in is sorted, members handle, what is said goes out.

#include "app/silo.hpp"

#include <algorithm>
#include <utility>

#include "app/client_caller.hpp"
#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/probe.hpp"

namespace seaway::app {

std::string_view to_string(Kind kind) {
  constexpr std::string_view kNames[] = {
      "call",    "reply",     "item",      "argument", "forward", "cancel",   "more",
      "credit",  "combine",   "partial",   "start",    "started", "stop",     "stop mesh",
      "stopped", "death",     "notice",    "watch",    "moved",   "snapshot", "kept",
      "publish", "published", "unpublish", "find",     "found"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string silo_name(SiloId silo, std::uint32_t hosts) {
  if (silo == kHub) return "the hub";
  if (silo <= hosts) return "host " + std::to_string(host_of_silo(silo));
  return "client " + std::to_string(silo - hosts);
}

namespace {

thread_local Silo* turning = nullptr;

constexpr std::uint64_t kLateDeadlineNs = 50'000;

}  // namespace

Silo::Turn::Turn(Silo& silo) : previous_(std::exchange(turning, &silo)) {}
Silo::Turn::~Turn() { turning = previous_; }

Silo* Silo::current() { return turning; }

Silo::Silo(Wiring wiring)
    : wiring_(std::move(wiring)),
      wheel_(wiring_.engine->clock().now_ns()),
      calls_(wiring_.epoch << 20),
      last_mesh_(std::uint64_t{wiring_.epoch - 1} << 28),
      last_request_(std::uint64_t{wiring_.epoch - 1} << 28) {
  const std::size_t dense = wiring_.network->hosts() + std::size_t{1};
  outgoing_.resize(dense);
  incoming_.resize(dense);
  seen_.resize(dense);
  now_ns_ = wiring_.engine->clock().now_ns();
  routes_max_ = wiring_.limits.routes_max;
}

Silo::~Silo() {
  const Turn own(*this);
  // What was asked until now has an outcome all the same.
  for (Door::Posted& posted : wiring_.door->close().posted) run(posted);
  // Objects may hold futures and refer to members: they end while everything is still there.
  for (auto& [id, local] : local_meshes_) {
    for (std::shared_ptr<Member>& member : local.members) {
      if (member) end_member(*member, cancelled("the cluster has ended"));
    }
  }
  calls_.for_each([this](Call& call) { close_call(call, cancelled("the cluster has ended"), 0); });
  for (auto& [id, node] : nodes_) wheel_.remove(*node);
  for (auto& [id, early] : early_arguments_) wheel_.remove(*early);
  for (auto& [id, owned] : owned_) {
    for (const auto& request : owned.stops) wheel_.remove(*request);
    if (owned.spawned) owned.spawned->complete(cancelled("the cluster has ended"));
  }
  if (armed_ns_ != 0) wiring_.engine->cancel(armed_);
}

void Silo::receive(const Frame&) { turn(); }

void Silo::turn() {
  const Turn own(*this);
  is_turning_ = true;
  now_ns_ = wiring_.engine->clock().now_ns();
  wiring_.door->take(content_);
  for (Envelope& envelope : content_.envelopes) accept(std::move(envelope));
  content_.envelopes.clear();
  for (Door::Posted& posted : content_.posted) run(posted);
  content_.posted.clear();
  std::uint32_t steps = 0;
  while (steps < wiring_.limits.turn && step()) {
    ++steps;
    if (SEAWAY_FAULT(kShortTurn)) break;
  }
  flush();
  arm_timers();
  is_turning_ = false;
  SEAWAY_PROBE_IF(!ready_.empty() || !resumes_.empty() || !local_.empty(),
                  "a silo gives way with work to do");
  if (!ready_.empty() || !resumes_.empty() || !local_.empty()) wiring_.door->poke();
}

void Silo::run(Door::Posted& posted) {
  if (posted.work) {
    posted.work();
  } else {
    posted.caller->run(*this, std::move(posted.order));
  }
}

/// What was said comes before what is still to be handled, and who waits before who begins.
bool Silo::step() {
  if (!local_.empty()) {
    Envelope envelope = std::move(local_.front());
    local_.pop_front();
    dispatch(envelope);
    return true;
  }
  if (!resumes_.empty()) {
    Delivery* delivery = resumes_.front();
    resumes_.pop_front();
    resume(*delivery);
    return true;
  }
  if (ready_.empty()) return false;
  if (wiring_.choose) std::swap(ready_.front(), ready_[wiring_.choose(ready_.size())]);
  Member* const member = ready_.front();
  ready_.pop_front();
  run_next(*member);
  return true;
}

/// Data only enters a mailbox here, and control takes effect at once: that is what brings control
/// before data that came earlier.
void Silo::accept(Envelope envelope) { dispatch(envelope); }

void Silo::post(SiloId to, Envelope&& envelope) {
  if (!has_origin(envelope.kind)) envelope.from = wiring_.id;
  if (to == wiring_.id) {
    // What runs no code of a user's may be done right here, also within a handler.
    const bool is_now = envelope.kind == Kind::kCall || envelope.kind == Kind::kArgument ||
                        envelope.kind == Kind::kStopMesh ||
                        (envelope.kind == Kind::kReply && !envelope.is_stream && entered_ == 0);
    if (is_now) {
      dispatch(envelope);
    } else {
      local_.push_back(std::move(envelope));
    }
  } else if (to < wiring_.network->silos()) {
    std::vector<Envelope>& batch = outgoing_[to];
    if (batch.empty()) outgoing_to_.push_back(to);
    batch.push_back(std::move(envelope));
  }
}

void Silo::return_credits() {
  for (const CreditDue& due : credit_due_) {
    Envelope envelope;
    envelope.kind = Kind::kCredit;
    envelope.member = due.member;
    envelope.number = due.count;
    post(due.to, std::move(envelope));
  }
  credit_due_.clear();
}

void Silo::flush() {
  if (!credit_due_.empty() && SEAWAY_FAULT(kHeldCredit)) {
    wiring_.door->poke();
  } else {
    return_credits();
  }
  for (std::size_t i = 0; i < outgoing_to_.size(); ++i) {
    const SiloId to = outgoing_to_[i];
    std::vector<Envelope>& batch = outgoing_[to];
    if (batch.size() > 1 && SEAWAY_FAULT(kEnvelopesApart)) {
      const auto second = batch.begin() + 1;
      std::vector<Envelope> rest(std::make_move_iterator(second),
                                 std::make_move_iterator(batch.end()));
      batch.erase(second, batch.end());
      wiring_.network->send(wiring_.id, to, batch);
      batch = std::move(rest);
    }
    wiring_.network->send(wiring_.id, to, batch);
    batch.clear();
    // There may be very many clients, one after the other.
    if (to > wiring_.network->hosts()) outgoing_.reset(to);
  }
  outgoing_to_.clear();
}

void Silo::arm_timers() {
  const auto next_ns = wheel_.next_ns();
  if (!next_ns || (armed_ns_ != 0 && armed_ns_ <= *next_ns)) return;
  if (armed_ns_ != 0) wiring_.engine->cancel(armed_);
  armed_ns_ = *next_ns;
  const std::uint64_t at_ns = *next_ns + (SEAWAY_FAULT(kLateDeadline) ? kLateDeadlineNs : 0);
  armed_ = wiring_.engine->schedule(at_ns, [this, door = std::weak_ptr(wiring_.door)] {
    if (door.expired()) return;
    const Turn own(*this);
    armed_ns_ = 0;
    now_ns_ = wiring_.engine->clock().now_ns();
    wheel_.advance(now_ns_,
                   [this](actor::TimerNode& node) { fire(static_cast<SiloTimer&>(node)); });
    turn();
  });
}

void Silo::fire(SiloTimer& timer) {
  switch (timer.kind) {
    case SiloTimer::Kind::kCall:
      on_call_due(static_cast<Call&>(timer));
      return;
    case SiloTimer::Kind::kSleep:
      end_sleep(static_cast<SleepState&>(timer))->complete({});
      return;
    case SiloTimer::Kind::kStop:
      on_stop_due(static_cast<StopRequest&>(timer));
      return;
    case SiloTimer::Kind::kArgument: {
      const Envelope& early = static_cast<EarlyArgument&>(timer).envelope;
      early_arguments_.erase({early.from, early.call});
      return;
    }
    case SiloTimer::Kind::kNode:
      return give_up_node(static_cast<ReductionNode&>(timer));
  }
}

void Silo::dispatch(Envelope& envelope) {
  switch (envelope.kind) {
    case Kind::kCall:
      return on_call(envelope);
    case Kind::kReply:
      return on_reply(envelope);
    case Kind::kItem:
      return on_item(envelope);
    case Kind::kArgument:
      return on_argument(envelope);
    case Kind::kForward:
      return on_forward(envelope);
    case Kind::kCancel:
      return on_cancel(envelope);
    case Kind::kMore:
      return on_more(envelope);
    case Kind::kCredit:
      return on_credit(envelope);
    case Kind::kCombine:
      return on_combine(envelope);
    case Kind::kPartial:
      return on_partial(envelope);
    case Kind::kStart:
      return on_start(envelope);
    case Kind::kStarted:
      return on_started(envelope);
    case Kind::kStop:
      return on_stop(envelope);
    case Kind::kStopMesh:
      return on_stop_mesh(envelope);
    case Kind::kStopped:
    case Kind::kFound:
      return on_reply(envelope);
    case Kind::kPublished:
      return on_published(envelope);
    case Kind::kDeath:
      return on_death(envelope.member, static_cast<std::uint32_t>(envelope.number),
                      envelope.status);
    case Kind::kNotice:
      return on_notice(envelope);
    case Kind::kWatch:
      return on_watch(envelope);
    case Kind::kMoved:
      return on_moved(envelope);
    case Kind::kSnapshot:
      return on_snapshot(envelope);
    case Kind::kKept:
      return on_kept(envelope);
    case Kind::kPublish:
      return on_publish(envelope);
    case Kind::kUnpublish:
      return on_unpublish(envelope);
    case Kind::kFind:
      return on_find(envelope);
  }
}

Silo::Stock Silo::stock() const {
  Stock stock;
  stock.members = member_count_;
  stock.deliveries = deliveries_.used() + early_arguments_.size();
  stock.calls = calls_.size();
  stock.timers = wheel_.size();
  stock.meshes = local_meshes_.size();
  stock.owned = owned_.size();
  stock.names = names_.size();
  stock.nodes = nodes_.size();
  stock.watches = watches_.size();
  stock.moved = moved_.size();
  return stock;
}

}  // namespace seaway::app
