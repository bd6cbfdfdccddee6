// How long an array takes from rows on one island to columns on another.

#pragma once

#include <string>
#include <vector>

#include "seaway/host_main.hpp"
#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// What hosts have to know for it.
void register_resharding(Registry& registry);

/// Microseconds from the end of the gang on the four devices of island 0 that makes 512 MiB as rows
/// to the begin of the one on those of island 1 that reads them as columns. Each value is looked
/// at. Errors: those of the cluster at `address`.
Result<std::vector<double>> resharding_us(const std::string& address, int runs);
constexpr double kReshardedBytes = 512.0 * 1024 * 1024;

}  // namespace seaway::benchmarks
