// What a member can do, on its silo; from other threads through the silo's door.

#include "app/member.hpp"

#include <algorithm>
#include <utility>

#include "app/silo.hpp"

namespace seaway::app {

Member::Member(Silo& silo, std::shared_ptr<const internal::MeshInfo> mesh, std::uint32_t index,
               std::uint32_t incarnation)
    : silo_(&silo),
      door_(silo.wiring().door),
      mesh_(std::move(mesh)),
      index_(index),
      incarnation_(incarnation) {}

Member::~Member() = default;

std::string Member::to_string() const { return internal::member_name(mesh_.get(), index_); }

Status Member::gone() const { return cancelled(to_string() + " has ended and asks nothing more"); }

bool Member::is_here() const { return silo_ && silo_ == Silo::current(); }

void Member::call(internal::CallOrder order) {
  if (is_here() && is_alive()) return silo().start_call(this, 0, order);
  auto self = std::static_pointer_cast<Member>(shared_from_this());
  auto shared = std::make_shared<internal::CallOrder>(std::move(order));
  const auto fail = [shared](const Status& status) {
    if (shared->one) shared->one->answer(status);
    for (std::uint32_t i = 0; i < shared->many.size(); ++i) {
      shared->many[i]->answer(status);
      if (shared->sink) shared->sink->on_end(i, status);
    }
  };
  const bool is_taken = door_->post([self, shared, fail] {
    if (self->is_alive()) {
      self->silo().start_call(self.get(), 0, *shared);
    } else {
      fail(self->gone());
    }
  });
  if (!is_taken) fail(gone());
}

Status Member::send(internal::CallOrder order) {
  if (is_here()) return silo().start_send(this, 0, order);
  auto self = std::static_pointer_cast<Member>(shared_from_this());
  auto shared = std::make_shared<internal::CallOrder>(std::move(order));
  const bool is_taken = door_->post([self, shared] {
    if (self->silo_) static_cast<void>(self->silo().start_send(self.get(), 0, *shared));
  });
  return is_taken ? Status() : gone();
}

void Member::cancel(const std::shared_ptr<internal::CallBase>& call) {
  if (is_here()) return silo().cancel_call(*call);
  door_->post([self = std::static_pointer_cast<Member>(shared_from_this()), call] {
    if (self->silo_) self->silo().cancel_call(*call);
  });
}

void Member::reduce(internal::CallOrder order, internal::Combine combine) {
  if (is_here() && is_alive()) {
    return silo().start_reduction(this, 0, order, std::move(combine));
  }
  order.one->answer(invalid_argument(to_string() + " reduces outside of its own handlers"));
}

void Member::grant(const std::shared_ptr<internal::CallBase>& call, std::uint32_t count) {
  if (is_here()) return silo().grant(*call, count);
  door_->post([self = std::static_pointer_cast<Member>(shared_from_this()), call, count] {
    if (self->silo_) self->silo().grant(*call, count);
  });
}

Future<std::shared_ptr<const internal::MeshInfo>> Member::spawn(internal::SpawnOrder order) {
  auto state = std::make_shared<Silo::Spawned>(nullptr);
  if (is_here() && is_alive()) {
    silo().spawn(std::static_pointer_cast<Member>(shared_from_this()), mesh_->client,
                 std::move(order), state);
  } else {
    state->complete(invalid_argument(to_string() + " spawns outside of its own handlers"));
  }
  return Future<std::shared_ptr<const internal::MeshInfo>>(std::move(state));
}

Future<std::shared_ptr<const internal::MeshInfo>> Member::find(std::string name) {
  auto state = std::make_shared<Silo::Spawned>(nullptr);
  if (is_here() && is_alive()) {
    silo().find(this, 0, name, state);
  } else {
    state->complete(
        invalid_argument(to_string() + " looks for \"" + name + "\" outside of its own handlers"));
  }
  return Future<std::shared_ptr<const internal::MeshInfo>>(std::move(state));
}

Future<void> Member::stop(internal::Members members, std::chrono::nanoseconds deadline) {
  auto state = std::make_shared<internal::FutureState<void>>(nullptr);
  if (is_here() && is_alive()) {
    silo().stop(
        this, 0, members,
        silo().now_ns() + static_cast<std::uint64_t>(std::max<std::int64_t>(0, deadline.count())),
        state);
  } else {
    state->complete(invalid_argument(to_string() + " stops others outside of its own handlers"));
  }
  return Future<void>(std::move(state));
}

void Member::kill(internal::Members members, Status cause) {
  if (is_here()) silo().kill(mesh_->tenant, members, cause);
}

void Member::watch(internal::Members, Executor&, std::function<void(const Death&)> on_death) {
  on_death({member_name(), to_string(),
            invalid_argument("an actor hears of deaths through Self::monitor"), incarnation_, false,
            false});
}

const std::shared_ptr<internal::Waiter>& Member::waiter() const {
  // Nothing blocks in a handler, so nothing needs to be woken.
  static const std::shared_ptr<internal::Waiter> nobody;
  return nobody;
}

std::uint32_t Member::host() const {
  return silo_ ? host_of_silo(silo().wiring().id) : mesh_->hosts[index_];
}

std::uint64_t Member::now_ns() const {
  return silo_ ? silo().wiring().engine->clock().now_ns() : 0;
}

std::uint64_t Member::random() {
  if (!random_stream) {
    const std::uint64_t seed = silo_ ? silo().wiring().seed : 0;
    random_stream = std::make_unique<RandomStream>(
        seed, mix64(mesh_->id) ^ (std::uint64_t{index_} << 20) ^ incarnation_);
  }
  return random_stream->next();
}

Future<void> Member::sleep(std::chrono::nanoseconds time) {
  auto state = std::make_shared<SleepState>();
  if (is_here() && is_alive()) {
    const std::uint64_t wait_ns = time.count() > 0 ? static_cast<std::uint64_t>(time.count()) : 0;
    // Of the clock, for the turn may have begun long ago.
    silo().sleep(*this, now_ns() + wait_ns, state);
  } else {
    state->complete(gone());
  }
  return Future<void>(std::move(state));
}

void Member::monitor(const internal::Members& members) {
  if (is_here() && is_alive()) silo().watch(mesh_->tenant, members, member_name(), incarnation_);
}

void Member::fail(Status cause) {
  if (!is_here() || !is_alive()) return;
  silo().end_after_turn(*this, std::move(cause));
  end_outside_handlers();
}

void Member::stop_self() {
  if (!is_here() || life != Life::kLive) return;
  life = Life::kStopping;
  end_outside_handlers();
}

/// In its handlers the end comes when they return. Elsewhere, as in what follows a future, later:
/// others that are on the stack now may still use it.
void Member::end_outside_handlers() {
  if (entered > 0) return;
  door_->post([self = std::static_pointer_cast<Member>(shared_from_this())] {
    if (self->is_alive()) self->silo().end_if_due(*self);
  });
}

bool Member::is_cancelled() const {
  const internal::Invocation* invocation = internal::current_invocation();
  return invocation && invocation->is_cancelled;
}

Result<Client> Member::client() const {
  if (!silo_ || !silo().wiring().client_of) return gone();
  return silo().wiring().client_of(mesh_->client);
}

std::string Member::describe() const {
  const auto* delivery = static_cast<const Delivery*>(internal::current_invocation());
  return to_string() +
         (delivery && delivery->method ? " in its handler of " + delivery->method->name : "");
}

void Silo::sleep(Member& member, std::uint64_t at_ns, const std::shared_ptr<SleepState>& state) {
  state->member = &member;
  state->keeps = state;
  state->next = member.sleeps;
  if (member.sleeps) member.sleeps->previous = state.get();
  member.sleeps = state.get();
  wheel_.add(*state, at_ns);
}

std::shared_ptr<SleepState> Silo::end_sleep(SleepState& state) {
  wheel_.remove(state);
  (state.previous ? state.previous->next : state.member->sleeps) = state.next;
  if (state.next) state.next->previous = state.previous;
  return std::move(state.keeps);
}

void SleepState::cancel() {
  const auto* caller = static_cast<const Member*>(internal::current_caller());
  std::shared_ptr<SleepState> ended;
  if (caller && keeps && caller == member) ended = member->silo().end_sleep(*this);
  fail(cancelled("the sleep was given up with cancel()"), internal::Wake::kNow);
}

}  // namespace seaway::app
