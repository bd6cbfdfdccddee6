// The fault catalogue: that it is whole, and that what it calls simulated does happen.

#include "sim/fault_catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/app_world.hpp"
#include "sim/process_run.hpp"
#include "sim/seed_run.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint32_t kFaults = 33;
constexpr std::uint64_t kAppSeeds = 100;
constexpr std::uint64_t kSeedsMax = 1000;

std::vector<FaultProof> proofs_in(WorldKind world) {
  std::vector<FaultProof> found;
  for (const Fault& fault : fault_catalogue()) {
    for (const FaultProof& proof : fault.proofs) {
      if (proof.world == world) found.push_back(proof);
    }
  }
  return found;
}

TEST(FaultCatalogue, HasEachFaultOnceAndInOrder) {
  std::uint32_t next = 1;
  std::set<std::string_view> names;
  for (const Fault& fault : fault_catalogue()) {
    EXPECT_EQ(fault.number, next++);
    EXPECT_FALSE(fault.name.empty()) << fault.number;
    names.insert(fault.name);
  }

  EXPECT_EQ(fault_catalogue().size(), kFaults);
  EXPECT_EQ(names.size(), kFaults);
}

TEST(FaultCatalogue, WhatIsNotSimulatedSaysWhatItWaitsFor) {
  for (const Fault& fault : fault_catalogue()) {
    EXPECT_TRUE(fault.is_simulated() || !fault.waits_for.empty()) << "F" << fault.number;
  }
}

TEST(FaultCatalogue, AProofNamesAFeatureOrACounterAsItsWorldsHaveThem) {
  for (const Fault& fault : fault_catalogue()) {
    for (const FaultProof& proof : fault.proofs) {
      const bool has_features = proof.world != WorldKind::kApps;
      EXPECT_EQ(proof.feature.has_value(), has_features) << "F" << fault.number;
      EXPECT_EQ(proof.counter.empty(), has_features) << "F" << fault.number;
    }
  }
}

/// Runs worlds of `kind` until they have had all that the catalogue says they have.
template <class Run>
void expect_seen(WorldKind kind, const Run& run) {
  Coverage coverage;
  const std::vector<FaultProof> proofs = proofs_in(kind);
  const auto is_seen = [&coverage](const FaultProof& proof) {
    return coverage.counts[static_cast<std::size_t>(*proof.feature)] > 0;
  };
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    coverage += run(seed).coverage;
    if (std::all_of(proofs.begin(), proofs.end(), is_seen)) break;
  }

  ASSERT_FALSE(proofs.empty());
  for (const FaultProof& proof : proofs) EXPECT_TRUE(is_seen(proof)) << to_string(*proof.feature);
}

TEST(FaultCatalogue, WhatIsSimulatedInWorldsOfProgramsIsSeenToHappen) {
  expect_seen(WorldKind::kPrograms, [](std::uint64_t seed) { return run_seed(seed); });
}

TEST(FaultCatalogue, WhatIsSimulatedInWorldsOfProcessesIsSeenToHappen) {
  expect_seen(WorldKind::kProcesses, [](std::uint64_t seed) { return run_process_seed(seed); });
}

TEST(FaultCatalogue, WhatIsSimulatedInWorldsOfActorsIsSeenToHappen) {
  std::map<std::string_view, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= kAppSeeds; ++seed) {
    for (const auto& [what, count] : run_app_seed(seed).counts) counts[what] += count;
  }

  ASSERT_FALSE(proofs_in(WorldKind::kApps).empty());
  for (const FaultProof& proof : proofs_in(WorldKind::kApps)) {
    EXPECT_GT(counts[proof.counter], 0u) << proof.counter;
  }
}

TEST(FaultCatalogue, TheTableHasALineForEachFault) {
  const std::string table = fault_table();

  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), kFaults + 2);
  EXPECT_NE(table.find("\nF1    a device is lost for good"), std::string::npos) << table;
  EXPECT_NE(table.find(" of 33 faults are simulated\n"), std::string::npos) << table;
}

}  // namespace
}  // namespace seaway::sim
