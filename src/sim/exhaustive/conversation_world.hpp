// ConversationWorld: two real ends of a conversation, and connections between them that break,
// repeat what they brought, and outlive what one end knows of them.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/exhaustive/explore.hpp"
#include "transport/conversation.hpp"

namespace seaway::exhaustive {

/// What is fixed about one conversation.
struct ConversationSpec {
  std::uint32_t frames = 2;    // That each end sends,
  std::uint32_t payloads = 0;  // and on the bulk lane, in two chunks each, with credit for one.
  // How often, anywhere: the connection breaks, it brings something again, an end's process begins
  // a new life, an end hears nothing for too long.
  std::uint32_t cuts_max = 0, repeats_max = 0, lives_max = 0, silences_max = 0;

  /// Whether each conversation of a process has an epoch of its own, as those between members of a
  /// cluster have; else all of a life have one, as those between silos.
  bool has_attempts = false;
  bool has_parts = false;  // Each frame of the control lane takes two packets, with credit for one.

  /// FOR TESTS ONLY: a promise that one end does not keep.
  enum class Weakening : std::uint8_t {
    kNone,
    kForgetsOnBreak,  // A new connection begins a new conversation in the same life.
    kLifeHasNoEpoch,  // A new life calls itself by the number of the last one.
  };
  Weakening weakening = Weakening::kNone;
};

/// One step that a ConversationWorld may take.
struct ConversationMove {
  enum class Kind : std::uint8_t {
    kSend,     // `end` sends its next frame; `index` is the lane.
    kConnect,  // End 0 makes a connection.
    kAccept,   // End 1 has it.
    kDeliver,  // What comes next for `end` on its connection.
    kSeeCut,   // `end` finds out that its connection is no more.
    kCut,
    kRepeat,  // Packet `index` of those that have come to `end`, once more.
    kNewLife,
    kSilence
  };
  Kind kind = Kind::kSend;
  std::uint32_t end = 0, index = 0;
};

/// See Explorable. Frames have to arrive each once and in the order of their lane, from one life
/// to one life; in the end all that was sent to the life that is there has arrived, and all that
/// was ever sent when no life and no conversation has ended.
class ConversationWorld {
 public:
  using Move = ConversationMove;

  explicit ConversationWorld(ConversationSpec spec);

  std::string setting() const;
  void moves(std::vector<Move>& out) const;
  void take(const Move& move);
  const std::string& violation() const { return violation_; }
  bool is_done() const;
  std::uint64_t hash() const;
  static bool is_fault(const Move& move) { return move.kind >= Move::Kind::kCut; }
  static std::string describe(const Move& move);
  std::string to_string() const;

 private:
  struct Connection {
    std::uint32_t number = 0;
    bool is_cut = false;
    // By the end that they are for.
    std::array<std::deque<transport::Packet>, 2> coming;
    std::array<std::vector<transport::Packet>, 2> came;
  };
  struct End {
    transport::Conversation talk;
    std::uint64_t epoch = 1, peer_epoch_min = 1;
    std::uint32_t connection = 0;  // Its number; 0: none.
    std::uint32_t talks = 0;       // Conversations so far: which one a frame is of.
    struct Lane {
      std::uint32_t sent = 0;   // In all its lives.
      std::uint32_t said = 0;   // Frames of this conversation,
      std::uint32_t heard = 0;  // and those that have come in it.
      std::uint32_t heard_ever = 0;
    };
    std::array<Lane, 2> lanes = {};
    std::uint64_t heard_from = 0;  // From one conversation of one life. 0: nothing was heard.
  };
  std::uint32_t frames_of(std::size_t lane) const {
    return lane == 0 ? spec_.frames : spec_.payloads;
  }

  transport::Conversation begin(const End& end, std::uint32_t index) const;
  Connection* find(std::uint32_t number);
  const Connection* find(std::uint32_t number) const;
  void begin_anew(std::uint32_t end);
  void begin_life(std::uint32_t end);
  void look_at(std::uint32_t end);
  void read(std::uint32_t end, const transport::Letter& letter);
  void forget_connections();

  ConversationSpec spec_;
  std::vector<End> ends_;
  std::vector<Connection> connections_;
  std::uint32_t last_connection_ = 0;
  std::uint32_t cuts_ = 0, repeats_ = 0, lives_ = 0, silences_ = 0;
  std::string violation_;
};

}  // namespace seaway::exhaustive
