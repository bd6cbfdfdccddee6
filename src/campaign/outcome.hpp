// Outcome: what one run of one world came to, with what finding its cause needs.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/seed_run.hpp"
#include "sim/shrink.hpp"

namespace seaway::campaign {

/// What failures are grouped by: two of one kind have most likely one cause. A value.
struct FailureKind {
  int exit_code = 0;      // One of sim::kChaos..
  std::string invariant;  // "I3"; "crash" of a crash.
  std::string place;      // Of the check that failed, "loss_checker.cpp:61"; or the signal.

  /// "I3 at loss_checker.cpp:61".
  std::string to_string() const { return invariant + " at " + place; }
  friend auto operator<=>(const FailureKind&, const FailureKind&) = default;
};

/// A value.
struct Outcome {
  std::uint64_t hash = 0, steps = 0, virtual_ns = 0, events = 0;
  sim::FailedWorld world;
  std::optional<FailureKind> failure;
  std::string text;  // For people: the story; of a crash what the process said last.
};

Outcome outcome_of(const sim::SeedReport& report);

/// One line without line ends in it, and back. A line that is none is an error of its own.
std::string to_record(const Outcome& outcome);
std::optional<Outcome> parse_outcome(const std::string& record);

}  // namespace seaway::campaign
