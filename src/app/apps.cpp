// Starting silos, and ending one as if its process had died.

#include "app/apps.hpp"

#include <utility>

#include "actor/engine_waiter.hpp"
#include "app/local_network.hpp"
#include "base/check.hpp"

namespace seaway::app {
namespace {

/// Any frame will do: it only says that something lies at the door.
Frame make_poke() {
  return Frame::make(1, [](auto words) { words[0] = 0; });
}

}  // namespace

Apps::Apps(Options options, const std::vector<actor::Engine*>& engines)
    : options_(std::move(options)),
      engines_(engines),
      waiter_(actor::make_engine_waiter(*engines.front())),
      silos_(options_.hosts + 1, nullptr) {
  for (std::uint32_t i = 0; i <= options_.hosts; ++i) doors_.push_back(std::make_shared<Door>());
  if (options_.tuning.network) {
    simulated_ = options_.tuning.network(options_.hosts + 1);
  } else {
    network_ = std::make_unique<LocalNetwork>(doors_);
  }
  for (SiloId id = 0; id <= options_.hosts; ++id) {
    NetworkPort port = start(id);
    if (simulated_) simulated_->connect(id, std::move(port));
  }
}

Apps::~Apps() = default;

NetworkPort Apps::start(SiloId id) {
  actor::Engine& engine = options_.tuning.start_process && id != kHub
                              ? *options_.tuning.start_process(id)
                              : *engines_[id == kHub ? 0 : host_of_silo(id) % engines_.size()];
  Silo::Wiring wiring;
  wiring.id = id;
  wiring.engine = &engine;
  wiring.network = simulated_ ? &simulated_->end_of(id) : network_.get();
  wiring.epoch = simulated_ ? simulated_->epoch(id) : 1;
  wiring.door = doors_[id];
  wiring.waiter = waiter_;
  wiring.seed = options_.tuning.seed;
  wiring.limits = options_.tuning.limits;
  wiring.choose = options_.tuning.choose;
  wiring.client_of = options_.client_of;
  auto made = std::make_unique<Silo>(std::move(wiring));
  Silo* const silo = silos_[id] = made.get();
  const std::string name = id == kHub ? "hub" : "actors" + std::to_string(host_of_silo(id));
  doors_[id]->open(engine.spawn(name, std::move(made)), make_poke(), actor::gate_of(engine));
  // What came before a word is looked at before it.
  return {&engine, doors_[id],
          [silo](SiloId other) {
            silo->receive({});
            silo->on_silo_lost(other);
          },
          [silo](SiloId other) {
            silo->receive({});
            silo->on_silo_back(other);
          }};
}

void Apps::kill(SiloId id) {
  SEAWAY_CHECK(simulated_ && id != kHub && silos_[id]);
  // Nothing that its actors say at their end leaves the host.
  simulated_->kill(id);
  silos_[id] = nullptr;
  options_.tuning.kill_process(id);
}

void Apps::restart(SiloId id) {
  SEAWAY_CHECK(simulated_ && id != kHub && !silos_[id]);
  doors_[id] = std::make_shared<Door>();
  simulated_->restart(id, start(id));
}

Silo* Apps::silo(SiloId id) { return silos_[id]; }

std::shared_ptr<ClientCaller> Apps::open(std::uint32_t client, std::uint64_t tenant) {
  return std::make_shared<ClientCaller>(client, tenant, *silos_[kHub]);
}

}  // namespace seaway::app
