// Demos with a planted mistake: an exploration finds it, shrinks it, and finds nothing in the fix.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "demos/demos.hpp"
#include "seaway/app/explore.hpp"

namespace seaway::demos {

/// Explores one of them, with the mistake or with its fix.
using ExploreMistake =
    std::function<sim::ExploreReport(bool is_fixed, const sim::ExploreOptions& options)>;

sim::ExploreReport explore_counted_twice(bool is_fixed, const sim::ExploreOptions& options);
sim::ExploreReport explore_lost_write(bool is_fixed, const sim::ExploreOptions& options);
sim::ExploreReport explore_transfer(bool is_fixed, const sim::ExploreOptions& options);
sim::ExploreReport explore_skipped_batch(bool is_fixed, const sim::ExploreOptions& options);

/// Seeds within which a mistake is found.
constexpr std::uint64_t kMistakeSeeds = 2'000;

/// All that a command of such a demo does: prints the shrunk story of the mistake, and that the fix
/// is clean over as many seeds and more; with `options.fixed` that alone. Gives the exit code.
int run_mistake(const std::string& name, const DemoOptions& options, const ExploreMistake& explore);

}  // namespace seaway::demos
