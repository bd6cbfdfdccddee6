// Values that a host of the same machine reads where they lie.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

using transport::NearMemory;
using transport::SharedRegion;

constexpr std::uint32_t kEdge = 7;
constexpr HostId kPeer = 1;

SharedRegion make_region() {
  constexpr std::size_t kBytes = NearMemory::kTableBytes + (1 << 16);
  auto* const base = static_cast<std::byte*>(std::aligned_alloc(64, kBytes));
  std::memset(base, 0, kBytes);
  return {{base, kBytes}, std::shared_ptr<void>(base, &std::free)};
}

/// Makes a value from an argument and sends it to island 1.
PartMaker sender() {
  PartMaker part(1, {0});
  const std::uint32_t in = part.arg(), sent = part.inner();
  part.gang({in}, {sent}).send(sent, kEdge, kPeer);
  return part;
}

/// Adds 1 to what comes from island 1; the sum is an output.
PartMaker receiver(std::uint64_t cost_ns = 0) {
  PartMaker part(2, {0});
  const std::uint32_t in = part.receive(kEdge, kPeer);
  part.gang({in}, {part.output()}, {.cost_ns = cost_ns});
  return part;
}

class HostLoans : public testing::Test {
 protected:
  void make(Integrity integrity = {}) {
    world_.emplace(1, 1 << 20, 0, nullptr, integrity, 1, &near_);
    world_->core.define_spec(9, {f32({16}), NamedSharding(Mesh(1, {{"x", 1}}), P("x"))});
    world_->core.put(50, 9, {0});
    world_->bulk.offer_upload(50, HostWorld::payload(HostWorld::row(41)));
    world_->core.upload_arrived(50);
    world_->run(1, sender(), {50});
    world_->said();
  }
  /// What the host says of its value.
  HostOutbox::Edge delivered() {
    EXPECT_EQ(world_->core.outbox().edges.size(), 1u);
    HostOutbox::Edge edge = std::move(world_->core.outbox().edges.front());
    world_->core.outbox().edges.clear();
    return edge;
  }

  HostOutbox::Edge last_edge() {
    EXPECT_FALSE(world_->core.outbox().edges.empty());
    return world_->core.outbox().edges.back();
  }

  SharedRegion region_ = make_region();
  NearMemory near_{region_, [](HostId, std::uint32_t, const auto&) {}};
  std::optional<HostWorld> world_;
};

TEST_F(HostLoans, AReceiverThatReadsThisMemoryIsLentTheValueWhereItLies) {
  make();
  world_->armed(1, kEdge, kPeer, true);

  const HostOutbox::Edge edge = delivered();
  ASSERT_TRUE(edge.place);
  EXPECT_EQ(edge.place->bytes, kShardBytes);
  float value = 0;
  std::memcpy(&value, region_.bytes.data() + edge.place->offset, sizeof(value));
  EXPECT_EQ(value, 42);
  EXPECT_EQ(world_->bulk.size(), 0u) << "nothing waits to be sent";
  EXPECT_EQ(near_.lent(), 1u);

  world_->consumed(1, kEdge, kPeer);
  EXPECT_EQ(near_.lent(), 0u);
  EXPECT_TRUE(world_->core.is_idle());
}

TEST_F(HostLoans, AReceiverThatDoesNotIsSentItsBytes) {
  make();
  world_->armed(1, kEdge, kPeer);

  EXPECT_FALSE(delivered().place);
  EXPECT_TRUE(world_->bulk.take_edge(1, kEdge));
  EXPECT_EQ(near_.lent(), 0u);
}

TEST_F(HostLoans, ValuesThatAreLookedAtBeforeTheyLeaveAreSent) {
  make({.shard_checksums = true});
  world_->armed(1, kEdge, kPeer, true);

  EXPECT_FALSE(delivered().place);
  EXPECT_TRUE(world_->bulk.take_edge(1, kEdge));
}

TEST_F(HostLoans, ACutTakesBackWhatWasLent) {
  make();
  world_->armed(1, kEdge, kPeer, true);
  ASSERT_EQ(near_.lent(), 1u);

  world_->core.cut_edges(kPeer, 1, {StatusCode::kHostLost, "it is gone"});

  EXPECT_EQ(near_.lent(), 0u);
}

TEST_F(HostLoans, WhatAHostHasLentStaysWhenItEnds) {
  make();
  world_->armed(1, kEdge, kPeer, true);
  const HostOutbox::Edge edge = delivered();
  world_->consumed(1, kEdge, kPeer, true);
  world_.reset();

  float value = 0;
  std::memcpy(&value, region_.bytes.data() + edge.place->offset, sizeof(value));
  EXPECT_EQ(value, 42);
  EXPECT_EQ(near_.lent(), 1u);
}

TEST_F(HostLoans, AnArgumentIsNotKeptEvenIfItsReceiverSaysSo) {
  make();
  PartMaker part(2, {0});
  const std::uint32_t arg = part.arg();
  part.announce(arg).send(arg, kEdge, kPeer);
  world_->run(2, part, {50});
  world_->armed(2, kEdge, kPeer, true);
  ASSERT_TRUE(last_edge().place);
  ASSERT_FALSE(last_edge().keeps);

  world_->consumed(2, kEdge, kPeer, true);

  EXPECT_EQ(near_.lent(), 0u);
}

TEST_F(HostLoans, WhatIsKeptStaysWhenItsPartIsOverUntilItIsReturned) {
  make();
  world_->armed(1, kEdge, kPeer, true);
  const HostOutbox::Edge edge = delivered();
  ASSERT_TRUE(edge.keeps);
  const auto* const value = region_.bytes.data() + edge.place->offset;

  world_->consumed(1, kEdge, kPeer, true);
  EXPECT_EQ(world_->said(), "received 1.7");
  EXPECT_TRUE(world_->core.is_idle());
  EXPECT_EQ(world_->core.device(0).used_bytes, kShardBytes) << "the argument alone";
  EXPECT_EQ(near_.lent(), 1u);

  // The next run has other memory.
  world_->run(2, sender(), {50});
  world_->armed(2, kEdge, kPeer, true);
  const HostOutbox::Edge next = last_edge();
  EXPECT_NE(next.place->offset, edge.place->offset);
  float still = 0;
  std::memcpy(&still, value, sizeof(still));
  EXPECT_EQ(still, 42);

  world_->returned(1, kEdge, 3);
  EXPECT_EQ(near_.lent(), 2u) << "that is not who has it";
  world_->returned(1, kEdge, kPeer);
  EXPECT_EQ(near_.lent(), 1u);
  world_->returned(1, kEdge, kPeer);
  EXPECT_EQ(near_.lent(), 1u);
  world_->consumed(2, kEdge, kPeer);
  EXPECT_EQ(near_.lent(), 0u);
}

TEST_F(HostLoans, ACutTakesBackWhatIsKept) {
  make();
  world_->armed(1, kEdge, kPeer, true);
  world_->consumed(1, kEdge, kPeer, true);
  ASSERT_EQ(near_.lent(), 1u);

  world_->core.cut_edges(kPeer + 1, 1, {StatusCode::kHostLost, "somebody else"});
  EXPECT_EQ(near_.lent(), 1u);
  world_->core.cut_edges(kPeer, 1, {StatusCode::kHostLost, "it is gone"});
  EXPECT_EQ(near_.lent(), 0u);
}

// ---- The receiver's end ---------------------------------------------------------------------

class HostReads : public testing::Test {
 protected:
  HostReads() : HostReads(false) {}
  explicit HostReads(bool may_be_kept, std::uint64_t cost_ns = 0) {
    reader_.meet(kPeer, 1);
    world_.launch(1, receiver(cost_ns), {60});
    world_.admit(1);
    world_.place(1, 0, 1);
    world_.core.advance();
    world_.backend.holds_copies = true;
    auto* const value = lender_.lendable().data();
    const std::vector<float> row = HostWorld::row(41);
    std::memcpy(value, row.data(), kShardBytes);
    place_ = *lender_.lend(value, kShardBytes);
    const auto read = reader_.read(kPeer, place_);
    transport::Payload payload{read->base, kShardBytes, nullptr};
    payload.loan = read->loan;
    payload.may_be_kept = may_be_kept;
    world_.bulk.offer_edge(1, kEdge, std::move(payload));
    world_.said();
    world_.delivered(1, kEdge, kPeer);
    first_words_ = world_.said();
  }

  SharedRegion region_ = make_region();
  NearMemory lender_{region_, [](HostId, std::uint32_t, const auto&) {}};
  NearMemory reader_{SharedRegion(),
                     [this](HostId, std::uint32_t, const auto& done) { done(region_); }};
  HostWorld world_{1, 1 << 20, 0, nullptr, {}, 1, &reader_};
  NearMemory::Place place_;
  std::string first_words_;  // When it was delivered.
};

class HostKeeps : public HostReads {
 protected:
  HostKeeps() : HostReads(true) {}
};
class HostKeepsLong : public HostReads {
 protected:
  HostKeepsLong() : HostReads(true, kSlow) {}
};

TEST_F(HostReads, WhatIsLentIsUsedAsIfItHadBeenSent) {
  world_.end_copy();

  EXPECT_EQ(world_.said(), "consumed 1.7 to 1, gangs 1 0-1");
  world_.fetch(60, 3);
  EXPECT_EQ(world_.answers(), "3: 42");
}

TEST_F(HostReads, WhatIsTakenBackWhileItIsReadIsLost) {
  lender_.take_back(place_);
  world_.end_copy();

  EXPECT_EQ(world_.said(),
            "consumed 1.7 to 1, gangs 1 0-1, failed 1 INPUT_LOST: edge 7 from island 1 was taken "
            "back by its sender");
}

TEST_F(HostKeeps, WhatItOnlyReadsWhereItLiesUntilItsGangsAreDone) {
  EXPECT_EQ(first_words_, "consumed 1.7 (keeps) to 1, returned 1.7 to 1, gangs 1 0-1");
  world_.fetch(60, 3);
  EXPECT_EQ(world_.answers(), "3: 42");
}

TEST_F(HostKeepsLong, AGangThatStillRunsKeepsIt) {
  EXPECT_EQ(first_words_, "consumed 1.7 (keeps) to 1");
  world_.end_gang();
  EXPECT_EQ(world_.said(), "returned 1.7 to 1, gangs 1 0-1");
  world_.fetch(60, 3);
  EXPECT_EQ(world_.answers(), "3: 42");
}

TEST_F(HostKeepsLong, WhatWasTakenBackWhileAGangReadItIsLost) {
  lender_.take_back(place_);
  world_.end_gang();
  EXPECT_EQ(world_.said(),
            "returned 1.7 to 1, gangs 1 0-1, failed 1 INPUT_LOST: edge 7 from island 1 was taken "
            "back by its sender");
}

TEST(HostReadsNoMore, ThanWasLent) {
  HostWorld world(2);
  PartMaker part(2, {0, 1});
  const std::uint32_t in = part.receive(kEdge, kPeer);
  part.gang({in}, {part.output()});
  world.launch(1, part, {60});
  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();
  ASSERT_TRUE(world.core.awaits_edge(1, kEdge));
  const auto check = [&world](std::uint64_t bytes, std::uint64_t stride) {
    return world.core.check_edge(1, kEdge, bytes, stride).code();
  };

  EXPECT_EQ(check(2 * kShardBytes, kShardBytes), StatusCode::kOk);
  EXPECT_EQ(check(3 * kShardBytes, 2 * kShardBytes), StatusCode::kOk);
  EXPECT_EQ(check(2 * kShardBytes - 1, kShardBytes), StatusCode::kProtocolError);
  EXPECT_EQ(check(2 * kShardBytes, kShardBytes - 1), StatusCode::kProtocolError) << "they overlap";
  EXPECT_EQ(check(2 * kShardBytes, 2 * kShardBytes), StatusCode::kProtocolError);
  EXPECT_EQ(check(2 * kShardBytes, ~std::uint64_t{0}), StatusCode::kProtocolError);
  EXPECT_EQ(check(0, 0), StatusCode::kProtocolError);
}

}  // namespace
}  // namespace seaway::device
