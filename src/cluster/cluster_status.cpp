// JSON of what is there, and questions to the controller about what waits.

#include "cluster/cluster_status.hpp"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "events/json_text.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;

constexpr std::uint64_t kMs = 1'000'000;

std::string_view word_of(Role role) {
  switch (role) {
    case Role::kController:
      return "controller";
    case Role::kIsland:
      return "scheduler";
    case Role::kHost:
      return "host";
    case Role::kAnnex:
      return "annex";
    case Role::kClient:
      break;
  }
  return "client";
}

std::string json(const Enrolment::Place& place, const Shape& shape) {
  const Role role = place.name.role;
  const std::uint32_t index = place.name.index;
  const std::string annex = ",\"island\":" + std::to_string(actor::island_of_annex(index)) +
                            ",\"host\":" + std::to_string(actor::host_of_annex(index));
  std::string actors;
  if (role == Role::kHost || role == Role::kAnnex) {
    actors = ",\"actors_host\":" + std::to_string(host_number(place.name, shape));
  }
  return "{\"role\":" + events::quoted(word_of(role)) + ",\"index\":" + std::to_string(index) +
         (role == Role::kAnnex ? annex : std::string()) +
         ",\"life\":" + std::to_string(place.life) +
         ",\"there\":" + (place.is_there ? "true" : "false") +
         ",\"address\":" + events::quoted(place.address) + actors + "}";
}

/// Answers to several questions, in the order of asking.
struct Answers {
  std::vector<std::string> texts;
  std::size_t awaited = 0;
  bool is_asked = false;
  std::function<void(Result<std::string>)> done;

  void end_if_all() {
    if (!is_asked || awaited > 0 || !done) return;
    std::string all;
    for (const std::string& text : texts) all += text;
    std::exchange(done, nullptr)(std::move(all));
  }
};

}  // namespace

std::string status_json(const ClusterFacts& facts, const Enrolment& enrolment, Member& member) {
  const controller::ControllerCore& core = *member.controller();
  std::string text = "{\"address\":" + events::quoted(facts.address) +
                     ",\"spec\":" + events::quoted(facts.spec) +
                     ",\"life\":" + std::to_string(facts.life) +
                     ",\"islands\":" + std::to_string(facts.cluster.islands) +
                     ",\"devices\":" + std::to_string(facts.cluster.devices) +
                     ",\"hosts\":" + std::to_string(facts.cluster.hosts) + ",\"processes\":[";
  bool is_first = true;
  for (const Enrolment::Place& place : enrolment.places()) {
    text += (std::exchange(is_first, false) ? "" : ",") + json(place, Shape(facts.cluster));
  }
  text += "],\"stalled_channels\":[";
  is_first = true;
  for (const Peers::Stalled& channel : member.stalled()) {
    text += (std::exchange(is_first, false) ? "{\"peer\":" : ",{\"peer\":") +
            events::quoted(to_string(channel.peer)) +
            ",\"frames\":" + std::to_string(channel.frames) +
            ",\"bytes\":" + std::to_string(channel.bytes) +
            ",\"for_ms\":" + std::to_string(channel.for_ns / kMs) + "}";
  }
  return text + "],\"each_island\":" + core.islands_text() + ",\"work\":{" + core.figures() + "}}";
}

void explain(Member& member, RunId run, const std::function<void(Result<std::string>)>& done) {
  const auto answers = std::make_shared<Answers>();
  answers->done = done;
  std::vector<RunId> runs = {run};
  // Behind such a channel everything waits.
  for (const Peers::Stalled& channel : member.stalled()) {
    answers->texts.push_back(
        "channel to " + to_string(channel.peer) + " is stalled: " + std::to_string(channel.frames) +
        " frames of " + std::to_string(channel.bytes) + " bytes wait, none was acknowledged for " +
        std::to_string(channel.for_ns / kMs) + " ms\n");
  }
  if (run == 0) {
    answers->texts.push_back(member.controller()->waiting());
    runs = member.controller()->unfinished_runs(kExplainedRunsMax);
  }
  for (const RunId one : runs) {
    const std::size_t place = answers->texts.size();
    answers->texts.emplace_back();
    ++answers->awaited;
    const std::string name = "client " + std::to_string(client_of(one)) + ": ";
    const bool is_asked = member.explain(one, [answers, place, name](const std::string& text) {
      answers->texts[place] = name + text;
      --answers->awaited;
      answers->end_if_all();
    });
    if (is_asked) continue;
    if (auto told = std::exchange(answers->done, nullptr)) {
      told(resource_exhausted("too many such questions are open; ask again later"));
    }
    return;
  }
  answers->is_asked = true;
  answers->end_if_all();
}

}  // namespace seaway::cluster
