// Starting shards.

#include "app/apps.hpp"

#include <utility>

#include "actor/engine_waiter.hpp"
#include "app/local_network.hpp"

namespace seaway::app {

Apps::Apps(const Options& options, const std::vector<actor::Engine*>& engines)
    : waiter_(actor::make_engine_waiter(*engines.front())) {
  for (std::uint32_t i = 0; i <= options.hosts; ++i) doors_.push_back(std::make_shared<Door>());
  network_ = std::make_unique<LocalNetwork>(doors_);
  // Any frame will do: it only says that something lies at the door.
  const Frame poke = Frame::make(1, [](auto words) { words[0] = 0; });
  for (ShardId id = 0; id <= options.hosts; ++id) {
    actor::Engine& engine = *engines[id == kHub ? 0 : host_of_shard(id) % engines.size()];
    Shard::Wiring wiring;
    wiring.id = id;
    wiring.engine = &engine;
    wiring.network = network_.get();
    wiring.door = doors_[id];
    wiring.waiter = waiter_;
    wiring.seed = options.seed;
    wiring.limits = options.limits;
    wiring.choose = options.choose;
    wiring.client_of = options.client_of;
    auto shard = std::make_unique<Shard>(std::move(wiring));
    shards_.push_back(shard.get());
    const std::string name = id == kHub ? "hub" : "actors" + std::to_string(host_of_shard(id));
    doors_[id]->open(engine.spawn(name, std::move(shard)), poke);
  }
}

Apps::~Apps() = default;

std::shared_ptr<ClientCaller> Apps::open(std::uint32_t client) {
  return std::make_shared<ClientCaller>(client, *shards_[kHub]);
}

}  // namespace seaway::app
