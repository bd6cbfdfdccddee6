// The small worlds that `seaway chaos --exhaustive` walks, by name.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/exhaustive/explore.hpp"
#include "sim/exhaustive/host_world.hpp"

namespace seaway::exhaustive {

struct SmallWorld {
  std::string name;
  std::string about;  // What is in it, and which faults.
  std::function<Exploration(Limits limits)> explore;
};

/// All of them, in the order in which a cluster is built: connections first.
std::vector<SmallWorld> small_worlds();

/// Those of each kind.
std::vector<SmallWorld> conversation_worlds();
std::vector<SmallWorld> call_worlds();
std::vector<SmallWorld> island_worlds();
std::vector<SmallWorld> host_worlds();

/// Hosts of such worlds, for tests that weaken them.
HostSpec spilling_host();
HostSpec sharing_host();

}  // namespace seaway::exhaustive
