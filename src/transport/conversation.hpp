// Conversation: frames between two processes, in order and each once, over connections that break.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "seaway/status.hpp"
#include "transport/frame_lane.hpp"
#include "transport/lane.hpp"
#include "transport/packet.hpp"

namespace seaway::transport {

struct ConversationOptions {
  std::uint64_t epoch = 1;  // This process's life.
  std::string peer;         // What messages call the other one: "host 3".
  /// Earlier lives of the peer are over, for this process at least: they are told so.
  std::uint64_t peer_epoch_min = 1;
  FrameLaneOptions control = control_lane();
  FrameLaneOptions bulk = {};
  /// So many connections in a row may bring damaged packets and nothing new before them.
  std::uint32_t damaged_max = 16;
  /// An open connection says something at least so often. 0: only when there is something to say.
  std::uint64_t heartbeat_ns = 0;
  /// The peer is lost when nothing was heard for so long, over whatever connections. 0: never.
  std::uint64_t silence_max_ns = 0;
  /// The same while there is no connection, of a peer that makes them itself: it would be back by
  /// then. 0: as long as with one.
  std::uint64_t absence_max_ns = 0;
};

/// One end's part in a conversation between one life of this process and one of its peer's. A pure
/// core: time and packets go in, packets and frames come out; its owner makes connections, writes
/// bytes and sets timers. Not thread-safe; a copy goes on by itself.
///
/// Each packet of a frame has a number and is kept until the peer has acknowledged it. On each new
/// connection both ends say Hello: which lives talk, and up to where they have received; what is
/// behind that is sent again. So a frame arrives once and in order however often connections break,
/// and nothing that a connection repeats has an effect. What names another life of either process
/// is ignored, whoever says it: a process that was believed dead and goes on talking is not heard.
///
/// Each lane numbers its packets (FrameLane). A long frame takes many packets: heartbeats,
/// acknowledgements and the other lane's packets go between them. Payload goes on the bulk lane:
/// control frames overtake it.
///
/// A packet that the peer can never take ends the conversation, at both ends, with a reason; so do
/// connections that bring the same packet damaged again and again. Nothing is repeated for ever.
///
/// It ends once, with a reason: the peer ended it, began a new life, fell silent, or does not exist
/// any more. What was not acknowledged then may have arrived or not. The two lives never talk
/// again: the next conversation with that peer asks for a later one (`peer_epoch_min`), and a
/// process that hears that it is over begins a new life.
class Conversation {
 public:
  Conversation(ConversationOptions options, std::uint64_t now_ns);

  /// Takes a frame over. Errors: kResourceExhausted when too much waits for acknowledgement, or
  /// the frame is over the limit; after the end its reason.
  Status send(Frame frame, std::uint64_t now_ns, std::uint32_t channel = 0,
              Lane lane = Lane::kControl);

  /// A connection is there; one of before is forgotten.
  void connected(std::uint64_t now_ns);
  /// What has come on it.
  void receive(Packet packet, std::uint64_t now_ns);
  /// It broke.
  void disconnected();
  /// It brought what is no packet, in the words of PacketReader. `is_refusal`: the peer has sent
  /// exactly that, and ends the conversation; else another connection may bring it undamaged.
  void unreadable(const Status& why, bool is_refusal);
  /// Nobody answers where the peer was: its process does not exist any more.
  void refused();
  /// Ends it for a reason of this end's own.
  void give_up(Status reason) { finish(std::move(reason)); }
  /// Ends it in peace: the peer is told if there is a connection.
  void end();

  /// When tick() has something to do; nothing: not before anything else happens. Each other call
  /// may change it.
  std::optional<std::uint64_t> due_ns() const;
  void tick(std::uint64_t now_ns);

  // What came of it; each is handed out once.
  /// To be written to the connection, in order. Acknowledgements are gathered: take once a turn.
  std::vector<Packet> take_packets(std::uint64_t now_ns);
  /// The same as bytes, and without memory for packets each time.
  std::vector<std::byte> take_bytes(std::uint64_t now_ns);
  /// Received, in order.
  std::vector<Letter> take_letters();
  /// The connection is of no use: close it, and make another one unless this has ended.
  bool take_close();

  bool is_open() const { return state_ == State::kOpen; }
  bool has_ended() const { return state_ == State::kEnded; }
  /// Why, once it has ended: kHostLost, kProtocolError, kResourceExhausted; kCancelled in peace.
  const Status& reason() const { return reason_; }
  /// The peer has ended it, and may have begun another one.
  bool was_ended_by_peer() const { return was_ended_by_peer_; }
  /// 0 until it was heard.
  std::uint64_t peer_epoch() const { return peer_epoch_; }
  /// The later life of the peer that this has met, and ended of; 0: none.
  std::uint64_t successor_epoch() const { return successor_epoch_; }

  struct Counts {
    std::uint64_t sent = 0, resent = 0, received = 0;
    std::uint64_t repeated = 0;  // Frames that had come before.
    std::uint64_t stale = 0;     // Packets of other lives.
  };
  Counts counts() const;
  /// Control frames that wait for acknowledgement.
  std::size_t unacknowledged() const { return control_.waiting(); }
  const FrameLane& control() const { return control_; }
  const FrameLane& bulk() const { return bulk_; }
  /// Frames that wait for acknowledgement, and since when none of their packets was acknowledged.
  struct Waiting {
    std::size_t frames = 0, bytes = 0;
    std::uint64_t since_ns = 0;
  };
  Waiting waiting() const;
  /// Equal for equal futures, but for what depends on time: covers neither that nor counts. For
  /// explorers.
  std::uint64_t hash() const;

 private:
  enum class State : std::uint8_t { kDown, kGreeting, kOpen, kEnded };
  void greet(const Packet& hello);
  bool take_acknowledgements(const Packet& packet, std::uint64_t now_ns);
  void take_frame(Packet packet);
  void say(Packet::Kind kind, std::uint64_t sequence = 0, Letter letter = {});
  bool say_frames(FrameLane& lane, Packet::Kind part, Packet::Kind last);
  void complete_packets(std::uint64_t now_ns);
  void finish(Status reason);
  void refuse(Status reason);
  void break_off();
  std::uint64_t heartbeat_due_ns() const;
  std::uint64_t patience_ns() const;

  ConversationOptions options_;
  State state_ = State::kDown;
  Status reason_;
  std::uint64_t peer_epoch_ = 0;
  std::uint64_t successor_epoch_ = 0;
  bool was_ended_by_peer_ = false;
  std::uint32_t damaged_ = 0;  // Connections in a row that brought damaged packets and no others.
  std::uint64_t heard_ns_;
  std::uint64_t said_ns_;
  std::uint64_t progress_ns_;  // Nothing waited, or something was acknowledged.
  bool closes_ = false;
  std::vector<Packet> packets_;
  std::vector<Letter> letters_;
  FrameLane control_, bulk_;
  Counts counts_;
};

}  // namespace seaway::transport
