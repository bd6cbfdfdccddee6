// How handlers of users' classes are run, and meshes of them spawned. Included by actor.hpp.

#pragma once

#include <tuple>

#include "seaway/app/actor.hpp"
#include "seaway/app/arguments.hpp"

namespace seaway {

namespace internal {

std::uint64_t hash_of(std::string_view text);
/// Of what a class says of itself: names, messages and habits; not of its code.
std::uint64_t fingerprint_of(const ActorTypeInfo& type);

template <class A>
const std::shared_ptr<const ActorTypeInfo>& actor_type() {
  static const std::shared_ptr<const ActorTypeInfo> type = [] {
    ActorType<A> described;
    A::describe(described);
    ActorTypeInfo info = described.take();
    info.name = type_name<A>();
    info.full_name = full_type_name<A>();
    info.id = hash_of(info.full_name);
    info.fingerprint = fingerprint_of(info);
    return std::make_shared<const ActorTypeInfo>(std::move(info));
  }();
  return type;
}

template <class A>
ActorMesh<A> whole_mesh(std::shared_ptr<Caller> caller, std::shared_ptr<const MeshInfo> mesh) {
  std::vector<Placement::Axis> axes = mesh->axes;
  Members members;
  members.count = static_cast<std::uint32_t>(mesh->hosts.size());
  members.mesh = std::move(mesh);
  return ActorMesh<A>(std::move(caller), std::move(members), std::move(axes));
}

template <class R>
Result<RawMessage> raw_reply(Result<Message<R>> reply) {
  if (!reply.ok()) return reply.status();
  return reply->raw();
}
inline Result<RawMessage> raw_reply(Status status) {
  if (!status.ok()) return status;
  return RawMessage();
}

/// Starts a handler's coroutine; its end finishes the invocation.
template <class T>
void start_task(Task<T> task, Invocation& invocation) {
  const auto handle = task.release();
  auto& promise = handle.promise();
  invocation.root = handle;
  promise.invocation_ = &invocation;
  promise.on_done_ = [](TaskPromiseBase& done) {
    auto& own = static_cast<TaskPromise<T>&>(done);
    if (own.exception_) {
      try {
        std::rethrow_exception(own.exception_);
      } catch (...) {
        own.invocation_->crash(status_of_user_exception());
      }
      return;
    }
    if constexpr (std::is_void_v<T>) {
      own.invocation_->finish(RawMessage());
    } else {
      own.invocation_->finish(raw_reply(own.take()));
    }
  };
  handle.resume();
}

template <class T>
struct IsTask : std::false_type {};
template <class T>
struct IsTask<Task<T>> : std::true_type {};

/// Runs a handler that was found for its message. No exception leaves it.
template <class A, class M>
void run_handler(A& actor, M method, Invocation& invocation) {
  using Traits = Method<M>;
  using Q = typename Traits::Asked;
  using R = typename Traits::Answer;
  RawMessage message = std::move(invocation.request);
  if (message.attachments) message = bound(std::move(message), invocation.caller());
  Request<Q> request(std::move(message), invocation.sender);
  if (Status status = request.check(); !status.ok()) {
    invocation.finish(std::move(status));
    return;
  }
  try {
    if constexpr (Traits::kKind == MethodKind::kPromise) {
      (actor.*method)(std::move(request), Promise<R>(invocation.promise()));
    } else if constexpr (Traits::kKind == MethodKind::kStream) {
      start_task((actor.*method)(std::move(request), Writer<R>(invocation.sink())), invocation);
    } else {
      using X = decltype((actor.*method)(std::move(request)));
      if constexpr (IsTask<X>::value) {
        start_task((actor.*method)(std::move(request)), invocation);
      } else if constexpr (std::is_void_v<X>) {
        (actor.*method)(std::move(request));
        invocation.finish(RawMessage());
      } else if constexpr (std::is_same_v<X, Status>) {
        invocation.finish(raw_reply((actor.*method)(std::move(request))));
      } else {
        invocation.finish(raw_reply<R>((actor.*method)(std::move(request))));
      }
    }
  } catch (...) {
    invocation.crash(status_of_user_exception());
  }
}

/// How members' objects are made: the arguments are copied for each of them, also at restarts.
template <class A, class... Arguments>
class ActorMaker final : public ObjectFactory::Maker {
 public:
  explicit ActorMaker(Arguments... arguments) : arguments_(std::move(arguments)...) {}

  static Object make_from(const Self& self, const std::tuple<Arguments...>& arguments) {
    return std::apply(
        [&self](const Arguments&... each) {
          return Object(new A(self, each...), [](void* object) { delete static_cast<A*>(object); });
        },
        arguments);
  }
  Object make(const Self& self) const override { return make_from(self, arguments_); }
  Result<Construction> construction() const override {
    if constexpr ((Encodable<Arguments> && ...)) {
      return construction_of(arguments_);
    } else {
      return no_construction<Arguments...>(type_name<A>());
    }
  }

 private:
  const std::tuple<Arguments...> arguments_;
};

template <class A, class... Arguments>
ObjectFactory factory_of(Arguments... arguments) {
  return ObjectFactory(
      std::make_shared<const ActorMaker<A, Arguments...>>(std::move(arguments)...));
}

}  // namespace internal

template <class A>
template <class M>
ActorType<A>& ActorType<A>::on(M method, Interleave interleave) {
  using Traits = internal::Method<M>;
  internal::MethodInfo info;
  info.request = capnp::typeId<typename Traits::Asked>();
  info.reply = internal::reply_type<typename Traits::Answer>();
  info.request_schema = &capnp::_::rawSchema<typename Traits::Asked>();
  if constexpr (!std::is_void_v<typename Traits::Answer>) {
    info.reply_schema = &capnp::_::rawSchema<typename Traits::Answer>();
  }
  info.name = internal::type_name<typename Traits::Asked>();
  info.is_interleaved = interleave == Interleave::kYes;
  info.is_stream = Traits::kKind == internal::MethodKind::kStream;
  info.invoke = [method](void* actor, internal::Invocation& invocation) {
    internal::run_handler(*static_cast<A*>(actor), method, invocation);
  };
  if (info_.find(info.request) != nullptr) {
    info_.mistake = invalid_argument(std::string(internal::type_name<A>()) +
                                     " has two handlers of messages of type " + info.name +
                                     "; give each its own type");
  }
  info_.methods.push_back(std::move(info));
  return *this;
}

template <class A, class... Arguments>
Future<ActorMesh<A>> Self::spawn(const SpawnOptions& options, Arguments... arguments) const {
  static_assert(std::is_constructible_v<A, Self, const Arguments&...>,
                "an actor's constructor takes Self, and then what spawn() was given");
  return port_
      ->spawn(options.order(internal::actor_type<A>(),
                            internal::factory_of<A>(std::move(arguments)...)))
      .then(inline_executor(),
            [port = port_](
                Result<std::shared_ptr<const internal::MeshInfo>> mesh) -> Result<ActorMesh<A>> {
              if (!mesh.ok()) return mesh.status();
              return internal::whole_mesh<A>(port, *mesh);
            });
}

template <class A>
Future<ActorMesh<A>> Self::find(std::string name) const {
  return port_->find(name).then(
      inline_executor(),
      [port = port_, name](Result<std::shared_ptr<const internal::MeshInfo>> mesh)
          -> Result<ActorMesh<A>> { return internal::typed_mesh<A>(port, name, std::move(mesh)); });
}

template <class A, class... Arguments>
Result<ActorMesh<A>> Client::spawn(const SpawnOptions& options, Arguments... arguments) const {
  static_assert(std::is_constructible_v<A, Self, const Arguments&...>,
                "an actor's constructor takes Self, and then what spawn() was given");
  auto caller = this->caller();
  if (!caller.ok()) return caller.status();
  auto mesh = (*caller)
                  ->spawn(options.order(internal::actor_type<A>(),
                                        internal::factory_of<A>(std::move(arguments)...)))
                  .get();
  if (!mesh.ok()) return mesh.status();
  return internal::whole_mesh<A>(*std::move(caller), *std::move(mesh));
}

template <class A>
Result<ActorMesh<A>> Client::find(const std::string& name) const {
  auto caller = this->caller();
  if (!caller.ok()) return caller.status();
  return internal::typed_mesh<A>(*caller, name, (*caller)->find(name).get());
}

namespace internal {

/// A mesh that was found by name, if it is of type `A`.
template <class A>
Result<ActorMesh<A>> typed_mesh(std::shared_ptr<Caller> caller, const std::string& name,
                                Result<std::shared_ptr<const MeshInfo>> mesh) {
  if (!mesh.ok()) return mesh.status();
  if ((*mesh)->type->id != actor_type<A>()->id) {
    return invalid_argument("\"" + name + "\" names actors of type " + (*mesh)->type->name +
                            ", not " + actor_type<A>()->name);
  }
  return whole_mesh<A>(std::move(caller), *std::move(mesh));
}

}  // namespace internal

}  // namespace seaway
