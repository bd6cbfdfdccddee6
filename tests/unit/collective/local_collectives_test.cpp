// Reductions follow the fixed tree, whatever the sizes and shares.

#include "collective/local_collectives.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace seaway::collective {
namespace {

using function::CollectiveGroups;
using function::Reduce;
using function::ShardedBuffer;

/// `elements` floats on each shard, at a stride of whole cache lines.
struct Shards {
  Shards(std::size_t shards, std::size_t elements)
      : stride((elements * 4 + 63) / 64 * 64), data(shards * stride / 4 + 16) {}
  ShardedBuffer view() { return {reinterpret_cast<std::byte*>(data.data()), stride}; }
  float& at(std::size_t shard, std::size_t element) { return data[shard * stride / 4 + element]; }

  std::size_t stride;
  std::vector<float> data;
};

Shards random_shards(std::size_t shards, std::size_t elements) {
  Shards result(shards, elements);
  RandomStream random(3, shards * 1000 + elements);
  for (float& value : result.data) value = static_cast<float>(random.between(1, 1 << 20)) / 3.0f;
  return result;
}

/// Level by level: neighbours are added, a last one alone moves up.
float by_levels(std::vector<float> values) {
  while (values.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i < values.size(); i += 2) {
      next.push_back(i + 1 < values.size() ? values[i] + values[i + 1] : values[i]);
    }
    values = std::move(next);
  }
  return values[0];
}

TEST(LocalCollectives, AddAlongABalancedTreeByCoordinate) {
  const LocalCollectives collectives;
  for (std::size_t size = 1; size <= 70; ++size) {
    for (const std::size_t elements : {1u, 3u, 1300u}) {
      Shards in = random_shards(size, elements), out(size, elements);

      collectives.all_reduce({1, size, 1}, Reduce::kSum, DType::kF32, elements, in.view(),
                             out.view(), {});

      for (const std::size_t element : {std::size_t{0}, elements - 1}) {
        std::vector<float> values;
        for (std::size_t s = 0; s < size; ++s) values.push_back(in.at(s, element));
        EXPECT_EQ(out.at(0, element), by_levels(values)) << size << " " << elements;
        EXPECT_EQ(out.at(size - 1, element), out.at(0, element));
      }
    }
  }
}

TEST(LocalCollectives, GiveTheSameInSharesAndInPlace) {
  const LocalCollectives collectives;
  const CollectiveGroups groups{2, 3, 2};
  for (const std::size_t elements : {2u, 5000u}) {
    Shards in = random_shards(6, elements), whole(6, elements), shared(6, elements);
    collectives.all_reduce(groups, Reduce::kSum, DType::kF32, elements, in.view(), whole.view(),
                           {});

    for (std::size_t i = 0; i < 7; ++i) {
      collectives.all_reduce(groups, Reduce::kSum, DType::kF32, elements, in.view(), shared.view(),
                             {i, i + 1, 7});
    }
    collectives.all_reduce(groups, Reduce::kSum, DType::kF32, elements, in.view(), in.view(), {});

    for (std::size_t s = 0; s < 6; ++s) {
      for (std::size_t e = 0; e < elements; ++e) {
        ASSERT_EQ(shared.at(s, e), whole.at(s, e));
        ASSERT_EQ(in.at(s, e), whole.at(s, e));
      }
    }
  }
}

TEST(LocalCollectives, ScatterAndGatherBackToTheFullSum) {
  const LocalCollectives collectives;
  const CollectiveGroups groups{2, 4, 2};
  const std::size_t rows = 3, run = 700;
  Shards in = random_shards(8, rows * 4 * run), pieces(8, rows * run);
  Shards gathered(8, rows * 4 * run), reduced(8, rows * 4 * run);

  for (std::size_t i = 0; i < 5; ++i) {
    collectives.reduce_scatter(groups, DType::kF32, rows, run, in.view(), pieces.view(),
                               {i, i + 1, 5});
  }
  for (std::size_t i = 0; i < 5; ++i) {
    collectives.all_gather(groups, rows, run * 4, pieces.view(), gathered.view(), {i, i + 1, 5});
  }

  collectives.all_reduce(groups, Reduce::kSum, DType::kF32, rows * 4 * run, in.view(),
                         reduced.view(), {});
  for (std::size_t s = 0; s < 8; ++s) {
    for (std::size_t e = 0; e < rows * 4 * run; ++e) {
      ASSERT_EQ(gathered.at(s, e), reduced.at(s, e));
    }
  }
}

TEST(LocalCollectives, PassNanThroughTheMaximum) {
  const LocalCollectives collectives;
  Shards in(3, 1), out(3, 1);
  in.at(0, 0) = 5;
  in.at(1, 0) = std::numeric_limits<float>::quiet_NaN();
  in.at(2, 0) = 7;

  collectives.all_reduce({1, 3, 1}, Reduce::kMax, DType::kF32, 1, in.view(), out.view(), {});

  EXPECT_TRUE(out.at(2, 0) != out.at(2, 0));
}

TEST(LocalCollectives, PermuteAroundARing) {
  const LocalCollectives collectives;
  Shards in(4, 1), out(4, 1);
  for (std::size_t s = 0; s < 4; ++s) in.at(s, 0) = static_cast<float>(s + 1);
  const std::vector<std::int64_t> sources = {3, 0, 1, -1};

  collectives.permute({1, 4, 1}, sources, 4, in.view(), out.view(), {});

  EXPECT_EQ(out.at(0, 0), 4);
  EXPECT_EQ(out.at(1, 0), 1);
  EXPECT_EQ(out.at(2, 0), 2);
  EXPECT_EQ(out.at(3, 0), 0);
}

}  // namespace
}  // namespace seaway::collective
