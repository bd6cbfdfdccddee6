// Streams between any two shardings, in pieces of any size and in any order.

#include "transfer/value_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/random.hpp"
#include "unit/transfer/placements.hpp"

namespace seaway::transfer {
namespace {

/// Shards one behind the other, with bytes between them that nobody owns.
struct Memory {
  explicit Memory(const Shards& shards)
      : stride((shards.at(0).size() + 63) / 64 * 64 + 64), bytes(stride * shards.size()) {
    for (std::size_t s = 0; s < shards.size(); ++s) {
      std::ranges::copy(shards[s], bytes.begin() + static_cast<std::ptrdiff_t>(s * stride));
    }
  }
  std::size_t stride;
  std::vector<std::byte> bytes;
};

std::vector<std::byte> read(const ValueStream& stream, const Memory& from, std::uint64_t begin,
                            std::uint64_t end) {
  std::vector<std::byte> bytes;
  std::vector<std::span<const std::byte>> pieces;
  stream.add_pieces(from.bytes.data(), from.stride, begin, end, pieces);
  for (const auto piece : pieces) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

void expect_whole(const TensorType& type, const Placement& source, const Placement& target,
                  std::mt19937& random) {
  std::vector<std::byte> global(type.bytes());
  for (std::size_t i = 0; i < global.size(); ++i) global[i] = static_cast<std::byte>(mix64(i));
  const Memory from(scatter(type, source, global)), expected(scatter(type, target, global));
  const StreamTarget to(type, source, target);
  ASSERT_EQ(to.stream().bytes(), type.bytes()) << source.spec.to_string();
  Memory actual(Shards(static_cast<std::size_t>(Mesh(0, target.axes).device_count()),
                       std::vector<std::byte>(expected.stride - 64)));
  actual.bytes.resize(expected.bytes.size());
  ASSERT_LE(actual.stride, expected.stride + 64);
  actual.stride = expected.stride;
  std::vector<std::uint64_t> cuts = {0, type.bytes()};
  for (int i = 0; i < 6; ++i) cuts.push_back(random() % (type.bytes() + 1));
  std::ranges::sort(cuts);
  std::vector<std::size_t> order(cuts.size() - 1);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  for (const std::size_t i : order) {
    const std::vector<std::byte> bytes = read(to.stream(), from, cuts[i], cuts[i + 1]);
    ASSERT_EQ(bytes.size(), cuts[i + 1] - cuts[i]);
    for (std::size_t done = 0; done < bytes.size();) {
      const auto rest = std::span(bytes).subspan(done);
      const auto place = to.place(actual.bytes.data(), actual.stride, cuts[i] + done, rest.size());
      const std::size_t count =
          place.empty() ? std::min<std::size_t>(rest.size(), 7) : place.size();
      ASSERT_LE(count, rest.size());
      if (place.empty()) {
        to.scatter(actual.bytes.data(), actual.stride, cuts[i] + done, rest.first(count));
      } else {
        std::ranges::copy(rest.first(count), place.begin());
      }
      done += count;
    }
  }
  ASSERT_EQ(actual.bytes, expected.bytes)
      << source.spec.to_string() << " to " << target.spec.to_string();
}

TEST(ValueStream, ComesWholeBetweenAnyTwoShardings) {
  std::mt19937 random(7);
  const std::vector<Placement> placements = all_placements();
  for (const Placement& source : placements) {
    for (const Placement& target : placements) {
      expect_whole(f32({12, 12}), source, target, random);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ValueStream, TakesBytesAndHigherRanks) {
  std::mt19937 random(8);
  for (int i = 0; i < 100; ++i) {
    expect_whole(boolean({4, 2, 6}), {{{"a", 2}, {"b", 2}}, P("b", "", "a"), {}},
                 {{{"x", 6}, {"y", 2}}, P("", "y", "x"), {}}, random);
  }
}

TEST(ValueStream, OfReplicasOneGoes) {
  const ValueStream stream(f32({8}), {{{"x", 2}, {"y", 3}}, P("x"), {}});
  EXPECT_EQ(stream.shards(), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(stream.bytes(), 32u);
}

TEST(ValueStream, HasNothingOfAnArrayWithoutElements) {
  const StreamTarget target(f32({0, 4}), {{{"a", 2}}, P("a"), {}}, {{{"a", 2}}, P("", "a"), {}});
  EXPECT_EQ(target.stream().bytes(), 0u);
  EXPECT_TRUE(target.place(nullptr, 0, 0, 100).empty());
  target.scatter(nullptr, 0, 0, {});
}

TEST(ValueStream, RowsThatStayWholeAreReadRightToTheirPlace) {
  const StreamTarget target(f32({8, 16}), {{{"a", 4}}, P("a"), {}}, {{{"a", 2}}, P("a"), {}});
  std::vector<std::byte> memory(2 * 256);
  EXPECT_EQ(target.place(memory.data(), 256, 130, 1000).data(), memory.data() + 130);
  EXPECT_EQ(target.place(memory.data(), 256, 130, 1000).size(), 126u) << "up to the next shard";
  const StreamTarget columns(f32({8, 16}), {{{"a", 4}}, P("a"), {}}, {{{"a", 2}}, P("", "a"), {}});
  EXPECT_TRUE(columns.place(memory.data(), 256, 130, 1000).empty());
}

}  // namespace
}  // namespace seaway::transfer
