// The history checker: whether what clients saw is what Seaway promises its users. It looks at
// nothing else: neither at events nor into the cluster.

#pragma once

#include <vector>

#include "sim/history.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// At most one violation of each promise, the first by the order of the calls. Pure.
///
/// H-P1     each call of a client that lived has exactly one outcome, in time, which stays so
/// H-P2     equal programs on equal inputs give equal values; what was put is what is fetched
/// H-P3     an error has a cause: the caller's own wish, a failed input, a fault before it
/// H-P4     effects happen once for each shard of a run that is good, and at most once of another
/// H-codes  errors are those of the closed set
/// H-freed  what was donated or deleted is kInvalidArgument, at once
/// H-final  what a failed run should have made has no value for whoever asks later
/// H-AP1 .. H-AP9  the promises to users of actors (src/app/README.md), as callers see them
/// H-name   a name has one living mesh, and is found while that lives
/// H-stream answers of one member come in their order, and none is left out
std::vector<Violation> check_history(const History& history, const TesterDeeds& deeds);

/// The part about actors, for `check_history`.
void check_actor_history(const History& history, const TesterDeeds& deeds,
                         std::vector<Violation>& violations);

}  // namespace seaway::sim
