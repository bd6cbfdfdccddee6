// What a conversation does with packets, broken connections and time.

#include "transport/conversation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fault_point.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "base/random.hpp"

namespace seaway::transport {

namespace {

constexpr std::size_t kPacketsKept = 64;  // Room for so many stays from turn to turn.
constexpr std::size_t kReasonBytesMax = 1024;

/// The text of a kEnd's frame: bytes, filled up with zeros.
Frame text_frame(std::string text) {
  text.resize(std::min(text.size(), kReasonBytesMax));
  return Frame::make((text.size() + 7) / 8, [&text](std::span<std::uint64_t> words) {
    std::ranges::fill(words, 0);
    std::memcpy(words.data(), text.data(), text.size());
  });
}

std::string text_of(const Frame& frame) {
  const auto bytes = std::as_bytes(frame.words());
  std::string text(reinterpret_cast<const char*>(bytes.data()),
                   std::min(bytes.size(), kReasonBytesMax));
  return text.substr(0, text.find('\0'));
}

}  // namespace

Conversation::Conversation(ConversationOptions options, std::uint64_t now_ns)
    : options_(std::move(options)),
      heard_ns_(now_ns),
      said_ns_(now_ns),
      progress_ns_(now_ns),
      control_(options_.control),
      bulk_(options_.bulk) {}

Status Conversation::send(Frame frame, std::uint64_t now_ns, std::uint32_t channel, Lane lane) {
  if (has_ended()) return reason_;
  SEAWAY_PROBE_IF(lane == Lane::kBulk, "payload goes beside control");
  const bool is_first = peer_epoch_ == 0 && control_.last() == 0;
  const bool waits = control_.waiting() + bulk_.waiting() > 0;
  const Status taken = (lane == Lane::kBulk ? bulk_ : control_).send(channel, std::move(frame));
  if (!taken.ok()) return {taken.code(), options_.peer + ": " + taken.message()};
  // Whom nobody has asked anything yet owes no answer: he may not have begun.
  if (is_first) heard_ns_ = std::max(heard_ns_, now_ns);
  if (!waits) progress_ns_ = now_ns;
  ++counts_.sent;
  if (lane == Lane::kBulk || !is_open()) return {};
  if (say_frames(control_, Packet::Kind::kPart, Packet::Kind::kFrame)) {
    if (SEAWAY_FAULT(kFrameTwice)) packets_.push_back(packets_.back());
    said_ns_ = now_ns;
  }
  return {};
}

/// As many of its packets as have credit. False when there are none.
bool Conversation::say_frames(FrameLane& lane, Packet::Kind part, Packet::Kind last) {
  bool is_any = false;
  while (auto piece = lane.next()) {
    say(piece->is_last ? last : part, piece->number, {piece->channel, std::move(piece->frame)});
    is_any = true;
  }
  return is_any;
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
  heard_ns_ = now_ns;
  if (packet.acknowledged > control_.last()) {
    return refuse(protocol_error(options_.peer + " acknowledges packet " +
                                 std::to_string(packet.acknowledged) + " of " +
                                 std::to_string(control_.last())));
  }
  if (packet.kind == Packet::Kind::kEnd) {
    was_ended_by_peer_ = true;
    const std::string why = text_of(packet.frame);
    if (why.empty()) return finish(cancelled(options_.peer + " has ended the conversation"));
    return finish(protocol_error(options_.peer + " has refused a packet: " + why));
  }
  if (packet.kind == Packet::Kind::kHello) return greet(packet);
  // Before its Hello a connection brings only what is older than it.
  if (!is_open()) {
    SEAWAY_PROBE("a frame comes before the greeting of its connection");
    ++counts_.repeated;
    return;
  }
  damaged_ = 0;  // What can never come would be damaged again, right behind the Hello.
  if (!take_acknowledgements(packet, now_ns)) return;
  if (packet.kind != Packet::Kind::kAck) take_frame(std::move(packet));
}

void Conversation::greet(const Packet& hello) {
  // One that a connection repeats is as old as the connection.
  SEAWAY_PROBE_IF(is_open(), "a greeting is repeated");
  if (is_open()) return;
  state_ = State::kOpen;
  if (!control_.resume(hello.acknowledged) ||
      !bulk_.resume(bulk_.expand(hello.chunks_acknowledged))) {
    return refuse(protocol_error(options_.peer + " has received packets that were never sent"));
  }
  say_frames(control_, Packet::Kind::kPart, Packet::Kind::kFrame);
}

/// False when there is no such packet: the conversation has ended.
bool Conversation::take_acknowledgements(const Packet& packet, std::uint64_t now_ns) {
  const std::uint64_t before = control_.acknowledged() + bulk_.acknowledged();
  if (!control_.acknowledge(packet.acknowledged) ||
      !bulk_.acknowledge(bulk_.expand(packet.chunks_acknowledged))) {
    refuse(protocol_error(options_.peer + " acknowledges packets that were never sent"));
    return false;
  }
  if (control_.acknowledged() + bulk_.acknowledged() != before) progress_ns_ = now_ns;
  return true;
}

void Conversation::take_frame(Packet packet) {
  const bool is_bulk =
      packet.kind == Packet::Kind::kChunk || packet.kind == Packet::Kind::kChunkPart;
  const bool is_last = packet.kind == Packet::Kind::kFrame || packet.kind == Packet::Kind::kChunk;
  FrameLane& lane = is_bulk ? bulk_ : control_;
  const std::size_t letters = letters_.size();
  switch (
      lane.take({packet.sequence, packet.channel, std::move(packet.frame), is_last}, letters_)) {
    case FrameLane::Taken::kNew:
      counts_.received += letters_.size() - letters;
      return;
    case FrameLane::Taken::kRepeated:
      ++counts_.repeated;
      return;
    case FrameLane::Taken::kGap:
      return break_off();
    case FrameLane::Taken::kWrong:
      return refuse(protocol_error(
          options_.peer + " sends on the " + (is_bulk ? "bulk" : "control") + " lane, kind " +
          std::to_string(static_cast<unsigned>(packet.kind)) + ": " + lane.wrong()));
  }
}

void Conversation::unreadable(const Status& why, bool is_refusal) {
  // What comes behind it on the same connection is not looked at.
  if (state_ != State::kGreeting && state_ != State::kOpen) return;
  ++damaged_;
  const std::string where = " behind packet " + std::to_string(control_.received()) + ": ";
  if (is_refusal) return refuse(protocol_error(options_.peer + where + why.message()));
  if (damaged_ < options_.damaged_max) return disconnected();
  refuse(protocol_error(options_.peer + where + std::to_string(damaged_) +
                        " connections in a row: " + why.message()));
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

/// Ends it, and the peer learns why if there is a connection.
void Conversation::refuse(Status reason) {
  if (has_ended()) return;
  std::vector<Packet> last;
  if (peer_epoch_ != 0 && (is_open() || state_ == State::kGreeting)) {
    say(Packet::Kind::kEnd, 0, {0, text_frame(reason.message())});
    last.push_back(std::move(packets_.back()));
  }
  finish(std::move(reason));
  packets_ = std::move(last);
}

void Conversation::finish(Status reason) {
  if (has_ended()) return;
  break_off();
  state_ = State::kEnded;
  reason_ = std::move(reason);
  control_.clear();
  bulk_.clear();
}

void Conversation::break_off() {
  state_ = State::kDown;
  closes_ = true;
  packets_.clear();
}

void Conversation::say(Packet::Kind kind, std::uint64_t sequence, Letter letter) {
  control_.told();
  bulk_.told();
  packets_.push_back({kind, options_.epoch, peer_epoch_, sequence, control_.received(),
                      std::move(letter.frame), letter.channel,
                      static_cast<std::uint32_t>(bulk_.received())});
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

/// With what has credit now, and the acknowledgements that the other end waits for.
void Conversation::complete_packets(std::uint64_t now_ns) {
  if (!is_open()) return;
  const bool says_control = say_frames(control_, Packet::Kind::kPart, Packet::Kind::kFrame);
  const bool says_bulk = say_frames(bulk_, Packet::Kind::kChunkPart, Packet::Kind::kChunk);
  if (says_control || says_bulk) said_ns_ = now_ns;
  if (!control_.has_news() && !bulk_.has_news()) return;
  if (!packets_.empty()) {
    for (Packet& packet : packets_) {
      packet.acknowledged = control_.received();
      packet.chunks_acknowledged = static_cast<std::uint32_t>(bulk_.received());
    }
    control_.told();
    bulk_.told();
  } else if ((control_.owes_acknowledgement() &&
              (control_.holds_credit() || !SEAWAY_FAULT(kHeldAcknowledgement))) ||
             bulk_.owes_acknowledgement()) {
    if (!SEAWAY_MUTANT("nothing is acknowledged")) say(Packet::Kind::kAck);
    said_ns_ = now_ns;
  }
}

Conversation::Counts Conversation::counts() const {
  Counts counts = counts_;
  counts.resent = control_.resent();
  return counts;
}

Conversation::Waiting Conversation::waiting() const {
  return {control_.waiting() + bulk_.waiting(), control_.waiting_bytes() + bulk_.waiting_bytes(),
          progress_ns_};
}

std::uint64_t Conversation::hash() const {
  std::uint64_t hash = mix64(control_.hash());
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  add(static_cast<std::uint64_t>(state_) << 8 | static_cast<std::uint64_t>(reason_.code()) << 1 |
      static_cast<std::uint64_t>(closes_));
  for (const std::uint64_t one :
       {peer_epoch_, successor_epoch_, options_.epoch, options_.peer_epoch_min}) {
    add(one);
  }
  add(damaged_ << 1 | static_cast<std::uint64_t>(was_ended_by_peer_));
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
