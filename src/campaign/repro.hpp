// Repro: one failure, with all that another machine needs to have it again.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "campaign/outcome.hpp"
#include "seaway/status.hpp"
#include "sim/edits.hpp"

namespace seaway::campaign {

/// A value, and a file of JSON.
struct Repro {
  std::string world;   // Which worlds: "programs", "apps", "processes", or the name of a user's.
  std::string mutant;  // The planted bug that was switched on; or empty.
  std::uint64_t seed = 0;
  sim::Edits edits;
  FailureKind failure;
  std::uint64_t hash = 0;           // Of the run that failed; 0: it crashed.
  std::string build, commit;        // Of the program that wrote it.
  std::vector<std::string> faults;  // What was left of them, in words.
  std::vector<std::string> story;   // The same for its violations and last events.

  /// "repro-3fa21c08.json": the same for the same failure of the same world.
  std::string file_name() const;
};

/// For people, too: one field a line.
std::string to_json(const Repro& repro);
/// Errors: kInvalidArgument with what is wrong.
Result<Repro> parse_repro(const std::string& json);

}  // namespace seaway::campaign
