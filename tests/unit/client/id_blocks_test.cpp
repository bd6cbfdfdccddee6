// Ids of the delegates of one client: no two choose the same, and each says whose it is.

#include "client/id_blocks.hpp"

#include <gtest/gtest.h>

namespace seaway::client {
namespace {

TEST(IdBlocks, SayWhoHasChosenAnId) {
  IdBlocks blocks({.host = 4095, .life = 65535});

  const std::uint64_t id = make_id(7, blocks.take(1));

  EXPECT_EQ(client_of(id), 7u);
  EXPECT_TRUE(is_of_delegate(id));
  EXPECT_TRUE(is_in_first_block(id));
  EXPECT_EQ(delegate_of_id(id), (DelegateName{4095, 65535}));
  EXPECT_FALSE(is_of_delegate(make_id(7, (std::uint64_t{1} << 38) - 1)));
  const std::uint64_t request = first_request_of({4095, 65535});
  EXPECT_TRUE(is_delegates_request(request));
  EXPECT_EQ(delegate_of_request(request), (DelegateName{4095, 65535}));
}

TEST(IdBlocks, NameALifeByItsLowerBits) {
  const std::uint32_t life = (777u << 16) + 9, of_another_process = (777u << 16) + 65535;

  const DelegateName name = delegate_name(3, life);

  EXPECT_EQ(name, (DelegateName{3, 9}));
  EXPECT_EQ(whole_life(name, of_another_process), life);
}

TEST(IdBlocks, OfTwoDelegatesHaveNothingInCommon) {
  const DelegateName one{3, 8}, next{3, 9};

  EXPECT_EQ(first_sequence_of(one) + kFirstIds, first_sequence_of(next));
  EXPECT_EQ(first_sequence_of({3, kDelegateLivesMax - 1}) + kFirstIds, first_sequence_of({4, 0}));
  EXPECT_LT(leased_sequence(kLeasesMax - 1) + kLeaseIds - 1, first_sequence_of({0, 0}));
  const std::uint64_t leased = make_id(1, leased_sequence(77) + kLeaseIds - 1);
  EXPECT_TRUE(is_of_delegate(leased));
  EXPECT_FALSE(is_in_first_block(leased));
  EXPECT_EQ(lease_of_id(leased), 77u);
}

TEST(IdBlocks, AskForMoreAtHalfAndRefuseWhatDoesNotFit) {
  IdBlocks blocks({.host = 1, .life = 1});
  EXPECT_FALSE(blocks.wants_more());
  EXPECT_EQ(blocks.take(kFirstIds + 1), 0u);
  EXPECT_NE(blocks.take(kFirstIds / 2), 0u);

  EXPECT_TRUE(blocks.wants_more());
  EXPECT_FALSE(blocks.wants_more());
  EXPECT_NE(blocks.take(kFirstIds / 2), 0u);
  EXPECT_EQ(blocks.take(1), 0u);
  blocks.add(leased_sequence(5));

  EXPECT_EQ(blocks.take(3), leased_sequence(5));
  EXPECT_EQ(blocks.take(1), leased_sequence(5) + 3);
  EXPECT_FALSE(blocks.wants_more());
}

}  // namespace
}  // namespace seaway::client
