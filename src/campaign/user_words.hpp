// UserWords: what `seaway chaos user` asks of a user's program, on its way there.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "seaway/status.hpp"
#include "sim/edits.hpp"

namespace seaway::campaign {

/// The variable of the environment in which they are.
constexpr const char* kUserWordsVariable = "SEAWAY_CHAOS";

/// A value.
struct UserWords {
  std::string command;    // What the user has typed, without seeds: for replay lines.
  std::string arguments;  // Those of the program, for the count of --range.
  std::string test;       // The exploration that is meant; empty: the first one.
  bool lists = false;     // Names of all explorations, and nothing else.
  std::optional<std::uint64_t> first_seed, last_seed;  // Nothing: those of the exploration.
  std::uint32_t jobs = 1;
  bool json = false, shows_progress = false;
  double time_budget_s = 0;
  std::uint64_t failures_max = 1;
  sim::Edits edits;
  std::string replay;  // A seed or a path; empty: none.
  std::uint64_t until_event = 0;
  bool shrinks = false;
  double shrink_s = 60;
  std::string repro_directory = ".";
  std::string trace_path;
  std::string range_path;  // Empty: nothing is counted.
  /// A file that is open: gets a line "+NAME" of the exploration that is meant, and "-NAME" of each
  /// other one that the program comes by. Negative: none is.
  int names = -1;
};

std::string to_json(const UserWords& words);
/// Errors: kInvalidArgument.
Result<UserWords> parse_user_words(const std::string& json);

/// Reads "7"; nothing when it is anything else.
std::optional<std::uint64_t> parse_seed(const std::string& text);

}  // namespace seaway::campaign
