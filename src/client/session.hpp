// Session: one client's side of the conversation with its cluster; every public handle leads here.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actor/engine.hpp"
#include "actor/engine_gate.hpp"
#include "actor/router.hpp"
#include "base/frame.hpp"
#include "base/ids.hpp"
#include "client/array_keeper.hpp"
#include "client/flight_table.hpp"
#include "client/id_blocks.hpp"
#include "client/imported_array.hpp"
#include "client/outbox.hpp"
#include "client/record.hpp"
#include "client/registry.hpp"
#include "seaway/app/runtime.hpp"
#include "seaway/client.hpp"
#include "transport/bulk.hpp"
#include "transport/data_plane.hpp"
#include "transport/packet.hpp"

namespace seaway::client {

/// What a session is wired to; all of it outlives Session::close(). A session without an engine is
/// a debug session: nothing leaves the calling thread.
struct Wiring {
  actor::Engine* engine = nullptr;
  actor::Router* router = nullptr;
  transport::LocalBulk* bulk = nullptr;
  ClientId client = 0;
  /// Makes a native function known to all hosts under its name, before it is defined.
  std::function<Status(const function::NativeFunction&)> register_native = {};
  /// The end of this client's calls of actors; asked for once, when it is needed.
  std::function<Result<std::shared_ptr<internal::Caller>>()> open_caller = {};
  std::uint32_t islands = 1, hosts = 1, devices = 1;  // Hosts and devices of each island.
  std::uint64_t device_memory = UINT64_MAX;           // Bytes, of each device.
  bool is_process = false;                            // The other roles are in other processes.
  std::uint64_t frame_bytes_max = transport::kUserFrameBytesMax;
  transport::DataPlane* data = nullptr;  // How large values come and go then; null: as others.
  /// Hands a part of a file over to `host`, where array `array` lies in it from then on. `done`, on
  /// the control thread: an error when that cannot be. Empty: it cannot.
  std::function<void(HostId host, ArrayId array, const transport::Payload& payload,
                     std::function<void(Status)> done)>
      give_file = {};
  /// Who counts arrays that several processes share; null: there is only this one.
  ArrayKeeper* keeper = nullptr;
  /// Of a delegate: another process says hello and goodbye for it, and hands it what comes back.
  /// Then also from where its ids come, and its first request number.
  std::shared_ptr<IdBlocks> ids = {};
  std::uint64_t first_request = 1;
  /// What the pointers point to, if it is to live as long as the session. May be null.
  std::shared_ptr<void> owns = {};
};

/// Thread-safe unless said otherwise. Client threads append what they say to an outbox; the
/// session's actor sends it, and hands what comes back to the `on_...` calls.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Wiring wiring, ClientOptions options);
  ~Session();

  /// In whose name this client calls actors. Errors: kInvalidArgument without a cluster;
  /// kCancelled once closed.
  Result<std::shared_ptr<internal::Caller>> caller();
  /// Says hello and waits for the controller's answer. Call once, before anything else.
  Status open();
  /// Completes everything that is pending with kCancelled and says goodbye. Later calls are
  /// refused. Does not block.
  void close();
  /// The same with `why`, because the controller cannot be reached any more.
  void lose(Status why) { end(std::move(why)); }
  bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }

  ClientId id() const { return wiring_.client; }
  const ClientOptions& options() const { return options_; }
  const std::shared_ptr<internal::Waiter>& waiter() const { return waiter_; }
  bool debug() const { return is_debug_.load(std::memory_order_relaxed); }
  void set_debug(bool on);

  // Runs and arrays (session.cpp).
  Record* execute(const std::shared_ptr<ProgramRecord>& program, std::span<const Array> arguments,
                  const ExecuteOptions& options, Site site);
  void cancel_run(Record& record);
  /// `is_kept`: by way of the keeper.
  void release_array(ArrayId array, bool is_kept);
  void fetch(Record& record, std::uint32_t index, std::shared_ptr<internal::FetchSink> sink,
             std::span<std::byte> target);
  void cancel_fetch(std::uint64_t request);
  /// What has no outcome yet, for people.
  std::string waiting();
  std::size_t in_flight() const { return runs_in_flight_.load(std::memory_order_relaxed); }

  // Uploads (upload.cpp).
  Record* put(TensorType type, const std::byte* data, std::size_t elements,
              const NamedSharding& sharding, HostBufferSemantics semantics);
  /// The same of what lies in `file` from byte `offset` on.
  Record* put_file(TensorType type, std::shared_ptr<const transport::SourceFile> file,
                   std::uint64_t offset, const NamedSharding& sharding);

  // Questions with an answer (requests.cpp). Blocking; `what` names the question in messages.
  using BuildRequest = std::function<Frame(std::uint64_t request)>;
  Result<std::string> ask(std::string what, const BuildRequest& build) {
    return ask(std::move(what), build, request_timeout_ns());
  }
  /// The same with a time of its own.
  Result<std::string> ask(std::string what, const BuildRequest& build, std::uint64_t timeout_ns);
  Result<std::shared_ptr<SliceRecord>> acquire_slice(const SliceRequest& request);
  Status release_slice(SliceRecord& slice);
  Status rebind_slice(SliceRecord& slice);
  std::string why(std::uint64_t id);

  // Registrations (registry.cpp).
  /// The session's record of a spec; checks its mesh. Errors: kInvalidArgument.
  Result<std::shared_ptr<SpecRecord>> intern(const ArraySpec& spec);
  /// The slice that `mesh` names; null for a mesh without one. Errors: kInvalidArgument when it is
  /// not this client's or was released.
  Result<std::shared_ptr<SliceRecord>> find_slice(const Mesh& mesh);
  /// Errors of this and the next ones: kResourceExhausted above Wiring::frame_bytes_max.
  Result<std::shared_ptr<FunctionRecord>> define_function(
      std::shared_ptr<FunctionDefinition> function, std::optional<Mesh> mesh = {},
      CallSpecs specs = {});
  Result<std::shared_ptr<FunctionRecord>> define_native(function::NativeFunction native,
                                                        CallSpecs specs);
  /// Blocks until it is compiled.
  Result<std::shared_ptr<FunctionRecord>> define_foreign(const function::ForeignProgram& program,
                                                         std::uint64_t timeout_ns);
  Result<std::shared_ptr<ProgramRecord>> define_program(std::shared_ptr<ProgramRecord> program);
  /// The identity on one shard of `type`, for reshards.
  Result<std::shared_ptr<FunctionRecord>> identity(const TensorType& type);
  /// A program made once for each `key`, while `cache` has it; `make` makes it.
  Result<std::shared_ptr<ProgramRecord>> cached_program(
      ProgramCache& cache, const ProgramCache::Key& key,
      const std::function<Result<std::shared_ptr<ProgramRecord>>()>& make);
  /// Programs that reshard one array, by the specs from and to which, and whether it is donated.
  ProgramCache& reshards() { return reshards_; }
  /// One more live definition of this session (Registration). Errors: kResourceExhausted.
  Status count_definition(std::string_view what);
  void uncount_definition() { definitions_.fetch_sub(1, std::memory_order_relaxed); }
  /// Nothing here names the definition `id` any more.
  void forget_definition(std::uint64_t id);
  std::uint64_t definitions() const { return definitions_.load(std::memory_order_relaxed); }

  // Arrays and slices of the same client that come from another process (imports.cpp).
  /// A handle of it, which counts as one import. Any failure is the array's.
  Array import_array(const TravellingArray& from);
  /// The slice of that mesh, as if it had been acquired here; the binding is read only if it is
  /// new, and if there is one.
  std::shared_ptr<SliceRecord> adopt_slice(const Mesh& mesh, std::vector<std::uint32_t> binding);
  /// Asks what an imported array has come to, once.
  void ask_outcome(Record& record);
  void on_told(std::uint64_t request, Status outcome);
  /// Whether `array`, which was made here, is let go through the keeper.
  bool keeps(ArrayId array) const { return wiring_.keeper && wiring_.keeper->keeps(array); }
  /// Says what a delegate of this client has said, in the order of this session: a frame, or
  /// records with the arguments of their runs one after the other. Each run is given an id of this
  /// session, which replaces the one in `said`. False once closed.
  bool say_for_delegate(Frame frame) { return say_frame(std::move(frame)); }
  bool say_for_delegate(std::span<Said> said, std::span<const ArrayId> arguments);
  /// Sends what was said until now. Control thread.
  void flush();
  void set_flush(std::function<void()> flush) { flush_ = std::move(flush); }

  // For the session's actor, on the control thread.
  /// Moves all that was said into `outbox`, which is empty.
  void take_outbox(Outbox& outbox);
  struct Outcome {
    std::uint64_t id = 0;
    Status status;
  };
  void on_resolved(std::vector<Outcome>& outcomes);
  void on_reply(std::uint64_t request, Result<std::string> answer);
  void on_fetched(std::vector<Outcome>& outcomes);
  /// `fetches`: the host takes large uploads over a connection for data.
  void on_pull(ArrayId array, HostId host, bool fetches);
  void on_value(std::uint64_t request, std::span<const std::byte> value);
  /// Keeps the timer until on_resolved() or on_reply() stops it, or on_time_limit() ends it.
  void keep_timer(const TimeLimit& limit, actor::TimerId timer);
  void on_time_limit(const TimeLimit& limit);
  /// Number of timers kept.
  std::size_t time_limits() const { return timers_.size(); }
  void stop_all_timers();

  // Large values, over connections for data (streams.cpp). Control thread.
  struct Offered {
    HostId host = 0;
    std::uint64_t request = 0;
    std::uint32_t offer = 0;
    std::uint64_t bytes = 0;
  };
  /// A host offers what was asked for.
  void on_offered(const Offered& offered);
  /// `host` waits for a connection for data.
  void on_call(HostId host);
  /// The session is closed: nothing is fetched or offered any more.
  void stop_streams();
  /// No fetch ends any more: what has none gets its outcome.
  void end_streams();

  const Wiring& wiring() const { return wiring_; }
  const Frame& poke() const { return poke_; }
  void set_actor(actor::Address address) { actor_ = std::move(address); }
  const actor::Address& actor() const { return actor_; }

  /// The first of `count` that follow on; 0 for a delegate that has none left (no_ids()).
  std::uint64_t next_id(std::uint64_t count = 1) {
    if (wiring_.ids) [[unlikely]] {
      const std::uint64_t first = wiring_.ids->take(count);
      return first ? make_id(wiring_.client, first) : 0;
    }
    return make_id(wiring_.client, next_sequence_.fetch_add(count, std::memory_order_relaxed));
  }
  Status no_ids() const;

 private:
  struct PendingRequest {
    std::string what;
    std::shared_ptr<internal::FutureState<std::string>> state;
  };
  struct PendingFetch {
    std::shared_ptr<internal::FetchSink> sink;
    ArrayId array = 0;
    Status loss = {};  // Said by a host; the controller is asked whether the value is made again.
    std::shared_ptr<const Origin> origin = {};  // Where large values may be offered:
    std::uint32_t index = 0;                    // which one it is,
    bool is_streaming = false;                  // and whether it is written now.
  };
  /// A value that is written to where it is wanted.
  struct Stream {
    Offered from;
    std::span<std::byte> target;
    std::shared_ptr<internal::FetchSink> sink;  // It may own the target.
    std::optional<Offered> next = {};           // Offered meanwhile, by somebody else.
    std::optional<Outcome> outcome = {};        // Said meanwhile.
  };
  /// An upload that is so large that it may be offered.
  struct LargePut {
    ArraySpec spec;
    std::shared_ptr<const transport::FileView> file = {};  // Where its bytes are.
    std::optional<HostId> reader = {};
  };

  Status check_arguments(const ProgramRecord& program, std::span<const Array> arguments) const;
  Result<std::shared_ptr<ProgramRecord>> donating_variant(
      const std::shared_ptr<ProgramRecord>& program, const ExecuteOptions& options);
  static Status take_donated(const ProgramRecord& program, std::span<const Array> arguments,
                             Site site);
  static void give_back_donated(const ProgramRecord& program, std::span<const Array> arguments);
  Status wait_for_room(const std::function<bool()>& has_room, const std::string& refusal);
  Status reserve_run(const ProgramRecord& program);
  Status enqueue(Record& record, const ProgramRecord& program, std::span<const Array> arguments,
                 const ExecuteOptions& options);
  Record* execute_locally(const ProgramRecord& program, std::span<const Array> arguments,
                          Record* record);
  Status reserve_upload(std::uint64_t bytes);
  Result<std::shared_ptr<SpecRecord>> check_put(const ArraySpec& wanted);
  Record* refuse_put(const ArraySpec& wanted, Status status);
  Record* begin_put(const ArraySpec& wanted, std::shared_ptr<SpecRecord> known, ArrayId array,
                    transport::Payload payload);
  void send_upload(ArrayId array, HostId host, bool fetches, const transport::Payload& payload);
  std::uint64_t request_timeout_ns() const;
  /// Appends under the lock; wakes the actor if it may be asleep. False once closed.
  template <class Append>
  bool say(Append&& append);
  bool say_frame(Frame frame);
  bool ask_again(const Outcome& outcome);
  void finish(Record& record, Status status);
  void say_taken(const Offered& offered);
  void end_stream(std::uint64_t request, const Status& status);
  bool offer_upload(ArrayId array, HostId host, transport::Payload payload);
  Status end_offer(ArrayId array, Status outcome);
  void stop_timer(bool is_run, std::uint64_t id);
  void on_run_timeout(RunId run, std::uint64_t timeout_ns);
  void on_request_timeout(std::uint64_t request, std::uint64_t timeout_ns);
  Status closed_status();
  void end(Status why);
  void close_caller();
  Result<std::shared_ptr<SpecRecord>> make_spec(const ArraySpec& spec);
  /// Of a slice without a record. A released one leaves none: its id was given out here.
  bool was_released(SliceId slice) const {
    return client_of(slice) == id() && !wiring_.ids && sequence_of(slice) < next_sequence_;
  }
  Status ensure_defined(SpecRecord& spec);

  const Wiring wiring_;
  const ClientOptions options_;
  const Frame poke_;
  std::function<void()> flush_;  // Control thread only.
  std::shared_ptr<internal::Waiter> waiter_;
  std::shared_ptr<actor::EngineGate> gate_;
  actor::Address actor_;
  std::atomic<bool> is_closed_ = false;
  std::atomic<bool> is_debug_ = false;
  std::atomic<std::uint64_t> next_sequence_ = 1;
  std::atomic<std::uint64_t> next_request_;
  std::atomic<std::uint32_t> runs_in_flight_ = 0;
  std::atomic<std::uint64_t> upload_bytes_ = 0;
  std::atomic<std::uint64_t> definitions_ = 0;
  std::atomic<std::uint64_t> definitions_max_ = 0;  // What the controller said; 0: nothing.

  std::map<std::pair<bool, std::uint64_t>, actor::TimerId> timers_;  // Control thread only;
  std::map<std::uint64_t, Stream> streams_;                          // the same, by request.

  std::mutex mutex_;  // Guards what follows; nothing is called under it but containers.
  Status end_;        // Why it is closed.
  Outbox outbox_;
  FlightTable in_flight_;
  std::map<std::uint64_t, PendingFetch> fetches_;
  std::map<ArrayId, LargePut> large_puts_;
  std::map<std::uint64_t, PendingRequest> requests_;
  std::map<std::uint64_t, Record*> asked_;  // Imports, with a reference each.

  std::mutex caller_mutex_;
  std::shared_ptr<internal::Caller> caller_;  // Guarded by caller_mutex_.

  std::mutex names_mutex_;  // Guards what follows; may be held while mutex_ is taken.
  std::map<SliceId, std::shared_ptr<SliceRecord>> slices_;
  WeakTable<SpecRecord> specs_;
  std::vector<std::shared_ptr<SpecRecord>> recent_specs_;
  std::size_t recent_at_ = 0;
  WeakTable<const FunctionDefinition> identities_;
  ProgramCache reshards_;
};

template <class Append>
bool Session::say(Append&& append) {
  actor::EngineStay stay;
  {
    std::lock_guard guard(mutex_);
    if (is_closed()) return false;
    const bool was_empty = outbox_.empty();
    append(outbox_);
    // The session may end once this is unlocked, and the engine with it.
    if (was_empty) stay = actor::EngineStay(gate_.get());
  }
  // The actor empties the outbox before it looks at it, so that one poke is enough for all that is
  // said until then.
  if (stay) actor_.send(poke_);
  return true;
}

/// Makes a session and spawns its actor. Not yet open(): the cluster does that next.
std::shared_ptr<Session> make_session(Wiring wiring, ClientOptions options);

/// The public handle of `session`: when the last copy goes, the session is closed and then
/// `keep_alive` (the cluster) let go.
Client make_client(std::shared_ptr<Session> session, std::shared_ptr<void> keep_alive);
/// Another handle of a session that ends without it: for the actors of its client.
Client lend_client(std::shared_ptr<Session> session);

}  // namespace seaway::client
