// Outcomes, counted from the controller's events.

#include "sim/outcome_checker.hpp"

#include <algorithm>
#include <string>

namespace seaway::sim {

using events::Event;
using events::EventKind;

void OutcomeChecker::record(const Event& event) {
  if (event.kind == EventKind::kSubmit) {
    ++seen_[client_of(event.object)].runs;
    if (!outcomes_.emplace(event.object, 0).second) {
      verdict_.report(Breach::kCorrectness, "I2",
                      "run " + std::to_string(event.object) + " was submitted twice");
    }
  } else if (event.kind == EventKind::kGangNoop) {
    // A part that was finished in one view may be restored, and end, in the next one.
    const auto given_up = given_up_.find(event.object);
    if (given_up == given_up_.end() || event.stamp > given_up->second) broken_.insert(event.object);
  } else if (event.kind == EventKind::kRerun) {
    broken_.erase(event.object);
    given_up_[event.object] = event.value;
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
  Counts& seen = seen_[client_of(event.object)];
  if (event.code == StatusCode::kOk) {
    ++seen.ok;
    if (broken_.contains(event.object)) {
      verdict_.report(Breach::kCorrectness, "I5",
                      name + " succeeded, but a gang of it did nothing");
    }
  } else if (event.code == StatusCode::kCancelled) {
    ++seen.cancelled;
  } else {
    ++seen.failed;
  }
}

void OutcomeChecker::restart() {
  std::erase_if(outcomes_, [](const auto& entry) { return entry.second == 0; });
}

std::size_t OutcomeChecker::open_count() const {
  return static_cast<std::size_t>(std::count_if(
      outcomes_.begin(), outcomes_.end(), [](const auto& entry) { return entry.second == 0; }));
}

std::size_t OutcomeChecker::open_count(ClientId client) const {
  return static_cast<std::size_t>(
      std::count_if(outcomes_.begin(), outcomes_.end(), [client](const auto& entry) {
        return entry.second == 0 && client_of(entry.first) == client;
      }));
}

void OutcomeChecker::finish_open() {
  for (const auto& [run, outcomes] : outcomes_) {
    if (outcomes == 0) {
      verdict_.report(Breach::kLiveness, "I2",
                      "run " + std::to_string(run) + " never had an outcome");
    }
  }
}

void OutcomeChecker::finish(const Counts& counted) {
  finish_open();
  Counts all;
  for (const auto& [client, seen] : seen_) {
    all.runs += seen.runs;
    all.ok += seen.ok;
    all.failed += seen.failed;
    all.cancelled += seen.cancelled;
  }
  expect_equal(all, counted);
}

void OutcomeChecker::finish(ClientId client, const Counts& counted) {
  expect_equal(seen_[client], counted);
}

void OutcomeChecker::expect_equal(const Counts& happened, const Counts& counted) {
  const auto expect = [this](const char* what, std::uint64_t there, std::uint64_t here) {
    if (there == here) return;
    verdict_.report(Breach::kCorrectness, "I20",
                    "by the controller's events " + std::to_string(there) + " runs were " + what +
                        ", by the clients' count " + std::to_string(here));
  };
  expect("submitted", happened.runs, counted.runs);
  expect("ok", happened.ok, counted.ok);
  expect("failed", happened.failed, counted.failed);
  expect("cancelled", happened.cancelled, counted.cancelled);
}

}  // namespace seaway::sim
