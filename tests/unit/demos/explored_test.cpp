// The demos with a planted mistake: it is found, and told in a few faults; the fix is clean.

#include "demos/support/explored.hpp"

#include <gtest/gtest.h>

#include <string>

namespace seaway::demos {
namespace {

struct Mistake {
  const char* name;
  sim::ExploreReport (*explore)(bool is_fixed, const sim::ExploreOptions& options);
  const char* invariant;
};

void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreFoundAndShrunkToAFewFaults) {
  const sim::ExploreReport report = GetParam().explore(
      false,
      {.name = GetParam().name, .seeds = kMistakeSeeds, .repro_directory = testing::TempDir()});

  ASSERT_FALSE(report.ok);
  EXPECT_EQ(report.invariant, GetParam().invariant) << report.to_string();
  EXPECT_GE(report.faults.size(), 1u) << report.to_string();
  EXPECT_LE(report.faults.size(), 3u) << report.to_string();
  EXPECT_NE(report.repro_path, "");
}

TEST_P(Mistakes, AreNotInTheFix) {
  const sim::ExploreReport report =
      GetParam().explore(true, {.name = GetParam().name, .seeds = 300, .repro_directory = ""});

  EXPECT_TRUE(report.ok) << report.to_string();
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(Mistake{"counted_twice", explore_counted_twice, "a run is counted once"},
                    Mistake{"lost_write", explore_lost_write, "acknowledged writes are kept"},
                    Mistake{"transfer", explore_transfer, "no money comes or goes"},
                    Mistake{"skipped_batch", explore_skipped_batch,
                            "each batch is learnt from once"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace seaway::demos
