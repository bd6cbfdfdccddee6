// An annex alone: what it refuses, what it forgets, and how it hears of both.

#include "device/annex_core.hpp"

#include "unit/device/spread_world.hpp"

namespace seaway::device {
namespace {

TEST(AnnexCore, RefusesWhatItsHostNeverAsksFor) {
  ManualClock clock;
  FakeBackend backend(clock);
  AnnexCore annex(1, backend);
  annex.add_function(1, std::make_shared<SumKernel>(1, 1));
  ASSERT_TRUE(annex.follow(MakeRoom{5, 2, 2, 128}).ok());

  const RoomRange inside{5, 2, 2, 64, 64};
  const std::vector<HostShare> hosts = {{0, 0, 2}, {1, 2, 4}};
  EXPECT_TRUE(annex.follow(WriteRoom{inside, std::vector<std::byte>(128)}).ok());
  for (const AnnexOrder& order : std::vector<AnnexOrder>{
           MakeRoom{5, 2, 2, 128},
           DropRoom{6},
           WriteRoom{inside, std::vector<std::byte>(127)},
           ReadRoom{1, {6, 2, 2, 0, 1}},
           ReadRoom{1, {5, 1, 2, 0, 1}},
           ReadRoom{1, {5, 2, 3, 0, 1}},
           ReadRoom{1, {5, 2, 2, 65, 64}},
           ReadRoom{1, {5, 2, 0xffffffff, 0, 1}},
           ReadRoom{1, {5, 2, 2, 0xffffffffffffffff, 2}},
           RunGang{1, 1, 2, false, hosts, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, hosts, {}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {{0, 0, 2}}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {{0, 0, 2}, {1, 2, 2}}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {{0, 0, 2}, {1, 2, 5}}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {{0, 0, 1}, {1, 1, 4}}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {{0, 0, 1}, {1, 2, 4}}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {{1, 0, 2}, {1, 2, 4}}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, {{2, 0, 2}, {1, 2, 4}}, {{5, 0}}, {{5, 64}}, {}},
           RunGang{1, 1, 1, false, hosts, {{5, 0}}, {{5, 65}}, {}},
           RunGang{1, 1, 1, false, hosts, {{5, 0}}, {{5, 64}}, {}, 0, {}, 1},
           RunGang{1, 1, 1, false, hosts, {{5, 0}}, {{5, 64}}, {}, 0, {}, 2}}) {
    EXPECT_EQ(annex.follow(order).code(), StatusCode::kProtocolError) << order.index();
  }
  EXPECT_EQ(annex.follow(MakeRoom{7, 0, 1u << 31, std::uint64_t{1} << 40}).code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(annex.answers().empty());
}

/// As the host says of its function, and as the annex has compiled it.
TEST(AnnexCore, RefusesAGangWhoseCollectivesAreOverOtherShards) {
  ManualClock clock;
  FakeBackend backend(clock);
  AnnexCore annex(1, backend);
  ASSERT_TRUE(annex.follow(MakeRoom{5, 2, 2, 64}).ok());
  const std::vector<HostShare> hosts = {{0, 0, 2}, {1, 2, 4}};

  for (const std::size_t shards : {3u, 5u}) {
    annex.add_function(shards, std::make_shared<TotalKernel>(shards));
    const RunGang gang{1, 1, shards, false, hosts, {{5, 0}}, {{5, 0}}, {}};
    EXPECT_EQ(annex.follow(gang).code(), StatusCode::kProtocolError) << shards;
  }
}

/// Adds TotalKernel as function 1 and room 5, and starts a gang of two hosts whose stage the
/// backend holds.
RunGang start_held_gang(AnnexCore& annex, FakeBackend& backend, std::vector<ReadRoom> reads = {}) {
  backend.holds_stages = true;
  annex.add_function(1, std::make_shared<TotalKernel>());
  EXPECT_TRUE(annex.follow(MakeRoom{5, 2, 2, 128}).ok());
  const std::vector<HostShare> hosts = {{0, 0, 2}, {1, 2, 4}};
  RunGang gang{1, first_gang_of(1) + 1, 1, false, hosts, {{5, 0}}, {{5, 64}}, {},
               0, std::move(reads)};
  EXPECT_TRUE(annex.follow(gang).ok());
  EXPECT_EQ(backend.stages(), 1u);
  return gang;
}

TEST(AnnexCore, ForgetsAllForItsNextHost) {
  ManualClock clock;
  FakeBackend backend(clock);
  AnnexCore annex(1, backend);
  annex.add_function(1, std::make_shared<SumKernel>(0, 1));
  ASSERT_TRUE(annex.follow(MakeRoom{5, 0, 1, 64}).ok());
  ASSERT_TRUE(annex.follow(RunGang{1, 1, 1, false, {{1, 0, 1}}, {}, {{5, 0}}, {}}).ok());
  EXPECT_EQ(annex.answers().size(), 1u);

  annex.begin_anew(2);

  EXPECT_TRUE(annex.answers().empty());
  EXPECT_EQ(annex.room_count(), 0u);
  EXPECT_EQ(annex.function_count(), 0u);
  EXPECT_TRUE(annex.follow(MakeRoom{5, 0, 1, 64}).ok());
}

TEST(AnnexCore, HearsNothingOfGangsThatComputeForAHostThatIsGone) {
  ManualClock clock;
  FakeBackend backend(clock);
  AnnexCore annex(1, backend);
  const RunGang gang = start_held_gang(annex, backend);

  annex.begin_anew(2);
  EXPECT_GT(annex.used_bytes(), 0u);  // It is at work there.
  backend.end_stage();

  EXPECT_EQ(annex.used_bytes(), 0u);
  EXPECT_TRUE(annex.exchanges().is_quiet());
  EXPECT_TRUE(annex.exchanges().outbox().empty());
  EXPECT_TRUE(annex.answers().empty());
  // No gang of that host begins any more.
  annex.add_function(1, std::make_shared<TotalKernel>());
  ASSERT_TRUE(annex.follow(MakeRoom{5, 2, 2, 128}).ok());
  EXPECT_EQ(annex.follow(gang).code(), StatusCode::kProtocolError);
}

TEST(AnnexCore, FreesMemoryOfHeldGangAtItsEnd) {
  ManualClock clock;
  FakeBackend backend(clock);
  {
    AnnexCore annex(1, backend);
    start_held_gang(annex, backend, {{2, {5, 2, 2, 64, 64}}});
  }  // SlabCache checks that no slab is left.
  EXPECT_EQ(backend.stages(), 1u);
}

TEST(AnnexCore, ReportsCopiesWhileAnOldGangRuns) {
  const Planes planes;
  transport::NearMemory &own = planes.planes->second_memory, &its = planes.planes->first_memory;
  own.meet(actor::data_peer_of(0, 0), 1);
  ManualClock clock;
  FakeBackend backend(clock);
  AnnexCore annex(1, backend, &own, nullptr,
                  [](std::uint32_t host) { return actor::data_peer_of(0, host); });
  start_held_gang(annex, backend);
  annex.begin_anew(2);
  annex.answers().clear();  // `news.reads` has changed.

  ASSERT_TRUE(annex.follow(MakeRoom{6, 2, 1, 64}).ok());
  const LentShards lent{*its.lend(its.lendable().data(), 64), 64};
  ASSERT_TRUE(annex.follow(WriteRoom{{6, 2, 1, 0, 64}, {}, lent}).ok());

  ASSERT_EQ(annex.answers().size(), 1u);
  EXPECT_EQ(annex.answers()[0].news.taken, 1u);
}

TEST(AnnexCodec, SplitsWhatIsLargeIntoFramesInOrder) {
  std::vector<AnnexOrder> orders;
  for (std::uint64_t i = 0; i < 5; ++i) {
    orders.emplace_back(WriteRoom{{i, 0, 1, 0, kAnnexFrameBytes / 2 + 1},
                                  std::vector<std::byte>(kAnnexFrameBytes / 2 + 1, std::byte(i))});
    orders.emplace_back(DropRoom{i});
  }
  const std::vector<Frame> frames = encode_orders(orders);
  EXPECT_EQ(frames.size(), 5u);
  std::uint64_t next = 0;
  for (const Frame& frame : frames) {
    auto decoded = decode_orders(frame);
    ASSERT_TRUE(decoded.ok());
    for (const AnnexOrder& order : *decoded) {
      const auto* const write = std::get_if<WriteRoom>(&order);
      if (write) {
        EXPECT_EQ(write->range.room, next);
        EXPECT_EQ(write->data, std::get<WriteRoom>(orders[2 * next]).data);
      } else {
        EXPECT_EQ(std::get<DropRoom>(order).room, next++);
      }
    }
  }
  EXPECT_EQ(next, 5u);
  EXPECT_FALSE(decode_answers(frames[0]).ok());
}

}  // namespace
}  // namespace seaway::device
