// Silo: runs the members of one host: their mailboxes, calls, timers, and the meshes they own.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actor/actor.hpp"
#include "actor/engine.hpp"
#include "actor/restart_policy.hpp"
#include "actor/timer_wheel.hpp"
#include "app/call_table.hpp"
#include "app/delivery.hpp"
#include "app/door.hpp"
#include "app/envelope.hpp"
#include "app/member.hpp"

namespace seaway::app {

/// Limits of one silo; what is beyond fails with kResourceExhausted.
struct SiloLimits {
  std::uint32_t members_max = 1u << 22;
  std::uint32_t calls_max = 1u << 22;     // Of its members and clients, under way.
  std::uint32_t routes_max = 1u << 16;    // Of meshes with nothing under way that it remembers.
  std::uint32_t once_remembered = 1024;   // Answers that each member keeps for repeated requests.
  std::uint32_t forwards_max = 1u << 16;  // Of the answer of one call.
  std::uint32_t early_arguments_max = 1u << 16;  // Whose calls have not come yet.
  std::uint32_t names_max = 1u << 16;            // At the hub, of all tenants.
  std::uint32_t turn = 256;                      // Handlers between two looks at what has come.
  std::uint64_t restart_pause_ns =
      10'000'000;  // Before a call is sent again, and doubled each time.
};

/// Where calls of one mesh go, and how many are under way.
struct Route {
  struct Place {
    SiloId silo = 0;
    std::uint32_t in_flight = 0;
  };
  std::shared_ptr<const internal::MeshInfo> mesh;
  std::vector<Place> places;
  std::uint64_t in_flight = 0;
};

/// The members of a mesh that are on this host, and of what those died that are not any more.
struct LocalMesh {
  std::shared_ptr<const internal::MeshInfo> mesh;
  internal::ObjectFactory factory;
  std::vector<std::shared_ptr<Member>> members;  // By index; null: not here.
  std::map<std::uint32_t, Status> graves;
  std::uint32_t live = 0;
};

/// Somebody who is told of deaths.
struct Watch {
  SiloId silo = 0;
  std::uint64_t tenant = 0;  // Of the watcher.
  MemberName watcher;        // {}: a client's watch, by number.
  std::uint64_t number = 0;  // Of a member: its incarnation.
  std::vector<std::uint32_t> members;
};

/// A request to end members, which is answered when they have.
struct StopRequest : SiloTimer {
  StopRequest() : SiloTimer(SiloTimer::Kind::kStop) {}
  SiloId from = 0;
  std::uint64_t call = 0;
  std::uint64_t mesh = 0;
  std::vector<std::uint32_t> members;  // In order.
  std::uint32_t open = 0;              // Of them, those that have not ended.
  std::uint32_t killed = 0;
};

/// A mesh that a member or a client of this silo has spawned, and looks after.
struct OwnedMesh {
  explicit OwnedMesh(actor::Supervision own) : supervision(std::move(own)) {}

  struct Place {
    SiloId silo = 0;
    std::uint32_t incarnation = 1;
    bool is_live = false;
    bool is_done = false;     // Ended for good.
    std::uint16_t stops = 0;  // Requests to end it.
  };
  std::shared_ptr<const internal::MeshInfo> mesh;
  internal::ObjectFactory factory;
  std::string name;
  std::shared_ptr<Member> owner;  // Null: a client.
  actor::Supervision supervision;
  std::vector<Place> places;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::shared_ptr<const Snapshot>>> snapshots;
  std::uint32_t starting = 0;  // Members that have not yet said whether they live.
  std::uint32_t not_done = 0;
  std::shared_ptr<internal::FutureState<std::shared_ptr<const internal::MeshInfo>>> spawned;
  Status failure;
  std::vector<Watch> watches;
  std::vector<std::unique_ptr<StopRequest>> stops;
  bool is_ending = false;
  bool has_moved = false;  // A member, from a host that was lost.
};

/// One reduction on one host, between its members and its parent in the tree.
struct ReductionNode : SiloTimer {
  ReductionNode() : SiloTimer(SiloTimer::Kind::kNode) {}
  SiloId from = 0;  // The caller's silo, and its call: the key of the node.
  std::uint64_t call = 0;
  std::uint64_t deadline_ns = 0;
  SiloId parent = 0;
  std::uint32_t parent_epoch = 0;
  bool is_root = false;
  internal::Combine combine;
  std::vector<SiloId> children;
  std::size_t missing = 0;
  bool is_known = false;  // What is asked has come; before that:
  std::vector<std::pair<SiloId, Result<internal::RawMessage>>> early;
  /// By position: this host's members first, then its children in order.
  std::vector<std::optional<Result<internal::RawMessage>>> values;
  /// What members of this host were asked; another ticket: that is over.
  std::vector<std::pair<Delivery*, std::uint64_t>> asked;
};

/// An argument that was faster than the call that waits for it. It is forgotten at some time, for
/// the call may have been lost with an earlier life of this host.
struct EarlyArgument : SiloTimer {
  EarlyArgument() : SiloTimer(SiloTimer::Kind::kArgument) {}
  Envelope envelope;
};

class Silo final : public actor::Actor {
 public:
  struct Wiring {
    SiloId id = 0;
    std::uint32_t epoch = 1;  // Its life: ids of earlier ones are never used again.
    actor::Engine* engine = nullptr;
    Network* network = nullptr;
    std::shared_ptr<Door> door;
    std::shared_ptr<internal::Waiter> waiter;
    std::uint64_t seed = 0;
    SiloLimits limits;
    /// Which of `count` ready members is next; null: the first. For the simulator.
    std::function<std::size_t(std::size_t count)> choose;
    std::function<Result<Client>(std::uint32_t client)> client_of;
  };
  explicit Silo(Wiring wiring);
  ~Silo() override;

  void receive(const Frame& frame) override;
  /// Takes what another silo has sent; for networks that bring frames.
  void accept(Envelope envelope);
  /// A peer has been lost: what was asked there fails, and what lived there is dead.
  void on_silo_lost(SiloId silo);
  /// It is back, in a new life: it learns who has moved.
  void on_silo_back(SiloId silo);

  // What members and clients ask for; on this silo's thread.
  // `client`: in whose name when that is no member.
  void start_call(Member* caller, std::uint32_t client, internal::CallOrder& order);
  Status start_send(Member* caller, std::uint32_t client, internal::CallOrder& order);
  void start_reduction(Member* caller, std::uint32_t client, internal::CallOrder& order,
                       internal::Combine combine);
  void cancel_call(internal::CallBase& call);
  void grant(internal::CallBase& call, std::uint32_t count);
  using Spawned = internal::FutureState<std::shared_ptr<const internal::MeshInfo>>;
  void spawn(std::shared_ptr<Member> owner, std::uint32_t client, internal::SpawnOrder order,
             std::shared_ptr<Spawned> spawned);
  void find(Member* caller, std::uint32_t client, const std::string& name,
            std::shared_ptr<Spawned> found);
  void stop(Member* caller, std::uint32_t client, const internal::Members& members,
            std::uint64_t deadline_ns, std::shared_ptr<internal::FutureState<void>> stopped);
  void kill(std::uint64_t tenant, const internal::Members& members, const Status& cause);
  void watch(std::uint64_t tenant, const internal::Members& members, MemberName watcher,
             std::uint64_t number);
  /// The tenant that `caller` acts for; without a caller, that of `client`.
  std::uint64_t tenant_of(const Member* caller, std::uint32_t client) const;
  void sleep(Member& member, std::uint64_t at_ns, const std::shared_ptr<SleepState>& state);
  std::shared_ptr<SleepState> end_sleep(SleepState& state);
  /// Before the first call of a client.
  void open_client(std::uint32_t client, std::uint64_t tenant);
  /// Ends the meshes of a client that goes. Everything that it waits for gets `why`.
  void close_client(std::uint32_t client, const Status& why);
  /// A client's watch: who is called for it.
  void keep_watch(std::uint64_t number, std::function<void(const Death&)> on_death);

  // What deliveries ask for.
  void answer_later(Delivery& delivery, std::uint64_t ticket, Result<internal::RawMessage> reply);
  Future<void> write_item(Delivery& delivery, std::uint64_t ticket, internal::RawMessage item);
  void resume_later(Delivery& delivery);
  void end_after_turn(Member& member, Status cause);
  /// Ends a member that was told to end, or has nothing left to handle before it does.
  void end_if_due(Member& member);
  /// The silo whose turn it is in this thread, or null.
  static Silo* current();

  const Wiring& wiring() const { return wiring_; }
  std::uint64_t now_ns() const { return now_ns_; }
  /// Everything that is there: for tests that nothing is left over.
  struct Stock {
    std::size_t members = 0, deliveries = 0, calls = 0, timers = 0, meshes = 0, owned = 0,
                names = 0, nodes = 0, watches = 0, moved = 0;
    friend bool operator==(const Stock&, const Stock&) = default;
  };
  Stock stock() const;
  /// For checkers: each message of a silo that waits at a member or is handled there for somebody
  /// who still wants it, with the most that there may be of that silo's.
  void for_each_waiting(
      const std::function<void(MemberName, SiloId from, std::uint32_t max)>& use) const;
  /// What it waits for, a line each; empty when for nothing.
  std::string why() const;

 private:
  friend class Member;

  /// While a silo does something in this thread.
  class Turn {
   public:
    explicit Turn(Silo& silo);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Silo* const previous_;
  };

  // silo.cpp: turns.
  void turn();
  void run(Door::Posted& posted);
  bool step();
  void post(SiloId to, Envelope&& envelope);
  void return_credits();
  void flush();
  void arm_timers();
  void fire(SiloTimer& timer);
  void dispatch(Envelope& envelope);

  // silo_calls.cpp: the caller's side.
  Route& route_to(const std::shared_ptr<const internal::MeshInfo>& mesh);
  void trim_routes();
  Status check_target(const internal::MeshInfo* mesh, std::uint32_t index, std::string_view what);
  Status check_room(std::string_view request_name) const;
  Call& begin_call(Member* caller, std::uint32_t client, std::shared_ptr<internal::CallBase> state,
                   std::string_view request_name, SiloId silo, std::uint64_t deadline_ns);
  std::uint64_t due_ns(const CallOptions& options) const;
  void open_call(Member* caller, std::uint32_t client, const internal::CallOrder& order,
                 std::uint32_t position, std::uint32_t index,
                 std::shared_ptr<internal::CallBase> state, Envelope envelope);
  bool send_call(Call& call, Envelope&& envelope);
  void withdraw(Call& call);
  void pass_argument(const internal::CallOrder& order, Call& call);
  void fail_unsent(const internal::CallOrder& order, const Status& status);
  void on_reply(Envelope& envelope);
  void on_item(Envelope& envelope);
  void on_credit(const Envelope& envelope);
  void on_call_due(Call& call);
  bool try_again(Call& call);
  void close_call(Call& call, Result<internal::RawMessage> outcome, std::uint64_t forwarded);
  void send_argument(const Call& call, const Result<internal::RawMessage>& outcome);
  void abandon_calls(Member& member);
  static void link_call(Member* caller, Call& call);
  std::string silo_text(SiloId silo) const { return silo_name(silo, wiring_.network->hosts()); }
  void return_credit(MemberName member);

  // silo_members.cpp: the callee's side.
  void on_call(Envelope& envelope);
  void give_up_place(const Envelope& call);
  void take_call(Envelope& envelope);
  void on_argument(Envelope& envelope);
  void on_forward(Envelope& envelope);
  void on_cancel(const Envelope& envelope);
  Delivery& make_delivery(Member& member, const internal::MethodInfo& method,
                          const Envelope& envelope);
  void cancel_delivery(Delivery& delivery);
  void on_more(const Envelope& envelope);
  void refuse(const Envelope& envelope, Status status);
  bool join_once(Delivery& delivery);
  void enqueue(Delivery& delivery);
  void make_ready(Member& member);
  void run_next(Member& member);
  void run(Delivery& delivery);
  void resume(Delivery& delivery);
  void settle(Delivery& delivery);
  void answer(Delivery& delivery, Result<internal::RawMessage> reply);
  void send_reply(Delivery& delivery, const Result<internal::RawMessage>& reply);
  void reply_when_kept(Member& member, bool is_handled, SiloId to, Envelope envelope);
  void release(Delivery& delivery);
  Delivery* find_incoming(SiloId from, std::uint64_t call);
  void after_handling(Member& member);
  void take_snapshot(Member& member);
  void on_kept(const Envelope& envelope);

  // silo_lives.cpp: members begin and end.
  void on_start(Envelope& envelope);
  void refuse_start(const Envelope& envelope);
  Status start_member(LocalMesh& local, const Start& start);
  void on_stop(Envelope& envelope);
  void end_member(Member& member, Status cause);
  void end_when_drained(Member& member);
  LocalMesh* find_local(std::uint64_t mesh);
  LocalMesh* find_authorized(const Envelope& envelope);
  Member* find_member(MemberName name);

  // silo_meshes.cpp: meshes and their owners.
  void begin_start(OwnedMesh& owned, const std::vector<std::uint32_t>& members);
  void on_started(Envelope& envelope);
  void on_death(MemberName member, std::uint32_t incarnation, const Status& cause);
  void give_up(OwnedMesh& owned, const Status& why);
  void on_stop_mesh(const Envelope& envelope);
  void on_member_done(OwnedMesh& owned, std::uint32_t index);
  void on_stop_due(StopRequest& request);
  void end_owned(OwnedMesh& owned, const Status& cause);
  void forget_owned(std::uint64_t mesh);
  void tell(OwnedMesh& owned, const Death& death);
  void on_notice(const Envelope& envelope);
  void hear(Member& member, const Death& death);
  void on_watch(const Envelope& envelope);
  void end_watch(const Watch& watch);
  void tell_too_late(const Watch& watch, MemberName member, std::string name);
  void on_moved(const Envelope& envelope);
  void on_snapshot(Envelope& envelope);
  void answer_call(SiloId to, std::uint64_t call, Status status);
  void stop_member(const OwnedMesh& owned, std::uint32_t index, std::uint64_t until_ns,
                   const Status& cause);
  bool move_member(OwnedMesh& owned, std::uint32_t index);
  void forget_on(SiloId silo, std::uint64_t mesh);
  void finish_spawn(OwnedMesh& owned);
  // silo_names.cpp.
  static Status no_hub(const std::string& name);
  // The hub's.
  void on_publish(const Envelope& envelope);
  void on_published(const Envelope& envelope);
  void on_unpublish(const Envelope& envelope);
  void on_find(const Envelope& envelope);

  // silo_losses.cpp: other hosts die and return.
  void fail_unnamed();
  void lose_callers(SiloId lost);
  void lose_owner(SiloId lost);
  void lose_reductions(SiloId lost);
  void recount_credit(Route& route, std::uint32_t index);

  // silo_reductions.cpp.
  void on_combine(Envelope& envelope);
  void on_partial(Envelope& envelope);
  void contribute(ReductionNode& node, std::size_t at, Result<internal::RawMessage> value);
  void finish_node(ReductionNode& node);
  void cancel_reduction(SiloId from, std::uint64_t call);
  void give_up_node(ReductionNode& node);
  void place_partial(ReductionNode& node, SiloId child, const Result<internal::RawMessage>& value);

  static const internal::MethodInfo kDeathMethod;

  const Wiring wiring_;
  std::uint64_t now_ns_ = 0;
  Door::Content content_;       // Kept for its capacity.
  std::deque<Envelope> local_;  // From this silo to itself.
  std::deque<Delivery*> resumes_;
  std::deque<Member*> ready_;
  SiloMap<std::vector<Envelope>> outgoing_;
  std::vector<SiloId> outgoing_to_;  // Those with something.
  bool is_turning_ = false;
  std::uint32_t entered_ = 0;  // Handlers on the stack.

  actor::TimerWheel wheel_;
  actor::TimerId armed_ = 0;
  std::uint64_t armed_ns_ = 0;  // 0: none.

  CallTable calls_;
  DeliveryPool deliveries_;
  /// Arguments that were faster than the calls that wait for them, by whose call, and its id.
  std::map<std::pair<SiloId, std::uint64_t>, std::unique_ptr<EarlyArgument>> early_arguments_;
  /// How often each place of a silo's call table was used when it was last seen here.
  SiloMap<std::vector<std::uint32_t>> seen_;
  SiloMap<std::vector<Delivery*>> incoming_;         // By place in the silo's call table.
  std::size_t routes_max_ = 0;                       // When they are trimmed next.
  std::unordered_map<std::uint64_t, Route> routes_;  // By mesh; never iterated but to trim.
  std::unordered_map<std::uint64_t, LocalMesh> local_meshes_;
  // The last ones that were looked for: mostly the next ones, too.
  Route* last_route_ = nullptr;
  LocalMesh* last_local_ = nullptr;
  std::map<MemberName, SiloId> moved_;
  std::map<std::uint64_t, OwnedMesh> owned_;
  /// The hub's: by tenant, and name.
  std::map<std::pair<std::uint64_t, std::string>, std::shared_ptr<const internal::MeshInfo>> names_;
  std::map<std::uint64_t, std::function<void(const Death&)>> watches_;  // The hub's.
  /// By the caller's silo and its call.
  std::map<std::pair<SiloId, std::uint64_t>, std::unique_ptr<ReductionNode>> nodes_;
  std::map<std::uint32_t, std::uint64_t> client_tenants_;  // Of the clients that are open here.
  std::size_t member_count_ = 0;
  std::uint64_t last_mesh_;
  std::uint64_t last_request_;
  struct CreditDue {
    SiloId to = 0;
    MemberName member;
    std::uint64_t count = 0;
  };
  std::vector<CreditDue> credit_due_;
};

}  // namespace seaway::app
