// What the owners of two conversations do, and what connections do to them.

#include "sim/exhaustive/conversation_world.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace seaway::exhaustive {
namespace {

using transport::Conversation;
using transport::Packet;
using Weakening = ConversationSpec::Weakening;

constexpr std::uint64_t kSilenceNs = 1'000'000;

std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

ConversationWorld::ConversationWorld(ConversationSpec spec) : spec_(spec) {
  for (std::uint32_t index = 0; index < 2; ++index) {
    End end{begin({Conversation({}, 0)}, index)};
    end.talks = 1;
    ends_.push_back(std::move(end));
  }
}

Conversation ConversationWorld::begin(const End& end, std::uint32_t index) const {
  transport::ConversationOptions options{
      .epoch = end.epoch,
      .peer = "end " + text(1 - index),
      .peer_epoch_min = end.peer_epoch_min,
      .bulk = {.packet_bytes = sizeof(std::uint64_t), .credit_packets = 1},
      .silence_max_ns = kSilenceNs};
  // Frames have two words.
  if (spec_.has_parts)
    options.control.packet_bytes = options.control.credit_bytes = sizeof(std::uint64_t);
  return Conversation(std::move(options), 0);
}

std::string ConversationWorld::setting() const {
  return "two ends, each sends " + text(spec_.frames) + " frames and " + text(spec_.payloads) +
         " of payload; at most " + text(spec_.cuts_max) + " cuts, " + text(spec_.repeats_max) +
         " repeats, " + text(spec_.lives_max) + " new lives, " + text(spec_.silences_max) +
         " silences\n";
}

const ConversationWorld::Connection* ConversationWorld::find(std::uint32_t number) const {
  for (const Connection& connection : connections_)
    if (connection.number == number) return &connection;
  return nullptr;
}
ConversationWorld::Connection* ConversationWorld::find(std::uint32_t number) {
  return const_cast<Connection*>(std::as_const(*this).find(number));
}

// ---- What may happen ------------------------------------------------------------------------

void ConversationWorld::moves(std::vector<Move>& out) const {
  for (std::uint32_t index = 0; index < 2; ++index) {
    const End& end = ends_[index];
    const Connection* const connection = find(end.connection);
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      if (end.lanes[lane].sent < frames_of(lane)) out.push_back({Move::Kind::kSend, index, lane});
    }
    if (!connection) continue;
    if (!connection->coming[index].empty()) out.push_back({Move::Kind::kDeliver, index});
    if (connection->is_cut) out.push_back({Move::Kind::kSeeCut, index});
  }
  if (ends_[0].connection == 0) out.push_back({Move::Kind::kConnect, 0});
  const Connection* const newest = find(last_connection_);
  if (newest && !newest->is_cut && ends_[1].connection != last_connection_)
    out.push_back({Move::Kind::kAccept, 1});
  if (is_done()) return;
  for (const Connection& connection : connections_)
    if (!connection.is_cut && cuts_ < spec_.cuts_max)
      out.push_back({Move::Kind::kCut, 0, connection.number});
  for (std::uint32_t index = 0; index < 2; ++index) {
    const Connection* const connection = find(ends_[index].connection);
    if (connection && repeats_ < spec_.repeats_max)
      for (std::uint32_t i = 0; i < connection->came[index].size(); ++i)
        out.push_back({Move::Kind::kRepeat, index, i});
    if (lives_ < spec_.lives_max) out.push_back({Move::Kind::kNewLife, index});
    if (silences_ < spec_.silences_max && ends_[index].lanes[0].said > 0)
      out.push_back({Move::Kind::kSilence, index});
  }
}

void ConversationWorld::take(const Move& move) {
  End& end = ends_[move.end];
  Connection* const connection = find(end.connection);
  switch (move.kind) {
    case Move::Kind::kSend: {
      End::Lane& lane = end.lanes[move.index];
      ++lane.sent;
      ++lane.said;
      const auto fill = [&](auto words) {
        words[0] = end.epoch << 32 | end.talks;
        words[1] = lane.said;
      };
      const Status status = end.talk.send(Frame::make(2, fill), 0, move.index,
                                          static_cast<transport::Lane>(move.index));
      if (!status.ok()) violation_ = status.to_string();
      break;
    }
    case Move::Kind::kConnect:
      connections_.push_back({++last_connection_, false, {}, {}});
      [[fallthrough]];
    case Move::Kind::kAccept:
      end.connection = last_connection_;
      if (spec_.weakening == Weakening::kForgetsOnBreak && last_connection_ > 1)
        begin_anew(move.end);
      end.talk.connected(0);
      break;
    case Move::Kind::kDeliver: {
      Packet packet = std::move(connection->coming[move.end].front());
      connection->coming[move.end].pop_front();
      if (repeats_ < spec_.repeats_max) connection->came[move.end].push_back(packet);
      end.talk.receive(std::move(packet), 0);
      break;
    }
    case Move::Kind::kSeeCut:
      end.connection = 0;
      end.talk.disconnected();
      break;
    case Move::Kind::kCut:
      ++cuts_;
      find(move.index)->is_cut = true;
      break;
    case Move::Kind::kRepeat:
      ++repeats_;
      end.talk.receive(connection->came[move.end][move.index], 0);
      break;
    case Move::Kind::kNewLife:
      ++lives_;
      begin_life(move.end);
      break;
    case Move::Kind::kSilence:
      ++silences_;
      end.talk.tick(kSilenceNs);
      break;
  }
  for (std::uint32_t index = 0; index < 2; ++index) look_at(index);
  forget_connections();
}

// ---- What owners do -------------------------------------------------------------------------

/// The conversation is over; another one waits for a later life of the peer.
void ConversationWorld::begin_anew(std::uint32_t index) {
  End& end = ends_[index];
  if (end.talk.has_ended()) {
    // Who says that it is over has begun another one already.
    const bool is_begun = end.talk.reason().code() == StatusCode::kCancelled;
    end.peer_epoch_min = std::max(end.peer_epoch_min, end.talk.peer_epoch() + (is_begun ? 0 : 1));
  }
  if (spec_.has_attempts) ++end.epoch;
  end.talk = begin(end, index);
  ++end.talks;
  for (End::Lane& lane : end.lanes) lane.said = lane.heard = 0;
  end.heard_from = 0;
}

/// It knows who lives now.
void ConversationWorld::begin_life(std::uint32_t index) {
  End& end = ends_[index];
  if (Connection* const connection = find(end.connection)) connection->is_cut = true;
  end.connection = 0;
  if (spec_.weakening != Weakening::kLifeHasNoEpoch) ++end.epoch;
  end.peer_epoch_min = spec_.has_attempts ? 1 : ends_[1 - index].epoch;
  end.talk = begin(end, index);
  end.talks = 1;
  for (End::Lane& lane : end.lanes) lane.said = lane.heard = 0;
  end.heard_from = 0;
}

/// What came of the last event is written, read, and done.
void ConversationWorld::look_at(std::uint32_t index) {
  End& end = ends_[index];
  for (const transport::Letter& letter : end.talk.take_letters()) read(index, letter);
  Connection* const connection = find(end.connection);
  for (Packet& packet : end.talk.take_packets(0))
    if (connection && !connection->is_cut)
      connection->coming[1 - index].push_back(std::move(packet));
  if (!end.talk.take_close()) return;
  if (connection) connection->is_cut = true;
  end.connection = 0;
  if (!end.talk.has_ended()) return end.talk.disconnected();
  // Whoever is told that he is over is: only another life of him is heard again.
  const bool is_over = end.talk.reason().code() == StatusCode::kCancelled;
  is_over && !spec_.has_attempts ? begin_life(index) : begin_anew(index);
}

void ConversationWorld::read(std::uint32_t index, const transport::Letter& letter) {
  End& end = ends_[index];
  const auto fail = [&](const std::string& what) {
    if (violation_.empty()) violation_ = "end " + text(index) + " " + what;
  };
  const std::uint64_t from = letter.frame.words()[0], number = letter.frame.words()[1];
  End::Lane& lane = end.lanes[letter.channel];
  if (end.heard_from == 0) end.heard_from = from;
  if (end.heard_from != from) fail("hears two conversations of its peer in one of its own");
  if (from >> 32 < end.peer_epoch_min) fail("hears a life of its peer that is over");
  if (number <= lane.heard) fail("hears frame " + text(number) + " twice");
  if (number > lane.heard + 1) fail("never hears frame " + text(lane.heard + 1));
  ++lane.heard;
  ++lane.heard_ever;
}

void ConversationWorld::forget_connections() {
  std::erase_if(connections_, [this](const Connection& connection) {
    const bool is_used =
        ends_[0].connection == connection.number || ends_[1].connection == connection.number;
    return !is_used;
  });
}

// ---- How it stands --------------------------------------------------------------------------

bool ConversationWorld::is_done() const {
  const Connection* const connection = find(ends_[0].connection);
  if (!connection || connection->is_cut || ends_[1].connection != connection->number) return false;
  for (std::uint32_t index = 0; index < 2; ++index) {
    const End& end = ends_[index];
    if (!end.talk.is_open() || !connection->coming[index].empty() ||
        end.talk.unacknowledged() > 0 || end.talk.bulk().waiting_bytes() > 0)
      return false;
    for (std::size_t lane = 0; lane < 2; ++lane) {
      const End::Lane& own = end.lanes[lane];
      if (own.sent < frames_of(lane) || own.heard != ends_[1 - index].lanes[lane].said)
        return false;
      if (lives_ + silences_ == 0 && own.heard_ever < frames_of(lane)) return false;
    }
  }
  return true;
}

std::uint64_t ConversationWorld::hash() const {
  std::uint64_t hash = 1;
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  for (const End& end : ends_) {
    add(end.talk.hash());
    add(end.epoch << 32 | end.peer_epoch_min);
    add(last_connection_ - end.connection + (end.connection == 0 ? 1u << 16 : 0));
    add(end.talks);
    for (const End::Lane& lane : end.lanes) {
      add(lane.sent | lane.said << 8 | lane.heard << 16);
      if (lives_ + silences_ == 0) add(lane.heard_ever);
    }
    add(end.heard_from);
  }
  for (const Connection& connection : connections_) {
    add((last_connection_ - connection.number) << 1 | (connection.is_cut ? 1u : 0u));
    for (std::uint32_t index = 0; index < 2; ++index) {
      add(connection.coming[index].size());
      for (const Packet& packet : connection.coming[index]) add(transport::hash_of(packet));
      if (repeats_ == spec_.repeats_max) continue;
      for (const Packet& packet : connection.came[index]) add(transport::hash_of(packet));
    }
  }
  add(cuts_ | repeats_ << 8 | lives_ << 16 | silences_ << 24);
  add(last_connection_ > 0);
  return hash;
}

std::string ConversationWorld::describe(const Move& move) {
  const std::string end = "end " + text(move.end);
  switch (move.kind) {
    case Move::Kind::kSend:
      return end + (move.index == 0 ? " sends its next frame" : " sends its next payload");
    case Move::Kind::kConnect:
      return end + " makes a connection";
    case Move::Kind::kAccept:
      return end + " has the new connection";
    case Move::Kind::kDeliver:
      return end + " gets the next packet";
    case Move::Kind::kSeeCut:
      return end + " sees that its connection is no more";
    case Move::Kind::kCut:
      return "fault: connection " + text(move.index) + " breaks";
    case Move::Kind::kRepeat:
      return "fault: " + end + " gets packet " + text(move.index + 1) + " of its connection again";
    case Move::Kind::kNewLife:
      return "fault: " + end + " dies, and begins a new life";
    case Move::Kind::kSilence:
      return "fault: " + end + " hears nothing for too long";
  }
  return {};
}

std::string ConversationWorld::to_string() const {
  std::string out;
  for (std::uint32_t index = 0; index < 2; ++index) {
    const End& end = ends_[index];
    out += "end " + text(index) + ": life " + text(end.epoch) +
           (end.talk.is_open() ? ", open" : ", not open") + ", has sent " +
           text(end.lanes[0].sent) + " frames and " + text(end.lanes[1].sent) + " of payload, " +
           text(end.talk.unacknowledged()) + " of them not acknowledged, has heard " +
           text(end.lanes[0].heard) + " and " + text(end.lanes[1].heard) + ", " +
           (end.connection == 0 ? "no connection" : "connection " + text(end.connection)) + "\n";
  }
  return out;
}

}  // namespace seaway::exhaustive
