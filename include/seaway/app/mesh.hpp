// ActorRef, ActorMesh: how actors are addressed and called; MeshCall, Stream: their answers to
// come.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "seaway/app/call.hpp"
#include "seaway/app/message.hpp"
#include "seaway/app/runtime.hpp"

namespace seaway {

/// Values of the members of a mesh, in row-major order of its axes. A value.
template <class T>
class ValueMesh {
 public:
  ValueMesh() = default;
  ValueMesh(std::vector<Placement::Axis> axes, std::vector<T> values)
      : axes_(std::move(axes)), values_(std::move(values)) {}

  const std::vector<Placement::Axis>& axes() const { return axes_; }
  std::size_t size() const { return values_.size(); }
  T& at(std::size_t position) { return values_.at(position); }
  const T& at(std::size_t position) const { return values_.at(position); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }

 private:
  std::vector<Placement::Axis> axes_;
  std::vector<T> values_;
};

/// One call of all members of a mesh: their answers, of which some may be there and some not. A
/// shared handle; thread-safe. `R` is void for handlers that answer nothing.
template <class R>
class [[nodiscard]] MeshCall {
 public:
  using Answer = typename internal::Answered<R>::Type;

  MeshCall(std::shared_ptr<internal::Caller> caller, std::vector<Placement::Axis> axes,
           std::vector<std::shared_ptr<internal::CallState<R>>> calls)
      : caller_(std::move(caller)), axes_(std::move(axes)), calls_(std::move(calls)) {}

  std::size_t size() const { return calls_.size(); }
  /// The answer of one member, by position: to wait for, or to pass on as another call's argument.
  Future<Answer> at(std::size_t position) const { return Future<Answer>(calls_.at(position)); }

  /// Blocks until each member has answered or failed; each call has its deadline. In a handler each
  /// result is kInvalidArgument: await all() there.
  ValueMesh<Result<Answer>> get() const {
    std::vector<Result<Answer>> results;
    for (const auto& call : calls_) results.push_back(Future<Answer>(call).get());
    return {axes_, std::move(results)};
  }
  /// The same as a future, which never fails itself.
  Future<ValueMesh<Result<Answer>>> all() const;
  /// Combines all answers into one: `combine(R::Reader, R::Reader, R::Builder)`, where the left one
  /// is of members with smaller positions; in a fixed tree by position, so that sums of floating
  /// point repeat. The answers come here first: ActorMesh::reduce() combines them on the way.
  /// Fails with the first error by position.
  template <class F>
  requires(!std::is_void_v<R>) Future<Reply<R>> reduce(F combine)
  const;
  /// Gives up what is not answered yet, and tells the members.
  void cancel() const {
    for (const auto& call : calls_) call->cancel();
  }

 private:
  std::shared_ptr<internal::Caller> caller_;
  std::vector<Placement::Axis> axes_;
  std::vector<std::shared_ptr<internal::CallState<R>>> calls_;
};

/// One answer of one member within a stream; or why that member's stream has ended too early.
template <class R>
struct StreamItem {
  std::uint32_t position = 0;  // Of the member, in the mesh that was called.
  Result<Reply<R>> reply;
};

/// Answers of the members of a mesh as they come: those of one member in its order. A shared
/// handle; thread-safe; one reader at a time. Dropping the last handle tells the members to stop.
template <class R>
class [[nodiscard]] Stream {
 public:
  explicit Stream(std::shared_ptr<internal::StreamState<R>> state)
      : handle_(std::make_shared<Handle>(std::move(state))) {}

  /// The next answer, or nothing when every member's stream has ended.
  Future<std::optional<StreamItem<R>>> next() const { return handle_->state->next(); }
  void cancel() const { handle_->state->cancel(); }

 private:
  struct Handle {
    explicit Handle(std::shared_ptr<internal::StreamState<R>> own) : state(std::move(own)) {}
    ~Handle() { state->cancel(); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    std::shared_ptr<internal::StreamState<R>> state;
  };
  std::shared_ptr<Handle> handle_;
};

/// A combining function with a name, under which the hosts of a cluster of processes know it, too
/// (Registry::reduction). A value. `name` outlives it.
template <class F>
struct Combining {
  std::string_view name;
  F combine;

  template <class Left, class Right, class Out>
  void operator()(const Left& left, const Right& right, Out out) const {
    combine(left, right, out);
  }
};
template <class F>
Combining(std::string_view, F) -> Combining<F>;
template <class F>
Combining(const char*, F) -> Combining<F>;

template <class A>
class ActorRef;

/// Members of one mesh of actors of type `A`, on named axes: all of them, or a sub-mesh. A value of
/// a few words; thread-safe. It keeps nothing alive: calls of members that are gone fail.
///
/// `what` of a call is one of: nothing (an empty message); `fill(Q::Builder)`, or
/// `fill(Q::Builder, Attached&)`, which writes it in place; a Message<Q>; or a Future<Message<Q>>,
/// such as what another call returned: then the call goes at once and waits at the member, and
/// fails with kInputLost when that one fails. The frame is built once for all members.
///
/// Calls are made in the name of the actor whose handler runs, else of the client that made the
/// handle. Order: what one caller sends to one member is handled in the order of sending, a call
/// whose argument is still to come included. Errors of a call, as its future's outcome: kActorLost,
/// kHostLost, kNotFound, kUnimplemented, kResourceExhausted (too many calls under way),
/// kDeadlineExceeded, kInputLost, kUserFunctionError, or whatever Status the handler returned.
template <class A>
class ActorMesh {
 public:
  ActorMesh() = default;
  ActorMesh(std::shared_ptr<internal::Caller> caller, internal::Members members,
            std::vector<Placement::Axis> axes)
      : caller_(std::move(caller)), members_(std::move(members)), axes_(std::move(axes)) {}

  const std::vector<Placement::Axis>& axes() const { return axes_; }
  std::size_t size() const { return members_.count; }
  /// The member at a position in row-major order. Out of range: a reference to nobody.
  ActorRef<A> at(std::size_t position) const;
  /// Positions along an axis: begin .. end - 1.
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  /// The members within `range` along `axis`; the other axes whole.
  /// An unknown axis or a range outside it gives a mesh without members: a call, stream or
  /// reduction of that answers as one member would that fails, and says why.
  ActorMesh sub(std::string_view axis, Range range) const;

  template <class M, class... What>
  auto call(M method, const What&... what) const;
  /// The one member of a mesh of one. Errors: kInvalidArgument when there are more or none.
  template <class M, class... What>
  auto call_one(M method, const What&... what) const;
  /// Any one member: the one with the fewest calls of this caller under way.
  template <class M, class... What>
  auto choose(M method, const What&... what) const;
  /// Calls all members, and combines their answers as MeshCall::reduce() does, but on their hosts
  /// and then along a tree of the hosts (at most eight children each): what arrives here is one
  /// message. Members of one host are combined in the order of their positions, hosts in that of
  /// their first members; the grouping depends on the placement alone. `combine` is associative
  /// and commutative, and may run in any thread. Where hosts are processes it is a Combining that
  /// they know by its name: else kInvalidArgument, or kNotFound.
  template <class M, class F, class... What>
  auto reduce(M method, F combine, const What&... what) const;
  /// Without an answer, to all members. What fails is counted by the caller and not reported.
  /// Errors: kInvalidArgument for an empty mesh.
  template <class M, class... What>
  Status broadcast(M method, const What&... what) const;
  /// Answers as they come; each member may give many.
  template <class M, class... What>
  auto stream(M method, const What&... what) const;

  /// Ends the members: what they have been asked is still answered, until `deadline`; then they are
  /// killed, which is kDeadlineExceeded. Only by who spawned them, or a client.
  Future<void> stop(std::chrono::nanoseconds deadline = std::chrono::seconds(5)) const {
    const std::shared_ptr<internal::Caller> from = caller();
    if (!from) return Future<void>::of(not_found("stop: the reference is empty"));
    return from->stop(members_, deadline);
  }
  /// Ends them at once, as a fault would: they are restarted as their mesh was told to.
  void kill(Status cause = actor_lost("killed")) const {
    if (const auto from = caller()) from->kill(members_, std::move(cause));
  }
  /// Calls `f(const Death&)` on `executor` for each later death among the members.
  void on_death(Executor& executor, std::function<void(const Death&)> f) const {
    if (const auto from = caller()) from->watch(members_, executor, std::move(f));
  }

  /// "Counter mesh(host=4)".
  std::string to_string() const;

  // For the library.
  const internal::Members& members() const { return members_; }
  std::shared_ptr<internal::Caller> caller() const;

 private:
  template <class M, class... What>
  internal::CallOrder order(M method, const What&... what) const;

  std::shared_ptr<internal::Caller> caller_;
  internal::Members members_;
  std::vector<Placement::Axis> axes_;
};

/// One member. A value; it can travel beside messages (Attached::add).
template <class A>
class ActorRef : private ActorMesh<A> {
 public:
  ActorRef() = default;
  explicit ActorRef(ActorMesh<A> one) : ActorMesh<A>(std::move(one)) {}

  /// A future of the answer. See ActorMesh for arguments, order and errors.
  template <class M, class... What>
  auto call(M method, const What&... what) const {
    return ActorMesh<A>::call_one(method, what...);
  }
  template <class M, class... What>
  Status send(M method, const What&... what) const {
    return ActorMesh<A>::broadcast(method, what...);
  }
  using ActorMesh<A>::stream;
  using ActorMesh<A>::stop;
  using ActorMesh<A>::kill;
  using ActorMesh<A>::on_death;
  using ActorMesh<A>::members;

  MemberName name() const;
  explicit operator bool() const { return this->size() == 1; }
  /// The same member as a mesh of one.
  const ActorMesh<A>& mesh() const { return *this; }
  /// "Counter[2]".
  std::string to_string() const;
};

}  // namespace seaway

#include "seaway/app/mesh_calls.hpp"
