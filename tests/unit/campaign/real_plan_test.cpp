// What is done to real processes, and when: as the seed says, and nothing else.

#include "campaign/real_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "campaign/real_faults.hpp"

namespace seaway::campaign {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

RealPlanOptions everything() {
  RealPlanOptions options;
  options.seed = 7;
  options.duration_ns = 600 * kSecond;
  options.kills = {RealRole::kController, RealRole::kScheduler, RealRole::kHost, RealRole::kClient};
  options.stops = options.strangers = options.disk = true;
  options.net = RealNet::kProxy;
  return options;
}

TEST(RealPlan, IsWhatItsSeedSays) {
  RealPlanOptions options = everything();
  const auto plan = draw_real_plan(options);
  EXPECT_EQ(plan, draw_real_plan(options));
  options.seed = 8;
  EXPECT_NE(plan, draw_real_plan(options));
}

TEST(RealPlan, HasAllThatWasAskedForAtItsTimes) {
  const auto plan = draw_real_plan(everything());
  std::set<RealFault> kinds;
  std::set<RealRole> killed;
  for (const RealEvent& event : plan) {
    kinds.insert(event.fault);
    if (event.fault == RealFault::kKill) killed.insert(event.target.role);
    EXPECT_LE(event.at_ns + event.for_ns, 600 * kSecond) << to_string(event);
    if (event.target.role != RealRole::kController) {
      EXPECT_LT(event.target.index, 2u) << to_string(event);
    }
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(kLastRealFault) + 1);
  EXPECT_EQ(killed.size(), 4u);
  EXPECT_TRUE(std::is_sorted(plan.begin(), plan.end(),
                             [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; }));
}

TEST(RealPlan, KindsDoNotMindEachOther) {
  const auto without = [](std::vector<RealEvent> plan, const auto& drops) {
    std::erase_if(plan, drops);
    return plan;
  };
  const auto plan = draw_real_plan(everything());
  RealPlanOptions options = everything();
  options.strangers = false;
  EXPECT_EQ(draw_real_plan(options), without(plan, [](const RealEvent& event) {
              return event.fault == RealFault::kStranger || event.fault == RealFault::kFlood;
            }));
  options = everything();
  options.kills.erase(RealRole::kClient);
  EXPECT_EQ(draw_real_plan(options), without(plan, [](const RealEvent& event) {
              return event.fault == RealFault::kKill && event.target.role == RealRole::kClient;
            }));
}

TEST(RealPlan, NetworksOnlyCutAndDrop) {
  RealPlanOptions options = everything();
  const auto plan = draw_real_plan(options);
  options.net = RealNet::kNetns;
  auto expected = plan;
  std::erase_if(expected, [](const RealEvent& event) {
    return is_of_links(event.fault) && !is_of_partition(event.fault);
  });
  EXPECT_EQ(draw_real_plan(options), expected);
  EXPECT_LT(expected.size(), plan.size());
}

TEST(RealPlan, FaultsAreOverAtTheEndOfTheirRounds) {
  for (const RealEvent& event : draw_real_plan(everything())) {
    EXPECT_EQ(event.round, event.at_ns / (30 * kSecond)) << to_string(event);
    EXPECT_LE(event.at_ns + event.for_ns, (event.round + 1) * 30 * kSecond) << to_string(event);
  }
}

TEST(RealPlan, AnnexesAreThereWhereIslandsHaveSeveralHosts) {
  RealPlanOptions options = everything();
  options.kills.insert(RealRole::kAnnex);
  EXPECT_EQ(draw_real_plan(options), draw_real_plan(everything()));
  options.hosts = 3;
  std::set<RealProcess> killed;
  for (const RealEvent& event : draw_real_plan(options)) {
    const bool is_annex = event.target.role == RealRole::kAnnex;
    EXPECT_EQ(is_annex, event.target.host > 0) << to_string(event);
    if (event.fault == RealFault::kKill && is_annex) killed.insert(event.target);
  }
  EXPECT_EQ(killed.size(), 4u);
}

TEST(RealPlan, ALongerOneBeginsAsAShorterOne) {
  RealPlanOptions options = everything();
  const auto whole = draw_real_plan(options);
  options.duration_ns = 60 * kSecond;
  for (const RealEvent& event : draw_real_plan(options)) {
    EXPECT_NE(std::find(whole.begin(), whole.end(), event), whole.end()) << to_string(event);
  }
}

TEST(RealPlan, NamesAreReadAsTheyAreWritten) {
  for (const RealProcess& process :
       {RealProcess{}, RealProcess{RealRole::kHost, 3}, RealProcess{RealRole::kClient, 0},
        RealProcess{RealRole::kAnnex, 1, 2}}) {
    EXPECT_EQ(parse_real_process(to_string(process)), process);
  }
  for (const char* const text : {"", "host", "host ", "host x", "controller 1", "nobody 2",
                                 "host 1.1", "annex 1", "annex 1.0"}) {
    EXPECT_EQ(parse_real_process(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_real_fault("straggle"), RealFault::kStraggle);
  EXPECT_EQ(parse_real_fault("strangle"), std::nullopt);
}

TEST(RealFaults, AreThoseOfPlansAndEachPlannedOneIsOneOfThem) {
  std::set<RealFault> kinds;
  std::size_t made = 0;
  for (const RealFaultInfo& fault : real_fault_catalogue()) {
    kinds.insert(fault.kinds.begin(), fault.kinds.end());
    made += fault.is_made() ? 1 : 0;
    EXPECT_FALSE(fault.how.empty()) << fault.number;
  }
  EXPECT_EQ(real_fault_catalogue().size(), 33u);
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(kLastRealFault) + 1);
  EXPECT_NE(real_fault_table().find(std::to_string(made) + " of 33 are made"), std::string::npos);
}

}  // namespace
}  // namespace seaway::campaign
