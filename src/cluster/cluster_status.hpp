// What a cluster of processes says of itself: who is there, what they have to do, and why not yet.

#pragma once

#include <functional>
#include <string>

#include "base/ids.hpp"
#include "cluster/embedded.hpp"
#include "cluster/enrolment.hpp"
#include "cluster/member.hpp"

namespace seaway::cluster {

/// What the process of a controller knows of itself.
struct ClusterFacts {
  std::string address;
  std::string spec;
  std::uint32_t life = 0;
  const EmbeddedOptions& cluster;
};

/// Processes, islands, work and tenants, as JSON. Of a member that plays the controller; on its
/// control thread. It costs what it says.
std::string status_json(const ClusterFacts& facts, const Enrolment& enrolment, Member& member);

/// So many unfinished runs at most are asked after at once.
constexpr std::size_t kExplainedRunsMax = 16;

/// Why `run` has no outcome yet, as lines for people; 0: each of the oldest unfinished runs, behind
/// what the controller itself waits for. `done` is called once, from the control thread: now, or
/// when schedulers and hosts have answered. kResourceExhausted when too many such questions are
/// open.
void explain(Member& member, RunId run, const std::function<void(Result<std::string>)>& done);

}  // namespace seaway::cluster
