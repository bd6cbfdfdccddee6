// Conversations over connections, and the timers that keep them.

#include "cluster/peers.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"

namespace seaway::cluster {

using actor::Role;
using transport::ProcessId;

namespace {

constexpr std::uint64_t kPauseStream = 0x7065657270617573;
constexpr unsigned kRoleShift = kChannelKindShift;
constexpr std::size_t kSpareBytesMax = std::size_t{64} << 10;
/// In the place of a role: what follows is the number of a silo.
constexpr std::uint32_t kSilos = kSiloChannels;
/// The same: what follows says what the frame is.
constexpr std::uint32_t kRelayed = kRelayChannels;

/// An epoch is a life, and which conversation of it.
constexpr std::uint64_t epoch_of(std::uint32_t life, std::uint32_t attempt) {
  return std::uint64_t{life} << 32 | attempt;
}
constexpr std::uint32_t life_of(std::uint64_t epoch) {
  return static_cast<std::uint32_t>(epoch >> 32);
}

std::uint32_t channel_of(const RoleName& name) {
  SEAWAY_CHECK(name.index < std::uint32_t{1} << kRoleShift, name.index);
  return static_cast<std::uint32_t>(name.role) << kRoleShift | name.index;
}

RoleName name_of(std::uint32_t channel) {
  return {static_cast<Role>(channel >> kRoleShift),
          channel & ((std::uint32_t{1} << kRoleShift) - 1)};
}

}  // namespace

std::string to_string(const RoleName& name) {
  switch (name.role) {
    case Role::kController:
      return "the controller";
    case Role::kIsland:
      return "the scheduler of island " + std::to_string(name.index);
    case Role::kHost:
      return "the host of island " + std::to_string(name.index);
    case Role::kAnnex:
      return "host " + std::to_string(actor::host_of_annex(name.index)) + " of island " +
             std::to_string(actor::island_of_annex(name.index));
    case Role::kClient:
      break;
  }
  return "client " + std::to_string(name.index);
}

Peers::Peers(actor::Engine& engine, transport::Wires& wires, PeersOptions options, Deliver deliver,
             Tell tell)
    : engine_(engine),
      wires_(wires),
      options_(std::move(options)),
      deliver_(std::move(deliver)),
      tell_(std::move(tell)),
      pauses_(options_.seed, kPauseStream + options_.self),
      is_here_(std::make_shared<bool>(true)) {}

Peers::~Peers() { *is_here_ = false; }

std::function<void()> Peers::guarded(std::function<void()> work) const {
  return [here = is_here_, work = std::move(work)] {
    if (*here) work();
  };
}

Peers::Peer* Peers::find(ProcessId process) {
  const auto found = peers_.find(process);
  return found == peers_.end() ? nullptr : &found->second;
}

void Peers::meet(ProcessId process, RoleName name) {
  if (process == options_.self || peers_.contains(process)) return;
  Peer& peer = peers_[process];
  peer.name = name;
  // Nothing of what the two said before is ever heard.
  if (const auto left = left_.find(process); left != left_.end()) {
    std::tie(peer.attempt, peer.epoch_min) = left->second;
    left_.erase(left);
  }
  processes_[name] = process;
  begin(process, peer);
  attach(process);
  wires_.connect(options_.self, process);
  hasten_timer(peer);
}

void Peers::leave(ProcessId process) {
  Peer* const peer = find(process);
  if (!peer) return;
  peer->conversation->end();
  write(process, *peer, now_ns());
  wires_.forget(options_.self, process);
  left_[process] = {peer->attempt, peer->epoch_min};
  processes_.erase(peer->name);
  partial_bytes_ -= peer->partial_bytes;
  peers_.erase(process);
}

/// What the wires tell, they tell from outside of the process: it hears of it in its own time.
void Peers::attach(ProcessId process) {
  const auto hear = [this](std::function<void()> work) { engine_.post(guarded(std::move(work))); };
  wires_.attach(options_.self, process,
                {[this, hear, process] {
                   hear([this, process] {
                     Peer* const peer = find(process);
                     if (!peer) return;
                     peer->reader = transport::PacketReader();
                     peer->is_absent = false;
                     if (SEAWAY_FAULT(kLostConnection)) return drop_connection(process, *peer);
                     peer->conversation->connected(now_ns());
                     turn(process);
                   });
                 },
                 [this, hear, process](std::span<const std::byte> bytes) {
                   const auto hear_some = [&](std::span<const std::byte> some) {
                     std::vector<std::byte> copy = std::exchange(spare_, {});
                     copy.assign(some.begin(), some.end());
                     hear([this, process, copy = std::move(copy)]() mutable {
                       on_bytes(process, copy);
                       if (copy.capacity() <= kSpareBytesMax) spare_ = std::move(copy);
                     });
                   };
                   if (bytes.size() > 1 && SEAWAY_FAULT(kReadInPieces)) {
                     hear_some(bytes.first(bytes.size() / 2));
                     bytes = bytes.subspan(bytes.size() / 2);
                   }
                   hear_some(bytes);
                 },
                 [this, hear, process] {
                   hear([this, process] {
                     Peer* const peer = find(process);
                     if (!peer) return;
                     peer->conversation->disconnected();
                     connect_later(process, *peer);
                     hasten_timer(*peer);
                   });
                 },
                 [this, hear, process] {
                   hear([this, process] {
                     Peer* const peer = find(process);
                     if (!peer) return;
                     // Whoever begins there later asks for a connection by himself. He may have
                     // begun already, for a refusal takes its time: what nobody has heard waits for
                     // him. Who is nobody there, and is told so, waits for nothing.
                     SEAWAY_PROBE("a peer is absent");
                     peer->is_absent = true;
                     const bool was_heard = peer->conversation->peer_epoch() != 0;
                     if (was_heard || wires_.is_barred(options_.self, process)) {
                       peer->conversation->refused();
                     } else {
                       peer->conversation->disconnected();
                     }
                     turn(process);
                   });
                 }});
}

void Peers::begin(ProcessId, Peer& peer) {
  transport::ConversationOptions options;
  options.epoch = epoch_of(options_.life, ++peer.attempt);
  options.peer = to_string(peer.name);
  options.peer_epoch_min = peer.epoch_min;
  options.heartbeat_ns = options_.heartbeat_ns;
  options.silence_max_ns = options_.silence_max_ns;
  if (peer.name.role == Role::kClient) options.absence_max_ns = 2 * options_.heartbeat_ns;
  options.control = options_.control;
  options.control.acknowledge_every = 8;
  // What waits for a client that does not read; between roles no work is lost for it.
  const bool is_client = peer.name.role == Role::kClient;
  options.control.waiting_bytes_max =
      is_client ? 2 * transport::kUserFrameBytesMax : options_.bulk.waiting_bytes_max;
  options.bulk = options_.bulk;
  peer.conversation = std::make_unique<transport::Conversation>(std::move(options), now_ns());
  peer.reader = transport::PacketReader();
  peer.is_told = false;
  peer.is_rejected = false;
  count_partial(peer);
}

void Peers::send(const RoleName& to, Frame frame, transport::Lane lane) {
  const auto found = processes_.find(to);
  if (found == processes_.end()) return;
  if (SEAWAY_FAULT(kOutOfMemory) && options_.on_out_of_memory) return options_.on_out_of_memory();
  say(found->second, peers_.at(found->second), channel_of(to), std::move(frame), lane);
}

void Peers::send_to_silo(ProcessId process, std::uint32_t silo, Frame frame) {
  Peer* const peer = find(process);
  if (peer)
    say(process, *peer, kSilos << kRoleShift | silo, std::move(frame), transport::Lane::kControl);
}

void Peers::send_relayed(ProcessId process, std::uint32_t number, Frame frame,
                         transport::Lane lane) {
  Peer* const peer = find(process);
  if (peer) say(process, *peer, kRelayed << kRoleShift | number, std::move(frame), lane);
}

void Peers::send_raw(ProcessId process, std::uint32_t channel, Frame frame, transport::Lane lane) {
  if (Peer* const peer = find(process)) say(process, *peer, channel, std::move(frame), lane);
}

void Peers::say(ProcessId process, Peer& peer, std::uint32_t channel, Frame frame,
                transport::Lane lane) {
  ++counts_.frames;
  if (options_.tap) options_.tap(process, channel, frame);
  const std::uint64_t time_ns = now_ns();
  const Status taken = peer.conversation->send(std::move(frame), time_ns, channel, lane);
  if (!taken.ok()) {
    // One frame less in a conversation would go unnoticed; its end does not.
    ++counts_.refused;
    peer.conversation->give_up(taken);
    return turn(process);
  }
  write(process, peer, time_ns);
  // What is due is never due sooner for it.
  if (timer_ns_ == 0) hasten_timer(peer);
}

std::vector<Peers::Stalled> Peers::stalled() const {
  std::vector<Stalled> all;
  const std::uint64_t time_ns = now_ns();
  for (const auto& [process, peer] : peers_) {
    const auto waiting = peer.conversation->waiting();
    if (waiting.frames == 0) continue;
    const std::uint64_t for_ns = time_ns - std::min(time_ns, waiting.since_ns);
    if (for_ns < Stalled::kHeartbeats * options_.heartbeat_ns) continue;
    all.push_back({peer.name, waiting.frames, waiting.bytes, for_ns});
  }
  return all;
}

void Peers::begin_anew(const RoleName& to, const Status& why) {
  const auto found = processes_.find(to);
  if (found != processes_.end()) begin_anew(found->second, why);
}

void Peers::begin_anew(ProcessId process, const Status& why) {
  Peer* const peer = find(process);
  if (!peer) return;
  peer->conversation->give_up(why);
  turn(process);
}

void Peers::on_bytes(ProcessId process, const std::vector<std::byte>& bytes) {
  Peer* const peer = find(process);
  if (!peer) return;
  peer->reader.feed(bytes);
  const std::uint64_t time_ns = now_ns();
  for (;;) {
    auto packet = peer->reader.next();
    if (!packet.ok()) {
      SEAWAY_PROBE("bytes of a connection are no packets");
      peer->conversation->unreadable(packet.status(), peer->reader.is_refusal());
      if (peer->conversation->has_ended()) break;
      wires_.close(options_.self, process);
      connect_later(process, *peer);
      break;
    }
    if (!*packet) break;
    peer->conversation->receive(std::move(**packet), time_ns);
  }
  count_partial(*peer);
  if (partial_bytes_ > options_.partial_bytes_max) reject_longest();
  turn(process);
}

void Peers::count_partial(Peer& peer) {
  if (peer.name.role != Role::kClient) return;
  const std::size_t before = peer.partial_bytes;
  peer.partial_bytes =
      peer.conversation->control().coming_bytes() + peer.conversation->bulk().coming_bytes();
  partial_bytes_ = partial_bytes_ - before + peer.partial_bytes;
}

void Peers::reject_longest() {
  Peer* longest = nullptr;
  for (auto& [process, peer] : peers_) {
    if (peer.is_rejected) return;  // Its bytes are freed soon.
    if (!longest || peer.partial_bytes > longest->partial_bytes) longest = &peer;
  }
  longest->is_rejected = true;
  const std::string bytes = std::to_string(longest->partial_bytes);
  options_.reject_client(
      longest->name, resource_exhausted("peers: partially received frames of all clients: " +
                                        std::to_string(partial_bytes_) + " bytes (limit " +
                                        std::to_string(options_.partial_bytes_max) + "), " + bytes +
                                        " of them from this client: send smaller frames or retry"));
}

/// This connection is of no use, another one is.
void Peers::drop_connection(ProcessId process, Peer& peer) {
  peer.conversation->disconnected();
  wires_.close(options_.self, process);
  connect_later(process, peer);
  hasten_timer(peer);
}

/// What the conversation has to say is written, and what it has heard is delivered.
void Peers::turn(ProcessId process) {
  Peer& peer = *find(process);
  write(process, peer, now_ns());
  if (peer.conversation->is_open() && !peer.is_told) {
    peer.is_told = true;
    tell_({peer.name, life_of(peer.conversation->peer_epoch()), false, ""});
  }
  for (transport::Letter& letter : peer.conversation->take_letters()) {
    if (letter.channel >> kRoleShift == kSilos) {
      if (deliver_to_silo_) {
        deliver_to_silo_(process, name_of(letter.channel).index, std::move(letter.frame));
      }
      continue;
    }
    if (letter.channel >> kRoleShift == kRelayed) {
      if (deliver_relayed_) {
        deliver_relayed_(peer.name, name_of(letter.channel).index, std::move(letter.frame));
      }
      continue;
    }
    deliver_(peer.name, name_of(letter.channel), std::move(letter.frame));
  }
  if (peer.conversation->take_close()) {
    wires_.close(options_.self, process);
    SEAWAY_PROBE_IF(peer.conversation->has_ended(), "a conversation ends");
    if (peer.conversation->has_ended()) lose(process, peer);
    if (!peer.is_absent || wires_.goes_on_looking()) connect_later(process, peer);
  }
  hasten_timer(peer);
}

void Peers::write(ProcessId process, Peer& peer, std::uint64_t time_ns) {
  auto bytes = peer.conversation->take_bytes(time_ns);
  if (!bytes.empty()) wires_.write(options_.self, process, std::move(bytes));
}

void Peers::lose(ProcessId process, Peer& peer) {
  const std::uint64_t epoch = peer.conversation->peer_epoch();
  if (epoch != 0) peer.life = life_of(epoch);
  // Where there is no process, it is the one of before that is gone. Who is only silent from the
  // beginning of a conversation may have begun a new life meanwhile.
  const std::uint32_t life = epoch != 0 || peer.is_absent ? peer.life : 0;
  PeerNews news{peer.name, life, true, peer.conversation->reason().message()};
  // Nobody was there to be lost, unless somebody was talked to.
  const bool has_sent = peer.conversation->counts().sent > 0;
  const bool is_stranger = options_.tells_of_strangers && peer.name.role == Role::kClient;
  // The next controller knows nothing of who has enrolled with the one before.
  const bool is_forgotten =
      peer.name.role == actor::Role::kController && wires_.is_barred(options_.self, process);
  const bool is_news = peer.is_told || has_sent || is_stranger || is_forgotten;
  // Who says that it is over has begun another one already, which has to be heard: if each end
  // refused what the other one has just begun, they would end one after the other for ever.
  const bool has_begun_anew = peer.conversation->was_ended_by_peer();
  peer.epoch_min = std::max(peer.epoch_min, has_begun_anew ? epoch : epoch + 1);
  // A conversation in which nothing was said has not begun.
  SEAWAY_PROBE_IF(epoch == 0 && !has_sent, "a conversation ends before it has begun");
  if (epoch == 0 && !has_sent) --peer.attempt;
  begin(process, peer);
  SEAWAY_PROBE_IF(!is_news, "nobody is told of a peer that was never there");
  if (is_news && !SEAWAY_MUTANT("a role does not hear whom it has lost")) tell_(news);
}

void Peers::connect_later(ProcessId process, Peer& peer) {
  SEAWAY_PROBE_IF(peer.is_connecting, "a connection is already asked for");
  if (std::exchange(peer.is_connecting, true)) return;
  std::uint64_t pause_ns = pauses_.below(options_.pause_max_ns);
  if (SEAWAY_FAULT(kLongPause)) pause_ns = options_.pause_max_ns;
  const std::uint64_t at_ns = now_ns() + 1 + pause_ns;
  engine_.schedule(at_ns, guarded([this, process] {
                     Peer* const found = find(process);
                     if (!found) return;
                     found->is_connecting = false;
                     SEAWAY_PROBE_IF(found->conversation->is_open(),
                                     "the other end has connected first");
                     if (found->conversation->is_open()) return;
                     if (SEAWAY_FAULT(kFailedConnection)) return connect_later(process, *found);
                     wires_.connect(options_.self, process);
                   }));
}

/// One timer for all peers, at the time when the first of them is due, or before. Only a peer that
/// has changed can be due sooner.
void Peers::hasten_timer(const Peer& peer) {
  const auto due = peer.conversation->due_ns();
  if (!due) return;
  const std::uint64_t due_ns = std::max<std::uint64_t>(1, *due);
  if (timer_ns_ != 0 && timer_ns_ <= due_ns) return;
  if (timer_ns_ != 0 && !is_ticking_) engine_.cancel(timer_);
  timer_ns_ = due_ns;
  if (!is_ticking_) begin_timer();
}

void Peers::begin_timer() {
  timer_ = engine_.schedule(timer_ns_, guarded([this] { tick(); }));
}

void Peers::tick() {
  timer_ns_ = 0;
  is_ticking_ = true;
  std::vector<ProcessId> all;
  for (const auto& [process, peer] : peers_) all.push_back(process);
  for (const ProcessId process : all) {
    Peer* const peer = find(process);
    if (!peer) continue;
    peer->conversation->tick(now_ns());
    turn(process);
  }
  is_ticking_ = false;
  if (timer_ns_ != 0) begin_timer();
}

}  // namespace seaway::cluster
