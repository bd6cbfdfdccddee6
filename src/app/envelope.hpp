// Envelope: what silos say to each other: a user's message with who asks whom, or a word about
// one.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seaway/app/runtime.hpp"

namespace seaway::app {

/// A silo runs the members of one host; the hub, number 0, runs what belongs to no host: the
/// clients' ends of calls, and the names of meshes. Host `h` has silo `h + 1`. Clients that are
/// processes have silos of their own, behind those of the hosts, for their ends of calls.
using SiloId = std::uint32_t;
constexpr SiloId kHub = 0;
/// Ids of meshes and of repeatable requests begin with the silo that chose them.
constexpr unsigned kSiloShift = 40;
constexpr SiloId silo_of_host(std::uint32_t host) { return host + 1; }
constexpr std::uint32_t host_of_silo(SiloId silo) { return silo - 1; }
constexpr SiloId silo_of_client(std::uint32_t client, std::uint32_t hosts) {
  return hosts + client;  // Clients count from 1.
}

enum class Kind : std::uint8_t {
  // About one call; `call` is the caller's id of it. Data: in the order of their sending.
  kCall,      // Caller to callee. call 0: nobody waits for an answer.
  kReply,     // Callee to caller, once: payload or status. number: arguments it passed on.
  kItem,      // Callee to caller: one answer of a stream.
  kArgument,  // To a callee: the payload, or the failure, that a call of `from` waits for.
  // Control: before all data that is there.
  kForward,    // Caller to callee: the answer is also the argument of call request_id to
               // `sender`, on silo `number`.
  kCancel,     // Caller to callee.
  kMore,       // Caller to callee: number more answers of a stream may come.
  kCredit,     // Callee to caller: number sends to `member` have been handled.
  kCombine,    // Caller to the silos of a reduction (parcel).
  kPartial,    // From a silo to its parent in the tree: what it and its children make.
  kStart,      // Owner to a host: members to make (parcel).
  kStarted,    // Host to owner: which of them live (parcel).
  kStop,       // Owner to a host: `member` ends. number: until when it may go on handling; 0: not.
  kStopMesh,   // Anybody to an owner: end these members (parcel), and answer with kStopped.
  kStopped,    // Owner to who asked, with the same `call`.
  kDeath,      // Host to owner: `member`, in incarnation `number`, has ended, of `status`.
  kNotice,     // Owner to a watcher: the same (parcel.death). number: which watch of a client.
  kWatch,      // Watcher to owner: tell me of deaths of these members (parcel).
  kMoved,      // Owner to all silos: `member` is now on silo `number`.
  kSnapshot,   // Host to owner: what `member` would be restored from. number: which one.
  kKept,       // Owner to host: snapshot `number` is safe.
  kPublish,    // Owner to hub: a name for a mesh (parcel); answered by kPublished.
  kPublished,  // Hub to owner.
  kUnpublish,  // Owner to hub.
  kFind,       // Anybody to hub: a name (parcel); answered by kFound.
  kFound,      // Hub to who asked (parcel).
};
std::string_view to_string(Kind kind);
/// Whether `from` says whose ids `call` is of, and not who sends.
constexpr bool has_origin(Kind kind) { return kind == Kind::kArgument; }

/// What a new incarnation goes on with: its state, and what it answered to repeatable requests.
struct Snapshot {
  internal::RawMessage state;
  std::vector<std::pair<std::uint64_t, Result<internal::RawMessage>>> answered;
};

/// A member to be made, or that was made.
struct Start {
  std::uint32_t index = 0;
  std::uint32_t incarnation = 1;
  std::shared_ptr<const Snapshot> snapshot;  // What it begins with; null: nothing.
  std::uint64_t snapshot_number = 0;
  Status status;
};

/// What only some kinds need.
struct Parcel {
  std::shared_ptr<const internal::MeshInfo> mesh;
  internal::ObjectFactory factory;
  std::vector<Start> starts;
  std::vector<std::uint32_t> members;
  std::string name;
  std::shared_ptr<const Death> death;
  // kCombine, kPartial.
  internal::Combine combine;
  std::vector<SiloId> children;
  SiloId parent = 0;
  bool is_root = false;
  /// Why what it asks for cannot be done here: its names are not known, or mean something else.
  Status refusal;
};

struct Envelope {
  Kind kind = Kind::kCall;
  bool awaits_argument = false;
  bool is_stream = false;
  bool is_once = false;      // request_id says which.
  SiloId from = 0;           // Whose ids `call` is of.
  MemberName member;         // Who is called, or whom it is about.
  MemberName sender;         // In whose name; {} for a client:
  std::uint32_t client = 0;  // that one.
  std::uint64_t call = 0;
  std::uint64_t request_type = 0;
  std::uint64_t reply_type = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t number = 0;
  std::uint64_t request_id = 0;
  std::uint64_t tenant = 0;  // That the sender acts for (transport::TenantKey).
  std::uint32_t epoch = 0;  // Of a third silo, that of a Forward or a Combine's parent: which life.
  internal::RawMessage payload;
  Status status;
  std::shared_ptr<Parcel> parcel;
};

/// Carries envelopes between the silos of a cluster: those of one pair in order, at most once.
class Network {
 public:
  /// A life that has not been heard of yet.
  static constexpr std::uint32_t kUnheard = UINT32_MAX;

  virtual ~Network() = default;
  /// Takes `batch`, and leaves it empty. On the thread of the sending silo.
  virtual void send(SiloId from, SiloId to, std::vector<Envelope>& batch) = 0;
  /// In which of its lives a silo is, from 1, as far as is known here; 0 once it has been lost,
  /// kUnheard while it has said nothing. What is sent goes to that life, and is dropped when there
  /// is none.
  virtual std::uint32_t epoch(SiloId silo) const = 0;
  bool is_up(SiloId silo) const { return epoch(silo) != 0; }
  /// No silo has this number, or a larger one.
  virtual std::uint32_t silos() const = 0;
  /// Those of them that are hosts'.
  virtual std::uint32_t hosts() const { return silos() - 1; }
  /// Whether `silo` ends as soon as it hears that `lost` has: what lived there goes elsewhere.
  virtual bool ends_with(SiloId silo, SiloId lost) const { return silo == lost; }
  /// Calls `use` with each silo that is up, in the order of their numbers; itself among them.
  virtual void for_each_up(const std::function<void(SiloId)>& use) const {
    for (SiloId silo = 0; silo < silos(); ++silo) {
      if (is_up(silo)) use(silo);
    }
  }
};

/// What people call a silo: "host 3", "client 2", "the hub".
std::string silo_name(SiloId silo, std::uint32_t hosts);

/// Something for each silo. Those of the hub and the hosts are found at once; there are as many as
/// were asked for of the others.
template <class T>
class SiloMap {
 public:
  void resize(std::size_t dense) { dense_.resize(dense); }
  T& operator[](SiloId silo) { return silo < dense_.size() ? dense_[silo] : others_[silo]; }
  /// Null when nothing was asked for it.
  T* find(SiloId silo) {
    if (silo < dense_.size()) return &dense_[silo];
    const auto found = others_.find(silo);
    return found == others_.end() ? nullptr : &found->second;
  }
  /// As it was at first.
  void reset(SiloId silo) {
    if (silo < dense_.size()) {
      dense_[silo] = T();
    } else {
      others_.erase(silo);
    }
  }
  template <class Use>
  void for_each(Use&& use) const {
    for (const T& each : dense_) use(each);
    for (const auto& [silo, each] : others_) use(each);
  }

 private:
  std::vector<T> dense_;
  std::map<SiloId, T> others_;
};

}  // namespace seaway::app
