// Memory for numbers, aligned to lines of the cache.

#pragma once

#include <cstddef>
#include <memory>

namespace seaway {

inline constexpr std::size_t kLineBytes = 64;

/// `bytes` from the heap at a multiple of kLineBytes; null when there are no more. Given back with
/// release_aligned(). Thread-safe.
///
/// What was given back serves the next of the same size. With the system's own aligned allocation
/// that is not so: up to glibc 2.37 it looks for a block that is larger by the alignment than the
/// one that it made, and a process that copies values of one size grows for ever, as soon as
/// something small lies between any two of them.
std::byte* allocate_aligned(std::size_t bytes);
/// Null: nothing.
void release_aligned(std::byte* base);

/// The same, shared. Throws std::bad_alloc.
std::shared_ptr<std::byte> share_aligned(std::size_t bytes);

}  // namespace seaway
