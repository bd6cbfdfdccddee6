// Island: a scheduler's core by hand, and what it does in words.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "island/scheduler_core.hpp"

namespace seaway::island {

/// A core with one line per action since the last look: "admit 1", "place 1 0-3".
class Island {
  using Kind = Action::Kind;

 public:
  explicit Island(CoreOptions options = {}) : core(with_defaults(options)) {}

  Status launch(Stamp stamp, program::PartPlanPtr plan, std::vector<ArrayId> args = {},
                std::vector<ArrayId> outputs = {}, TenantId tenant = 1) {
    return core.launch({.stamp = stamp,
                        .run = stamp,
                        .tenant = tenant,
                        .plan = std::move(plan),
                        .args = std::move(args),
                        .outputs = std::move(outputs)});
  }

  std::string seen() {
    std::string out;
    for (const Action& action : core.actions()) {
      if (!out.empty()) out += ", ";
      const std::string stamp = std::to_string(action.stamp);
      const std::string array = std::to_string(action.array);
      switch (action.kind) {
        case Kind::kAdmit:
          out += "admit " + stamp;
          break;
        case Kind::kPlace:
          out += "place " + stamp + " " + std::to_string(action.first) + "-" +
                 std::to_string(action.last);
          break;
        case Kind::kFree:
          out += "free " + array;
          break;
        case Kind::kSpill:
          out += "spill " + array;
          break;
        case Kind::kCancel:
          out += "cancel " + stamp;
          break;
        case Kind::kMoveSends:
          out += "move " + stamp;
          break;
        case Kind::kExists:
          out += "exists " + stamp + "." + std::to_string(action.edge);
          break;
        case Kind::kFinished:
          out += "finished " + stamp;
          break;
      }
    }
    core.actions().clear();
    return out;
  }

  static CoreOptions with_defaults(CoreOptions options) {
    if (options.memory_bytes == 0) options.memory_bytes = 100;
    if (options.spill_bytes == 0) options.spill_bytes = 1000;
    return options;
  }

  SchedulerCore core;
};

}  // namespace seaway::island
