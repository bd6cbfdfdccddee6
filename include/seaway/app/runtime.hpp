// What templates of the actor API and the runtime say to each other. For the library: users start
// at seaway/app.hpp.

#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "seaway/app/frame.hpp"
#include "seaway/app/supervision.hpp"
#include "seaway/array.hpp"
#include "seaway/future.hpp"
#include "seaway/status.hpp"

namespace capnp::_ {  // What a generated type says of itself.
struct RawSchema;
}

namespace seaway {

class Self;

/// Bytes by reference: immutable and shared, never copied through a mailbox. A value.
class Bytes {
 public:
  Bytes() = default;
  /// Takes `bytes` over.
  explicit Bytes(std::vector<std::byte> bytes)
      : block_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}

  std::span<const std::byte> span() const {
    return block_ ? std::span<const std::byte>(*block_) : std::span<const std::byte>();
  }
  std::size_t size() const { return span().size(); }

 private:
  std::shared_ptr<const std::vector<std::byte>> block_;
};

/// Names one member of one mesh for as long as the cluster lives; never used again. {} is nobody.
struct MemberName {
  std::uint64_t mesh = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const MemberName&, const MemberName&) = default;
};

/// That a member, or a whole mesh, is no more.
struct Death {
  MemberName member;
  std::string name;  // "Counter[2]".
  Status cause;
  std::uint32_t incarnation = 0;  // Which of its lives it was, from 1; 0 of a mesh.
  bool restarts = false;          // A new incarnation is on its way.
  bool is_escalated = false;      // The mesh as a whole was given up: more deaths than allowed.
};
/// "Counter[2] died: USER_FUNCTION_ERROR: ..; it restarts".
std::string to_string(const Death& death);

/// Where members of a mesh are: one place for each, in row-major order of the axes. A value; made
/// by Slice::hosts(), Slice::devices(), Client::hosts() and Self::here().
struct Placement {
  struct Axis {
    std::string name;
    std::uint32_t size = 1;
  };
  std::vector<Axis> axes;
  std::vector<std::uint32_t> hosts;  // Of each member: its number in the cluster.

  /// The places at some positions, in that order and along one axis "place": on chosen hosts, or
  /// several times on one. A position that does not exist: spawn() fails with kInvalidArgument.
  Placement at(const std::vector<std::uint32_t>& positions) const;
  /// `count` members at each place, along a new last axis.
  Placement each(std::string axis, std::uint32_t count) const;
  std::size_t size() const { return hosts.size(); }
  /// "placement host=2 worker=4 on hosts 0, 1".
  std::string to_string() const;
};

/// How a call is made. Trivially destructible, for the sake of g++ 12 (docs/decisions.md).
struct CallOptions {
  /// Until when there must be an answer; then it is kDeadlineExceeded. 0: `kCallDeadline`. Of a
  /// stream: the longest pause between two answers, while its reader keeps up.
  std::chrono::nanoseconds deadline = std::chrono::nanoseconds(0);
  /// Sent again after kActorLost, kHostLost or kResourceExhausted, so many times and within the
  /// deadline. Calls that are not `once` may then be handled more than once. A stream of which an
  /// answer has come is not begun again.
  std::uint32_t retries = 0;
  /// Handled at most once however often it is sent: a member answers a repeated request with the
  /// answer that it gave before, also after a restart if its type keeps snapshots.
  bool once = false;
  /// Most answers of a stream that nobody has read yet, of each member.
  std::uint32_t credit = 16;
};

/// The deadline of a call that names none.
constexpr std::chrono::nanoseconds kCallDeadline = std::chrono::seconds(30);

namespace internal {

class Caller;
struct MeshInfo;

/// Some members of a mesh: one, or a list of them.
struct Members {
  std::shared_ptr<const MeshInfo> mesh;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> list;  // Null: first .. first + count.
  std::shared_ptr<const std::string> mistake;              // Why there are none; null: unknown.

  std::uint32_t at(std::uint32_t position) const {
    return list ? (*list)[position] : first + position;
  }
};

/// An ActorMesh of whatever type, as it travels beside a message.
struct Reference {
  Members members;
  std::vector<Placement::Axis> axes;
  std::shared_ptr<Caller> caller;  // In whose name its receiver calls; null on the way.
};

}  // namespace internal

/// What travels beside a message by reference: bytes, an array, or other actors.
using Attachment = std::variant<Bytes, Array, internal::Reference>;
using Attachments = std::vector<Attachment>;

namespace internal {

/// A message of whatever type. A value.
struct RawMessage {
  Frame frame;
  std::shared_ptr<const Attachments> attachments;  // Null: none.
};

/// The message as `caller` receives it: what other actors travel beside it are called in its name.
RawMessage bound(RawMessage message, const std::shared_ptr<Caller>& caller);

/// One run of a handler, as the templates see it; the runtime owns it.
class Invocation {
 public:
  virtual ~Invocation() = default;
  /// The handler's answer, exactly once, on the thread of its member. What was held is destroyed
  /// later, by the runtime.
  virtual void finish(Result<RawMessage> reply) = 0;
  /// Instead of an answer: the handler threw, and its member dies of it.
  virtual void crash(Status cause) = 0;
  /// A promise that answers from any thread, once; dropped unkept it answers with an error.
  virtual std::shared_ptr<class Keeper> promise() = 0;
  /// The stream's writer end; null when the caller did not ask for a stream.
  virtual std::shared_ptr<class ItemSink> sink() = 0;
  /// The member whose handler it is.
  virtual std::shared_ptr<Caller> caller() = 0;

  RawMessage request;
  MemberName sender;
  std::coroutine_handle<> root;     // The handler's coroutine, while there is one.
  std::coroutine_handle<> resumes;  // Where it goes on.
  FutureCore* awaits = nullptr;     // What it waits for, while it does.
  bool is_cancelled = false;        // Nobody wants its answer any more.
};

/// Answers one invocation, from any thread.
class Keeper {
 public:
  virtual ~Keeper() = default;
  virtual void keep(Result<RawMessage> reply) = 0;
};

/// Takes the items of one stream, on the thread of its member.
class ItemSink {
 public:
  virtual ~ItemSink() = default;
  /// Complete when the item has been taken: at once while there is credit. kCancelled when the
  /// reader has gone.
  virtual Future<void> write(RawMessage item) = 0;
};

/// One call as its caller's futures see it: what every CallState<R> is beside a future.
class CallBase {
 public:
  virtual ~CallBase() = default;
  /// The one outcome. False when there was one already.
  virtual bool answer(Result<RawMessage> reply) = 0;
  /// The outcome, once there is one, to be passed on as another call's argument.
  virtual Result<RawMessage> outcome() = 0;
  virtual FutureCore& core() = 0;

  // The runtime's own notes, on the thread of the caller's silo.
  bool is_proxy = false;                  // It answers for another future, which has it not.
  std::uint64_t call_id = 0;              // Its place in the silo's call table; 0: none now.
  const Caller* caller_member = nullptr;  // The member whose call it is.
  Invocation* resumes = nullptr;          // The handler that awaits it, and is resumed with it.
};

/// One method of an actor's type.
struct MethodInfo {
  std::uint64_t request = 0;  // Cap'n Proto's id of the request's type.
  std::uint64_t reply = 0;    // The same of the reply's.
  std::string name;           // Of the request's type: "Add".
  bool is_interleaved = false;
  bool is_stream = false;
  // What the two look like; of the reply null, where there is none.
  const ::capnp::_::RawSchema* request_schema = nullptr;
  const ::capnp::_::RawSchema* reply_schema = nullptr;
  /// Runs the handler: finish() of the invocation follows, now or later.
  std::function<void(void* actor, Invocation& invocation)> invoke;
};

/// What the runtime knows of a user's class. Made once, immutable.
struct ActorTypeInfo {
  std::string name;       // "Counter".
  std::string full_name;  // "demo::Counter": what processes call it.
  std::uint64_t id = 0;
  /// Equal in two processes whose classes take and give the same messages: of all that follows.
  std::uint64_t fingerprint = 0;
  std::vector<MethodInfo> methods;
  std::uint32_t mailbox_max = 1024;
  std::function<void(void*, const Death&)> on_death;
  std::function<RawMessage(void*)> snapshot;
  std::function<Status(void*, RawMessage)> restore;
  std::uint32_t snapshot_every = 1;
  const ::capnp::_::RawSchema* snapshot_schema = nullptr;
  Status mistake;  // Why no mesh of this type can be spawned.

  const MethodInfo* find(std::uint64_t request) const {
    for (const MethodInfo& method : methods) {
      if (method.request == request) return &method;
    }
    return nullptr;
  }
};

/// A user's object, whatever its type.
using Object = std::unique_ptr<void, void (*)(void*)>;

/// What objects are made from in another process, which knows their class: the arguments of a
/// constructor, as bytes and what travels beside them. See seaway/app/arguments.hpp.
struct Construction {
  std::string signature;  // "integer, text".
  std::vector<std::byte> bytes;
  Attachments attachments;
};

/// Makes members' objects. A value; its copies share what it holds.
class ObjectFactory {
 public:
  class Maker {
   public:
    virtual ~Maker() = default;
    /// May throw: then the member has not come to life.
    virtual Object make(const Self& self) const = 0;
    /// Errors: kInvalidArgument when there is no way to say it in bytes, and why.
    virtual Result<Construction> construction() const = 0;
  };

  ObjectFactory() = default;
  explicit ObjectFactory(std::shared_ptr<const Maker> maker) : maker_(std::move(maker)) {}
  /// A function, which is of use in this process alone.
  template <class Make>
  requires std::is_invocable_r_v<Object, const Make&, const Self&> ObjectFactory(  // NOLINT
      Make make)
      : maker_(std::make_shared<FunctionMaker<Make>>(std::move(make))) {}

  Object operator()(const Self& self) const { return maker_->make(self); }
  Result<Construction> construction() const { return maker_->construction(); }
  explicit operator bool() const { return maker_ != nullptr; }

 private:
  template <class Make>
  class FunctionMaker final : public Maker {
   public:
    explicit FunctionMaker(Make make) : make_(std::move(make)) {}
    Object make(const Self& self) const override { return make_(self); }
    Result<Construction> construction() const override {
      return invalid_argument("a function that makes objects has no bytes");
    }

   private:
    const Make make_;
  };

  std::shared_ptr<const Maker> maker_;
};

/// A mesh as handles know it. Immutable; the same in all processes.
struct MeshInfo {
  std::uint64_t id = 0;
  std::shared_ptr<const ActorTypeInfo> type;
  std::vector<Placement::Axis> axes;
  std::vector<std::uint32_t> hosts;  // Where each member began.
  std::uint32_t owner_silo = 0;
  MemberName owner;          // {}: a client.
  std::uint32_t client = 0;  // At the root of the tree.
  std::uint64_t tenant = 0;  // Of that client (transport::TenantKey).
};

/// How meshes are supervised, and what they are called.
struct SpawnOrder {
  std::shared_ptr<const ActorTypeInfo> type;
  Placement placement;
  ObjectFactory factory;
  Restart restart = Restart::kMember;
  Intensity intensity;
  std::string name;
};

/// The other end of a stream of answers, at its reader.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void on_item(std::uint32_t position, RawMessage item) = 0;
  virtual void on_end(std::uint32_t position, Status status) = 0;
};

/// One call of some members.
struct CallOrder {
  Members to;
  std::uint64_t request_type = 0;
  std::uint64_t reply_type = 0;
  std::string_view request_name;  // Static.
  RawMessage request;
  /// Instead of a request: a future that will be it. `argument_call`: the same, if it is a call.
  std::shared_ptr<FutureCore> argument;
  CallBase* argument_call = nullptr;
  std::function<Result<RawMessage>()> argument_outcome;
  bool is_choice = false;                       // Any one of the members, the least busy.
  std::vector<std::shared_ptr<CallBase>> many;  // One for each member; empty when `one` is set.
  std::shared_ptr<CallBase> one;                // Neither: nobody waits for an answer.
  std::shared_ptr<StreamSink> sink;
  CallOptions options;
};

/// Combines two replies into one. Pure and associative; it is called in whatever thread.
struct Combine {
  using Function = std::function<Result<RawMessage>(const RawMessage&, const RawMessage&)>;

  Combine() = default;
  template <class F>
  requires std::is_constructible_v<Function, F> Combine(F f)  // NOLINT: on purpose
      : function(std::move(f)) {}

  Result<RawMessage> operator()(const RawMessage& left, const RawMessage& right) const {
    return function(left, right);
  }
  explicit operator bool() const { return function != nullptr; }

  Function function;
  std::string name;               // By which other processes know it; empty: they do not.
  std::uint64_t fingerprint = 0;  // Of the type of the replies.
};

/// In whose name calls are made: a client, or a member. Any thread, unless said otherwise; what is
/// called after the cluster's end fails with kCancelled.
class Caller : public std::enable_shared_from_this<Caller> {
 public:
  virtual ~Caller() = default;
  virtual void call(CallOrder order) = 0;
  /// The same for a call that nobody waits for. Errors: kResourceExhausted, from a client perhaps
  /// for sends before this one.
  virtual Status send(CallOrder order) = 0;
  /// Gives up one call, and tells the callee.
  virtual void cancel(const std::shared_ptr<CallBase>& call) = 0;
  /// Calls all members; their answers are combined on their hosts and along a tree of those, and
  /// order.one gets the one that is left.
  virtual void reduce(CallOrder order, Combine combine) = 0;
  /// More answers of a stream may come: `count` of those at `position` were read.
  virtual void grant(const std::shared_ptr<CallBase>& call, std::uint32_t count) = 0;
  virtual Future<std::shared_ptr<const MeshInfo>> spawn(SpawnOrder order) = 0;
  virtual Future<std::shared_ptr<const MeshInfo>> find(std::string name) = 0;
  /// Ends members: what is queued is still handled, until the deadline; then they are killed.
  virtual Future<void> stop(Members members, std::chrono::nanoseconds deadline) = 0;
  /// Ends members at once, as a fault would.
  virtual void kill(Members members, Status cause) = 0;
  /// Calls `on_death` for each later death among `members`; a client's only.
  virtual void watch(Members members, Executor& executor,
                     std::function<void(const Death&)> on_death) = 0;
  virtual const std::shared_ptr<Waiter>& waiter() const = 0;
  virtual std::string to_string() const = 0;
  /// Ends what a client has spawned; what it asks afterwards fails.
  virtual void close() {}
};

/// The member whose handler runs in this thread, or null.
Caller* current_caller();
/// The handler that runs in this thread, or null.
Invocation* current_invocation();

}  // namespace internal
}  // namespace seaway
