// HostCore: runs the gangs of one island's devices in the scheduler's order. No actor, no thread.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "device/annexes.hpp"
#include "device/backend.hpp"
#include "device/device_state.hpp"
#include "device/exchanges.hpp"
#include "device/foreseen.hpp"
#include "device/gang_stages.hpp"
#include "device/held_words.hpp"
#include "device/host_outbox.hpp"
#include "device/host_plan.hpp"
#include "device/host_state.hpp"
#include "device/integrity.hpp"
#include "device/part_run.hpp"
#include "device/shard_sums.hpp"
#include "device/spill_room.hpp"
#include "device/spread_gang.hpp"
#include "events/event_stream.hpp"
#include "program/order_kind.hpp"
#include "store/arena.hpp"
#include "store/slab.hpp"
#include "transport/bulk.hpp"
#include "transport/data_plane.hpp"
#include "transport/near_memory.hpp"

namespace seaway::device {

/// The pure core of one host: stores, streams and transfers of an island's devices.
///
/// Orders are followed per device in the sequence in which they come; a gang starts when it is the
/// first unfinished entry on each of its devices and its inputs have arrived, on all its shards at
/// once. Room is taken in stream order, so that the devices' budgets hold at every instant (HO-1);
/// a part that fails or is cancelled still takes its turn, as no-ops (HO-2); each edge ends exactly
/// once (HO-3).
///
/// Control thread only; never blocks. References outlive it.
class HostCore {
 public:
  struct Options {
    HostId host = 0;
    IslandId island = 0;
    std::uint32_t devices = 1;
    /// That the devices are dealt to, in order: this one, which speaks for all, and annexes.
    /// Requires is_process, and no checks of integrity, with more than one.
    std::uint32_t hosts = 1;
    std::uint64_t device_bytes = std::uint64_t{1} << 30;
    std::size_t old_gangs_max = 16384;  // Of forgotten plans, kept for traces alone.
    /// Clients and other roles are processes of their own: uploads are pulled from clients, values
    /// go to them in the outbox, and what a new scheduler has to know is kept.
    bool is_process = false;
    std::uint32_t life = 0;  // Of its process; 0: whatever is said to it is for it.
    /// An asynchronous gang is given up after so long, and so many times its estimate. 0: never.
    std::uint64_t gang_timeout_min_ns = 10'000'000'000;
    std::uint64_t gang_timeout_factor = 200;
    Integrity integrity = {};
    ExchangeOptions exchange = {};
    /// Of what was moved off the devices, so much lies in memory, and all of it in the file.
    std::uint64_t spill_memory_bytes = 0, spill_file_bytes = 0;
  };

  /// `near`: what hosts of this machine lend each other; null: they do not. `data`: how large
  /// values come from hosts that do not; null: as small ones. `spill`: where arrays lie that memory
  /// has no room for; null: memory has room for all. It is closed with the host.
  HostCore(Options options, Backend& backend, transport::LocalBulk& bulk, const Clock& clock,
           events::EventStream& events, transport::NearMemory* near = nullptr,
           transport::DataPlane* data = nullptr, store::SpillFile* spill = nullptr);
  /// What is lent stays as it is: whoever reads it is not to lose it with its maker.
  ~HostCore();

  /// What the next messages cause has one time: a reading of the clock for each event costs more
  /// than the rest of recording it. A lost device reads the clock itself.
  void begin_turn() { turn_clock_.look(); }
  /// What is told next may change what comes next on a device.
  void forget_foreseen();
  bool foresees() const { return !foreseen_.is_empty(); }

  // What the controller says.
  void add_function(FunctionId id, std::shared_ptr<const function::Executable> executable);
  void define_plan(program::PartPlanPtr part);
  PlanMaker plan_maker() const;  // The same in two steps; the maker may run on any thread.
  void add_plan(std::unique_ptr<HostPlan> plan);
  void define_spec(std::uint64_t spec, ArraySpec array);
  /// `ids`: the part's arguments, then its outputs.
  void launch(Stamp stamp, RunId run, PlanId plan, TenantId tenant, bool acknowledge,
              const std::function<ArrayId(std::uint32_t)>& id_at);
  void put(ArrayId array, std::uint64_t spec, const std::vector<DeviceId>& devices);
  /// `streams`: a large value may be offered to the client, who says when it has it: taken().
  void fetch(ArrayId array, ClientId client, std::uint64_t request, bool streams = false);

  /// No later launch names `plan`. It goes at the end of an advance() when no part uses it.
  void forget_plan(PlanId plan);
  /// No later plan or put names the function or spec. Plans keep their functions.
  void forget_definition(std::uint64_t id);
  void forget_client(ClientId client);  // All of them that are the client's.

  // What the scheduler says: entries of the order, in order.
  void order(program::OrderKind kind, std::uint64_t id, std::uint32_t first, std::uint32_t last);

  /// Why the part of `stamp` is cancelled by an order that may follow; it may be over by then.
  void explain_cancel(Stamp stamp, Status cause);

  // What other hosts say. `is_near`, of kArmed: the receiver reads what this host lends. `keeps`,
  // of kConsumed: he goes on reading it.
  void edge(HostOutbox::Edge::Kind kind, Stamp stamp, std::uint32_t edge, HostId from,
            Status status, bool is_near = false, bool keeps = false);

  // Where roles are processes of their own (host_views.cpp).
  /// Before the first launch: what is said of stamps up to `last` is about an earlier life.
  void begin_life(Stamp last) { born_stamp_ = last; }
  /// Another scheduler begins, or the same one anew: all orders that come now are its.
  void begin_view();
  /// What a scheduler that begins anew has to know.
  HostState state() const;
  /// The controller knows the outcomes of all parts of smaller stamps.
  void forget_failures(Stamp oldest);
  /// All edges from and to `peer` of parts up to `last` are over, as if it had declined its
  /// receives, and sent poison.
  void cut_edges(HostId peer, Stamp last, const Status& cause);
  /// Up to which stamp `peer` means nothing any more; 0: it always meant something.
  Stamp cut_until(HostId peer) const;
  /// The host that may send a value for it, once it is armed. None when it was cut off, or
  /// its part is over: whoever sends one then has not heard of that, and the word that takes a
  /// value from the transport may never come.
  std::optional<HostId> awaits_edge(Stamp stamp, std::uint32_t edge) const;
  /// Whether so many bytes are what is fetched of a value that is awaited. Errors: kProtocolError.
  Status check_offer(Stamp stamp, std::uint32_t edge, std::uint64_t bytes) const;
  /// Whether `bytes` bytes, with shards `stride` apart, are all that is read of a value that is
  /// awaited. Errors: kProtocolError.
  Status check_edge(Stamp stamp, std::uint32_t edge, std::uint64_t bytes,
                    std::uint64_t stride) const;
  /// What was pulled from `client` will not come any more.
  void lose_client(ClientId client);
  /// Whether `bytes` that a stranger sends as the upload `array`, its shards `stride` apart, are
  /// all that is read of it. Ok too for what nobody wants (any more). Errors: kProtocolError.
  Status check_upload(ArrayId array, std::uint64_t bytes, std::uint64_t stride) const;
  /// The bytes of an upload have come, and lie in the transport.
  void upload_arrived(ArrayId array);
  /// Whether an upload, if awaited, has so many bytes, gaps aside. Errors: kProtocolError.
  Status check_upload_offer(ArrayId array, std::uint64_t bytes) const;
  /// Its client offers it: it is fetched right to where it will lie.
  void upload_offered(ArrayId array);
  /// `client` has what was offered to it for `request`, or does not want it. Unknown ones: nothing.
  void taken(ClientId client, std::uint64_t request, std::uint32_t offer);

  /// What the backend says: `device` is lost, with all that lies in its memory. Gangs that need the
  /// one or the other fail when their turn comes (HO-5). A repeat means nothing.
  void lose_device(DeviceId device, const std::string& cause);

  /// What one shard of `executable` needs beside its own work space, so that it can run twice. What
  /// hosts ask for in the name of a function includes it. 0 for functions that never do.
  std::size_t replay_bytes(const function::Executable& executable) const;

  /// When the first of the gangs that run beside this thread is over its time, or a write to the
  /// file is to be tried again. None while there is neither.
  std::optional<std::uint64_t> due_ns() const;
  /// Fails gangs that are over their time at `now_ns` on all their devices, and loses the device
  /// that the backend blames for it. A gang for which it blames none is waited for from now on.
  /// Call advance() next.
  void tick(std::uint64_t now_ns);

  /// Runs whatever can run, for at most about a millisecond of kernels. True when there is more to
  /// do at once: call again after other messages had their turn.
  bool advance();

  /// Records how the memory of each device has changed since the last call. Once for all that
  /// happened in between: a slice may have hundreds of devices, and a gang take nanoseconds.
  void record_room();

  HostOutbox& outbox() { return outbox_; }
  /// Whether what is done and here can be told with the end of what runs on several hosts now,
  /// which is near; and whether what is done is nothing but ends of gangs and of edges.
  bool may_tell_later() const;
  bool has_only_ends() const;
  /// The other hosts of the island: what is to be said to them, and what they answer. Call
  /// advance() after an answer.
  Annexes& annexes() { return annexes_; }
  Exchanges& exchanges() { return exchanges_; }
  DeviceState& device(DeviceId device) { return devices_[device]; }
  /// Why it runs nothing and holds nothing any more; null: it is there.
  const Status* loss_of(DeviceId device) const;
  const Options& options() const { return options_; }
  std::uint32_t parameter_count(PlanId plan) const;
  /// Forgotten ones too, for a while. Null when the plan is not known.
  const program::PartPlan* find_plan(PlanId plan) const;

  /// Nothing is queued, running or held except finished arrays.
  bool is_idle() const {
    return parts_.empty() && pending_begin_ == pending_.size() && annexes_.is_quiet() &&
           exchanges_.is_quiet();
  }
  std::size_t array_count() const { return arrays_.size(); }
  /// Values that hosts of this machine may read now.
  std::size_t lent() const { return near_ ? near_->lent() : 0; }
  /// Those that are offered or fetched.
  std::size_t open_data() const { return data_ ? data_->open() : 0; }
  /// Where arrays in host room lie; null: all of them in memory.
  const store::SpillTiers* spill_tiers() const {
    return spilled_.tiers ? &*spilled_.tiers : nullptr;
  }
  /// `on_progress` is called behind each end of a write or a read: advance() may find more to do.
  void watch_spill(std::function<void()> on_progress) {
    spilled_.on_progress = std::move(on_progress);
  }
  std::size_t plan_count() const { return plans_.size(); }
  std::size_t function_count() const { return functions_.size(); }
  /// Types and shardings that uploads refer to, and what was made of them.
  std::size_t spec_count() const { return specs_.size() + upload_descs_.size(); }
  /// What is known of a part that is here; null for one that is not. For checkers.
  const PartRun* find_part(Stamp stamp) const;
  /// The devices of an array that is here; null for one that is not. For checkers.
  const std::vector<DeviceId>* array_devices(ArrayId array) const;
  /// What has checksums, will be used, and is neither read nor written now, by arrays, then parts.
  /// For simulators, which change bits of it: all that follows must look as if memory had.
  struct ValueAtRest {
    ArrayId array = 0;                               // 0: a value inside a part:
    Stamp stamp = 0;                                 // the one of this stamp,
    std::uint32_t value = 0;                         // and this is its number.
    const std::vector<DeviceId>* devices = nullptr;  // Valid until the host is told something.
    function::ShardedBuffer bytes;
    std::uint64_t shard_bytes = 0;
  };
  std::vector<ValueAtRest> values_at_rest() const;
  /// Why nothing of `stamp` runs now; one line per waiting gang. Empty if unknown here.
  std::string why(Stamp stamp) const;

 private:
  struct ArrayRecord {
    enum class State : std::uint8_t { kPending, kReady, kOnHost, kPoisoned };
    State state = State::kPending;
    bool is_upload = false;
    bool has_waiters = false;
    bool is_settled = false;  // The part that makes it is over: its outcome cannot change any more.
    bool is_dropped = false;  // Freed, but for those who wait to read it.
    bool is_spilled = false;  // It was moved to the host, and has not been loaded since.
    bool is_lost = false;     // Poisoned, as a device that it lay on is lost.
    std::shared_ptr<const ArrayDesc> desc;
    ShardMemory memory;
    std::unique_ptr<ShardSums> sums;  // With checksums, once its bytes are complete.
    std::unique_ptr<Status> poison;
  };
  struct Waiter {
    ClientId client = 0;
    std::uint64_t request = 0;
    bool streams = false;
    std::uint64_t ticket = 0;  // In late_reads_, while what it may be offered is not there.
  };
  struct Entry {  // One place in the streams: a gang, or the freeing of an array.
    enum class State : std::uint8_t { kWaiting, kRunning, kDone };
    PartRun* part = nullptr;  // Null: free `array`.
    std::uint32_t gang = 0;   // The next of gangs [gang, last): more than one only where all
    std::uint32_t last = 0;   // gangs of the plan run on the same devices.
    State state = State::kWaiting;
    ArrayId array = 0;
    std::uint32_t ahead = 0;  // 1: the gang behind `gang` is ordered, too (start_ahead()).
  };

  struct StartedGang {  // The backend runs it beside this thread.
    std::uint64_t ticket = 0, sequence = 0;
    std::uint64_t begin_ns = 0, due_ns = 0;
    std::map<DeviceId, std::uint32_t> failures = {};  // How often each did not launch it.
    bool is_replay = false;                           // It has run, and runs a second time;
    std::uint64_t first_begin_ns = 0;                 // began first at this time.
  };
  struct GivenUpGang {
    events::Event event;
    std::vector<std::shared_ptr<const void>> kept;  // All that its work refers to.
  };

  // host_core.cpp: orders and parts.
  void apply_order(program::OrderKind kind, std::uint64_t id, std::uint32_t first,
                   std::uint32_t last);
  bool is_early(program::OrderKind kind, std::uint64_t id) const;
  void follow_held_orders();
  void cancel(PartRun& part);
  void report_fenced(PartRun& part);
  void fail(PartRun& part, Status status);
  /// The same, for what `gang` itself did: the message names the line of the user's call.
  void fail_gang(PartRun& part, std::uint32_t gang, const Status& status);
  void end_part_if_over(PartRun& part);
  void erase_part(PartRun& part);
  PartRun* find(Stamp stamp);

  // host_definitions.cpp: what launches and puts refer to.
  void drop_forgotten_plans();
  void keep_old_plan(program::PartPlanPtr part);

  // host_execution.cpp: streams.
  bool is_ready(const PartRun& part, std::uint32_t gang);
  const DeviceMask* mask_of_entry(const Entry& entry) const;
  bool run_short_gangs(std::uint64_t sequence, std::uint64_t& burst_ns);
  void start(std::uint64_t sequence);
  bool run_entry(std::uint64_t sequence, std::uint64_t& burst_ns);
  void start_reshard(PartRun& part, std::uint32_t gang, std::uint64_t sequence);
  void end_reshard(std::uint64_t sequence, std::uint64_t begin_ns);
  bool bind_tables(PartRun& part, std::uint32_t gang);
  bool bind_table(PartRun& part, std::uint32_t table);
  bool bind_arg(PartRun& part, std::uint32_t arg);
  void bind_receive(PartRun& part, std::uint32_t table);
  static function::ShardedBuffer buffer_at(const PartRun& part, ValueSlot slot) {
    function::ShardedBuffer buffer = part.tables[slot.table];
    buffer.base += slot.offset;
    return buffer;
  }
  void ensure_block(PartRun& part, std::uint32_t block);
  void finish_gang(PartRun& part, std::uint32_t gang, std::uint64_t begin_ns, std::uint64_t end_ns,
                   bool ran);
  void hand_on(PartRun& part, std::uint32_t gang);
  void complete(std::uint64_t sequence, std::uint64_t begin_ns, std::uint64_t end_ns, bool ran);
  void finish_async(std::uint64_t sequence, Status status, std::uint64_t begin_ns,
                    std::uint64_t end_ns);
  void count_on_devices(const GangPlan& gang, std::uint32_t gangs, std::uint64_t busy_ns);
  void end_steps(PartRun& part, std::uint32_t gang);
  void shrink_blocks(PartRun& part);
  void report_done(Stamp stamp, std::uint32_t first, std::uint32_t last);
  GangWork work_of(const PartRun& part, std::uint32_t gang);
  Entry& entry_at(std::uint64_t sequence) { return pending_[sequence - pending_base_]; }
  const Entry& entry_at(std::uint64_t sequence) const { return pending_[sequence - pending_base_]; }

  // host_spread.cpp: gangs and values that are on several hosts.
  ShardMemory make_device_memory(const std::vector<DeviceId>& devices, std::uint64_t shard_bytes,
                                 store::SlabOwner owner = 0);
  void bind(PartRun& part, std::uint32_t table, const ShardMemory& memory) const;
  const Room* remote_room(const PartRun& part, std::uint32_t value) const;
  SpreadGang& start_spread(std::uint64_t sequence, std::uint32_t gang, const SpreadGang* ahead);
  void end_spread(std::uint64_t sequence, std::uint32_t gang, const Status& status);
  void begin_next(std::uint64_t sequence);
  // host_ahead.cpp: gangs on several hosts that are ordered behind one that runs.
  void start_ahead(std::uint64_t sequence);
  bool takes_no_room(const PartRun& part, std::uint32_t gang) const;
  void start_follower(std::uint64_t sequence);
  bool may_follow(const PartRun& part, std::uint32_t gang, const PartRun& ahead,
                  std::uint32_t gang_ahead) const;
  void begin_follower(std::uint64_t sequence);
  using TakeCopy = std::function<void(ShardMemory copy)>;
  void copy_out(const Room& room, std::uint64_t offset, function::ShardedBuffer here,
                std::size_t shards, std::uint64_t bytes, TakeCopy take);
  void copy_out(const ArrayRecord& record, TakeCopy take);
  std::vector<Annexes::Wanted> wanted_by(const PartRun& part, std::uint32_t gang) const;
  void write_out(PartRun& part, std::uint32_t value);
  void load_spread(ArrayRecord& record);
  bool read_send(PartRun& part, std::uint32_t send);

  // host_watch.cpp: gangs that do not start, do not end, or end late.
  void end_in_line(PartRun& part, std::uint32_t gang, const GangWork& work, Status status);
  bool may_relaunch(const PartRun& part, std::uint32_t gang, DeviceId device,
                    std::uint32_t failures, const Status& cause);
  Status shortage(const PartRun& part, std::uint32_t gang, DeviceId device,
                  const Status& cause) const;
  void start_beside(std::uint64_t sequence);
  bool is_alone(std::uint64_t sequence) const;

  // host_foresight.cpp: what stands behind a gang that runs.
  std::optional<Foreseen::Place> find_next(const Foreseen::Place& ahead) const;
  bool foresee_operand(PartRun& part, const ValueSlot& slot, const Foreseen::Place& running);
  bool foresee_gang(const Foreseen::Place& next, const Foreseen::Place& running);
  const ForeseenGang* foresee(std::uint64_t sequence);
  void begin_foreseen(const Foreseen::Place& place);
  bool end_foreseen(const Foreseen::Place& place);

  void hand_over(StartedGang& gang);
  void end_beside(std::uint64_t ticket, GangEnd end);
  void give_up(const StartedGang& gang, DeviceId laggard, std::uint64_t now_ns);
  void give_up(std::uint64_t sequence, std::uint32_t gang, SpreadGang& spread);
  std::vector<std::shared_ptr<const void>> keep_work(PartRun& part, std::uint32_t gang);
  void report_straggler(const PartRun& part, std::uint32_t gang, const GangEnd& end);
  std::uint64_t time_limit_ns(const GangPlan& gang) const;
  events::Event gang_event(events::EventKind kind, const PartRun& part, std::uint32_t gang) const;

  // host_losses.cpp: what a lost device takes with it.
  bool is_any_lost(const DeviceMask& mask) const { return losses_ > 0 && intersects(lost_, mask); }
  Status loss_on(const program::DeviceGroup& group) const;
  Status lost_value(const PartRun& part, std::uint32_t value) const;
  Status lost_gang(const PartRun& part, std::uint32_t gang) const;
  Status outcome_of(const PartRun& part, std::uint32_t gang, Status status) const;

  // host_integrity.cpp: values that are not what they were.
  bool has_sums() const { return options_.integrity.shard_checksums; }
  void take_sums(PartRun& part, std::uint32_t value);
  void take_sums(ArrayRecord& record);
  Status check_value(const PartRun& part, std::uint32_t value, function::ShardedBuffer bytes);
  Status check_operands(PartRun& part, std::uint32_t gang);
  Status check_array(ArrayId id, const ArrayRecord& record, function::ShardedBuffer bytes);
  Status damaged(const std::string& name, const Damage& damage, DeviceId device) const;
  static Status poisoned_argument(const PartRun& part, std::uint32_t arg, const Status& cause);

  // host_replays.cpp: gangs that run twice.
  bool is_sampled(const PartRun& part, std::uint32_t gang) const;
  std::vector<function::ShardedBuffer> replay_room(const PartRun& part, std::uint32_t gang) const;
  void replay_in_line(PartRun& part, std::uint32_t gang, const GangWork& work);
  Status compare_replay(const PartRun& part, std::uint32_t gang);

  // host_edges.cpp: values from and to other islands.
  void arm_ready_parts();
  bool has_room(const PartRun& part) const;
  void arm(PartRun& part);
  void decline(PartRun& part);
  void close_receive(PartRun& part, std::uint32_t receive);
  void on_delivered(PartRun& part, std::uint32_t receive, HostId from, Status status);
  void try_send(PartRun& part, std::uint32_t send);
  void close_send(PartRun& part, std::uint32_t send);
  void move_sends(PartRun& part);
  void move_send(PartRun& part, std::uint32_t send);
  void report_moved(PartRun& part);

  // host_streams.cpp: values that go over connections of their own.
  std::shared_ptr<const void> share_send(PartRun& part, std::uint32_t send);
  void offer(PartRun& part, std::uint32_t send, const function::ShardedBuffer& source,
             HostOutbox::Edge& message);
  void end_offer(PartRun& part, std::uint32_t send);
  void fetch_value(PartRun& part, std::uint32_t receive, HostId from, std::function<void()> finish);
  void cut_fetch(PartRun& part, std::uint32_t receive, const Status& cause);

  // host_loans.cpp: values that hosts of this machine read where they lie.
  bool keeps_loans() const {
    return near_ && !annexes_.any() && !has_sums() && options_.integrity.replay_per_mille == 0;
  }
  void lend(PartRun& part, std::uint32_t send, const function::ShardedBuffer& source,
            HostOutbox::Edge& message);
  void keep_lent(PartRun& part, std::uint32_t send);
  void on_returned(Stamp stamp, std::uint32_t edge, HostId from);
  void cut_loans(HostId peer, Stamp last);
  bool take_over(PartRun& part, std::uint32_t receive, const transport::Payload& payload);
  void check_loans(PartRun& part, std::uint32_t gang);
  void end_reads(PartRun& part, std::uint32_t gang);
  void give_back(PartRun& part, std::uint32_t receive);
  std::uint64_t held_bytes(const PartRun& part, std::uint32_t group) const;
  bool is_busy_on(const PartRun& part, std::uint32_t group) const;

  // host_files.cpp: arrays that lie in files.
  ArrayId file_array(const PartRun& part, std::uint32_t value) const;
  Status check_file(ArrayId array);
  void check_files(PartRun& part, std::uint32_t gang);
  void copy_from_file(PartRun& part, std::uint32_t send);
  Result<ShardMemory> copy_from_file(ArrayId array, const ArrayRecord& record);
  ShardMemory copy_of(function::ShardedBuffer source, std::size_t shards, std::uint64_t bytes);

  // host_spill.cpp: arrays in host room that lie in a file.
  void join_spill_room(ArrayId id, const ArrayRecord& record);
  void leave_spill_room(ArrayId id, ArrayRecord& record);
  bool is_away(ArrayId id) const;
  bool has_arrays(const PartRun& part, std::uint32_t gang);
  void look_at_arrays(const PartRun& part, std::uint32_t gang,
                      const std::function<void(ArrayId)>& look) const;
  void await_array(ArrayId id, const Waiter& waiter);
  void move_spilled();
  void begin_spill_transfer(store::SpillTiers::Transfer what);
  void end_spill_transfer(std::uint64_t ticket, Status status);
  void end_spill_write(const SpillTransfer& ended, const Status& status);
  void end_spill_read(SpillTransfer ended, Status status);
  Status compare_sums(const SpillTransfer& ended) const;
  void record_transfer(events::EventKind kind, const SpillTransfer& ended, StatusCode code);

  // host_core.cpp: what others say is checked before it is followed.
  void refuse(actor::Role role, std::uint32_t index, const std::string& why);
  /// Of the island's scheduler.
  void refuse_order(const std::string& why);
  Status check_launch(Stamp stamp, PlanId plan,
                      const std::function<ArrayId(std::uint32_t)>& id_at) const;
  Status check_place(const PartRun& part, std::uint32_t first, std::uint32_t last) const;
  bool is_in_use(ArrayId array) const;
  void refuse_edge(HostId from, Stamp stamp, std::uint32_t edge, const std::string& why);

  // host_views.cpp
  void cut_part(PartRun& part, HostId peer, const Status& cause);
  bool is_cut(Stamp stamp, HostId from) const;
  static HostArray::Place place_of(const ArrayRecord& record);

  // host_arrays.cpp: arrays, budgets, fetches.
  ShardMemory make_memory(std::size_t shards, std::uint64_t shard_bytes,
                          store::SlabOwner owner = 0);
  void charge(const std::vector<DeviceId>& devices, std::uint64_t bytes);
  void uncharge(const std::vector<DeviceId>& devices, std::uint64_t bytes);
  void move_in(ArrayId id, ArrayRecord& record, transport::Payload payload);
  void note_upload(ArrayId id, ArrayRecord& record);
  void record_array(events::EventKind kind, ArrayId id, std::uint64_t bytes);
  void record_allocation(const PartRun& part, std::uint32_t output);
  void make_output(PartRun& part, std::uint32_t output);
  bool may_hold_operands() const {
    return !annexes_.any() && !has_sums() && options_.integrity.replay_per_mille == 0;
  }
  void hold_operands(PartRun& part, std::uint32_t gang, std::vector<std::shared_ptr<void>>& held);
  bool may_keep_outputs(const PartRun& part, std::uint32_t gang) const;
  void drop_donors(PartRun& part, std::uint32_t gang);
  void keep_outputs(PartRun& part, std::uint32_t gang, std::vector<transport::Payload>& made);
  void leave_to_readers(ArrayId id, ShardMemory memory);
  void poison_array(ArrayId id, const Status& cause);
  void poison_outputs(PartRun& part, std::uint32_t gang);
  void free_array(ArrayId id);
  void spill(ArrayId id);
  void end_spill(ArrayId id, ShardMemory copy);
  void erase_array(ArrayId id);
  void settle(ArrayId id);
  void serve_waiters(ArrayId id);
  void serve(ArrayId id, ArrayRecord& record, const Waiter& waiter);
  void answer(const ArrayDesc& desc, const Waiter& waiter, const function::ShardedBuffer* bytes);
  void answer_with(const ArrayDesc& desc, const Waiter& waiter, ShardMemory& memory);

  // host_clients.cpp: what goes to clients and comes from them over connections for data.
  bool offer_read(const ArrayDesc& desc, const Waiter& waiter, ShardMemory& memory);
  Waiter late(Waiter waiter);
  bool is_due(const Waiter& waiter);
  void fetch_upload(ArrayId id, const std::shared_ptr<ShardMemory>& memory);
  void end_upload(ArrayId id, const std::shared_ptr<ShardMemory>& memory, const Status& status);
  void stop_upload(ArrayId id);
  void end_reads(ClientId client);

  const Options options_;
  Backend& backend_;
  transport::LocalBulk& bulk_;
  const Clock& clock_;
  HeldClock turn_clock_;  // Of what happens in no time, one after the other.
  events::EventStream& events_;
  HostOutbox outbox_;
  transport::NearMemory* const near_;
  transport::DataPlane* const data_;
  store::HeapAllocator heap_;
  store::Arena arena_;  // What can be lent.
  store::SlabCache slabs_;
  Annexes annexes_;  // Ends after all that holds rooms and executables.
  std::vector<DeviceState> devices_;
  DeviceMask all_devices_;
  DeviceMask lost_;
  std::size_t losses_ = 0;  // Bits of lost_.
  std::map<DeviceId, Status> loss_causes_;
  std::unordered_map<FunctionId, std::shared_ptr<const function::Executable>> functions_;
  std::unordered_map<PlanId, std::unique_ptr<HostPlan>> plans_;
  std::vector<PlanId> forgotten_plans_;               // Of plans_: they go when no part uses them.
  std::map<PlanId, program::PartPlanPtr> old_plans_;  // Gone, but traces may name their gangs.
  std::size_t old_gangs_ = 0;
  std::unordered_map<std::uint64_t, ArraySpec> specs_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const ArrayDesc>> upload_descs_;
  // Records of parts and arrays come and go with every run: a pool spares most of the heap's cost.
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::unordered_map<Stamp, std::unique_ptr<PartRun>> parts_{&pool_};
  std::vector<std::unique_ptr<PartRun>> spare_parts_;
  std::pmr::unordered_map<ArrayId, ArrayRecord> arrays_{&pool_};
  std::unordered_map<ArrayId, std::vector<Waiter>> waiters_;
  using Read = std::tuple<ClientId, std::uint64_t, std::uint32_t>;  // Request, offer.
  std::map<Read, std::uint64_t> reads_;  // Offered to clients; bytes of each,
  std::uint64_t read_bytes_ = 0;         // and of all.
  std::uint32_t last_offer_ = 0;
  std::set<std::pair<ClientId, std::uint64_t>> late_reads_;  // Tickets of waiters.
  std::uint64_t last_late_read_ = 0;
  std::set<ArrayId> file_arrays_;                              // That lie in files.
  std::map<ArrayId, std::shared_ptr<ShardMemory>> uploading_;  // That are fetched from clients.
  SpillRoom spilled_;
  Stamp last_launch_ = 0;
  std::deque<HeldOrder> held_orders_;  // From the first one whose launch has not arrived,
  std::optional<ArrayId> spilling_;    // or behind an array that is on its way from annexes,
  std::uint64_t spill_view_ = 0;       // which means nothing in a later view than this one.
  std::unordered_map<std::uint64_t, HeldEdge> held_edges_;     // Their launch has not arrived.
  std::unordered_map<Stamp, Status> held_causes_;              // The same.
  std::map<std::pair<Stamp, std::uint32_t>, LentValue> lent_;  // Kept by receivers of edges.
  std::uint64_t lent_bytes_ = 0;                               // Of their memory.
  Stamp born_stamp_ = 0;         // What is said of stamps up to here is about somebody else.
  std::map<HostId, Stamp> cut_;  // Up to which stamp a peer means nothing any more.
  std::map<Stamp, Status> ended_failures_;  // Of parts that are over; is_process alone.
  std::vector<Entry> pending_;              // Entries [pending_begin_, size()) are not all done.
  std::size_t pending_begin_ = 0;
  std::uint64_t pending_base_ = 0;         // Sequence number of pending_[0].
  std::optional<DeviceId> unlaunched_on_;  // Who did not launch the gang that ran in line.
  std::vector<StartedGang> started_;
  bool may_look_ahead_ = false;  // advance() starts a gang: the next one begins there, too.
  Foreseen foreseen_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, SpreadGang> spread_;  // By sequence and gang.
  std::uint64_t last_spread_ = 0;                                         // See ExchangeId.
  Exchanges exchanges_;
  GangStages stages_;
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, GivenUpGang> given_up_;  // By ticket; at most one for each lost device.
  std::vector<PartRun*> arming_;                   // Admitted parts whose receives wait for room.
  bool is_room_changed_ = false;  // Some device has more or fewer bytes than were recorded.
  std::uint64_t now_ns_ = 0;      // When the last gang ended, while gangs run back to back.
  DeviceMask blocked_;            // Scratch of advance().
  std::vector<function::ShardedBuffer> value_scratch_;  // Of work_of().
};

}  // namespace seaway::device
