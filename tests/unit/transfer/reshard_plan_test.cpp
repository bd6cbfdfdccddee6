// Reshard plans against a naive gather and scatter, for every pair of small shardings.

#include "transfer/reshard_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/random.hpp"
#include "unit/transfer/placements.hpp"

namespace seaway::transfer {
namespace {

void expect_each_byte_written_once(const TensorType& type, const Placement& source,
                                   const Placement& target) {
  std::vector<std::byte> global(type.bytes());
  for (std::size_t i = 0; i < global.size(); ++i) global[i] = static_cast<std::byte>(mix64(i));
  const Shards from = scatter(type, source, global);
  const Shards expected = scatter(type, target, global);
  const ReshardPlan plan(type, source, target);
  ASSERT_EQ(plan.source_shards(), from.size());
  ASSERT_EQ(plan.target_shards(), expected.size());
  std::uint64_t bytes = 0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    std::vector<std::byte> actual(expected[t].size());
    std::vector<std::byte> writes(expected[t].size());
    for (const Copy& copy : plan.copies(t)) {
      copy_region(from[copy.source_shard].data(), actual.data(), copy);
      // Writes counted by adding one to each byte that this copy names.
      std::vector<std::byte> ones(from[copy.source_shard].size(), std::byte{1});
      std::vector<std::byte> touched(actual.size());
      copy_region(ones.data(), touched.data(), copy);
      for (std::size_t i = 0; i < touched.size(); ++i) {
        writes[i] =
            static_cast<std::byte>(static_cast<int>(writes[i]) + static_cast<int>(touched[i]));
      }
      bytes += copy.bytes();
    }
    ASSERT_EQ(actual, expected[t]) << source.spec.to_string() << " to " << target.spec.to_string();
    ASSERT_TRUE(std::all_of(writes.begin(), writes.end(),
                            [](std::byte count) { return count == std::byte{1}; }));
  }
  EXPECT_EQ(bytes, plan.bytes_total());
  EXPECT_EQ(plan.is_identity(),
            from.size() == expected.size() && from == expected && type.bytes() > 0)
      << source.spec.to_string() << " to " << target.spec.to_string();
}

TEST(ReshardPlan, WritesEachByteOnceBetweenAnyTwoShardings) {
  const std::vector<Placement> placements = all_placements();
  for (const Placement& source : placements) {
    for (const Placement& target : placements) {
      expect_each_byte_written_once(f32({12, 12}), source, target);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ReshardPlan, TakesBytesAndHigherRanks) {
  expect_each_byte_written_once(boolean({4, 2, 6}), {{{"a", 2}, {"b", 2}}, P("b", "", "a"), {}},
                                {{{"x", 6}, {"y", 2}}, P("", "y", "x"), {}});
}

TEST(ReshardPlan, MovesNothingOfAnArrayWithoutElements) {
  const ReshardPlan plan(f32({0, 4}), {{{"a", 2}}, P("a"), {}}, {{{"a", 2}}, P("", "a"), {}});

  EXPECT_EQ(plan.bytes_total(), 0u);
  EXPECT_TRUE(plan.copies(0).empty());
  EXPECT_TRUE(plan.copies(1).empty());
}

TEST(ReshardPlan, MovesAScalarAsOneRun) {
  const ReshardPlan plan(f32({}), {{}, P(), {}}, {{{"a", 2}}, P(), {}});

  ASSERT_EQ(plan.copies(1).size(), 1u);
  EXPECT_EQ(plan.copies(1)[0].bytes(), 4u);
}

TEST(ReshardPlan, DealsReadersOutOverReplicas) {
  // The readers of one piece all have even numbers: the shard number alone would not deal them out.
  const Placement source{{{"x", 2}, {"y", 2}}, P("x"), {}};
  const Placement target{{{"y", 4}, {"x", 2}}, P("x"), {}};
  const ReshardPlan plan(f32({8}), source, target);

  std::map<std::uint32_t, int> readers;
  for (std::size_t t = 0; t < plan.target_shards(); ++t) {
    for (const Copy& copy : plan.copies(t)) ++readers[copy.source_shard];
  }

  ASSERT_EQ(readers.size(), 4u);
  for (const auto& [shard, count] : readers) EXPECT_EQ(count, 2) << shard;
}

TEST(ReshardPlan, PrefersTheReplicaOnTheTargetsOwnDevice) {
  const Placement source{{{"a", 4}}, P(), {0, 1, 2, 3}};
  const Placement target{{{"a", 4}}, P("a"), {3, 1, 0, 2}};
  const ReshardPlan plan(f32({8}), source, target);

  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(plan.copies(t).at(0).source_shard, target.devices[t]);
  }
}

TEST(ReshardPlan, IsNoIdentityWhenDevicesDiffer) {
  const Placement source{{{"a", 2}}, P("a"), {0, 1}};
  const Placement target{{{"z", 2}}, P("z", ""), {1, 0}};

  EXPECT_FALSE(ReshardPlan(f32({8, 2}), source, target).is_identity());
  EXPECT_TRUE(ReshardPlan(f32({8, 2}), source, {target.axes, target.spec, {0, 1}}).is_identity());
}

TEST(ReshardPlan, MergesWhatLiesTogether) {
  const ReshardPlan plan(f32({8, 16}), {{{"a", 2}}, P("a"), {}}, {{{"a", 4}}, P("a"), {}});

  const Copy copy = plan.copies(3).at(0);

  EXPECT_EQ(copy.extents, std::vector<std::uint64_t>{2 * 16 * 4});
  EXPECT_EQ(copy.source_shard, 1u);
  EXPECT_EQ(copy.source_offset, 2u * 16 * 4);
}

}  // namespace
}  // namespace seaway::transfer
