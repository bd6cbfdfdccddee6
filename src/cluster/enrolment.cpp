// A table of lives.

#include "cluster/enrolment.hpp"

#include <algorithm>

#include "cluster/shape.hpp"
#include "seaway/app/type_table.hpp"

namespace seaway::cluster {

using actor::Role;
using transport::ProcessId;

namespace {

constexpr std::size_t kAddressBytesMax = 256;

}  // namespace

Result<Enrolment::Place> Enrolment::enrol(const RoleName& name) {
  RoleName wanted = name;
  if (name.role == Role::kController) {
    return invalid_argument("a cluster has one controller, which is here; join it as a host");
  }
  if (name.role == Role::kClient) {
    if (clients_ >= kClientsAtOnce) forget_absent_client();
    if (clients_ >= kClientsAtOnce) {
      return resource_exhausted("the cluster has " + std::to_string(clients_) +
                                " clients, which is the limit; end one, or wait until one ends");
    }
    if (last_client_ >= kClientsMax) {
      return resource_exhausted("the controller has had " + std::to_string(last_client_) +
                                " clients, which is the limit of one life; restart it");
    }
    wanted.index = last_client_ + 1;
  } else if (Status status = check_place(name); !status.ok()) {
    return status;
  }
  const ProcessId process = process_of(wanted, shape_);
  Place& place = places_[process];
  if (place.is_there) {
    return resource_exhausted(to_string(wanted) + " is there already, in its life " +
                              std::to_string(place.life) +
                              "; end that process first, or join as another island");
  }
  place.life = std::max(place.life, lives_before_);
  if (const std::uint32_t lives = place.life - lives_before_; lives >= kLivesMax) {
    return resource_exhausted(to_string(wanted) + " has begun " + std::to_string(lives) +
                              " lives, which is the limit; restart the controller");
  }
  if (wanted.role == Role::kClient) {
    ++last_client_;
    ++clients_;
  }
  place.process = process;
  place.name = wanted;
  ++place.life;
  place.address.clear();
  return place;
}

/// Of a scheduler, a host or an annex: whether there is to be one.
Status Enrolment::check_place(const RoleName& name) const {
  const bool is_annex = name.role == Role::kAnnex;
  const IslandId island = is_annex ? actor::island_of_annex(name.index) : name.index;
  if (island >= shape_.islands) {
    return invalid_argument("there is no island " + std::to_string(island) +
                            "; the cluster has islands 0 to " + std::to_string(shape_.islands - 1));
  }
  if (!is_annex) return {};
  const std::uint32_t host = actor::host_of_annex(name.index);
  if (host >= 1 && host < shape_.hosts) return {};
  const std::string islands_host =
      "; an island of this cluster has " + std::to_string(shape_.hosts) +
      (shape_.hosts == 1 ? " host, number 0" : " hosts, 0 to " + std::to_string(shape_.hosts - 1));
  if (host >= 1) {
    return invalid_argument("there is no " + to_string(name) + islands_host +
                            "; give the controller more with hosts");
  }
  return invalid_argument("host 0 of island " + std::to_string(island) + " is no annex" +
                          islands_host + "; join as the island's host");
}

/// Whoever has asked for a number first and has not come with it since: it may never have meant to.
void Enrolment::forget_absent_client() {
  const auto absent = std::find_if(places_.begin(), places_.end(), [](const auto& entry) {
    return entry.second.name.role == Role::kClient && !entry.second.is_there;
  });
  if (absent == places_.end()) return;
  --clients_;
  places_.erase(absent);
}

Status Enrolment::announce(ProcessId process, std::uint32_t life, const std::string& address,
                           std::vector<NativeName> natives) {
  const auto found = places_.find(process);
  if (found == places_.end() || found->second.life != life) {
    return invalid_argument("process " + std::to_string(process) + " is not in its life " +
                            std::to_string(life) + "; enrol first");
  }
  if (address.empty() || address.size() > kAddressBytesMax) {
    return invalid_argument("an address has 1 to " + std::to_string(kAddressBytesMax) +
                            " bytes; this one has " + std::to_string(address.size()));
  }
  if (natives.size() > kNativesMax) {
    return resource_exhausted(to_string(found->second.name) + " has registered " +
                              std::to_string(natives.size()) + " native functions; the limit is " +
                              std::to_string(kNativesMax));
  }
  found->second.address = address;
  found->second.natives = std::move(natives);
  return {};
}

Status Enrolment::check_native(const NativeName& native) const {
  for (const auto& [process, place] : places_) {
    const bool has_program = place.name.role == Role::kHost || place.name.role == Role::kAnnex;
    if (!has_program || place.address.empty()) continue;
    const auto known =
        std::find_if(place.natives.begin(), place.natives.end(),
                     [&native](const NativeName& other) { return other.name == native.name; });
    if (known == place.natives.end()) {
      return not_found("native function " + native.name + ": the program of " +
                       to_string(place.name) + " knows " + std::to_string(place.natives.size()) +
                       " native functions, and not this one; code does not travel: register it "
                       "with Registry::native() in a host program of your own (host_main)");
    }
    if (known->fingerprint != native.fingerprint) {
      return invalid_argument("native function " + native.name + " is not the same here and in " +
                              to_string(place.name) + ": its fingerprint is " +
                              internal::fingerprint_text(native.fingerprint) + " here and " +
                              internal::fingerprint_text(known->fingerprint) +
                              " there; give both the same types, scratch_bytes and flags, and "
                              "start the host again");
    }
  }
  return {};
}

Result<std::string> Enrolment::find(ProcessId process) const {
  const auto found = places_.find(process);
  if (found == places_.end() || found->second.address.empty()) {
    return Status(StatusCode::kNotFound,
                  "process " + std::to_string(process) + " has not said where it listens");
  }
  return found->second.address;
}

Result<Enrolment::Place> Enrolment::admit(ProcessId process) const {
  const auto found = places_.find(process);
  if (found == places_.end()) {
    return Status(StatusCode::kPermissionDenied,
                  "process " + std::to_string(process) + " is not enrolled here; enrol first");
  }
  return found->second;
}

void Enrolment::came(ProcessId process) {
  const auto found = places_.find(process);
  if (found != places_.end()) found->second.is_there = true;
}

void Enrolment::went(ProcessId process) {
  const auto found = places_.find(process);
  if (found == places_.end()) return;
  found->second.is_there = false;
  if (found->second.name.role != Role::kClient) return;
  --clients_;
  places_.erase(found);
}

std::vector<Enrolment::Place> Enrolment::places() const {
  std::vector<Place> places;
  for (const auto& [process, place] : places_) places.push_back(place);
  return places;
}

}  // namespace seaway::cluster
