// WorldKind: the kinds of worlds that a seed can stand for.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seaway::sim {

enum class WorldKind : std::uint8_t {
  kPrograms,   // Clients run programs; devices fail.
  kApps,       // Users' actors; their hosts die, connections break.
  kProcesses,  // Clients run programs; roles are processes that fail.
  kMixed,      // Each seed stands for a world of one of the others, which it draws.
  kUser,       // What a user's program explores.
};

/// "programs".
constexpr std::string_view to_string(WorldKind kind) {
  constexpr std::string_view kNames[] = {"programs", "apps", "processes", "mixed", "user"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// What `seaway chaos` calls it: "--apps"; empty for programs.
constexpr std::string_view flag_of(WorldKind kind) {
  constexpr std::string_view kFlags[] = {"", "--apps", "--processes", "--mixed", ""};
  return kFlags[static_cast<std::size_t>(kind)];
}

}  // namespace seaway::sim
