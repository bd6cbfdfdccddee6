// A client's calls on their way to the hub.

#include "app/client_caller.hpp"

#include <algorithm>
#include <utility>

namespace seaway::app {
namespace {

void fail(const internal::CallOrder& order, const Status& status) {
  if (order.one) order.one->answer(status);
  for (std::uint32_t i = 0; i < order.many.size(); ++i) {
    order.many[i]->answer(status);
    if (order.sink) order.sink->on_end(i, status);
  }
}

template <class State>
std::function<void(const Status&)> completing(std::shared_ptr<State> state) {
  return [state = std::move(state)](const Status& status) { state->complete(status); };
}

}  // namespace

ClientCaller::ClientCaller(std::uint32_t client, std::uint64_t tenant, Silo& hub)
    : client_(client), hub_(hub), door_(hub.wiring().door), waiter_(hub.wiring().waiter) {
  door_->post([&hub, client, tenant] { hub.open_client(client, tenant); });
}

/// Of what comes behind the end of the session, or of its silo.
Status ClientCaller::closed() {
  std::lock_guard guard(mutex_);
  return is_closed_ ? end_
                    : cancelled("client " + std::to_string(client_) + ": the cluster has ended");
}

Status ClientCaller::take_place() {
  if (is_closed_.load(std::memory_order_acquire)) return closed();
  if (asked_.fetch_add(1, std::memory_order_relaxed) < kAskedMax) return {};
  asked_.fetch_sub(1, std::memory_order_relaxed);
  return resource_exhausted("client " + std::to_string(client_) + " has asked " +
                            std::to_string(kAskedMax) +
                            " times and nobody has yet looked at it; wait for some answers");
}

void ClientCaller::call(internal::CallOrder order) {
  if (Status status = take_place(); !status.ok()) return fail(order, status);
  auto self = std::static_pointer_cast<ClientCaller>(shared_from_this());
  Door::Posted posted{std::move(self), std::move(order), {}};
  if (!door_->post(posted)) fail(posted.order, closed());
}

Status ClientCaller::send(internal::CallOrder order) {
  {
    std::lock_guard guard(mutex_);
    if (!refused_.ok()) {
      const Status first = std::exchange(refused_, Status());
      const std::uint64_t count = std::exchange(refusals_, 0);
      return {first.code(), std::to_string(count) + " earlier sends were refused, and this one " +
                                "was not made; the first: " + first.message()};
    }
  }
  if (Status status = take_place(); !status.ok()) return status;
  if (order.argument || order.argument_outcome) {
    asked_.fetch_sub(1, std::memory_order_relaxed);
    return invalid_argument(std::string(order.request_name) +
                            ": an unresolved argument needs a call; nobody would hear of its "
                            "failure");
  }
  auto self = std::static_pointer_cast<ClientCaller>(shared_from_this());
  Door::Posted posted{std::move(self), std::move(order), {}};
  return door_->post(posted) ? Status() : closed();
}

void ClientCaller::run(Silo& hub, internal::CallOrder order) {
  asked_.fetch_sub(1, std::memory_order_relaxed);
  if (is_over_) return fail(order, closed());
  if (order.one || !order.many.empty()) return hub.start_call(nullptr, client_, order);
  if (Status status = hub.start_send(nullptr, client_, order); !status.ok()) {
    std::lock_guard guard(mutex_);
    ++refusals_;
    if (refused_.ok()) refused_ = std::move(status);
  }
}

void ClientCaller::cancel(const std::shared_ptr<internal::CallBase>& call) {
  door_->post([&hub = hub_, call] { hub.cancel_call(*call); });
}

void ClientCaller::reduce(internal::CallOrder order, internal::Combine combine) {
  const std::shared_ptr<internal::CallBase> result = order.one;
  auto shared = std::make_shared<internal::CallOrder>(std::move(order));
  ask([client = client_, shared, combine = std::move(combine)](
          Silo& hub) { hub.start_reduction(nullptr, client, *shared, combine); },
      [result](const Status& status) { result->answer(status); });
}

/// Runs `work` at the hub; or `fail`, when too much waits there or the session is over before.
void ClientCaller::ask(std::function<void(Silo&)> work, std::function<void(const Status&)> fail) {
  if (Status status = take_place(); !status.ok()) return fail(status);
  auto self = std::static_pointer_cast<ClientCaller>(shared_from_this());
  const bool is_taken = door_->post([self, work = std::move(work), fail] {
    self->asked_.fetch_sub(1, std::memory_order_relaxed);
    if (self->is_over_) return fail(self->closed());
    work(self->hub_);
  });
  if (!is_taken) fail(closed());
}

void ClientCaller::grant(const std::shared_ptr<internal::CallBase>& call, std::uint32_t count) {
  door_->post([&hub = hub_, call, count] { hub.grant(*call, count); });
}

Future<std::shared_ptr<const internal::MeshInfo>> ClientCaller::spawn(internal::SpawnOrder order) {
  auto state = std::make_shared<Silo::Spawned>(waiter_);
  auto shared = std::make_shared<internal::SpawnOrder>(std::move(order));
  ask([shared, state,
       client = client_](Silo& hub) { hub.spawn(nullptr, client, std::move(*shared), state); },
      completing(state));
  return Future<std::shared_ptr<const internal::MeshInfo>>(std::move(state));
}

Future<std::shared_ptr<const internal::MeshInfo>> ClientCaller::find(std::string name) {
  auto state = std::make_shared<Silo::Spawned>(waiter_);
  ask([client = client_, name = std::move(name),
       state](Silo& hub) { hub.find(nullptr, client, name, state); },
      completing(state));
  return Future<std::shared_ptr<const internal::MeshInfo>>(std::move(state));
}

Future<void> ClientCaller::stop(internal::Members members, std::chrono::nanoseconds deadline) {
  auto state = std::make_shared<internal::FutureState<void>>(waiter_);
  const auto time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, deadline.count()));
  ask([client = client_, members, time_ns,
       state](Silo& hub) { hub.stop(nullptr, client, members, hub.now_ns() + time_ns, state); },
      completing(state));
  return Future<void>(std::move(state));
}

void ClientCaller::kill(internal::Members members, Status cause) {
  door_->post([&hub = hub_, client = client_, members, cause] {
    hub.kill(hub.tenant_of(nullptr, client), members, cause);
  });
}

void ClientCaller::watch(internal::Members members, Executor& executor,
                         std::function<void(const Death&)> on_death) {
  const std::uint64_t number = (std::uint64_t{client_} << 32) | ++watches_;
  door_->post(
      [&hub = hub_, client = client_, members, number, &executor, on_death = std::move(on_death)] {
        hub.keep_watch(number, [&executor, on_death](const Death& death) {
          executor.execute([on_death, death] { on_death(death); });
        });
        hub.watch(hub.tenant_of(nullptr, client), members, {}, number);
      });
}

void ClientCaller::close() {
  end(cancelled("client " + std::to_string(client_) + " has been closed"));
}

void ClientCaller::end(Status why) {
  {
    std::lock_guard guard(mutex_);
    if (is_closed_) return;
    end_ = why;
    is_closed_.store(true, std::memory_order_release);
  }
  auto self = std::static_pointer_cast<ClientCaller>(shared_from_this());
  door_->post([self, why = std::move(why)] {
    self->is_over_ = true;
    self->hub_.close_client(self->client_, why);
  });
}

}  // namespace seaway::app
