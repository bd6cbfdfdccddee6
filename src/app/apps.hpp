// Apps: all shards of one process: the hub, and one for each host.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "app/client_caller.hpp"
#include "app/shard.hpp"

namespace seaway::app {

/// Starts the shards of `hosts` hosts on the engines, in turn; the hub is on the first one. The
/// engines outlive it; their threads have ended, or are stopped(), when it goes.
class Apps {
 public:
  struct Options {
    std::uint32_t hosts = 1;
    std::uint64_t seed = 0;
    ShardLimits limits;
    std::function<std::size_t(std::size_t count)> choose;
    std::function<Result<Client>(std::uint32_t client)> client_of;
  };
  Apps(const Options& options, const std::vector<actor::Engine*>& engines);
  ~Apps();

  /// The end of a client's calls. It ends with close().
  std::shared_ptr<ClientCaller> open(std::uint32_t client);
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(shards_.size() - 1); }

  /// For tests and the simulator; on the shard's thread, or while nothing runs.
  Shard& shard(ShardId id) { return *shards_[id]; }
  /// Before the engines stop: nothing of theirs is touched by futures any more.
  void detach() { waiter_->detach(); }

 private:
  std::shared_ptr<internal::Waiter> waiter_;
  std::unique_ptr<Network> network_;
  std::vector<std::shared_ptr<Door>> doors_;
  std::vector<Shard*> shards_;  // Owned by their engines, as all actors.
};

}  // namespace seaway::app
