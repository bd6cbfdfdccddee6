// What Seaway is held against: the same kernels and barriers with no controller at all.

#pragma once

#include <cstdint>

namespace seaway::benchmarks {

/// Nanoseconds of one chain of `nodes` gangs on `devices` devices, each gang the all-reduce and
/// addition that the dispatch benchmark runs: one loop over the devices.
double multi_controller_ns(std::uint32_t devices, std::uint32_t nodes, std::uint32_t chains);

/// Nanoseconds of one step on `devices` devices: a kernel of `kernel_ns` on each of them, then the
/// all-reduce and addition. One thread for each device with barriers, or one loop over all devices:
/// whichever is faster here.
double multi_controller_step_ns(std::uint32_t devices, std::uint64_t kernel_ns,
                                std::uint32_t steps);

}  // namespace seaway::benchmarks
