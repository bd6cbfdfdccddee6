// What is there in a cluster of processes: for checkers, at the end, and of clients that are dead.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cluster/member.hpp"
#include "sim/surroundings.hpp"
#include "sim/world.hpp"

namespace seaway::sim {

/// The process that plays a role now; null while there is none.
using MemberOf = std::function<cluster::Member*(actor::Role role, std::uint32_t index)>;

/// What checkers may ask about those who live now. `world` outlives it.
Surroundings surroundings_of(const World& world, const MemberOf& member);

/// What there is of clients' at all roles; none when all of them are gone.
std::vector<std::string> leftovers(const World& world, const MemberOf& member);

/// What there is of one client at the controller and the hosts, for people; empty: nothing.
std::string remains_of(ClientId client, const World& world, const MemberOf& member);

/// What each role waits for, for people.
std::string waiting(const World& world, const MemberOf& member);

}  // namespace seaway::sim
