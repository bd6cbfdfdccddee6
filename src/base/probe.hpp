// Probes: places in product code that simulated worlds should come by, counted.

#pragma once

#include <cstdint>

namespace seaway {

/// One place, and how often it was reached in this process. All of them lie in one section of the
/// program, one behind the other: there is no list of them to keep.
struct alignas(32) Probe {
  const char* name;
  const char* file;
  std::uint32_t line;
  std::uint32_t count;
};
static_assert(sizeof(Probe) == 32);

}  // namespace seaway

/// SEAWAY_PROBE("a frame came twice"): a decision that is rare, or a way back from a failure. Names
/// are unique. Nothing at all unless the file is compiled with -DSEAWAY_FAULT_POINTS=1, as
/// meson.build does a second time with those of `fault_point_sources`. In functions of .cpp files
/// that are neither templates nor inline. SEAWAY_PROBE_IF counts only when its condition holds, and
/// evaluates that, which has no effects, only where there are probes. One thread counts.
#if defined(SEAWAY_FAULT_POINTS) && SEAWAY_FAULT_POINTS
#define SEAWAY_PROBE(probe_name)                                                      \
  do {                                                                                \
    [[gnu::section("seaway_probes"), gnu::used]] static ::seaway::Probe seaway_probe{ \
        probe_name, __FILE__, __LINE__, 0};                                           \
    ++seaway_probe.count;                                                             \
  } while (false)
#define SEAWAY_PROBE_IF(condition, probe_name) \
  do {                                         \
    if (condition) SEAWAY_PROBE(probe_name);   \
  } while (false)
#else
#define SEAWAY_PROBE(probe_name) static_cast<void>(0)
#define SEAWAY_PROBE_IF(condition, probe_name) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
