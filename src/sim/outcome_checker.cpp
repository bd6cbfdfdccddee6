// Outcomes, counted from the controller's events.

#include "sim/outcome_checker.hpp"

#include <string>

namespace seaway::sim {

using events::Event;
using events::EventKind;

void OutcomeChecker::record(const Event& event) {
  if (event.kind == EventKind::kSubmit) {
    ++seen_.runs;
    if (!outcomes_.emplace(event.object, 0).second) {
      verdict_.report(Breach::kCorrectness, "I2",
                      "run " + std::to_string(event.object) + " was submitted twice");
    }
  } else if (event.kind == EventKind::kGangNoop) {
    broken_.insert(event.object);
  } else if (event.kind == EventKind::kRerun) {
    broken_.erase(event.object);  // All its gangs are over.
    const auto found = outcomes_.find(event.object);
    if (found == outcomes_.end() || found->second > 0) {
      verdict_.report(
          Breach::kCorrectness, "I2",
          "run " + std::to_string(event.object) + " is run again, but waits for no outcome");
    }
  } else if (event.kind == EventKind::kResolve) {
    resolve(event);
  }
}

void OutcomeChecker::resolve(const Event& event) {
  const std::string name = "run " + std::to_string(event.object);
  const auto found = outcomes_.find(event.object);
  if (found == outcomes_.end()) {
    verdict_.report(Breach::kCorrectness, "I2", name + " has an outcome but no submission");
    return;
  }
  if (++found->second > 1) {
    verdict_.report(Breach::kCorrectness, "I2",
                    name + " has " + std::to_string(found->second) + " outcomes");
    return;
  }
  if (event.code == StatusCode::kOk) {
    ++seen_.ok;
    if (broken_.contains(event.object)) {
      verdict_.report(Breach::kCorrectness, "I5",
                      name + " succeeded, but a gang of it did nothing");
    }
  } else if (event.code == StatusCode::kCancelled) {
    ++seen_.cancelled;
  } else {
    ++seen_.failed;
  }
}

void OutcomeChecker::finish(const Counts& counted) {
  for (const auto& [run, outcomes] : outcomes_) {
    if (outcomes == 0) {
      verdict_.report(Breach::kLiveness, "I2",
                      "run " + std::to_string(run) + " never had an outcome");
    }
  }
  expect_equal("submitted", seen_.runs, counted.runs);
  expect_equal("ok", seen_.ok, counted.ok);
  expect_equal("failed", seen_.failed, counted.failed);
  expect_equal("cancelled", seen_.cancelled, counted.cancelled);
}

void OutcomeChecker::expect_equal(const char* what, std::uint64_t happened, std::uint64_t counted) {
  if (happened == counted) return;
  verdict_.report(Breach::kCorrectness, "I20",
                  "by the controller's events " + std::to_string(happened) + " runs were " + what +
                      ", by the clients' count " + std::to_string(counted));
}

}  // namespace seaway::sim
