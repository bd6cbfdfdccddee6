// What each part of an edit does to each kind of world.

#include "sim/edits.hpp"

#include <algorithm>

#include "sim/app_world.hpp"
#include "sim/fault_points.hpp"
#include "sim/process_faults.hpp"
#include "sim/user_world.hpp"
#include "sim/world.hpp"

namespace seaway::sim {
namespace {

/// The names that `edits` leaves out of `lines`.
std::set<std::string> left_out(const Edits& edits, const std::vector<FaultLine>& lines) {
  std::set<std::string> names;
  for (const FaultLine& line : lines) {
    if (!edits.has(line)) names.insert(line.name);
  }
  return names;
}

void limit(std::uint32_t& number, const std::optional<std::uint32_t>& most) {
  if (most) number = std::min(number, std::max(*most, 1u));
}

void set(std::uint64_t& time_ns, const std::map<std::string, std::uint64_t>& times,
         const std::string& name) {
  const auto found = times.find(name);
  if (found != times.end()) time_ns = found->second;
}

std::string name_of(const char* kind, IslandId island, DeviceId device) {
  return std::string(kind) + " " + std::to_string(island) + "/" + std::to_string(device);
}

void leave_out(const std::set<std::string>& names, transport::WireFaults& faults) {
  if (names.contains("wire cut")) faults.cut = 0;
  if (names.contains("wire half-open")) faults.half_open = 0;
  if (names.contains("wire flip")) faults.flip = 0;
  if (names.contains("wire repeat")) faults.repeat = 0;
}

void edit_device_faults(const Edits& edits, const cluster::EmbeddedOptions& cluster,
                        DeviceFaults& faults) {
  const std::set<std::string> gone = left_out(edits, faults.lines());
  const auto edit = [&](auto& list, const char* kind) {
    std::erase_if(list, [&](const auto& fault) {
      return fault.island >= cluster.islands || fault.device >= cluster.devices ||
             gone.contains(name_of(kind, fault.island, fault.device));
    });
    for (auto& fault : list) {
      const std::string name = name_of(kind, fault.island, fault.device);
      if constexpr (requires { fault.begin_ns; }) {
        std::uint64_t time_ns = fault.end_ns - fault.begin_ns;
        set(fault.begin_ns, edits.at_ns, name);
        set(time_ns, edits.for_ns, name);
        fault.end_ns = fault.begin_ns + time_ns;
      } else {
        set(fault.at_ns, edits.at_ns, name);
        if constexpr (requires { fault.for_ns; }) set(fault.for_ns, edits.for_ns, name);
      }
    }
  };
  edit(faults.losses, "loss");
  edit(faults.slow, "slow");
  edit(faults.hangs, "hang");
  edit(faults.stutters, "stutter");
  edit(faults.shortages, "shortage");
  edit(faults.flips, "flip");
  const auto rot_name = [](const MemoryRot& rot) {
    return "rot " + std::to_string(rot.island) + "#" + std::to_string(rot.number);
  };
  std::erase_if(faults.rots, [&](const MemoryRot& rot) {
    return rot.island >= cluster.islands || gone.contains(rot_name(rot));
  });
  for (MemoryRot& rot : faults.rots) set(rot.at_ns, edits.at_ns, rot_name(rot));
}

}  // namespace

void apply(const Edits& edits, World& world) {
  world.edits = edits;
  if (edits.is_empty()) return;
  limit(world.clients, edits.clients);
  limit(world.cluster.islands, edits.islands);
  limit(world.cluster.devices, edits.devices);
  // Each host has as many.
  const std::uint32_t hosts = world.cluster.hosts;
  world.cluster.devices = std::max(hosts, world.cluster.devices / hosts * hosts);
  edit_device_faults(edits, world.cluster, world.faults);
  world.spill.leave_out(left_out(edits, world.spill.lines()));
}

void apply(const Edits& edits, AppWorld& world) {
  world.edits = edits;
  if (edits.is_empty()) return;
  limit(world.clients, edits.clients);
  limit(world.hosts, edits.islands);
  const std::set<std::string> gone = left_out(edits, world.lines());
  if (gone.contains("crashes")) world.has_crashes = false;
  leave_out(gone, world.faults);
  for (HostFault& fault : world.host_faults) {
    fault.is_left_out = gone.contains(fault.name()) || fault.host >= world.hosts;
    set(fault.at_ns, edits.at_ns, fault.name());
    set(fault.for_ns, edits.for_ns, fault.name());
  }
}

void apply(const Edits& edits, UserWorld& world) {
  world.choices = edits.choices;
  if (edits.is_empty()) return;
  const std::set<std::string> gone = left_out(edits, world.lines());
  leave_out(gone, world.wires);
  for (HostFault& fault : world.host_faults) {
    fault.is_left_out = gone.contains(fault.name());
    set(fault.at_ns, edits.at_ns, fault.name());
    set(fault.for_ns, edits.for_ns, fault.name());
  }
  edit_device_faults(edits, world.cluster, world.device_faults);
}

void apply(const Edits& edits, ProcessFaults& faults) {
  if (edits.is_empty()) return;
  const std::set<std::string> gone = left_out(edits, faults.lines());
  leave_out(gone, faults.wires.faults);
  const auto reaches = [&edits](const cluster::RoleName& name) {
    switch (name.role) {
      case actor::Role::kHost:
      case actor::Role::kIsland:
        return !edits.islands || name.index < *edits.islands;
      case actor::Role::kAnnex:
        return !edits.islands || actor::island_of_annex(name.index) < *edits.islands;
      case actor::Role::kClient:
        return !edits.clients || name.index <= *edits.clients;
      default:
        return true;
    }
  };
  std::erase_if(faults.faults, [&](const ProcessFault& fault) {
    const bool is_there = reaches(fault.target) &&
                          (fault.kind != ProcessFault::Kind::kCutPair || reaches(fault.other));
    return !is_there || gone.contains(fault.name());
  });
  for (ProcessFault& fault : faults.faults) {
    set(fault.at_ns, edits.at_ns, fault.name());
    set(fault.duration_ns, edits.for_ns, fault.name());
  }
  std::stable_sort(faults.faults.begin(), faults.faults.end(),
                   [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
  faults.set_end();
}

void apply(const Edits& edits, FaultPoints& points) {
  if (edits.is_empty()) return;
  for (const std::string& name : left_out(edits, points.lines())) points.spare(name);
}

}  // namespace seaway::sim
