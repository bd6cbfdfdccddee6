// What tests do less of under the sanitizers, where all takes ten to fifty times as long.

#pragma once

#include <cstdint>

namespace seaway {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

/// A tenth of `count` under the sanitizers: for worlds, seeds and sizes of which a few are enough
/// to find what sanitizers find.
constexpr std::uint64_t fewer_if_sanitized(std::uint64_t count) {
  return kIsSanitized ? (count + 9) / 10 : count;
}

}  // namespace seaway
