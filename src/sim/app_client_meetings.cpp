// What clients of actors do with other clients' actors: they introduce, watch, look up and stop.

#include <string>
#include <utility>

#include "sim/app_client.hpp"

namespace seaway::sim {

void AppClient::meet_others() {
  switch (random_.below(6)) {
    case 0:
    case 1:
      return introduce();
    case 2:
    case 3:
      return watch();
    case 4:
      return look_up();
    default:
      return stop_some();
  }
}

/// Shows one of whatever client's actors to one of its own, which asks it.
void AppClient::introduce() {
  if (roomy_.empty()) return;
  const ActorMesh<Roomy>& mesh = roomy_[random_.below(roomy_.size())];
  std::uint32_t own_level = kTopLevel;
  std::vector<ActorMesh<Roomy>> others;
  for (const auto& [level, other] : stage_.meshes) {
    if (other.at(0).name().mesh == mesh.at(0).name().mesh) own_level = level;
    // Levels rise from one to the next, and nobody waits in a ring.
    if (level > own_level) others.push_back(other);
  }
  if (others.empty()) return;
  const ActorMesh<Roomy>& other = others[random_.below(others.size())];
  const ActorRef<Roomy> shown = other.at(random_.below(other.size()));
  const std::uint64_t number = stage_.ask(asked<Roomy>("meet"));
  const ActorRef<Roomy> target = mesh.at(random_.below(mesh.size()));
  keep(number, target.name(), target.call(&Roomy::meet, [&](Meet::Builder m, Attached& beside) {
    m.setNumber(number);
    m.setBeside(beside.add(shown));
  }));
}

/// It watches one mesh, or one member of it, or has one of its actors watch one.
void AppClient::watch() {
  if (stage_.meshes.empty()) return;
  const ActorMesh<Roomy>& other = stage_.meshes[random_.below(stage_.meshes.size())].second;
  if (random_.chance(50) || roomy_.empty()) {
    const std::uint64_t watched = other.at(0).name().mesh;
    if (!watched_.insert(watched).second) return;
    const auto hear = [&stage = stage_, own = number_](const Death& death) {
      stage.hear({own, {}, 0}, death);
    };
    const std::uint32_t one = static_cast<std::uint32_t>(random_.below(other.size() + 1));
    if (one == other.size()) {
      stage_.ledger.watch({number_, {}, 0}, watched);
      return other.on_death(inline_executor(), hear);
    }
    stage_.ledger.watch({number_, {}, 0}, watched, one);
    return other.at(one).on_death(inline_executor(), hear);
  }
  const ActorMesh<Roomy>& mesh = roomy_[random_.below(roomy_.size())];
  const std::uint64_t number = stage_.ask(asked<Roomy>("watch"));
  const ActorRef<Roomy> target = mesh.at(random_.below(mesh.size()));
  keep(number, target.name(), target.call(&Roomy::watch, [&](Watch::Builder m, Attached& beside) {
    m.setNumber(number);
    m.setBeside(beside.add(other));
  }));
}

/// Whoever has the name, if anybody has.
void AppClient::look_up() {
  const std::string name = "mesh" + std::to_string(random_.below(4));
  const CallId call =
      scribe_.begin(CallKind::kFind, {}, {StatusCode::kNotFound, StatusCode::kInvalidArgument});
  stage_.history.calls[call].name = name;
  const auto found = client_.find<Roomy>(name);
  if (found.ok()) stage_.history.calls[call].mesh = found->at(0).name().mesh;
  stage_.history.end(call, found.status().code());
  if (!found.ok()) {
    const bool is_known = found.status().code() == StatusCode::kNotFound ||
                          found.status().code() == StatusCode::kInvalidArgument;
    return is_known ? void() : expect_excused("find", found.status());
  }
  // Its owner may be about to go.
  call_one(*found, &Roomy::plain, "found");
}

/// While others still ask; the outcome is looked at in the end.
void AppClient::stop_some() {
  if (roomy_.empty() || !world_.has_crashes) return;
  stage_.note_death();
  const ActorMesh<Roomy>& mesh = roomy_[random_.below(roomy_.size())];
  const auto deadline = std::chrono::nanoseconds(random_.below(20'000'000));
  stops_.push_back(random_.chance(50) ? mesh.stop(deadline)
                                      : mesh.at(random_.below(mesh.size())).stop(deadline));
  write_stop();
}

}  // namespace seaway::sim
