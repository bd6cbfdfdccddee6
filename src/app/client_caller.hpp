// ClientCaller: a client's end of the actor API: what its threads ask goes through the hub's door.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "app/door.hpp"
#include "app/silo.hpp"
#include "seaway/app/runtime.hpp"

namespace seaway::app {

/// Thread-safe. Outlives the cluster in the hands of users: then everything fails with kCancelled.
class ClientCaller final : public internal::Caller {
 public:
  /// Most of what a client has asked, calls, sends, reductions, spawns, finds and stops, that its
  /// hub has not yet looked at.
  static constexpr std::uint32_t kAskedMax = 1 << 16;

  /// `tenant`: transport::TenantKey.
  ClientCaller(std::uint32_t client, std::uint64_t tenant, Silo& hub);

  void call(internal::CallOrder order) override;
  Status send(internal::CallOrder order) override;
  void cancel(const std::shared_ptr<internal::CallBase>& call) override;
  void reduce(internal::CallOrder order, internal::Combine combine) override;
  void grant(const std::shared_ptr<internal::CallBase>& call, std::uint32_t count) override;
  Future<std::shared_ptr<const internal::MeshInfo>> spawn(internal::SpawnOrder order) override;
  Future<std::shared_ptr<const internal::MeshInfo>> find(std::string name) override;
  Future<void> stop(internal::Members members, std::chrono::nanoseconds deadline) override;
  void kill(internal::Members members, Status cause) override;
  void watch(internal::Members members, Executor& executor,
             std::function<void(const Death&)> on_death) override;
  const std::shared_ptr<internal::Waiter>& waiter() const override { return waiter_; }
  std::string to_string() const override { return "client " + std::to_string(client_); }

  /// Ends the client's meshes and its calls. What it asks afterwards fails.
  void close() override;
  /// The same, with the reason for which the session has ended: what it waits for gets `why`.
  /// Counts once, whichever comes first. Any thread.
  void end(Status why);

  /// On the hub's thread: what call() and send() left at the door.
  void run(Silo& hub, internal::CallOrder order);

 private:
  Status closed();
  Status take_place();
  void ask(std::function<void(Silo&)> work, std::function<void(const Status&)> fail);

  const std::uint32_t client_;
  Silo& hub_;  // Touched only in what its door lets in.
  std::shared_ptr<Door> door_;
  std::shared_ptr<internal::Waiter> waiter_;
  std::atomic<bool> is_closed_ = false;
  bool is_over_ = false;  // The hub has ended the session: for what comes behind. On its thread.
  std::atomic<std::uint32_t> asked_ = 0;
  std::atomic<std::uint64_t> watches_ = 0;
  std::mutex mutex_;
  Status end_;      // Why it is closed.
  Status refused_;  // The first send that was refused since the last word of it.
  std::uint64_t refusals_ = 0;
};

}  // namespace seaway::app
