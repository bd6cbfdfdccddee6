// What processes say and do, onto tracks.

#include "sim/process_trace.hpp"

#include "sim/narrative.hpp"

namespace seaway::sim {
namespace {

using actor::Role;
using cluster::RoleName;
using events::Event;
using events::EventKind;

constexpr WorldTrace::Machine kController = 1;
constexpr WorldTrace::Machine kIslands = 2;     // And what follows.
constexpr WorldTrace::Machine kClients = 1000;  // The same.

WorldTrace::Machine machine_of(const RoleName& name) {
  switch (name.role) {
    case Role::kController:
      return kController;
    case Role::kClient:
      return kClients + name.index;
    case Role::kAnnex:
      return kIslands + actor::island_of_annex(name.index);
    default:
      return kIslands + name.index;
  }
}

std::string machine_name(const RoleName& name) {
  switch (name.role) {
    case Role::kController:
      return "controller";
    case Role::kClient:
      return "client " + std::to_string(name.index);
    case Role::kAnnex:
      return "island " + std::to_string(actor::island_of_annex(name.index));
    default:
      return "island " + std::to_string(name.index);
  }
}

std::string track_name(const RoleName& name) {
  switch (name.role) {
    case Role::kController:
      return "controller";
    case Role::kClient:
      return "client";
    case Role::kIsland:
      return "scheduler";
    case Role::kAnnex:
      return "host " + std::to_string(actor::host_of_annex(name.index));
    default:
      return "host";
  }
}

}  // namespace

WorldTrace::Track ProcessTrace::track_of(const RoleName& name) {
  trace_.name_machine(machine_of(name), machine_name(name));
  return trace_.track(machine_of(name), track_name(name));
}

void ProcessTrace::started(const RoleName& name, std::uint32_t life) {
  lives_[name] = {life, now_ns_()};
}

void ProcessTrace::ended(const RoleName& name, std::uint32_t) { end_life(name); }

void ProcessTrace::end_life(const RoleName& name) {
  const auto found = lives_.find(name);
  if (found == lives_.end()) return;
  const auto [life, begin_ns] = found->second;
  const WorldTrace::Track track = track_of(name);
  trace_.add_span(trace_.track(track.machine, track_name(name) + "'s process"),
                  "life " + std::to_string(life), begin_ns, now_ns_());
  lives_.erase(found);
}

void ProcessTrace::began(const ProcessFault& fault) {
  track_of(fault.target);
  const std::uint64_t at_ns = now_ns_();
  trace_.add_fault(machine_of(fault.target),
                   std::string(to_string(fault.kind)) + " " + cluster::to_string(fault.target),
                   at_ns, at_ns + fault.duration_ns);
}

void ProcessTrace::record(const RoleName& teller, const Event& event) {
  const WorldTrace::Track own = track_of(teller);
  const auto device = [&] {
    return trace_.track(own.machine, "device group " + std::to_string(event.place));
  };
  const auto gang = std::tuple(event.island, event.stamp, event.position);
  switch (event.kind) {
    case EventKind::kGangStart:
      gangs_[gang] = now_ns_();
      return;
    case EventKind::kGangEnd: {
      const auto begun = gangs_.find(gang);
      if (begun == gangs_.end()) return;
      trace_.add_span(
          device(),
          "gang " + std::to_string(event.position) + " of stamp " + std::to_string(event.stamp),
          begun->second, now_ns_(), tell(event));
      gangs_.erase(begun);
      return;
    }
    case EventKind::kRoom:
      return;
    default:
      trace_.add_mark(own, std::string(events::to_string(event.kind)), now_ns_(), tell(event));
  }
}

void ProcessTrace::wrote(const RoleName& from, const RoleName& to, std::uint64_t bytes,
                         std::uint64_t arrives_ns) {
  trace_.add_message(track_of(from), now_ns_(), track_of(to), arrives_ns, bytes);
}

std::string ProcessTrace::to_json() {
  while (!lives_.empty()) end_life(lives_.begin()->first);
  return trace_.to_json();
}

}  // namespace seaway::sim
