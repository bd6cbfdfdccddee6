// Peers: one process's conversations with all other processes of its cluster.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "actor/router.hpp"
#include "base/random.hpp"
#include "transport/conversation.hpp"
#include "transport/packet.hpp"
#include "transport/wires.hpp"

namespace seaway::cluster {

/// A role, wherever it is played.
struct RoleName {
  actor::Role role = actor::Role::kController;
  std::uint32_t index = 0;

  friend auto operator<=>(const RoleName&, const RoleName&) = default;
};
/// "the host of island 2", "host 1 of island 2".
std::string to_string(const RoleName& name);

/// What a relayed frame is: words of schemas/relay.capnp; else a message of schemas/seaway.capnp as
/// it is, from a client for its delegate there, or from a delegate for the host of island number
/// - 1.
inline constexpr std::uint32_t kRelayWords = 0;

struct PeersOptions {
  transport::ProcessId self = 0;
  std::uint32_t life = 1;  // How often this process has begun, with this time.
  std::uint64_t seed = 0;  // Of the pauses before connections are made again.
  std::uint64_t heartbeat_ns = 250'000'000;
  /// Nothing was heard for so long: the peer is lost. The process that all others depend on waits
  /// longer than they do, so that they have stopped when it takes them for lost (a lease). A client
  /// whose connection has ended is lost after two heartbeats: it alone makes new ones.
  std::uint64_t silence_max_ns = 1'000'000'000;
  std::uint64_t pause_max_ns = 2'000'000;  // Before a connection is made again.
  transport::FrameLaneOptions control = transport::control_lane();
  transport::FrameLaneOptions bulk = {};
  /// Limit of partially received frames, all clients together; at least the longest frame. Above
  /// it, `reject_client` is called with the client that has the most bytes, and has to end its
  /// conversation. Required if clients are peers; called once per conversation.
  std::size_t partial_bytes_max = std::size_t{2} << 30;
  std::function<void(const RoleName& client, const Status& why)> reject_client = {};
  /// Of peers that are met as they come: news also of one who was never there, that it may be left.
  bool tells_of_strangers = false;
  /// Of simulated processes: the process dies here and now, within a handler, and nothing that the
  /// rest of the handler sends leaves it. Returns. Empty: it never happens.
  std::function<void()> on_out_of_memory;
  /// Called with each frame before it is sent, which it may replace. For simulated processes; else
  /// empty.
  std::function<void(transport::ProcessId to, std::uint32_t channel, Frame& frame)> tap = {};
};

/// The kind of frames of a channel: a role's number, or one of these.
inline constexpr unsigned kChannelKindShift = 28;
inline constexpr std::uint32_t kSiloChannels = 15;
inline constexpr std::uint32_t kRelayChannels = 14;

/// What became of a peer.
struct PeerNews {
  RoleName name;
  std::uint32_t life = 0;  // Which one of it; 0: it was never heard.
  bool is_lost = false;    // Or it is there, and has heard nothing that was said before.
  std::string reason;      // Why it is lost.
};

/// Carries frames to the roles of other processes, each once and in order as long as both processes
/// live, and says when it cannot any more: when a peer has begun a new life, does not exist, or was
/// not heard for too long. What was said and not acknowledged then may have arrived or not.
///
/// Two processes that live may lose each other too, and talk again later: each conversation of the
/// two has a number of its own in its epochs, so that nothing of an earlier one is ever heard.
///
/// The engine's control thread only; engine and wires outlive it.
class Peers {
 public:
  /// A frame of a peer for a role of this process.
  using Deliver = std::function<void(const RoleName& from, const RoleName& to, Frame frame)>;
  using Tell = std::function<void(const PeerNews& news)>;

  Peers(actor::Engine& engine, transport::Wires& wires, PeersOptions options, Deliver deliver,
        Tell tell);
  ~Peers();

  /// `process`, which plays `name`, is talked with from now on.
  void meet(transport::ProcessId process, RoleName name);
  /// It is not a peer any more: the conversation ends in peace. It may be met again.
  void leave(transport::ProcessId process);

  /// To whoever plays `to`. Without such a peer, or while it is known to be lost, it is dropped:
  /// whoever waits for an answer hears of the loss.
  void send(const RoleName& to, Frame frame, transport::Lane lane = transport::Lane::kControl);

  /// Frames for the silos of users' actors are addressed to a process, and say which silo.
  using DeliverToSilo =
      std::function<void(transport::ProcessId from, std::uint32_t silo, Frame frame)>;
  void hear_silos(DeliverToSilo deliver) { deliver_to_silo_ = std::move(deliver); }
  /// As send(). All on the control lane: between two silos everything is in order.
  void send_to_silo(transport::ProcessId process, std::uint32_t silo, Frame frame);

  /// Frames between the delegates of clients and their clients (schemas/relay.capnp) are addressed
  /// to a process, too. `number` says what the frame is: see kRelayWords.
  using DeliverRelayed =
      std::function<void(const RoleName& from, std::uint32_t number, Frame frame)>;
  void hear_relayed(DeliverRelayed deliver) { deliver_relayed_ = std::move(deliver); }
  void send_relayed(transport::ProcessId process, std::uint32_t number, Frame frame,
                    transport::Lane lane);

  /// Sends `frame` on any channel, whatever it is. For processes that break the rules on purpose.
  void send_raw(transport::ProcessId process, std::uint32_t channel, Frame frame,
                transport::Lane lane);

  /// Ends the conversation with whoever plays `to`, who learns that this process is lost for it, as
  /// soon as anything gets there; both may talk again then.
  void begin_anew(const RoleName& to, const Status& why);
  void begin_anew(transport::ProcessId process, const Status& why);

  /// Frames for a peer, of which it has acknowledged nothing for `Stalled::kHeartbeats` heartbeats,
  /// whether it is connected or not.
  struct Stalled {
    static constexpr std::uint64_t kHeartbeats = 3;
    RoleName peer;
    std::size_t frames = 0, bytes = 0;
    std::uint64_t for_ns = 0;
  };
  std::vector<Stalled> stalled() const;

  struct Counts {
    std::uint64_t frames = 0, refused = 0;  // Sent; not taken, as too much waited.
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Peer {
    RoleName name;
    std::unique_ptr<transport::Conversation> conversation;
    transport::PacketReader reader;
    std::uint32_t attempt = 0;  // Of conversations with it.
    std::uint64_t epoch_min = 1;
    std::uint32_t life = 0;  // The one that was heard last, in whichever conversation.
    bool is_told = false;    // That it is there.
    bool is_connecting = false;
    bool is_absent = false;         // Its machine says that there is no such process.
    std::size_t partial_bytes = 0;  // Of a client's partially received frames.
    bool is_rejected = false;       // Passed to reject_client; its conversation is about to end.
  };

  std::uint64_t now_ns() const { return engine_.clock().now_ns(); }
  Peer* find(transport::ProcessId process);
  void say(transport::ProcessId process, Peer& peer, std::uint32_t channel, Frame frame,
           transport::Lane lane);
  void begin(transport::ProcessId process, Peer& peer);
  void attach(transport::ProcessId process);
  void on_bytes(transport::ProcessId process, const std::vector<std::byte>& bytes);
  void count_partial(Peer& peer);
  void reject_longest();
  void turn(transport::ProcessId process);
  void write(transport::ProcessId process, Peer& peer, std::uint64_t time_ns);
  void lose(transport::ProcessId process, Peer& peer);
  void drop_connection(transport::ProcessId process, Peer& peer);
  void connect_later(transport::ProcessId process, Peer& peer);
  void hasten_timer(const Peer& peer);
  void begin_timer();
  void tick();
  /// Something that happens to this process: never when it has ended.
  std::function<void()> guarded(std::function<void()> work) const;

  actor::Engine& engine_;
  transport::Wires& wires_;
  const PeersOptions options_;
  const Deliver deliver_;
  const Tell tell_;
  DeliverToSilo deliver_to_silo_;
  DeliverRelayed deliver_relayed_;
  RandomStream pauses_;
  std::map<transport::ProcessId, Peer> peers_;
  std::map<RoleName, transport::ProcessId> processes_;
  /// Of those that were left: the last attempt, and the least epoch of the next.
  std::map<transport::ProcessId, std::pair<std::uint32_t, std::uint64_t>> left_;
  std::size_t partial_bytes_ = 0;  // Sum over all clients.
  std::vector<std::byte> spare_;   // For what comes next.
  std::uint64_t timer_ns_ = 0;     // When the timer is due; 0: there is none.
  bool is_ticking_ = false;        // It begins when all peers have had their turn.
  actor::TimerId timer_ = 0;
  Counts counts_;
  std::shared_ptr<bool> is_here_;
};

}  // namespace seaway::cluster
