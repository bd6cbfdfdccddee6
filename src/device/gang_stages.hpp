// GangStages: a gang whose shards are on several hosts, as each of them runs its own.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "collective/exchange_plan.hpp"
#include "device/backend.hpp"
#include "device/exchanges.hpp"

namespace seaway::device {

/// Runs the stages of gangs one after the other: on this host's shards alone, or as an exchange
/// with the other hosts, which is what keeps them in step. While exchanges are under way it goes on
/// with the stages that do not need them. All hosts begin the exchanges of a gang in the same
/// order, and say what they have as soon as they have it: nobody waits for one that waits for him.
///
/// A pure core; not thread-safe. Both outlive it.
class GangStages {
 public:
  struct Work {
    std::uint64_t gang = 0;    // Its number, the same on all hosts.
    std::uint64_t behind = 0;  // It begins here when this one is over here; 0: at once.
    const function::Executable* executable = nullptr;
    bool has_conflict = false;
    /// By shards of the gang; nothing lies at those of other hosts.
    std::vector<function::ShardedBuffer> operands, outputs;
    function::ShardedBuffer scratch;
    std::vector<collective::HostShards> hosts;  // All of its shards.
    collective::HostShards own;
    TenantId tenant = 0;
    std::shared_ptr<const void> owner;  // Of what all this refers to.
  };
  using Done = std::function<void(Status status)>;

  GangStages(Backend& backend, Exchanges& exchanges) : backend_(backend), exchanges_(exchanges) {}
  /// Nothing of it runs any more. Owners go, whoever still waits for the end of a gang.
  ~GangStages();
  GangStages(const GangStages&) = delete;
  GangStages& operator=(const GangStages&) = delete;

  /// `done` is called once, and at once if all is short and nobody is waited for. Gangs are started
  /// by rising numbers; one that is behind another one runs whatever becomes of that. A stage that
  /// fails here does not keep this host from what others wait for: the gang goes on to its end,
  /// with values that mean nothing, and has failed.
  void start(Work work, Done done);

  /// Together with Exchanges::begin_anew(): no `done` is called any more. A stage that runs now
  /// ends unheard, and what its gang works on is kept until then.
  void begin_anew();

 private:
  struct Gang;
  void run(const std::shared_ptr<Gang>& gang);
  void exchange(const std::shared_ptr<Gang>& gang, std::size_t stage,
                const function::Exchange& wanted);
  void compute(const std::shared_ptr<Gang>& gang, std::size_t stage);

  Backend& backend_;
  Exchanges& exchanges_;
  std::vector<std::weak_ptr<Gang>> gangs_;
};

}  // namespace seaway::device
