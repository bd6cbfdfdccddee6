// Values that go to another host over connections of their own: offered, fetched, given up.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "unit/device/host_world.hpp"
#include "unit/device/test_plane.hpp"

namespace seaway::device {
namespace {

using transport::DataKey;
using transport::DataSource;

constexpr std::uint32_t kEdge = 7;
constexpr HostId kPeer = 1;
const DataKey kKey{1, kEdge};

// ---- The sender's end -----------------------------------------------------------------------

/// Makes a value from an argument and sends it to island 1.
PartMaker sender() {
  PartMaker part(1, {0});
  const std::uint32_t in = part.arg(), sent = part.inner();
  part.gang({in}, {sent}).send(sent, kEdge, kPeer);
  return part;
}

class HostOffers : public testing::Test {
 protected:
  HostOffers() {
    world_.put(50, HostWorld::row(41));
    world_.core.upload_arrived(50);
    world_.run(1, sender(), {50});
    world_.said();
  }
  float offered() const { return plane_.offered(kKey); }

  TestPlane plane_{kPeer};
  HostWorld world_{1, 1 << 20, 0, nullptr, {}, 1, nullptr, &plane_};
};

TEST_F(HostOffers, AReceiverWithRoomIsOfferedTheValueUntilItHasIt) {
  EXPECT_TRUE(plane_.offers.empty());
  world_.armed(1, kEdge, kPeer);

  ASSERT_EQ(world_.core.outbox().edges.size(), 1u);
  EXPECT_EQ(world_.core.outbox().edges[0].streams, kShardBytes);
  EXPECT_EQ(plane_.offers.at(kKey).bytes, kShardBytes);
  EXPECT_EQ(offered(), 42);
  EXPECT_EQ(world_.bulk.size(), 0u) << "nothing waits to be sent";

  world_.consumed(1, kEdge, kPeer);
  EXPECT_TRUE(plane_.offers.empty());
  EXPECT_TRUE(world_.core.is_idle());
}

TEST_F(HostOffers, WhoeverReadsItKeepsItsMemory) {
  world_.armed(1, kEdge, kPeer);
  const DataSource read = plane_.offers.at(kKey);
  world_.consumed(1, kEdge, kPeer);

  // The next run has other memory, although this one's is charged to nobody any more.
  world_.run(2, sender(), {50});
  world_.armed(2, kEdge, kPeer);
  std::vector<std::span<const std::byte>> first, second;
  read.pieces(0, 1, first);
  plane_.offers.at({2, kEdge}).pieces(0, 1, second);
  EXPECT_NE(first[0].data(), second[0].data());
  world_.consumed(2, kEdge, kPeer);
}

TEST_F(HostOffers, ACutWithdrawsIt) {
  world_.armed(1, kEdge, kPeer);
  world_.core.cut_edges(kPeer, 1, {StatusCode::kHostLost, "it is gone"});
  EXPECT_TRUE(plane_.offers.empty());
}

// ---- The receiver's end ---------------------------------------------------------------------

/// Adds 1 to what comes from island 1; the sum is an output.
PartMaker receiver() {
  PartMaker part(2, {0});
  const std::uint32_t in = part.receive(kEdge, kPeer);
  part.gang({in}, {part.output()});
  return part;
}

class HostFetches : public testing::Test {
 protected:
  HostFetches() {
    world_.launch(1, receiver(), {60});
    world_.admit(1);
    world_.place(1, 0, 1);
    world_.core.advance();
    transport::Payload payload;
    payload.offered_bytes = kShardBytes;
    world_.bulk.offer_edge(1, kEdge, std::move(payload));
    first_words_ = world_.said();
    world_.delivered(1, kEdge, kPeer);
  }
  void end(Status status) {
    plane_.end(std::move(status));
    world_.core.advance();
  }

  TestPlane plane_{kPeer};
  HostWorld world_{1, 1 << 20, 0, nullptr, {}, 1, nullptr, &plane_};
  std::string first_words_;
};

TEST_F(HostFetches, TheBytesComeRightToWhereTheGangsReadThem) {
  EXPECT_EQ(first_words_, "armed 1.7 to 1");
  EXPECT_EQ(world_.said(), "") << "it is not there yet";
  ASSERT_TRUE(plane_.target);
  EXPECT_EQ(plane_.target->bytes, kShardBytes);
  const std::vector<float> row = HostWorld::row(41);
  const auto place = plane_.target->place(0, kShardBytes);
  ASSERT_EQ(place.size(), kShardBytes);
  std::memcpy(place.data(), row.data(), kShardBytes);
  end({});

  EXPECT_EQ(world_.said(), "consumed 1.7 to 1, gangs 1 0-1");
  world_.fetch(60, 3);
  EXPECT_EQ(world_.answers(), "3: 42");
}

TEST_F(HostFetches, WhatDoesNotComeIsLostWithTheReason) {
  end({StatusCode::kHostLost, "nobody is there"});
  EXPECT_EQ(world_.said(),
            "consumed 1.7 to 1, gangs 1 0-1, failed 1 INPUT_LOST: edge 7 from island 1: HOST_LOST: "
            "nobody is there");
}

TEST_F(HostFetches, ACutEndsItWhenNothingIsWrittenAnyMore) {
  world_.said();
  world_.core.cut_edges(kPeer + 1, 1, {StatusCode::kHostLost, "somebody else"});
  EXPECT_EQ(plane_.cancels, 0);
  world_.core.cut_edges(kPeer, 1, {StatusCode::kHostLost, "it is gone"});
  world_.core.advance();
  EXPECT_EQ(plane_.cancels, 1);
  EXPECT_FALSE(world_.core.is_idle()) << "something may still be written";

  end({StatusCode::kCancelled, "it is not wanted any more"});
  EXPECT_TRUE(world_.core.is_idle());
  world_.fetch(60, 3);
  EXPECT_EQ(world_.answers(), "3: INPUT_LOST: edge 7 from island 1: HOST_LOST: it is gone");
}

TEST_F(HostFetches, WhatIsOfAnotherSizeIsNotFetched) {
  world_.launch(2, receiver(), {61});
  world_.admit(2);
  world_.core.advance();
  EXPECT_TRUE(world_.core.check_offer(2, kEdge, kShardBytes).ok());
  EXPECT_EQ(world_.core.check_offer(2, kEdge, kShardBytes + 4).to_string(),
            "PROTOCOL_ERROR: edge 7 of run 2 is offered as 68 bytes; it has 64 that are fetched");
  end({});
}

}  // namespace
}  // namespace seaway::device
