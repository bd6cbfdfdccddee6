// ControllerCore: stamps, dispatch, runs in flight and outcomes, for all clients. No actor.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actor/offload.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "controller/controller_outbox.hpp"
#include "events/event_stream.hpp"
#include "program/lowering.hpp"
#include "program/program_graph.hpp"
#include "program/slice_binder.hpp"
#include "seaway/status.hpp"
#include "transport/packet.hpp"

namespace seaway::controller {

struct ControllerLimits {
  std::uint32_t runs_in_flight_max = 256;   // Stamped and unfinished, on one island.
  std::uint32_t runs_shared_in_flight = 8;  // The same, while several tenants have runs waiting.
  std::uint64_t cost_in_flight_ns_max = 50'000'000;  // Estimated device time of those runs.
  /// What islands are told waits for more, while those whom it is about have at least so many runs
  /// in flight: at most for one run in so many, and for so long.
  std::uint32_t runs_to_gather = 16;
  static constexpr std::size_t kGatheredShare = 8;
  std::uint64_t gathering_ns = 3'000'000;
  std::uint32_t runs_queued_max = 100'000;  // Of one tenant, waiting for a stamp.
  std::uint32_t lookahead_max = 64;         // Runs of a client looked at behind one that waits.
  std::uint64_t arrays_max = 10'000'000;    // Live arrays of one tenant.
  /// How far behind the oldest unfinished run of a client another one of it may be named.
  std::uint64_t ids_open_max = std::uint64_t{1} << 23;
  /// Live functions, programs, specs and slices of one client.
  std::uint64_t definitions_max = 100'000;
  std::size_t tenants_max = 10'000;  // That have ever said hello.
  std::size_t old_names_max = 4096;  // Of functions and programs of clients that are gone.
  /// How often a run that failed of a loss is run again; 0: never.
  std::uint32_t reruns_max = 3;
  /// An island whose scheduler, or whose host, is lost more often within the window has failed. It
  /// is used again once neither was lost for as long.
  std::uint32_t restarts_max = 3;
  std::uint64_t restart_window_ns = 10'000'000'000;
};

struct ControllerOptions {
  std::uint32_t islands = 1;
  std::uint64_t device_bytes = 0;    // Budget of each device: a larger part is refused.
  std::uint64_t kept_bytes_max = 0;  // Room for kept arrays on one island: its host's spill room.
  std::uint32_t devices = 1;         // Of each island.
  /// Schedulers and hosts are processes of their own: they join, and may be lost. Without, all of
  /// them are there from the start and stay as long as the controller.
  bool has_members = false;
  std::uint32_t life = 0;  // How often its process has begun: with members, their views tell.
  ControllerLimits limits = {};
  actor::OffloadOptions offload = {};  // For programs of many nodes.
  /// Of a part on its way to its roles: half of a frame, for it travels as data of one.
  std::size_t plan_bytes_max = transport::kFrameBytesMax / 2 - 4096;
};

/// What a client says about its runs and arrays; see schemas/seaway.capnp, ClientRecord.
struct RunRequest {
  RunId run = 0;
  ProgramId program = 0;
  ArrayId first_output = 0;
  std::vector<ArrayId> args;
};

/// For how long an island is drained.
enum class Drain : std::uint8_t {
  kUntilEnded,   // Whoever plays its host.
  kUntilJoined,  // Until another life of its host begins: this one is about to leave.
};

/// How a value is asked for. `again`: a host has answered with an error; the run that makes the
/// array decides. `streams`: a large one may be offered to the client.
struct FetchHow {
  bool again = false, streams = false;
};

/// Gives each run its stamp, sends its parts to their islands, and decides its one outcome.
///
/// Invariants: CO-1 a run is stamped after every run whose arrays it reads (rule 1 of
/// docs/order.md); CO-2 every run gets exactly one outcome; CO-3 an array is freed once: when its
/// handle is gone and all runs that read it are launched, so that its room ends behind them; CO-4
/// no payload passes through. Control thread only; never blocks.
class ControllerCore {
 public:
  ControllerCore(ControllerOptions options, program::SliceBinder& binder, const Clock& clock,
                 events::EventStream& events);
  ~ControllerCore();

  // What clients say.
  void hello(ClientId client, const std::string& tenant, std::uint32_t weight,
             std::uint64_t request, bool waits_when_full = false);
  void goodbye(ClientId client);
  void define_function(ClientId client, program::FunctionInfo info, Frame definition);
  /// The same of a program whose types are known when it is compiled: answered then.
  void define_foreign(ClientId client, std::uint64_t request, program::FunctionInfo info,
                      Frame definition);
  void define_program(ClientId client, program::ProgramGraph graph);
  /// Errors: kInvalidArgument when it is not the client's to name, or does not fit its slice;
  /// kResourceExhausted beyond ControllerLimits::definitions_max.
  Status define_spec(ClientId client, std::uint64_t id, ArraySpec spec, Frame definition);
  /// `client` names the function, program or spec `id` no more. It goes when no unfinished run,
  /// live array or other definition needs it.
  void release_definition(ClientId client, std::uint64_t id);
  void run(ClientId client, const RunRequest& request);
  void put(ClientId client, ArrayId array, std::uint64_t spec);
  void release(ClientId client, ArrayId array);
  void fetch(ClientId client, ArrayId array, std::uint64_t request, FetchHow how = {});
  void cancel(ClientId client, RunId run);
  void acquire_slice(ClientId client, std::uint64_t request, SliceId id,
                     program::SliceRequest wanted);
  void release_slice(ClientId client, std::uint64_t request, SliceId slice);
  void rebind_slice(ClientId client, std::uint64_t request, SliceId slice);
  void why(ClientId client, std::uint64_t request, std::uint64_t id);
  void stats(ClientId client, std::uint64_t request);
  /// Whoever runs the cluster; asks for runs of all clients. No client has this number.
  static constexpr ClientId kOperator = 0;
  void drain(ClientId client, std::uint64_t request);

  /// Answers a request that needs no more than that.
  void answer(ClientId client, std::uint64_t request, Status status = {}) {
    reply(client, request, std::move(status));
  }

  // What hosts and schedulers say.
  void compiled(FunctionId function, HostId host, Status status, std::uint64_t scratch_bytes,
                std::uint64_t cost_ns, const function::OutputOperandPairs& in_place = {},
                const program::ForeignCompiled* foreign = nullptr);
  /// Whether a part of that stamp is on `island` and has not finished there: its scheduler and its
  /// host may speak of it.
  bool has_part(Stamp stamp, IslandId island);
  void part_failed(Stamp stamp, Status status);
  void part_enqueued(Stamp stamp);
  void part_finished(Stamp stamp, IslandId island);
  /// A device is gone, with its memory; `cause` says which and why. A repeat means nothing.
  void device_lost(IslandId island, DeviceId device, const Status& cause);
  /// The bytes of an upload are on its host.
  void arrived(ArrayId array);

  // What becomes of other processes (members.cpp); only with ControllerOptions::has_members.
  /// A new life of an island's host, which knows nothing. `epoch` is its life.
  void host_joined(IslandId island, std::uint32_t epoch);
  /// The host is gone, with everything on its devices. A repeat means nothing.
  void host_lost(IslandId island, const std::string& why);
  void scheduler_joined(IslandId island, std::uint32_t epoch);
  void scheduler_lost(IslandId island);
  void client_lost(ClientId client);
  /// Two roles have lost what one of them said to the other, though both live: the scheduler and
  /// the host of an island, two hosts (of a peer in its life `epoch`; one of before means nothing
  /// any more), a client and a host.
  void complain_of_pair(IslandId island);
  void complain_of_peer(IslandId host, IslandId peer, std::uint32_t epoch);
  void complain_of_reader(ClientId client, IslandId host);
  /// `client` has what it asked for.
  void fetched(ClientId client, std::uint64_t request);
  /// Nothing new comes to `island`, and what is bound to it moves to others, with its arrays, as
  /// far as those have devices and room and nobody has asked for this one. It may be left when
  /// nothing is_left_on() it; until then all goes on there. A repeat tries again what could not
  /// move. Errors: kInvalidArgument for an island that does not exist, or has no life of its own.
  Status drain_island(IslandId island, Drain how);
  /// It takes what is new again. Errors: as above.
  Status end_drain(IslandId island);
  bool is_draining(IslandId island) const;
  struct Left {
    std::size_t slices = 0;  // Bound to it, or on their way.
    std::size_t arrays = 0;  // That it keeps, or will.
    std::size_t parts = 0;   // Of runs.
    std::size_t reads = 0;   // Of clients.
    bool is_nothing() const { return slices + arrays + parts + reads == 0; }
  };
  /// Costs a look at all arrays.
  Left left_on(IslandId island) const;
  bool has_host(IslandId island) const;
  /// Whether the outbox has something for `island` that is not work of clients, and never waits.
  bool is_pressing(IslandId island) const;
  /// Whether what the outbox has for `island` can wait for more: ControllerLimits::runs_to_gather.
  bool can_wait(IslandId island) const;
  const ControllerLimits& limits() const { return options_.limits; }
  bool has_scheduler(IslandId island) const;
  /// What the scheduler of `island` is told when a view begins: all that is unfinished there, or is
  /// over there and not elsewhere.
  ControllerOutbox::View view_of(IslandId island) const;
  bool has_members() const { return !members_.empty(); }
  /// The last stamp before the life of the host of `island` began. What comes in the same turn as
  /// that is younger.
  Stamp born_stamp(IslandId island) const;
  /// Which life of the island's host has joined; 0: none.
  std::uint32_t host_life(IslandId island) const;
  /// All parts of smaller stamps are over.
  Stamp oldest_stamp();

  void why_answer(std::uint64_t question, IslandId island, const std::string& text);

  /// When an island that has failed may be used again, unless something of it is lost before; 0:
  /// none has. pump() does it.
  std::uint64_t next_return_ns() const;

  /// Stamps and launches whatever can go now; called once after a batch of the above.
  void pump();

  ControllerOutbox& outbox() { return outbox_; }
  /// Names for people; empty when the id is not known any more.
  std::string function_name(FunctionId id) const;
  std::string program_name(ProgramId id) const;
  std::string tenant_name(TenantId id) const;
  /// What a tenant may keep on all islands together; 0: no such limit. Of what it keeps beyond it
  /// already, nothing goes.
  void limit_tenant(const std::string& name, std::uint64_t bytes);
  /// Slices that are bound to a device or on their way there. For checkers.
  std::vector<SliceId> slices_on(IslandId island, DeviceId device) const;
  bool has_slice(SliceId slice) const { return slices_.contains(slice); }
  /// It is here, or something of it is still in use. For checkers.
  bool knows_client(ClientId client) const { return clients_.contains(client); }
  /// How much of everything there is, as the members of a JSON object; for people.
  std::string figures() const;
  /// The same about each island: its roles, lost devices, slices and kept bytes, as a JSON list.
  std::string islands_text() const;
  /// Runs that have no outcome yet, those with a stamp first: at most so many.
  std::vector<RunId> unfinished_runs(std::size_t most) const;
  /// What each client's first run that has no stamp waits for, one line each; for people.
  std::string waiting();
  std::size_t runs_unfinished() const { return runs_unfinished_; }
  /// Of those, the ones that no client has asked for: arrays that follow a slice.
  std::size_t moves_unfinished() const;
  std::size_t array_count() const { return arrays_.size(); }
  /// Functions, programs and specs.
  std::size_t definition_count() const {
    return functions_.size() + programs_.size() + specs_.size();
  }
  std::size_t client_count() const { return clients_.size(); }
  /// What arrays and runs keep, over all islands.
  std::uint64_t kept_bytes() const;

 private:
  struct Tenant;
  /// On one island.
  struct InFlight {
    std::uint32_t runs = 0;          // Stamped and unfinished.
    std::uint64_t cost_ns = 0;       // Estimated device time of those.
    std::uint64_t share_served = 0;  // Of the tenant stamped last, before that.
  };
  struct Client;
  struct Definition;
  struct Function;
  struct Program;
  struct Spec;
  struct Run;
  struct Array;
  struct Slice;
  struct WaitingPut;
  struct WhyQuestion;
  struct Member;

  // definitions.cpp
  Function* add_function(program::FunctionInfo info, Frame definition);
  Status take_types(Function& function, HostId host, const program::ForeignCompiled* foreign);
  void answer_foreign(Function& function);
  bool is_ready(Program& program);
  struct Plans;
  void lower(Program& program);
  static Plans make_plans(program::LoweredProgram lowered, const program::ProgramGraph& graph,
                          std::atomic<PlanId>& last_plan, std::size_t plan_bytes_max);
  void finish_lowering(Program& program, Plans plans);
  void install(Program& program, Plans plans);
  void forget_plans(Program& program);
  void use_functions(Program& program);
  void unuse(Definition& definition);
  void forget_definitions();
  bool forget_definition(std::uint64_t id);
  Status undefined(ClientId client, std::uint64_t id, Status otherwise) const;
  bool bindings_are_current(const Program& program) const;
  /// Whether a host is compiling a function of `program`. O(functions).
  bool awaits_hosts(const Program& program) const;
  static Status check_fits(const program::ProgramGraph& graph,
                           const program::LoweredProgram& lowered, std::uint64_t device_bytes);

  // dispatch.cpp
  bool can_stamp(Run& run);
  bool has_quota(const Run& run) const;
  std::uint64_t quota(const Tenant& tenant, IslandId island) const;
  std::uint64_t over_limit(const Tenant& tenant, const Run& run) const;
  std::string quota_text(const Tenant& tenant, IslandId island) const;
  Status no_quota(const Run& run) const;
  void cancel(Run& run, Status why);
  void unqueue(Run& run);
  void start(Run& run);
  void launch_segment(Run& run);
  void advance_segments(Run& run);

  // windows.cpp
  std::uint32_t window() const;
  bool has_place(IslandId island, std::uint32_t window) const;
  void fill_windows();
  bool fill_window(IslandId island);
  bool pump_client(Client& client, IslandId island);
  bool is_first(const Tenant& tenant, IslandId island) const;
  bool take_place(Run& run, IslandId island);
  void enter_windows(Run& run);
  void count_in_windows(Run& run);
  void leave_windows(Run& run);
  std::string windows_text(const std::vector<IslandId>& islands) const;

  // outcomes.cpp
  void resolve(Run& run, Status status);
  void fail_launched(Run& run, Status status);
  void end_run(Run& run);
  Status arg_failure(const Run& run) const;

  // reruns.cpp
  bool is_repeatable(const Program& program) const;
  bool keeps_devices(const Program& program) const;
  bool has_arguments(const Run& run) const;
  void try_return(Run& run);
  void take_back_outputs(Run& run);
  void recall_readers(const Run& maker);
  void put_back(Run& run);
  Status final_failure(const Run& run) const;

  // arrays.cpp
  Array* find_array(ArrayId id);
  void drop_reference(ArrayId id, Array& array);
  static std::uint64_t device_bytes(const ArraySpec& spec);
  void keep(Client& client, IslandId island, std::uint64_t bytes);
  void give_back(Client& client, IslandId island, std::uint64_t bytes);
  Client& owner(ArrayId array);
  void remove_array(ArrayId id, Array& array);
  void forward_fetch(const ControllerOutbox::Fetch& fetch);
  bool is_fetch_held(ArrayId id, const Array& array);
  void free_early(ArrayId id, Array& array);
  bool is_awaited(const Run& taker);
  void begin_reading(Run& run);
  void end_reading(Run& run);

  // puts.cpp
  static const program::Binding& place_of(const Slice& slice);
  bool has_room(const Client& client, IslandId island, std::uint64_t bytes) const;
  bool may_get_room(const Client& client, IslandId island, std::uint64_t bytes) const;
  Status no_room(const Client& client, const WaitingPut& put, const ArraySpec& spec,
                 const std::string& why) const;
  std::string why_waiting(ArrayId array);
  void accept(const WaitingPut& put);
  void fail(const WaitingPut& put, Status status);
  void serve_fetches(const WaitingPut& put);
  std::deque<WaitingPut>::iterator find_put(Client& client, ArrayId array);
  WaitingPut take_put(Client& client, std::deque<WaitingPut>::iterator at);
  void pump_puts(Client& client);

  // clients.cpp
  void leave(ClientId client, const Status& why);
  void set_weight(Tenant& tenant, std::uint32_t weight);
  bool is_here(ClientId client) const;
  Status check_hello(ClientId client, const std::string& tenant) const;
  Status count_definition(ClientId client, std::uint64_t id);
  Status too_many_definitions(const Client& client) const;
  Status check_run_id(Client& client, RunId id) const;
  Status check_outputs(const Client& client, ArrayId first, std::size_t count) const;
  Status unknown_array(std::string what, ArrayId id) const;
  Status no_arrays(const Client& client) const;
  void give_up_donated(ClientId client, const program::ProgramGraph& graph,
                       const RunRequest& request);
  void forget_clients();
  bool is_in_use(const Client& client) const;
  void forget(Client& client);
  void keep_name(std::uint64_t id, std::string name);
  std::string old_name(std::uint64_t id) const;

  // members.cpp
  void begin_view(IslandId island);
  void await(Function& function, IslandId island);
  void fail_parts_on(IslandId island, const Status& cause);
  void fail_runs_that_left_on(IslandId island, const Status& cause);
  void fail_arrays_on(IslandId island, const Status& cause);
  void fail_reads_on(IslandId island, const Status& cause);
  void fail_reads_of(ArrayId id, IslandId island, const Status& cause);
  void fail_array(ArrayId id, Array& array, const Status& status);
  void end_arrival(Array& array);
  void answer_questions();
  bool has_open_part(const Run& run, std::size_t open, IslandId island) const;
  std::vector<Stamp> stamps_open_on(IslandId island) const;
  std::vector<Stamp> stamps_over_on(IslandId island) const;

  // restarts.cpp
  using Losses = std::deque<std::uint64_t>;
  void count_loss(IslandId island, const char* role, Losses& losses);
  void fail_island(IslandId island, const std::string& why);
  void take_in_islands();

  // losses.cpp
  const Status* loss_of(const program::Binding& binding) const;
  void displace(Slice& slice);
  Status lost_slice(const Program& program) const;
  Status loss_of_run(const Run& run, std::size_t open, std::optional<IslandId> island,
                     const Status& cause) const;

  // slices.cpp
  static bool uses(const Program& program, SliceId slice);
  void close(Slice& slice);
  static std::string binding_text(const program::Binding& binding);
  void give_back_slices();
  std::vector<SliceId> name_slices(ClientId client, std::vector<SliceId> slices);
  void unname_slices(const std::vector<SliceId>& slices);
  void try_rebind(Slice& slice);
  Run* move_before(const Run& run) const;
  void ask_islands(ClientId client, std::uint64_t request, const Run& run, std::string text);
  Status check_member(IslandId island) const;
  std::string left_text(IslandId island) const;
  Status explain_unbound(const Status& refused) const;
  void end_rebind(Slice& slice, const Status& status);
  static bool can_move(const Array& array);
  std::uint64_t bytes_to_move(const Slice& slice);
  bool keep_at(const program::Binding& target, ArrayId id, Array& array);
  void migrate(Slice& slice, const program::Binding& target);
  void finish_migration(Run& run);
  void reply(ClientId client, std::uint64_t request, Status status, std::string text = "");

  Run* run_of(RunId id);
  Run* unstamped_producer(const Run& run);
  /// Live arrays on `slice`, in the order of their ids. Looks at all arrays: for what happens
  /// rarely, so that no array needs an entry in a list of its slice.
  std::vector<ArrayId> arrays_on(SliceId slice) const;
  Run* new_run();
  void recycle(Run& run);
  Stamp next_stamp(Run& run);
  Run* run_at(Stamp stamp);
  void forget(Stamp stamp);

  const ControllerOptions options_;
  program::SliceBinder& binder_;
  const Clock& clock_;
  events::EventStream& events_;
  ControllerOutbox outbox_;
  std::map<std::string, std::uint64_t> tenant_limits_;  // Bytes; by name, also of absent ones.
  std::vector<std::unique_ptr<Tenant>> tenants_;        // By id, in order of appearance.
  std::map<ClientId, std::unique_ptr<Client>> clients_;
  std::vector<bool> is_known_client_;               // By id, for ever: ids are used once.
  std::vector<ClientId> departing_;                 // Gone, but for what is still in use.
  std::map<std::uint64_t, std::string> old_names_;  // For traces of what gone clients did.
  std::deque<std::uint64_t> old_name_order_;
  std::map<FunctionId, std::unique_ptr<Function>> functions_;
  std::map<ProgramId, std::shared_ptr<Program>> programs_;
  std::map<SliceId, std::unique_ptr<Slice>> slices_;
  std::size_t puts_waiting_ = 0;
  std::size_t slices_closing_ = 0;                                // Released, and not gone.
  std::map<std::pair<IslandId, DeviceId>, Status> lost_devices_;  // In this life of their host.
  std::map<std::uint64_t, std::unique_ptr<Spec>> specs_;
  std::vector<std::uint64_t> unused_;  // Released definitions that nothing may need any more.
  std::vector<Member> members_;        // By island; empty without.
  // Its records come and go with every run: a pool spares most of what the heap would cost.
  std::pmr::unsynchronized_pool_resource array_pool_;
  std::pmr::unordered_map<ArrayId, Array> arrays_;  // Never iterated in an order that shows.
  std::vector<Run*> by_stamp_;                      // Ring: stamp modulo its size.
  std::vector<std::unique_ptr<Run>> run_pool_;
  std::vector<Run*> spare_runs_;
  std::map<ArrayId, std::unique_ptr<Program>> migrations_;  // By the new name of the array moved.
  std::map<std::uint64_t, std::unique_ptr<WhyQuestion>> questions_;
  std::vector<std::uint64_t> kept_bytes_;  // Per island, over all its devices.
  Stamp last_stamp_ = 0;
  Stamp oldest_stamp_ = 1;  // No part of a smaller one is open.
  std::uint64_t pumps_ = 0;
  /// Shared with the work that lowers programs away from the control thread.
  const std::shared_ptr<std::atomic<PlanId>> last_plan_ = std::make_shared<std::atomic<PlanId>>(0);
  std::map<PlanId, Frame> plan_frames_;  // The DefinePlan of each plan, for roles that begin anew.
  ArrayId last_internal_array_ = 0;      // Ids of client 0, which no client has.
  std::uint64_t last_question_ = 0;
  std::vector<InFlight> in_flight_;  // By island.
  std::size_t runs_in_flight_ = 0;   // On all of them, each once.
  std::size_t runs_unfinished_ = 0;
};

}  // namespace seaway::controller
