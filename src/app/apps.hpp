// Apps: all silos of one process: the hub, and one for each host.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "app/client_caller.hpp"
#include "app/silo.hpp"
#include "app/simulated_network.hpp"

namespace seaway::app {

/// What only the simulator decides about silos.
struct AppsTuning {
  std::uint64_t seed = 0;  // Of what actors draw.
  SiloLimits limits;
  /// Which of `count` ready members is next; null: the first.
  std::function<std::size_t(std::size_t count)> choose;
  /// What connects the silos of so many, asked for once; it outlives them. Null: they hand
  /// envelopes to each other as they are.
  std::function<SimulatedNetwork*(std::uint32_t silos)> network;
  /// With it: a process of its own for each life of a host, which begins, and which is killed. They
  /// end before the engines. Null: hosts are on the engines, and are not killed.
  std::function<actor::Engine*(SiloId)> start_process = {};
  std::function<void(SiloId)> kill_process = {};
};

/// Starts the silos of `hosts` hosts on the engines, in turn, or each in a process of its own; the
/// hub is on the first engine. The engines outlive it; their threads have ended, or are stopped(),
/// when it goes.
class Apps {
 public:
  struct Options {
    std::uint32_t hosts = 1;
    std::function<Result<Client>(std::uint32_t client)> client_of;
    AppsTuning tuning;
  };
  Apps(Options options, const std::vector<actor::Engine*>& engines);
  ~Apps();

  /// The end of a client's calls. It ends with close(). `tenant`: transport::TenantKey.
  std::shared_ptr<ClientCaller> open(std::uint32_t client, std::uint64_t tenant = 0);
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(silos_.size() - 1); }

  /// A host's process dies, with all that lives there; others hear of it. Only with a simulated
  /// network, of a silo that lives and is not the hub; control thread.
  void kill(SiloId id);
  /// It is back, empty. Of one that was killed; control thread.
  void restart(SiloId id);

  /// For tests and the simulator; on the silo's thread, or while nothing runs. Null while it is
  /// dead.
  Silo* silo(SiloId id);
  /// Before the engines stop: nothing of theirs is touched by futures any more.
  void detach() { waiter_->detach(); }

 private:
  /// A new life of a silo, and where what comes for it goes.
  NetworkPort start(SiloId id);

  const Options options_;
  const std::vector<actor::Engine*> engines_;
  std::shared_ptr<internal::Waiter> waiter_;
  SimulatedNetwork* simulated_ = nullptr;
  std::unique_ptr<Network> network_;  // Of all, when it is not simulated.
  std::vector<std::shared_ptr<Door>> doors_;
  std::vector<Silo*> silos_;  // Owned by their engines, as all actors. Null while it is dead.
};

}  // namespace seaway::app
