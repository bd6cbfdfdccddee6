// What a conversation does with packets, broken connections and time.

#include "transport/conversation.hpp"

#include <algorithm>
#include <utility>

#include "base/fault_point.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "base/random.hpp"

namespace seaway::transport {

namespace {

constexpr std::size_t kPacketsKept = 64;  // Room for so many stays from turn to turn.

}  // namespace

Conversation::Conversation(ConversationOptions options, std::uint64_t now_ns)
    : options_(std::move(options)), heard_ns_(now_ns), said_ns_(now_ns), bulk_(options_.bulk) {}

Status Conversation::send(Frame frame, std::uint64_t now_ns, std::uint32_t channel, Lane lane) {
  if (has_ended()) return reason_;
  if (lane == Lane::kBulk) {
    SEAWAY_PROBE("payload goes beside control");
    Status taken = bulk_.send(channel, std::move(frame));
    if (!taken.ok()) return {taken.code(), options_.peer + ": " + taken.message()};
    if (peer_epoch_ == 0 && last_sent_ == 0) heard_ns_ = std::max(heard_ns_, now_ns);
    ++counts_.sent;
    return {};
  }
  const std::size_t bytes = frame.size_bytes();
  if (kept_.size() >= options_.frames_max || kept_bytes_ + bytes > options_.bytes_max) {
    return resource_exhausted(options_.peer + " has not acknowledged " +
                              std::to_string(kept_.size()) + " frames of " +
                              std::to_string(kept_bytes_) + " bytes; the limits are " +
                              std::to_string(options_.frames_max) + " and " +
                              std::to_string(options_.bytes_max) + "; wait until it has");
  }
  // Whom nobody has asked anything yet owes no answer: he may not have begun.
  if (peer_epoch_ == 0 && last_sent_ == 0) heard_ns_ = std::max(heard_ns_, now_ns);
  kept_.push_back({channel, frame});
  kept_bytes_ += bytes;
  ++last_sent_;
  ++counts_.sent;
  if (is_open()) {
    say(Packet::Kind::kFrame, last_sent_, {channel, std::move(frame)});
    if (SEAWAY_FAULT(kFrameTwice)) say(Packet::Kind::kFrame, last_sent_, kept_.back());
    said_ns_ = now_ns;
  }
  return {};
}

void Conversation::connected(std::uint64_t now_ns) {
  if (has_ended()) return;
  packets_.clear();
  closes_ = false;
  state_ = State::kGreeting;
  say(Packet::Kind::kHello);
  said_ns_ = now_ns;
}

void Conversation::receive(Packet packet, std::uint64_t now_ns) {
  if (state_ != State::kGreeting && state_ != State::kOpen) return;
  if (packet.from_epoch < options_.peer_epoch_min) {
    ++counts_.stale;
    SEAWAY_PROBE("a packet comes from a life that is over");
    if (packet.from_epoch == 0 || packet.kind == Packet::Kind::kEnd) return;
    // Nothing of that life has been received in this conversation.
    packets_.push_back({Packet::Kind::kEnd, options_.epoch, packet.from_epoch, 0, 0, {}, 0, 0});
    return;
  }
  const bool is_first = peer_epoch_ == 0 && packet.kind == Packet::Kind::kHello;
  const bool is_meant = packet.to_epoch == options_.epoch ||
                        (packet.to_epoch == 0 && packet.kind == Packet::Kind::kHello);
  if (packet.from_epoch > peer_epoch_ && peer_epoch_ != 0) {
    SEAWAY_PROBE("a peer has begun a new life");
    successor_epoch_ = packet.from_epoch;
    return finish({StatusCode::kHostLost, options_.peer + " has begun a new life, number " +
                                              std::to_string(packet.from_epoch) +
                                              "; this was number " + std::to_string(peer_epoch_)});
  }
  if (packet.from_epoch == 0 || !is_meant || (!is_first && packet.from_epoch != peer_epoch_)) {
    SEAWAY_PROBE("a packet is of another conversation");
    ++counts_.stale;
    return;
  }
  peer_epoch_ = packet.from_epoch;
  const bool is_heartbeat = packet.kind == Packet::Kind::kAck;
  if (!is_heartbeat || !SEAWAY_MUTANT("a heartbeat is no sign of life")) heard_ns_ = now_ns;
  if (packet.acknowledged > last_sent_) {
    return finish(protocol_error(options_.peer + " acknowledges frame " +
                                 std::to_string(packet.acknowledged) + " of " +
                                 std::to_string(last_sent_)));
  }
  if (packet.kind == Packet::Kind::kEnd) {
    return finish(cancelled(options_.peer + " has ended the conversation"));
  }
  if (packet.kind == Packet::Kind::kHello) return greet(packet);
  // Before its Hello a connection brings only what is older than it.
  if (!is_open()) {
    SEAWAY_PROBE("a frame comes before the greeting of its connection");
    ++counts_.repeated;
    return;
  }
  take_acknowledgement(packet.acknowledged);
  if (!bulk_.acknowledge(packet.chunks_acknowledged)) {
    return finish(protocol_error(options_.peer + " acknowledges chunks that were never sent"));
  }
  if (packet.kind == Packet::Kind::kFrame) take_frame(std::move(packet));
  if (packet.kind == Packet::Kind::kChunk) take_chunk(std::move(packet));
}

void Conversation::greet(const Packet& hello) {
  // One that a connection repeats is as old as the connection.
  SEAWAY_PROBE_IF(is_open(), "a greeting is repeated");
  if (is_open()) return;
  state_ = State::kOpen;
  take_acknowledgement(hello.acknowledged);
  if (!bulk_.resume(hello.chunks_acknowledged)) {
    return finish(protocol_error(options_.peer + " has received chunks that were never sent"));
  }
  std::uint64_t sequence = last_sent_ - kept_.size();
  for (const Letter& letter : kept_) {
    if (SEAWAY_MUTANT("the oldest frame is not sent again") && &letter == &kept_.front()) continue;
    say(Packet::Kind::kFrame, ++sequence, letter);
    SEAWAY_PROBE("a frame is sent again");
    ++counts_.resent;
  }
}

/// Forgets what has arrived.
void Conversation::take_acknowledgement(std::uint64_t acknowledged) {
  std::uint64_t first = last_sent_ - kept_.size() + 1;
  if (SEAWAY_MUTANT("a frame is forgotten before it has arrived") && !kept_.empty()) ++acknowledged;
  for (; first <= acknowledged; ++first) {
    kept_bytes_ -= kept_.front().frame.size_bytes();
    kept_.pop_front();
  }
}

void Conversation::take_frame(Packet packet) {
  if (packet.sequence <= received_ && !SEAWAY_MUTANT("a frame that is repeated is heard again")) {
    SEAWAY_PROBE("a repeated frame is dropped");
    ++counts_.repeated;
    return;
  }
  SEAWAY_PROBE_IF(packet.sequence > received_ + 1, "a frame is missing");
  if (packet.sequence > received_ + 1) return break_off();  // Something is missing.
  ++received_;
  ++counts_.received;
  letters_.push_back({packet.channel, std::move(packet.frame)});
}

void Conversation::take_chunk(Packet packet) {
  const std::size_t letters = letters_.size();
  switch (bulk_.take({packet.sequence, packet.channel, std::move(packet.frame)}, letters_)) {
    case BulkLane::Taken::kNew:
      counts_.received += letters_.size() - letters;
      return;
    case BulkLane::Taken::kRepeated:
      ++counts_.repeated;
      return;
    case BulkLane::Taken::kGap:
      return break_off();
    case BulkLane::Taken::kWrong:
      return finish(protocol_error(options_.peer + " sends chunk " +
                                   std::to_string(packet.sequence) +
                                   ", which does not go on from the one before, has no credit, or "
                                   "begins a frame of more than " +
                                   std::to_string(options_.bulk.frame_bytes_max) + " bytes"));
  }
}

void Conversation::disconnected() {
  if (has_ended()) return;
  state_ = State::kDown;
  packets_.clear();
}

void Conversation::refused() {
  SEAWAY_PROBE("a connection is refused");
  finish({StatusCode::kHostLost, options_.peer + " does not exist any more"});
}

void Conversation::end() {
  if (has_ended()) return;
  if (is_open()) say(Packet::Kind::kEnd);
  std::vector<Packet> last = std::move(packets_);
  finish(cancelled("this end has ended the conversation with " + options_.peer));
  packets_ = std::move(last);
}

void Conversation::finish(Status reason) {
  if (has_ended()) return;
  break_off();
  state_ = State::kEnded;
  reason_ = std::move(reason);
  kept_.clear();
  kept_bytes_ = 0;
  bulk_.clear();
}

void Conversation::break_off() {
  state_ = State::kDown;
  closes_ = true;
  packets_.clear();
}

void Conversation::say(Packet::Kind kind, std::uint64_t sequence, Letter letter) {
  acknowledged_ = received_;
  bulk_.told();
  packets_.push_back({kind, options_.epoch, peer_epoch_, sequence, received_,
                      std::move(letter.frame), letter.channel, bulk_.received()});
}

std::optional<std::uint64_t> Conversation::due_ns() const {
  if (has_ended()) return std::nullopt;
  std::optional<std::uint64_t> due;
  const auto take = [&due](std::uint64_t at_ns) { due = due ? std::min(*due, at_ns) : at_ns; };
  if (options_.heartbeat_ns > 0 && is_open()) take(heartbeat_due_ns());
  if (options_.silence_max_ns > 0) take(heard_ns_ + patience_ns());
  return due;
}

/// How long nothing may be heard as things are now.
std::uint64_t Conversation::patience_ns() const {
  const bool is_away = state_ == State::kDown && options_.absence_max_ns > 0;
  return is_away ? std::min(options_.absence_max_ns, options_.silence_max_ns)
                 : options_.silence_max_ns;
}

/// At whole multiples: all conversations of a process, and of a machine with one clock, speak up at
/// once, which wakes everybody once.
std::uint64_t Conversation::heartbeat_due_ns() const {
  return (said_ns_ / options_.heartbeat_ns + 1) * options_.heartbeat_ns;
}

void Conversation::tick(std::uint64_t now_ns) {
  if (has_ended()) return;
  if (options_.silence_max_ns > 0 && now_ns >= heard_ns_ + patience_ns()) {
    SEAWAY_PROBE("a peer is not heard any more");
    const bool is_away = patience_ns() < options_.silence_max_ns;
    SEAWAY_PROBE_IF(is_away, "a peer does not come back");
    return finish({StatusCode::kHostLost, options_.peer + " was not heard for " +
                                              std::to_string((now_ns - heard_ns_) / 1'000'000) +
                                              " ms; the limit is " +
                                              std::to_string(patience_ns() / 1'000'000) + " ms" +
                                              (is_away ? " without a connection" : "")});
  }
  if (options_.heartbeat_ns > 0 && is_open() && now_ns >= heartbeat_due_ns()) {
    if (SEAWAY_FAULT(kLateHeartbeat)) {
      said_ns_ = now_ns - options_.heartbeat_ns / 8 * 7;
      return;
    }
    if (!SEAWAY_MUTANT("nobody says that he lives")) say(Packet::Kind::kAck);
    said_ns_ = now_ns;
  }
}

std::vector<Packet> Conversation::take_packets(std::uint64_t now_ns) {
  complete_packets(now_ns);
  return std::exchange(packets_, {});
}

std::vector<std::byte> Conversation::take_bytes(std::uint64_t now_ns) {
  complete_packets(now_ns);
  std::size_t size = 0;
  for (const Packet& packet : packets_) size += kPacketHeaderBytes + packet.frame.size_bytes();
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (const Packet& packet : packets_) write_packet(packet, bytes);
  packets_.clear();
  // Where much was said again, that room is not needed any more.
  if (packets_.capacity() > kPacketsKept) packets_.shrink_to_fit();
  return bytes;
}

/// With what is next on the bulk lane, and what the other end is owed.
void Conversation::complete_packets(std::uint64_t now_ns) {
  if (is_open()) {
    while (auto chunk = bulk_.next()) {
      say(Packet::Kind::kChunk, chunk->number, {chunk->channel, std::move(chunk->frame)});
      said_ns_ = now_ns;
    }
  }
  if (is_open() && (acknowledged_ < received_ || bulk_.has_news())) {
    const bool owes = received_ - acknowledged_ >= options_.acknowledge_every;
    if (!packets_.empty()) {
      for (Packet& packet : packets_) {
        packet.acknowledged = received_;
        packet.chunks_acknowledged = bulk_.received();
      }
      acknowledged_ = received_;
      bulk_.told();
    } else if ((owes && !SEAWAY_FAULT(kHeldAcknowledgement)) || bulk_.owes_acknowledgement()) {
      if (!SEAWAY_MUTANT("nothing is acknowledged")) say(Packet::Kind::kAck);
      said_ns_ = now_ns;
    }
  }
}

std::uint64_t Conversation::hash() const {
  std::uint64_t hash = mix64(last_sent_) ^ mix64(received_ << 20 ^ acknowledged_);
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  add(static_cast<std::uint64_t>(state_) << 8 | static_cast<std::uint64_t>(reason_.code()) << 1 |
      static_cast<std::uint64_t>(closes_));
  for (const std::uint64_t one :
       {peer_epoch_, successor_epoch_, options_.epoch, options_.peer_epoch_min}) {
    add(one);
  }
  std::uint64_t sequence = last_sent_ - kept_.size();
  for (const Letter& letter : kept_) {
    add(hash_of({Packet::Kind::kFrame, 0, 0, ++sequence, 0, letter.frame, letter.channel, 0}));
  }
  add(bulk_.hash());
  add(packets_.size());
  for (const Packet& packet : packets_) add(hash_of(packet));
  for (const Letter& letter : letters_) {
    add(hash_of({Packet::Kind::kFrame, 0, 0, 0, 0, letter.frame, letter.channel, 0}));
  }
  return hash;
}

std::vector<Letter> Conversation::take_letters() { return std::exchange(letters_, {}); }
bool Conversation::take_close() { return std::exchange(closes_, false); }

}  // namespace seaway::transport
