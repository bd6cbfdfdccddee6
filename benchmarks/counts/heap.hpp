// What a process has asked of its heap.

#pragma once

#include <cstdint>

namespace seaway::benchmarks {

struct HeapCount {
  std::uint64_t allocations = 0;  // Calls of malloc and its kind, by all threads.
  std::uint64_t bytes = 0;        // That they asked for.
  std::int64_t live_bytes = 0;    // That were handed out and not given back, with their padding.
};

/// Since the process began. Counted in programs that link heap.cpp, which replaces malloc.
HeapCount heap_count();

}  // namespace seaway::benchmarks
