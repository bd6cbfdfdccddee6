// System calls of this process and of those that it forks.

#pragma once

#include <sys/types.h>

#include <cstdint>

namespace seaway::benchmarks {

struct SystemCalls {
  std::uint64_t count = 0;          // That read, write or wait for that; of all threads.
  std::uint64_t written_bytes = 0;  // To sockets.
};

/// Since start_counting(), by the process that called it and by all that it has forked since then.
/// Counted in programs that link system_calls.cpp, which stands in front of functions of the C
/// library, for libraries as well. Locks and conditions are not among them: wake_ups() has those
/// for which a thread slept.
void start_counting();
SystemCalls system_calls();

/// How often a thread of `process` has gone to sleep so far: so often it was woken up.
std::uint64_t wake_ups(pid_t process);

}  // namespace seaway::benchmarks
