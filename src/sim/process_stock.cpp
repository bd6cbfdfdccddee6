// Looking into the roles of a cluster from outside, all of which may be down.

#include "sim/process_stock.hpp"

#include <algorithm>
#include <utility>

#include "sim/functions.hpp"

namespace seaway::sim {

using actor::Role;

namespace {

device::HostCore* host_of(const MemberOf& member, IslandId island) {
  cluster::Member* const found = member(Role::kHost, island);
  return found ? found->host() : nullptr;
}

const island::SchedulerActor* scheduler_of(const MemberOf& member, IslandId island) {
  const cluster::Member* const found = member(Role::kIsland, island);
  return found ? found->scheduler() : nullptr;
}

controller::ControllerCore* controller_of(const MemberOf& member) {
  cluster::Member* const found = member(Role::kController, 0);
  return found ? found->controller() : nullptr;
}

}  // namespace

Surroundings surroundings_of(const World& world, const MemberOf& member) {
  Surroundings made;
  made.devices = world.cluster.devices;
  made.part_of = [member](IslandId island, Stamp stamp) {
    device::HostCore* const host = host_of(member, island);
    const device::PartRun* const part = host ? host->find_part(stamp) : nullptr;
    if (!part) return PartFacts{};
    return PartFacts{part->plan->part.get(), &part->args,        &part->outputs,
                     part->is_admitted,      part->gangs_placed, part->has_moved};
  };
  made.devices_of_array = [member](IslandId island, ArrayId array) {
    device::HostCore* const host = host_of(member, island);
    return host ? host->array_devices(array) : nullptr;
  };
  made.memory_of = [member](IslandId island, DeviceId device) {
    device::HostCore* const host = host_of(member, island);
    if (!host) return std::pair<std::uint64_t, std::uint64_t>();
    return std::pair(host->device(device).used_bytes, host->device(device).budget_bytes);
  };
  made.reserved_of = [member](IslandId island, DeviceId device) -> std::uint64_t {
    const island::SchedulerActor* const scheduler = scheduler_of(member, island);
    return scheduler ? scheduler->core().used_bytes(device) : 0;
  };
  made.gangs_of = [member](IslandId island, DeviceId device) -> std::uint64_t {
    device::HostCore* const host = host_of(member, island);
    return host ? host->device(device).gangs_done : 0;
  };
  made.has_effects = [member](FunctionId function) {
    const controller::ControllerCore* const controller = controller_of(member);
    return controller && controller->function_name(function).starts_with(kOnce);
  };
  made.may_be_lost = [&world](IslandId island, DeviceId device, std::uint64_t now_ns) {
    return world.faults.may_take(island, device, now_ns);
  };
  made.weight_of = [](TenantId) { return 1; };
  return made;
}

std::vector<std::string> leftovers(const World& world, const MemberOf& member) {
  std::vector<std::string> left;
  const auto expect_none = [&left](const std::string& what, std::uint64_t count) {
    if (count > 0) left.push_back(std::to_string(count) + " " + what);
  };
  const controller::ControllerCore* const controller = controller_of(member);
  if (!controller) return {"no controller"};
  expect_none("runs without an outcome at the controller", controller->runs_unfinished());
  expect_none("arrays known to the controller", controller->array_count());
  expect_none("clients known to the controller", controller->client_count());
  expect_none("definitions known to the controller", controller->definition_count());
  expect_none("bytes that the controller takes for kept", controller->kept_bytes());
  for (ClientId client = 1; client <= world.clients; ++client) {
    const cluster::Member* const its = member(Role::kClient, client);
    expect_none("values that client " + std::to_string(client) + " offers or fetches",
                its ? its->open_data() : 0);
  }
  for (IslandId island = 0; island < world.cluster.islands; ++island) {
    const std::string where = " on island " + std::to_string(island);
    device::HostCore* const host = host_of(member, island);
    const island::SchedulerActor* const scheduler = scheduler_of(member, island);
    if (!host || !scheduler) {
      left.push_back("a role that is missing" + where);
      continue;
    }
    expect_none("arrays of the host" + where, host->array_count());
    expect_none("gangs that the host foresees" + where, host->foresees() ? 1 : 0);
    expect_none("plans of the host" + where, host->plan_count());
    expect_none("functions of the host" + where, host->function_count());
    expect_none("specs of the host" + where, host->spec_count());
    expect_none("unfinished parts of the host" + where, host->is_idle() ? 0 : 1);
    if (const store::SpillTiers* const spill = host->spill_tiers()) {
      expect_none("bytes in the file of the host" + where, spill->counts().file_bytes);
      expect_none("spilled bytes in its memory" + where, spill->counts().memory_bytes);
    }
    expect_none("values that nobody took from the transport" + where,
                member(Role::kHost, island)->bulk().size());
    expect_none("values that are lent" + where, host->lent());
    expect_none("values that are offered or fetched" + where, host->open_data());
    expect_none("words of exchanges" + where, host->exchanges().early_words());
    for (std::uint32_t k = 1; k < world.cluster.hosts; ++k) {
      cluster::Member* const annex = member(Role::kAnnex, actor::annex_of(island, k));
      if (!annex) {
        left.push_back("host " + std::to_string(k) + " that is missing" + where);
        continue;
      }
      const std::string which = " of host " + std::to_string(k) + where;
      expect_none("rooms" + which, annex->annex()->room_count());
      expect_none("functions" + which, annex->annex()->function_count());
      expect_none("bytes" + which, annex->annex()->used_bytes());
      expect_none("exchanges" + which, annex->annex()->exchanges().is_quiet() ? 0 : 1);
      expect_none("words of exchanges" + which, annex->annex()->exchanges().early_words());
    }
    const island::SchedulerCore& core = scheduler->core();
    expect_none("unfinished parts of the scheduler" + where, core.idle() ? 0 : 1);
    expect_none("arrays of the scheduler" + where, core.array_count());
    expect_none("plans of the scheduler" + where, scheduler->plan_count() + core.plan_count());
    for (DeviceId device = 0; device < world.cluster.devices; ++device) {
      const std::string which = " on device " + std::to_string(device) + where;
      expect_none("bytes in use" + which, host->device(device).used_bytes);
      expect_none("bytes reserved" + which, core.used_bytes(device));
    }
  }
  return left;
}

std::string remains_of(ClientId client, const World& world, const MemberOf& member) {
  std::string left;
  const controller::ControllerCore* const controller = controller_of(member);
  if (controller && controller->knows_client(client)) left = "something at the controller";
  for (IslandId island = 0; island < world.cluster.islands; ++island) {
    const device::HostCore* const host = host_of(member, island);
    if (!host) continue;
    const device::HostState state = host->state();
    const auto arrays = std::ranges::count_if(
        state.arrays, [client](const auto& array) { return client_of(array.array) == client; });
    const auto parts = std::ranges::count_if(state.parts, [client, host](const auto& part) {
      return client_of(host->find_part(part.stamp)->run) == client;
    });
    if (arrays + parts == 0) continue;
    left += (left.empty() ? "" : ", ") + std::to_string(arrays) + " arrays and " +
            std::to_string(parts) + " parts at " + cluster::to_string({Role::kHost, island});
  }
  return left;
}

std::string waiting(const World& world, const MemberOf& member) {
  std::string text;
  for (IslandId island = 0; island < world.cluster.islands; ++island) {
    const island::SchedulerActor* const scheduler = scheduler_of(member, island);
    const device::HostCore* const host = host_of(member, island);
    text += "island " + std::to_string(island) + ":" + (scheduler ? "" : " no scheduler") +
            (host ? "" : " no host") + "\n";
    if (scheduler) {
      text += " view " + std::to_string(scheduler->view()) + "\n" + scheduler->core().to_string();
    }
    for (Stamp stamp = 1; host && stamp < 10'000; ++stamp) {
      const std::string why = host->why(stamp);
      if (!why.empty()) text += "host, stamp " + std::to_string(stamp) + ": " + why + "\n";
    }
  }
  controller::ControllerCore* const controller = controller_of(member);
  if (!controller) return text;
  return text + "controller: " + std::to_string(controller->runs_unfinished()) +
         " runs unfinished, " + std::to_string(controller->array_count()) + " arrays\n" +
         controller->waiting();
}

}  // namespace seaway::sim
