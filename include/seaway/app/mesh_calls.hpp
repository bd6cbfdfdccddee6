// The calls of ActorMesh and MeshCall. Included by mesh.hpp.

#pragma once

#include "seaway/app/mesh.hpp"

namespace seaway {

namespace internal {

template <class Q>
void set_request(CallOrder& order) {
  static const Message<Q> nothing = make<Q>([](typename Q::Builder) {});
  order.request = nothing.raw();
}
template <class Q>
void set_request(CallOrder& order, const Message<Q>& message) {
  order.request = message.raw();
}
/// A result that may not be there yet.
template <class Q>
void set_request(CallOrder& order, const Future<Message<Q>>& argument) {
  order.argument = argument.state();
  if (!order.argument) {
    order.argument_outcome = [] { return invalid_argument("the argument is an empty future"); };
    return;
  }
  order.argument_call = order.argument->as_call();
  if (order.argument_call) return;
  order.argument_outcome = [state = argument.state()]() -> Result<RawMessage> {
    if (!state->result().ok()) return state->result().status();
    return state->result()->raw();
  };
}
template <class Q, class Fill>
requires(std::is_invocable_v<const Fill&, typename Q::Builder> ||
         std::is_invocable_v<const Fill&, typename Q::Builder,
                             Attached&>) void set_request(CallOrder& order, const Fill& fill) {
  order.request = make<Q>(fill).raw();
}
/// Options may stand last, behind whatever is asked.
template <class Q, class... What>
void set_order(CallOrder& order, const What&... what) {
  const auto take = [&order](const auto& first, const auto&... rest) {
    using First = std::decay_t<decltype(first)>;
    if constexpr (std::is_same_v<First, CallOptions>) {
      static_assert(sizeof...(rest) == 0, "CallOptions stand last");
      set_request<Q>(order);
      order.options = first;
    } else {
      static_assert(sizeof...(rest) <= 1, "a call takes what is asked, and CallOptions");
      set_request<Q>(order, first);
      if constexpr (sizeof...(rest) == 1) order.options = (rest, ...);
    }
  };
  if constexpr (sizeof...(what) == 0) {
    set_request<Q>(order);
  } else {
    take(what...);
  }
}

template <class F>
inline constexpr bool kIsCombining = false;
template <class F>
inline constexpr bool kIsCombining<Combining<F>> = true;

/// `combine` as silos see it: of frames.
template <class R, class F>
Combine combine_of(F combine);

template <class R, class F>
Message<R> combine_two(const Message<R>& left, const Message<R>& right, const F& combine) {
  return make<R>([&](typename R::Builder out) { combine(*left, *right, out); });
}

/// Positions begin .. end - 1 of axis `axis`, of members laid out row-major.
Members select(const Members& members, std::vector<Placement::Axis>& axes, std::string_view axis,
               std::uint32_t begin, std::uint32_t end);
/// What a reference to nobody says of itself.
std::shared_ptr<const std::string> no_position(std::size_t count, std::size_t position);
std::string to_string(const Members& members, const std::vector<Placement::Axis>& axes);
/// "Counter[2]", whatever is known of the mesh.
std::string member_name(const MeshInfo* mesh, std::uint32_t index);
/// Why a mesh without members cannot be called, or a mesh of several as one.
Status wrong_count(const Members& members, std::string_view call, std::string_view request);

/// Why a reference is of another class than is asked for.
Status wrong_class(std::uint32_t number, const Reference& reference, std::string_view asked);

template <class A>
const std::shared_ptr<const ActorTypeInfo>& actor_type();

template <class R, class F>
Combine combine_of(F combine) {
  Combine made = [combine](const RawMessage& left, const RawMessage& right) -> Result<RawMessage> {
    return combine_two(Message<R>(left), Message<R>(right), combine).raw();
  };
  if constexpr (kIsCombining<F>) {
    made.name = combine.name;
    made.fingerprint = schema_fingerprint<R>();
  }
  return made;
}

}  // namespace internal

template <class A>
std::uint32_t Attached::add(const ActorMesh<A>& mesh) {
  return add(internal::Reference{mesh.members(), mesh.axes(), nullptr});
}
template <class A>
std::uint32_t Attached::add(const ActorRef<A>& actor) {
  return add(actor.mesh());
}

template <class T>
template <class A>
Result<ActorMesh<A>> Message<T>::mesh(std::uint32_t number) const {
  Result<internal::Reference> found = attachment<internal::Reference>(number, "actors");
  if (!found.ok()) return found.status();
  const auto& mesh = found->members.mesh;
  if (mesh && mesh->type->id != internal::actor_type<A>()->id) {
    return internal::wrong_class(number, *found, internal::type_name<A>());
  }
  return ActorMesh<A>(std::move(found->caller), std::move(found->members), std::move(found->axes));
}

template <class T>
template <class A>
Result<ActorRef<A>> Message<T>::actor(std::uint32_t number) const {
  Result<ActorMesh<A>> found = mesh<A>(number);
  if (!found.ok()) return found.status();
  if (found->size() != 1) {
    return internal::wrong_count(found->members(), "actor()", internal::kTypeName<T>);
  }
  return found->at(0);
}

template <class A>
std::shared_ptr<internal::Caller> ActorMesh<A>::caller() const {
  if (internal::Caller* current = internal::current_caller()) return current->shared_from_this();
  return caller_;
}

template <class A>
ActorRef<A> ActorMesh<A>::at(std::size_t position) const {
  internal::Members one = members_;
  one.list = nullptr;
  one.count = position < members_.count ? 1 : 0;
  if (one.count > 0) {
    one.first = members_.at(static_cast<std::uint32_t>(position));
  } else if (members_.count > 0) {
    one.mistake = internal::no_position(members_.count, position);
  }
  return ActorRef<A>(ActorMesh(caller_, std::move(one), {}));
}

template <class A>
ActorMesh<A> ActorMesh<A>::sub(std::string_view axis, Range range) const {
  std::vector<Placement::Axis> axes = axes_;
  internal::Members members = internal::select(members_, axes, axis, range.begin, range.end);
  return ActorMesh(caller_, std::move(members), std::move(axes));
}

template <class A>
template <class M, class... What>
internal::CallOrder ActorMesh<A>::order(M, const What&... what) const {
  using Method = internal::Method<M>;
  static_assert(std::is_same_v<typename Method::Actor, A>, "a method of the mesh's own class");
  internal::CallOrder order;
  order.to = members_;
  order.request_type = capnp::typeId<typename Method::Asked>();
  order.reply_type = internal::reply_type<typename Method::Answer>();
  order.request_name = internal::kTypeName<typename Method::Asked>;
  internal::set_order<typename Method::Asked>(order, what...);
  return order;
}

template <class A>
template <class M, class... What>
auto ActorMesh<A>::call(M method, const What&... what) const {
  using R = typename internal::Method<M>::Answer;
  const std::shared_ptr<internal::Caller> from = caller();
  std::vector<std::shared_ptr<internal::CallState<R>>> states;
  if (size() == 0 || !from) {
    states.push_back(std::make_shared<internal::CallState<R>>(nullptr, from));
    states.front()->answer(internal::wrong_count(
        members_, "call", internal::kTypeName<typename internal::Method<M>::Asked>));
    return MeshCall<R>(from, {}, std::move(states));
  }
  internal::CallOrder order = this->order(method, what...);
  states.reserve(size());
  order.many.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    states.push_back(std::make_shared<internal::CallState<R>>(from->waiter(), from));
    order.many.push_back(states.back());
  }
  from->call(std::move(order));
  return MeshCall<R>(from, axes_, std::move(states));
}

template <class A>
template <class M, class... What>
auto ActorMesh<A>::call_one(M method, const What&... what) const {
  using R = typename internal::Method<M>::Answer;
  using Answer = typename internal::Answered<R>::Type;
  const std::shared_ptr<internal::Caller> from = caller();
  if (size() != 1 || !from) {
    return Future<Answer>::of(internal::wrong_count(
        members_, "call_one", internal::kTypeName<typename internal::Method<M>::Asked>));
  }
  internal::CallOrder order = this->order(method, what...);
  auto state = std::make_shared<internal::CallState<R>>(from->waiter(), from);
  order.one = state;
  from->call(std::move(order));
  return Future<Answer>(std::move(state));
}

template <class A>
template <class M, class... What>
auto ActorMesh<A>::choose(M method, const What&... what) const {
  using R = typename internal::Method<M>::Answer;
  using Answer = typename internal::Answered<R>::Type;
  const std::shared_ptr<internal::Caller> from = caller();
  if (size() == 0 || !from) {
    return Future<Answer>::of(internal::wrong_count(
        members_, "choose", internal::kTypeName<typename internal::Method<M>::Asked>));
  }
  internal::CallOrder order = this->order(method, what...);
  auto state = std::make_shared<internal::CallState<R>>(from->waiter(), from);
  order.one = state;
  order.is_choice = true;
  from->call(std::move(order));
  return Future<Answer>(std::move(state));
}

template <class A>
template <class M, class... What>
Status ActorMesh<A>::broadcast(M method, const What&... what) const {
  const std::shared_ptr<internal::Caller> from = caller();
  if (size() == 0 || !from) {
    return internal::wrong_count(members_, "send",
                                 internal::kTypeName<typename internal::Method<M>::Asked>);
  }
  return from->send(order(method, what...));
}

template <class A>
template <class M, class... What>
auto ActorMesh<A>::stream(M method, const What&... what) const {
  using R = typename internal::Method<M>::Answer;
  static_assert(!std::is_void_v<R>, "a handler that answers nothing has nothing to stream");
  const std::shared_ptr<internal::Caller> from = caller();
  internal::CallOrder order = this->order(method, what...);
  if (size() == 0 || !from) {
    auto nobody = std::make_shared<internal::StreamState<R>>(from, order.options.credit, 1);
    nobody->on_end(0, internal::wrong_count(members_, "stream", order.request_name));
    return Stream<R>(std::move(nobody));
  }
  auto state = std::make_shared<internal::StreamState<R>>(from, order.options.credit, size());
  std::vector<std::shared_ptr<internal::CallBase>> calls;
  for (std::size_t i = 0; i < size(); ++i) {
    calls.push_back(std::make_shared<internal::CallState<void>>(nullptr, from));
  }
  order.many = calls;
  order.sink = state;
  state->keep_calls(std::move(calls));
  from->call(std::move(order));
  return Stream<R>(std::move(state));
}

template <class A>
std::string ActorMesh<A>::to_string() const {
  return internal::to_string(members_, axes_);
}
template <class A>
std::string ActorRef<A>::to_string() const {
  return internal::member_name(*this ? members().mesh.get() : nullptr, members().first);
}
template <class A>
MemberName ActorRef<A>::name() const {
  if (!members().mesh || members().count != 1) return {};
  return {members().mesh->id, members().first};
}

template <class R>
auto MeshCall<R>::all() const -> Future<ValueMesh<Result<Answer>>> {
  using Values = ValueMesh<Result<Answer>>;
  struct Gathering {
    std::vector<std::shared_ptr<internal::CallState<R>>> calls;
    std::vector<Placement::Axis> axes;
    std::atomic<std::size_t> missing;
    std::shared_ptr<internal::FutureState<Values>> state;
  };
  auto gathering = std::make_shared<Gathering>();
  gathering->calls = calls_;
  gathering->axes = axes_;
  gathering->missing = calls_.size() + 1;
  gathering->state =
      std::make_shared<internal::FutureState<Values>>(caller_ ? caller_->waiter() : nullptr);
  const auto count_down = [gathering] {
    if (gathering->missing.fetch_sub(1) != 1) return;
    std::vector<Result<Answer>> results;
    for (const auto& call : gathering->calls) results.push_back(call->result());
    gathering->state->complete(Values(std::move(gathering->axes), std::move(results)));
  };
  for (const auto& call : calls_) call->then(inline_executor(), count_down);
  auto state = gathering->state;
  count_down();
  return Future<Values>(std::move(state));
}

template <class R>
template <class F>
requires(!std::is_void_v<R>) Future<Reply<R>> MeshCall<R>::reduce(F combine)
const {
  if (calls_.empty()) {
    return Future<Reply<R>>::of(invalid_argument("a reduction of no answers has no value"));
  }
  return all().then(
      inline_executor(), [combine](Result<ValueMesh<Result<Answer>>> all) -> Result<Reply<R>> {
        std::vector<Reply<R>> left;
        for (auto& one : all.value()) {
          if (!one.ok()) return one.status();
          left.push_back(std::move(one).value());
        }
        try {
          // Pairs of neighbours, until one is left.
          while (left.size() > 1) {
            std::size_t count = 0;
            for (std::size_t i = 0; i < left.size(); i += 2) {
              left[count++] = i + 1 == left.size()
                                  ? left[i]
                                  : internal::combine_two(left[i], left[i + 1], combine);
            }
            left.resize(count);
          }
        } catch (...) {
          return internal::status_of_user_exception();
        }
        return left.front();
      });
}

template <class A>
template <class M, class F, class... What>
auto ActorMesh<A>::reduce(M method, F combine, const What&... what) const {
  using R = typename internal::Method<M>::Answer;
  static_assert(!std::is_void_v<R>, "a handler that answers nothing has nothing to combine");
  const std::shared_ptr<internal::Caller> from = caller();
  if (size() == 0 || !from) {
    return Future<Reply<R>>::of(internal::wrong_count(
        members_, "reduce", internal::kTypeName<typename internal::Method<M>::Asked>));
  }
  internal::CallOrder order = this->order(method, what...);
  auto state = std::make_shared<internal::CallState<R>>(from->waiter(), from);
  order.one = state;
  from->reduce(std::move(order), internal::combine_of<R>(std::move(combine)));
  return Future<Reply<R>>(std::move(state));
}

}  // namespace seaway
