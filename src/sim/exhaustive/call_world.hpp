// CallWorld: a client's hub and two hosts with real silos, and a network between them that brings
// what is sent at any time, in order for each pair, or loses it with a host.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "app/client_caller.hpp"
#include "app/silo.hpp"
#include "sim/exhaustive/call_actor.hpp"
#include "sim/exhaustive/replayed.hpp"

namespace seaway::exhaustive {

/// What is fixed about one world of calls. Member i of the one mesh begins on host i.
struct CallSpec {
  std::vector<AskedCall> calls;  // In the order of asking; each gets its number, from 1.
  // How often, anywhere: a host dies, a member is killed, a call is given up.
  std::uint32_t host_kills_max = 0, member_kills_max = 0, cancels_max = 0;
  bool do_hosts_return = false;

  /// FOR TESTS ONLY: a promise that the network does not keep.
  enum class Weakening : std::uint8_t {
    kNone,
    kTwice,       // The hub's batches arrive twice.
    kDeathUntold  // Nobody hears that a host has died.
  };
  Weakening weakening = Weakening::kNone;
};

/// One step that a CallWorld may take.
struct CallMove {
  enum class Kind : std::uint8_t {
    kAsk,       // The client makes its next call.
    kDeliver,   // Silo `to` gets the next batch of `from`.
    kTimer,     // The next pause of a silo ends.
    kHearLost,  // `to` hears that `from` has died: nothing more comes from it.
    kReturn,    // `from` is back in a new life, when all have heard of its death;
    kHearBack,  // and `to` hears of that.
    kClose,     // The client is done.
    kKillHost,
    kKillMember,  // Number `from`.
    kCancel       // Call number `from`, from 0.
  };
  Kind kind = Kind::kAsk;
  std::uint32_t from = 0, to = 0;
};

/// The core of Replayed<CallCluster>. Each call has one outcome; what succeeds names its own
/// number, and was handled; one life of a member handles nothing twice, and what one asked it in
/// the order of the asking; without faults all succeeds. In the end nothing is left over.
class CallCluster {
 public:
  using Move = CallMove;
  using Spec = CallSpec;

  explicit CallCluster(const CallSpec& spec);
  ~CallCluster();

  std::string setting() const;
  void moves(std::vector<Move>& out) const;
  void take(const Move& move);
  const std::string& violation() const { return violation_; }
  bool is_done() const;
  std::uint64_t hash() const;
  static bool is_fault(const Move& move) { return move.kind >= Move::Kind::kKillHost; }
  static std::string describe(const Move& move);
  std::string to_string() const;

 private:
  static constexpr app::SiloId kSilos = 3;
  class Timers;  // The engine.
  class End;     // What a silo sends through.
  struct Batch {
    std::vector<app::Envelope> envelopes;
    std::uint64_t hash = 0;  // Which one it is.
  };
  struct Life {
    std::uint32_t epoch = 1;
    bool is_alive = true;
    std::unique_ptr<End> end;
    std::shared_ptr<app::Door> door;
    std::unique_ptr<app::Silo> silo;
    History history;
    /// In which life each other one is, as far as is known here; 0: it has died.
    std::array<std::uint32_t, kSilos> known{1, 1, 1};
  };

  void begin(app::SiloId id);
  void turn(app::SiloId id);
  void send(app::SiloId from, app::SiloId to, std::vector<app::Envelope>& batch);
  void deliver(app::SiloId from, app::SiloId to);
  bool is_quiet() const;
  bool has_fault() const { return host_kills_ + member_kills_ + cancels_ > 0; }
  void check();
  void check_end();
  void fail(const std::string& text);

  const CallSpec spec_;
  CallLedger ledger_;  // Outlives the silos.
  std::unique_ptr<Timers> timers_;
  std::shared_ptr<internal::Waiter> waiter_;
  std::array<Life, kSilos> lives_;
  std::array<std::array<std::deque<Batch>, kSilos>, kSilos> channels_;  // By sender, receiver.
  std::shared_ptr<app::ClientCaller> client_;
  ActorMesh<Echo> mesh_;
  std::vector<Future<Reply<sim::Told>>> outcomes_;
  bool is_closed_ = false;
  bool is_muted_ = false;   // A host is dying: what it says goes nowhere.
  bool has_begun_ = false;  // The mesh is there.
  std::uint32_t host_kills_ = 0, member_kills_ = 0, cancels_ = 0;
  std::string violation_;
};

using CallWorld = Replayed<CallCluster>;

}  // namespace seaway::exhaustive
