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

/// Where one host's silos live, one after another.
class Apps::Home final : public actor::Actor {
 public:
  explicit Home(std::unique_ptr<Silo> first) : silo(std::move(first)) {}

  void receive(const Frame& frame) override {
    if (silo) silo->receive(frame);
  }

  std::unique_ptr<Silo> silo;  // Null while the host is dead.
  actor::Address address;
};

Apps::Apps(Options options, const std::vector<actor::Engine*>& engines)
    : options_(std::move(options)),
      engines_(engines),
      waiter_(actor::make_engine_waiter(*engines.front())) {
  for (std::uint32_t i = 0; i <= options_.hosts; ++i) doors_.push_back(std::make_shared<Door>());
  if (options_.tuning.network) {
    simulated_ = options_.tuning.network(options_.hosts + 1);
  } else {
    network_ = std::make_unique<LocalNetwork>(doors_);
  }
  for (SiloId id = 0; id <= options_.hosts; ++id) {
    auto home = std::make_unique<Home>(make_silo(id));
    Home* const at = home.get();
    homes_.push_back(at);
    const std::string name = id == kHub ? "hub" : "actors" + std::to_string(host_of_silo(id));
    at->address = at->silo->wiring().engine->spawn(name, std::move(home));
    doors_[id]->open(at->address, make_poke());
    if (simulated_) simulated_->connect(id, port_of(id));
  }
}

Apps::~Apps() = default;

std::unique_ptr<Silo> Apps::make_silo(SiloId id) {
  Silo::Wiring wiring;
  wiring.id = id;
  wiring.engine = engines_[id == kHub ? 0 : host_of_silo(id) % engines_.size()];
  wiring.network = simulated_ ? &simulated_->end_of(id) : network_.get();
  wiring.epoch = simulated_ ? simulated_->epoch(id) : 1;
  wiring.door = doors_[id];
  wiring.waiter = waiter_;
  wiring.seed = options_.tuning.seed;
  wiring.limits = options_.tuning.limits;
  wiring.choose = options_.tuning.choose;
  wiring.client_of = options_.client_of;
  return std::make_unique<Silo>(std::move(wiring));
}

NetworkPort Apps::port_of(SiloId id) {
  // What came before a word is looked at before it.
  return {doors_[id],
          [this, id](SiloId other) {
            homes_[id]->silo->receive({});
            homes_[id]->silo->on_silo_lost(other);
          },
          [this, id](SiloId other) {
            homes_[id]->silo->receive({});
            homes_[id]->silo->on_silo_back(other);
          }};
}

void Apps::kill(SiloId id) {
  SEAWAY_CHECK(simulated_ && id != kHub && homes_[id]->silo);
  // Nothing that its actors say at their end leaves the host.
  simulated_->kill(id);
  homes_[id]->silo.reset();
}

void Apps::restart(SiloId id) {
  SEAWAY_CHECK(simulated_ && !homes_[id]->silo);
  doors_[id] = std::make_shared<Door>();
  doors_[id]->open(homes_[id]->address, make_poke());
  simulated_->restart(id, port_of(id));
  homes_[id]->silo = make_silo(id);
}

Silo* Apps::silo(SiloId id) { return homes_[id]->silo.get(); }

std::shared_ptr<ClientCaller> Apps::open(std::uint32_t client) {
  return std::make_shared<ClientCaller>(client, *homes_[kHub]->silo);
}

}  // namespace seaway::app
