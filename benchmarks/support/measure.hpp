// What several benchmarks measure with: the clock, the middle of samples, and where threads run.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

/// Monotonic time in nanoseconds.
std::uint64_t now_ns();

/// The sample below which `share` (0 to 1) of all samples lie; NaN when there are none.
double quantile(std::vector<double> samples, double share);
inline double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

/// Resident memory of this process in bytes; 0 when the system does not say.
std::uint64_t resident_bytes();

/// The same of another process, now and at most so far.
struct Resident {
  std::uint64_t now_bytes = 0, most_bytes = 0;
};
Resident resident_of(pid_t process);

/// While it lives, this thread and all threads that it starts run on one core only.
class PinnedToOneCore {
 public:
  PinnedToOneCore();
  ~PinnedToOneCore();
  PinnedToOneCore(const PinnedToOneCore&) = delete;
  PinnedToOneCore& operator=(const PinnedToOneCore&) = delete;
  /// False when the system refused: then nothing is pinned.
  bool pinned() const { return !before_.empty(); }

 private:
  std::vector<unsigned char> before_;  // The set of cores to return to.
};

/// The cores that this thread may run on.
std::vector<int> cores();
/// All threads that `process` has now stay on `core`. False when the system refused.
bool stay_on(pid_t process, int core);

/// `params` with `bound`, the figure that the value is held to, appended.
BenchReport::Params with_bound(BenchReport::Params params, const std::string& bound);

}  // namespace seaway::benchmarks
