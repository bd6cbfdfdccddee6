// Member: one actor of a user's on its host: its object, its mailbox and what it has under way.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actor/handler_scope.hpp"
#include "app/call_table.hpp"
#include "app/delivery.hpp"
#include "base/random.hpp"
#include "seaway/app/actor.hpp"

namespace seaway::app {

struct OwnedMesh;

/// A request that came with an id, and what was answered or who waits for it.
struct OnceRecord {
  std::optional<Result<internal::RawMessage>> answer;
  std::vector<std::pair<SiloId, std::uint64_t>> waiting;  // Calls with the same id.
};

/// A future that is complete at some time: it, its timer and its place among its member's are one
/// allocation.
class SleepState final : public internal::FutureState<void>, public SiloTimer {
 public:
  SleepState() : FutureState(nullptr), SiloTimer(SiloTimer::Kind::kSleep) {}
  /// On its member's thread the timer goes at once, elsewhere when it is due.
  void cancel() override;

  Member* member = nullptr;
  std::shared_ptr<SleepState> keeps;  // Itself, while it is pending.
  SleepState* next = nullptr;
  SleepState* previous = nullptr;
};

/// An answer that leaves only when a snapshot is safe.
struct UnsentReply {
  std::uint64_t snapshot = 0;
  SiloId to = 0;
  Envelope envelope;
};

/// Touched on its silo's thread only, but for the Caller's part: that may come from any thread.
class Member final : public internal::MemberPort, public actor::Handling {
 public:
  enum class Life : std::uint8_t { kLive, kStopping, kDead };

  Member(Silo& silo, std::shared_ptr<const internal::MeshInfo> mesh, std::uint32_t index,
         std::uint32_t incarnation);
  ~Member() override;

  MemberName member_name() const { return {mesh_->id, index_}; }

  // Caller.
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
  const std::shared_ptr<internal::Waiter>& waiter() const override;
  std::string to_string() const override;

  // MemberPort.
  const std::shared_ptr<const internal::MeshInfo>& mesh() const override { return mesh_; }
  std::uint32_t index() const override { return index_; }
  std::uint32_t incarnation() const override { return incarnation_; }
  std::uint32_t host() const override;
  std::uint64_t now_ns() const override;
  std::uint64_t random() override;
  Future<void> sleep(std::chrono::nanoseconds time) override;
  void monitor(const internal::Members& members) override;
  void fail(Status cause) override;
  void stop_self() override;
  bool is_cancelled() const override;
  Result<Client> client() const override;

  // Handling.
  std::string describe() const override;

  // The silo's side.
  /// What one sender has sent behind a call that waits for its argument, and that call.
  struct Held {
    explicit Held(const Source& own) : source(own) {}
    Source source;
    DeliveryList list;
  };
  struct Extras {
    std::unordered_map<std::uint64_t, OnceRecord> once;  // By request id; never iterated.
    std::vector<std::uint64_t> once_order;               // Answered ones, oldest first.
    std::size_t once_begin = 0;
    std::vector<Held> held;  // Of senders one of whose calls waits.
    std::vector<UnsentReply> unsent;
    std::vector<std::uint64_t> owned;  // Meshes.
    std::uint64_t snapshots = 0, handled = 0;
    std::uint64_t kept = 0;  // The last snapshot that is safe.
  };
  Extras& extras() {
    if (!extras_) extras_ = std::make_unique<Extras>();
    return *extras_;
  }
  const Extras* find_extras() const { return extras_.get(); }

  Life life = Life::kLive;
  bool is_ready = false;   // In the silo's list of members with something to handle.
  bool is_told = true;     // Its owner hears of its death; else kStarted has told.
  bool is_ending = false;  // To be ended when what runs now returns.
  Status ending_cause;
  internal::Object object = internal::Object(nullptr, [](void*) {});
  DeliveryList mailbox;
  DeliveryList running;
  std::uint32_t waiting = 0;  // Handlers that wait at a co_await and let no other begin.
  std::uint32_t entered = 0;  // Handlers on the stack.
  Call* calls = nullptr;      // Its own, under way.
  std::unique_ptr<RandomStream> random_stream;
  SleepState* sleeps = nullptr;  // Those that are pending.

  Silo& silo() const { return *silo_; }
  void detach() { silo_ = nullptr; }
  /// Whether it may still ask for something; what is left of a dead one may only send.
  bool is_alive() const { return silo_ && life != Life::kDead; }

 private:
  /// Why nothing can be asked any more.
  Status gone() const;
  void end_outside_handlers();
  /// Whether its silo has its turn in this thread.
  bool is_here() const;

  std::atomic<Silo*> silo_;  // Null once it has ended.
  std::shared_ptr<class Door> door_;
  std::shared_ptr<const internal::MeshInfo> mesh_;
  const std::uint32_t index_;
  const std::uint32_t incarnation_;
  std::unique_ptr<Extras> extras_;
};

}  // namespace seaway::app
