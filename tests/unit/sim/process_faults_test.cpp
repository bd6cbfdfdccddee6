// What is drawn for a world of processes, and that each fault is drawn by itself.

#include "sim/process_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace seaway::sim {
namespace {

constexpr std::uint32_t kIslands = 3, kClients = 3;

TEST(ProcessFaults, ASeedGivesTheSameFaults) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(make_process_faults(seed, kIslands, kClients).to_string(),
              make_process_faults(seed, kIslands, kClients).to_string());
  }
}

TEST(ProcessFaults, EachKindHappensToEachRole) {
  std::set<std::pair<ProcessFault::Kind, actor::Role>> seen;
  bool has_none = false;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    const ProcessFaults made = make_process_faults(seed, kIslands, kClients);
    has_none |= made.faults.empty();
    for (const ProcessFault& fault : made.faults) seen.emplace(fault.kind, fault.target.role);
  }

  EXPECT_TRUE(has_none);
  // Machines are those of islands, which one name stands for; so are islands that are drained.
  EXPECT_EQ(seen.size(), (kProcessFaultKinds - 3) * 4 + 1 + 2 + 1);
}

TEST(ProcessFaults, TheyAreInOrderAndEndBeforeTheirEnd) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ProcessFaults made = make_process_faults(seed, kIslands, kClients);
    EXPECT_TRUE(std::ranges::is_sorted(made.faults, {}, &ProcessFault::at_ns));
    for (const ProcessFault& fault : made.faults) {
      EXPECT_LE(fault.at_ns + fault.duration_ns, made.end_ns);
      EXPECT_LT(fault.target.index, fault.target.role == actor::Role::kClient ? kClients + 1 : 3);
    }
  }
}

TEST(ProcessFaults, WhatIsDrawnLaterLeavesWhatWasDrawnBefore) {
  // Worlds of one island and of three differ in whom a fault strikes, never in when and for how
  // long: each draw has its place in a stream of its own.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ProcessFaults small = make_process_faults(seed, 1, 1);
    ProcessFaults large = make_process_faults(seed, kIslands, kClients);
    // There is nowhere to go to from the only island.
    std::erase_if(large.faults, [](const ProcessFault& fault) {
      return fault.kind == ProcessFault::Kind::kDrain;
    });
    ASSERT_EQ(small.faults.size(), large.faults.size());
    for (std::size_t i = 0; i < small.faults.size(); ++i) {
      EXPECT_EQ(small.faults[i].kind, large.faults[i].kind);
      EXPECT_EQ(small.faults[i].at_ns, large.faults[i].at_ns);
      EXPECT_EQ(small.faults[i].duration_ns, large.faults[i].duration_ns);
    }
  }
}

TEST(ProcessFaults, PeopleReadWhatIsDoneToWhom) {
  ProcessFaults faults;
  faults.faults = {
      {.kind = ProcessFault::Kind::kCutPair,
       .at_ns = 3,
       .duration_ns = 4,
       .target = {actor::Role::kHost, 1},
       .other = {actor::Role::kClient, 2}},
      {.kind = ProcessFault::Kind::kClockRate, .at_ns = 5, .target = {}, .amount = -6}};
  faults.wires.latency_min_ns = 1;
  faults.wires.latency_max_ns = 2;
  faults.wires.faults.flip = 9;

  EXPECT_EQ(
      faults.to_string(),
      ", wires of 1 to 2 ns, cut between the host of island 1 and client 2 at 3 ns for 4, clock "
      "rate of the controller by -6 at 5 ns for 0, 9 of 1000 writes flipped");
}

}  // namespace
}  // namespace seaway::sim
