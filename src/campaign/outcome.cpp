// Outcomes between processes: JSON, as stories are text.

#include "campaign/outcome.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/chaos.hpp"

namespace seaway::campaign {
namespace {

using nlohmann::json;

/// Families have static storage.
std::string_view family_named(const std::string& name) {
  for (const sim::FaultFamily& family : sim::fault_families()) {
    if (family.name == name) return family.name;
  }
  return "unknown";
}

}  // namespace

Outcome outcome_of(const sim::SeedReport& report) {
  Outcome outcome{.hash = report.hash,
                  .steps = report.steps,
                  .virtual_ns = report.virtual_ns,
                  .events = report.events,
                  .world = sim::failed_world_of(report),
                  .failure = std::nullopt,
                  .text = ""};
  if (report.breach == sim::Breach::kNone) return outcome;
  const sim::Violation& first = report.violations.front();
  outcome.failure = FailureKind{exit_code_of(report.breach), first.invariant, first.place};
  outcome.text = sim::to_text(report);
  return outcome;
}

std::string to_record(const Outcome& outcome) {
  json faults = json::array();
  for (const sim::FaultLine& fault : outcome.world.faults) {
    faults.push_back(
        json::array({fault.name, fault.family, fault.text, fault.at_ns, fault.for_ns}));
  }
  json all = {{"hash", outcome.hash},
              {"steps", outcome.steps},
              {"virtual_ns", outcome.virtual_ns},
              {"events", outcome.events},
              {"faults", faults},
              {"clients", outcome.world.clients},
              {"actions", outcome.world.actions},
              {"islands", outcome.world.islands},
              {"devices", outcome.world.devices},
              {"world_steps", outcome.world.steps},
              {"text", outcome.text}};
  if (outcome.failure) {
    all["failure"] = json::array(
        {outcome.failure->exit_code, outcome.failure->invariant, outcome.failure->place});
  }
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Outcome> parse_outcome(const std::string& record) {
  const json all = json::parse(record, nullptr, false);
  if (!all.is_object()) return std::nullopt;
  Outcome outcome;
  outcome.hash = all.value("hash", std::uint64_t{0});
  outcome.steps = all.value("steps", std::uint64_t{0});
  outcome.virtual_ns = all.value("virtual_ns", std::uint64_t{0});
  outcome.events = all.value("events", std::uint64_t{0});
  for (const json& fault : all.value("faults", json::array())) {
    outcome.world.faults.push_back({fault[0].get<std::string>(),
                                    family_named(fault[1].get<std::string>()),
                                    fault[2].get<std::string>(), fault[3].get<std::uint64_t>(),
                                    fault[4].get<std::uint64_t>()});
  }
  outcome.world.clients = all.value("clients", 0u);
  outcome.world.actions = all.value("actions", 0u);
  outcome.world.islands = all.value("islands", 0u);
  outcome.world.devices = all.value("devices", 0u);
  outcome.world.steps = all.value("world_steps", std::uint64_t{0});
  outcome.text = all.value("text", "");
  if (all.contains("failure")) {
    const json& failure = all["failure"];
    outcome.failure = FailureKind{failure[0].get<int>(), failure[1].get<std::string>(),
                                  failure[2].get<std::string>()};
  }
  return outcome;
}

}  // namespace seaway::campaign
