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

}  // namespace

ClientCaller::ClientCaller(std::uint32_t client, Silo& hub)
    : client_(client), hub_(hub), door_(hub.wiring().door), waiter_(hub.wiring().waiter) {}

Status ClientCaller::closed() const {
  return cancelled("client " + std::to_string(client_) + " has been closed");
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
  if (is_closed_) {
    result->answer(closed());
    return;
  }
  auto shared = std::make_shared<internal::CallOrder>(std::move(order));
  const bool is_taken =
      door_->post([&hub = hub_, client = client_, shared, combine = std::move(combine)] {
        hub.start_reduction(nullptr, client, *shared, combine);
      });
  if (!is_taken) result->answer(closed());
}

void ClientCaller::grant(const std::shared_ptr<internal::CallBase>& call, std::uint32_t count) {
  door_->post([&hub = hub_, call, count] { hub.grant(*call, count); });
}

Future<std::shared_ptr<const internal::MeshInfo>> ClientCaller::spawn(internal::SpawnOrder order) {
  auto state = std::make_shared<Silo::Spawned>(waiter_);
  auto shared = std::make_shared<internal::SpawnOrder>(std::move(order));
  const bool is_taken = !is_closed_ && door_->post([&hub = hub_, shared, state, client = client_] {
    hub.spawn(nullptr, client, std::move(*shared), state);
  });
  if (!is_taken) state->complete(closed());
  return Future<std::shared_ptr<const internal::MeshInfo>>(std::move(state));
}

Future<std::shared_ptr<const internal::MeshInfo>> ClientCaller::find(std::string name) {
  auto state = std::make_shared<Silo::Spawned>(waiter_);
  const bool is_taken = !is_closed_ && door_->post([&hub = hub_, client = client_, name, state] {
    hub.find(nullptr, client, name, state);
  });
  if (!is_taken) state->complete(closed());
  return Future<std::shared_ptr<const internal::MeshInfo>>(std::move(state));
}

Future<void> ClientCaller::stop(internal::Members members, std::chrono::nanoseconds deadline) {
  auto state = std::make_shared<internal::FutureState<void>>(waiter_);
  const bool is_taken = !is_closed_ && door_->post([&hub = hub_, client = client_, members,
                                                    deadline, state] {
    hub.stop(nullptr, client, members,
             hub.now_ns() + static_cast<std::uint64_t>(std::max<std::int64_t>(0, deadline.count())),
             state);
  });
  if (!is_taken) state->complete(closed());
  return Future<void>(std::move(state));
}

void ClientCaller::kill(internal::Members members, Status cause) {
  door_->post([&hub = hub_, members, cause] { hub.kill(members, cause); });
}

void ClientCaller::watch(internal::Members members, Executor& executor,
                         std::function<void(const Death&)> on_death) {
  const std::uint64_t number = (std::uint64_t{client_} << 32) | ++watches_;
  door_->post([&hub = hub_, members, number, &executor, on_death = std::move(on_death)] {
    hub.keep_watch(number, [&executor, on_death](const Death& death) {
      executor.execute([on_death, death] { on_death(death); });
    });
    hub.watch(members, {}, number);
  });
}

void ClientCaller::close() {
  if (is_closed_.exchange(true)) return;
  door_->post([&hub = hub_, client = client_] { hub.close_client(client); });
}

}  // namespace seaway::app
