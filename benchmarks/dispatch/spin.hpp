// A kernel that takes a given time, for asking how long a kernel must be to hide its dispatch.

#pragma once

#include <cstdint>

#include "benchmarks/support/measure.hpp"

namespace seaway::benchmarks {

/// Keeps this thread busy for `duration_ns`; 0 is nothing at all.
inline void spin(std::uint64_t duration_ns) {
  if (duration_ns == 0) return;
  const std::uint64_t end_ns = now_ns() + duration_ns;
  while (now_ns() < end_ns) {
  }
}

}  // namespace seaway::benchmarks
