// Any frames of clients to a controller whose hosts and schedulers are other processes: it refuses
// them or acts on them, and what it then says to others can be read. Whoever says what is none is
// lost. What schedulers and hosts say is any bytes too.

#include <seaway.capnp.h>

#include <set>

#include "actor/router.hpp"
#include "base/check.hpp"
#include "base/clock.hpp"
#include "cluster/door.hpp"
#include "cluster/role_options.hpp"
#include "controller/controller_actor.hpp"
#include "events/event_stream.hpp"
#include "target.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::fuzz {
namespace {

using actor::Role;
using cluster::RoleName;

constexpr std::uint32_t kIslands = 2, kDevices = 4, kClients = 3;

cluster::EmbeddedOptions options() {
  cluster::EmbeddedOptions options;
  options.islands = kIslands;
  options.devices = kDevices;
  options.device_memory = 1 << 20;
  options.host_memory = 1 << 20;
  return options;
}

/// A controller, and around it nobody but who is made up.
class World {
 public:
  World()
      : binder_(cluster::make_binder(options())),
        actor_(controller_options(), *binder_, router_, clock_, events_) {
    router_.set_elsewhere([](Role, std::uint32_t, const Frame& frame, transport::Lane) {
      const Status status =
          wire::read_frame<wire::Message>(frame, [](wire::Message::Reader) { return Status(); });
      SEAWAY_CHECK(status.ok(), status.to_string());
    });
    router_.on_malformed([this](Role role, std::uint32_t index, const Status& why) {
      SEAWAY_CHECK(role == Role::kClient, static_cast<unsigned>(role));
      SEAWAY_CHECK(!why.ok());
      lost_.insert(index);
    });
    for (IslandId island = 0; island < kIslands; ++island) {
      actor_.core().host_joined(island, 1);
      actor_.core().scheduler_joined(island, 1);
    }
    actor_.idle();
  }

  void take(const Said& said) {
    const RoleName from = name_of(said.from);
    if (from.role == Role::kController || gone_.contains(from.index)) return;
    const cluster::DoorLimits limits{.islands = kIslands, .devices = kDevices};
    const Status status = cluster::check_at_door(from, {Role::kController, 0}, said.frame, limits);
    if (status.ok()) {
      actor_.receive(said.frame);
    } else if (from.role == Role::kClient) {
      lost_.insert(from.index);
    }
    clock_.advance_to(clock_.now_ns() + said.number);
    if ((said.to & 1) == 0) actor_.idle();
    for (const ClientId client : lost_) {
      actor_.core().client_lost(client);
      gone_.insert(client);
    }
    lost_.clear();
  }
  void end() { actor_.idle(); }

 private:
  static controller::ControllerOptions controller_options() {
    controller::ControllerOptions made = cluster::controller_options(options());
    made.has_members = true;
    made.life = 1;
    made.limits.ids_open_max = 1 << 10;
    made.limits.definitions_max = 64;
    made.limits.arrays_max = 256;
    return made;
  }
  static RoleName name_of(std::uint8_t number) {
    const auto role = static_cast<Role>(number & 3);
    const std::uint32_t index = number >> 2;
    return {role, role == Role::kClient ? 1 + index % kClients : index % kIslands};
  }

  ManualClock clock_;
  events::EventStream events_{64};
  actor::Router router_;
  std::unique_ptr<program::SliceBinder> binder_;
  controller::ControllerActor actor_;
  std::set<ClientId> lost_, gone_;
};

}  // namespace

void controller(std::span<const std::uint8_t> input) {
  World world;
  Said said;
  for (Sayings sayings(input); sayings.next(said);) world.take(said);
  world.end();
}

}  // namespace seaway::fuzz
