// `seaway chaos --shrink`, and repro files: written, and run again.

#pragma once

#include <string>

#include "base/clock.hpp"
#include "campaign/repro.hpp"
#include "sim/chaos.hpp"

namespace seaway::tools {

struct ShrinkOptions {
  double seconds = 60;          // It ends behind the try that is running then.
  std::string directory = ".";  // Where the repro file goes.
};

/// Shrinks what options.first_seed fails with, beginning with options.edits, and writes a repro
/// file. `mutant`: the planted bug that is switched on, for the file. Prints what it does to
/// standard output, the narrative of the shrunk failure last. Returns the exit code of the failure;
/// kChaosClean when there is none.
int shrink_seed(const sim::ChaosOptions& options, const std::string& mutant,
                const ShrinkOptions& wanted, const Clock& clock);

/// Reads the file, and says on standard error where another build wrote it. Errors:
/// kInvalidArgument, with the path.
Result<campaign::Repro> read_repro(const std::string& path);

/// `options` with the world of the file: kind, seed, edits. Errors: kInvalidArgument for the world
/// of a user's program.
Status take_world(const campaign::Repro& repro, sim::ChaosOptions& options);

/// Whether what `line` says is the failure of the file; prints the difference if not.
bool is_same_failure(const campaign::Repro& repro, const sim::SeedLine& line);

}  // namespace seaway::tools
