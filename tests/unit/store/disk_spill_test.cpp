// The real file: arrays go and come back on threads of their own, and nothing is left of them.

#include "store/disk_spill.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actor/control_engine.hpp"
#include "base/clock.hpp"

namespace seaway::store {
namespace {

class DiskSpills : public testing::Test {
 protected:
  DiskSpills() {
    spill_ = std::make_unique<DiskSpill>(*engine_, UnnamedFile::make(testing::TempDir()).value());
  }
  ~DiskSpills() override {
    spill_.reset();
    engine_->stop();
  }

  std::shared_ptr<SpillJob> job(std::vector<std::byte>& bytes, std::vector<Extent> extents,
                                std::size_t shards, std::uint64_t used) {
    const std::size_t stride = bytes.size() / shards;
    auto made = std::make_shared<SpillJob>();
    made->array = 7;
    made->shards = deal_shards(extents, bytes.data(), stride, shards, used, stride);
    return made;
  }
  Status run(bool is_write, const std::shared_ptr<SpillJob>& job) {
    std::atomic<bool> is_done = false;
    Status outcome;
    engine_->post([&] {
      const auto done = [&](const Status& status) {
        outcome = status;
        is_done = true;
        engine_->notify();
      };
      is_write ? spill_->write(job, done) : spill_->read(job, done);
    });
    engine_->wait([&is_done] { return is_done.load(); }, 0);
    return outcome;
  }

  RealClock clock_;
  std::unique_ptr<actor::Engine> engine_ = actor::make_control_engine(clock_);
  std::unique_ptr<DiskSpill> spill_;
};

TEST_F(DiskSpills, GiveBackShardsThatWereDealtToSeveralPlaces) {
  std::vector<std::byte> bytes(3 * 128), back(3 * 128);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const std::vector<Extent> extents = {{1000, 50}, {0, 100}, {5000, 234}};
  const auto out = job(bytes, extents, 3, 100), in = job(back, extents, 3, 100);

  ASSERT_TRUE(run(true, out).ok());
  ASSERT_TRUE(run(false, in).ok());

  for (std::size_t shard = 0; shard < 3; ++shard) {
    EXPECT_EQ(out->shards[shard].sum, in->shards[shard].sum);
    EXPECT_TRUE(std::ranges::equal(out->shards[shard].bytes, in->shards[shard].bytes));
    EXPECT_EQ(back[shard * 128 + 100], std::byte{0}) << "what it is rounded up by is not moved";
  }
}

TEST_F(DiskSpills, ShowABitThatHasChangedByItsSum) {
  std::vector<std::byte> bytes(64, std::byte{1}), other(64, std::byte{1}), back(64);
  other[10] = std::byte{3};
  const auto out = job(bytes, {{0, 64}}, 1, 64), changed = job(other, {{0, 64}}, 1, 64);
  const auto in = job(back, {{0, 64}}, 1, 64);

  ASSERT_TRUE(run(true, out).ok());
  ASSERT_TRUE(run(true, changed).ok());
  ASSERT_TRUE(run(false, in).ok());

  EXPECT_NE(in->shards[0].sum, out->shards[0].sum);
}

TEST_F(DiskSpills, EndAWriteThatNobodyNeeds) {
  std::vector<std::byte> bytes(64);
  const auto out = job(bytes, {{0, 64}}, 1, 64);
  out->is_cancelled = true;

  EXPECT_EQ(run(true, out).code(), StatusCode::kCancelled);
}

TEST_F(DiskSpills, CallNobodyOnceTheyAreClosed) {
  auto bytes = std::make_unique<std::vector<std::byte>>(std::size_t{1} << 22);
  const auto out = job(*bytes, {{0, bytes->size()}}, 1, bytes->size());
  std::atomic<bool> is_closed = false, is_called = false;
  engine_->post([&] {
    spill_->write(out, [&is_called](const Status&) { is_called = true; });
    spill_->close();
    is_closed = true;
    engine_->notify();
  });
  engine_->wait([&is_closed] { return is_closed.load(); }, 0);
  bytes.reset();
  std::atomic<bool> is_behind = false;
  engine_->post([&] {
    is_behind = true;
    engine_->notify();
  });
  engine_->wait([&is_behind] { return is_behind.load(); }, 0);

  EXPECT_FALSE(is_called);
}

}  // namespace
}  // namespace seaway::store
