// What Seaway is held against: the same kernels and barriers with no controller at all.

#pragma once

#include <cstdint>
#include <memory>

#include "function/executable.hpp"

namespace seaway::benchmarks {

/// Nanoseconds of one chain of `nodes` gangs on `devices` devices, each gang the all-reduce and
/// addition that the dispatch benchmark runs: one loop over the devices.
double multi_controller_ns(std::uint32_t devices, std::uint32_t nodes, std::uint32_t chains);

/// Steps on `devices` devices: a kernel of `kernel_ns` on each of them, then the all-reduce and
/// addition. One thread for each device with barriers, or one loop over all devices: whichever is
/// faster here, by a try of each.
class MultiController {
 public:
  MultiController(std::uint32_t devices, std::uint64_t kernel_ns);
  /// Nanoseconds of one of `steps` steps.
  double step_ns(std::uint32_t steps) const;

 private:
  const std::shared_ptr<const function::Executable> step_;
  const std::uint32_t devices_;
  const std::uint64_t kernel_ns_;
  bool has_threads_ = false;
};

}  // namespace seaway::benchmarks
