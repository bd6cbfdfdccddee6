// The list of all demos: `seaway demo` runs one of them by name.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace seaway {
class Registry;
}

namespace seaway::demos {

/// What the command line says to a demo.
struct DemoOptions {
  std::string trace_path;  // Where to write the trace; empty: where the demo likes.
  bool quick = false;      // Less work, same checks: for tests.
  std::uint64_t size = 0;  // How much work, in the demo's own unit; 0: as it likes.
  std::optional<std::uint64_t> simulation_seed = {};  // In the simulator, where it can be.
  bool fixed = false;                                 // Of a demo with a mistake: only its fix.
  /// Of a cluster that runs: "unix:/run/..", where it can be. Empty: one of its own, embedded.
  std::string cluster = {};
};

/// One demo. It checks its own results: `run` returns 0, or 2 after it has said what is wrong.
struct Demo {
  const char* name;
  const char* summary;
  int (*run)(const DemoOptions& options);
  bool can_be_simulated = false;
  bool can_be_elsewhere = false;  // On a cluster of other processes.
};

/// All demos, in the order in which they are best met.
std::span<const Demo> demos();

/// What a host needs to know to run them: their actors, reductions and native functions.
void register_all(Registry& registry);

}  // namespace seaway::demos
