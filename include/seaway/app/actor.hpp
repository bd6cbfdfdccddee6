// ActorType, Self: what a user's class of actors says about itself, and what it can do.

#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "seaway/app/mesh.hpp"
#include "seaway/app/task.hpp"
#include "seaway/client.hpp"

namespace seaway {

namespace internal {

/// A member as its own object sees it. Only on the member's thread, but for the Caller's part.
class MemberPort : public Caller {
 public:
  virtual const std::shared_ptr<const MeshInfo>& mesh() const = 0;
  virtual std::uint32_t index() const = 0;
  virtual std::uint32_t incarnation() const = 0;
  virtual std::uint32_t host() const = 0;
  virtual std::uint64_t now_ns() const = 0;
  virtual std::uint64_t random() = 0;
  virtual Future<void> sleep(std::chrono::nanoseconds time) = 0;
  virtual void monitor(const Members& members) = 0;
  virtual void fail(Status cause) = 0;
  virtual void stop_self() = 0;
  virtual bool is_cancelled() const = 0;
  virtual Result<Client> client() const = 0;
};

template <class A>
const std::shared_ptr<const ActorTypeInfo>& actor_type();
template <class A>
ActorMesh<A> whole_mesh(std::shared_ptr<Caller> caller, std::shared_ptr<const MeshInfo> mesh);
template <class A>
Result<ActorMesh<A>> typed_mesh(std::shared_ptr<Caller> caller, const std::string& name,
                                Result<std::shared_ptr<const MeshInfo>> mesh);

}  // namespace internal

/// How a mesh is spawned: where, under which name, and what happens after deaths. A value.
class SpawnOptions {
 public:
  SpawnOptions(Placement placement) : placement_(std::move(placement)) {}  // NOLINT: on purpose

  /// find() knows the mesh by this name while it lives. Taken by another one: kInvalidArgument.
  SpawnOptions named(std::string name) && { return name_ = std::move(name), std::move(*this); }
  /// kMember by default.
  SpawnOptions restart(Restart restart) && { return restart_ = restart, std::move(*this); }
  /// 3 deaths within 10 s by default; one more, and the mesh as a whole is given up.
  SpawnOptions intensity(Intensity intensity) && {
    return intensity_ = intensity, std::move(*this);
  }

  internal::SpawnOrder order(std::shared_ptr<const internal::ActorTypeInfo> type,
                             internal::ObjectFactory factory) const {
    return {std::move(type), placement_, std::move(factory), restart_, intensity_, name_};
  }

 private:
  Placement placement_;
  std::string name_;
  Restart restart_ = Restart::kMember;
  Intensity intensity_;
};

/// An actor's hold on itself, handed to its constructor. A small value that the object keeps; of no
/// use after its end, and only on its own thread.
class Self {
 public:
  Self() = default;
  explicit Self(std::shared_ptr<internal::MemberPort> port) : port_(std::move(port)) {}

  /// "Counter[2]".
  std::string name() const { return port_->to_string(); }
  std::uint32_t index() const { return port_->index(); }
  std::size_t mesh_size() const { return port_->mesh()->hosts.size(); }
  /// 1 at first, one more after each restart.
  std::uint32_t incarnation() const { return port_->incarnation(); }
  /// One place on this member's own host.
  Placement here() const;

  /// This member, to be sent to others; and its mesh. `A` is its own class: else empty.
  template <class A>
  ActorRef<A> ref() const {
    return mesh<A>().at(index());
  }
  template <class A>
  ActorMesh<A> mesh() const {
    if (port_->mesh()->type->id != internal::actor_type<A>()->id) return {};
    return internal::whole_mesh<A>(port_, port_->mesh());
  }

  /// A child mesh: it ends with this actor. See Client::spawn.
  template <class A, class... Arguments>
  Future<ActorMesh<A>> spawn(const SpawnOptions& options, Arguments... arguments) const;
  template <class A>
  Future<ActorMesh<A>> find(std::string name) const;

  /// Complete after `time`; kCancelled when the actor ends before.
  [[nodiscard]] Future<void> sleep(std::chrono::nanoseconds time) const {
    return port_->sleep(time);
  }
  /// Time since some start, in the same clock for all actors of a host.
  std::chrono::nanoseconds now() const {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(port_->now_ns()));
  }
  /// 64 random bits; in the simulator a function of its seed.
  std::uint64_t random() const { return port_->random(); }

  /// Has on_death() called for deaths of others: members that this actor did not spawn itself.
  template <class Members>
  void monitor(const Members& members) const {
    port_->monitor(members.members());
  }
  /// This actor dies of `cause` when the handler that runs now returns or waits; in its constructor
  /// that means that it has not come to life.
  void fail(Status cause) const { port_->fail(std::move(cause)); }
  /// It ends in peace, without a restart, when it has handled what it was asked before.
  void stop() const { port_->stop_self(); }
  /// Whether whoever called the handler that runs now has given up.
  bool is_cancelled() const { return port_->is_cancelled(); }

  /// A session with the cluster, the one of the client that stands at the root of the tree: to put
  /// arrays and execute programs. Errors: kCancelled when that client has gone.
  Result<Client> client() const { return port_->client(); }

  /// For the library: in whose name this actor calls others.
  std::shared_ptr<internal::Caller> caller() const { return port_; }

 private:
  std::shared_ptr<internal::MemberPort> port_;
};

/// An answer that is given later, by whoever holds it; any thread. Dropped unkept it fails the call
/// with kUserFunctionError. Movable.
template <class R>
class Promise {
 public:
  explicit Promise(std::shared_ptr<internal::Keeper> keeper) : keeper_(std::move(keeper)) {}
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&&) noexcept = default;

  /// The first outcome counts; later ones are ignored.
  void keep(const Reply<R>& reply) { keeper_->keep(reply.raw()); }
  template <class Fill>
  requires std::is_invocable_v<Fill&, typename R::Builder>
  void keep(Fill fill) { keep(make<R>(fill)); }
  void fail(Status status) { keeper_->keep(std::move(status)); }

 private:
  std::shared_ptr<internal::Keeper> keeper_;
};

/// The writing end of a stream of answers, in a handler `Task<> scan(Request<Q>, Writer<R>)`. For
/// a caller that did not ask for a stream each write fails with kInvalidArgument. Movable.
template <class R>
class Writer {
 public:
  explicit Writer(std::shared_ptr<internal::ItemSink> sink) : sink_(std::move(sink)) {}

  /// `what` as in a call: a Message<R>, or what fills one. Complete when it has been taken, which
  /// is at once while there is credit: await it before the next. kCancelled when the reader has
  /// gone.
  Future<void> write(const Message<R>& message) { return sink_->write(message.raw()); }
  template <class Fill>
  requires(!std::is_convertible_v<const Fill&, const Message<R>&>) Future<void> write(
      const Fill& fill) {
    return write(make<R>(fill));
  }

 private:
  std::shared_ptr<internal::ItemSink> sink_;
};

/// Whether a handler may start while another one of the same actor waits at a co_await.
enum class Interleave : bool { kNo, kYes };

/// What a class says in `static void describe(ActorType<A>& type)`: its handlers and habits.
template <class A>
class ActorType {
 public:
  /// `method` handles messages of its request's type: `Task<Reply<R>> (Request<Q>)`, the same
  /// without the Task or with Result<Reply<R>>, Status or nothing as its answer,
  /// `void (Request<Q>, Promise<R>)` to answer later, or `Task<> (Request<Q>, Writer<R>)` or
  /// `Task<Status>` of the same to answer often, and to say at the end what went wrong. Two
  /// handlers of one type: spawn() fails with kInvalidArgument.
  template <class M>
  ActorType& on(M method, Interleave interleave = Interleave::kNo);
  /// Called for deaths of this actor's own meshes, and of what it monitors. Without it an actor
  /// whose mesh was given up dies of the same cause.
  ActorType& on_death(void (A::*method)(const Death&)) {
    info_.on_death = [method](void* actor, const Death& death) {
      (static_cast<A*>(actor)->*method)(death);
    };
    return *this;
  }
  /// `save` is called after each `every` handled messages, and what it says is kept by the parent;
  /// a new incarnation is given the last one through `restore` before anything else. With 1 an
  /// answer leaves only when what it rests on is kept: nothing that was answered is ever forgotten.
  /// With more, what the last messages did can be lost with a member.
  template <class S>
  ActorType& snapshot(Message<S> (A::*save)() const, Status (A::*restore)(Message<S>),
                      std::uint32_t every = 1) {
    info_.snapshot = [save](void* actor) { return (static_cast<A*>(actor)->*save)().raw(); };
    info_.restore = [restore](void* actor, internal::RawMessage raw) {
      return (static_cast<A*>(actor)->*restore)(Message<S>(std::move(raw)));
    };
    info_.snapshot_every = every;
    info_.snapshot_schema = &capnp::_::rawSchema<S>();
    return *this;
  }
  /// Most messages of one host that wait at a member or are being handled: 1,024 by default. What
  /// is more fails with kResourceExhausted.
  ActorType& mailbox_max(std::uint32_t messages) {
    info_.mailbox_max = messages;
    return *this;
  }

  internal::ActorTypeInfo take() { return std::move(info_); }

 private:
  internal::ActorTypeInfo info_;
};

}  // namespace seaway

#include "seaway/app/actor_type.hpp"
