// run_user_campaign: what `seaway chaos user` has a user's program do.

#pragma once

#include <string>

#include "base/clock.hpp"
#include "campaign/repro.hpp"
#include "campaign/user_words.hpp"
#include "sim/chaos.hpp"

namespace seaway::campaign {

/// Runs the worlds of `run` as the words say, and prints as `seaway chaos` does. `first` and
/// `last`: the seeds where the words name none. Returns an exit code.
int run_user_campaign(const UserWords& words, const std::string& name, const sim::RunSeed& run,
                      std::uint64_t first, std::uint64_t last, const Clock& clock);

/// Whether the run is the one of the file, with words about it.
bool is_same(const Repro& repro, const sim::SeedLine& line, std::string& words);

}  // namespace seaway::campaign
