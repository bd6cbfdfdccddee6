// Two processes' data planes, with their threads, over connections that are cut and changed.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/random.hpp"
#include "transport/socket_data_plane.hpp"
#include "unit/transport/data_ends.hpp"
#include "unit/transport/scarce_system.hpp"

namespace seaway::transport {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::size_t kChunk = DataHeader::kChunkBytesMax;

/// What is posted to this thread.
class Posts {
 public:
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    works_.push_back(std::move(work));
    changed_.notify_one();
  }
  /// Works until then; false when a minute has passed.
  bool run(const std::function<bool()>& until) {
    const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!until()) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_until(lock, late, [this] { return !works_.empty(); })) return false;
        work = std::move(works_.front());
        works_.pop_front();
      }
      work();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> works_;
};

/// Processes 0 and 1, each of which dials the other.
class DataPlaneTest : public testing::Test {
 protected:
  void begin(SocketDataPlane::Options options = {}) {
    for (DataPeer self : {0u, 1u}) {
      planes_[self] = SocketDataPlane::make(clock_, options,
                                            {[this](auto work) { posts_.post(std::move(work)); },
                                             [this, self](DataPeer peer, const auto& done) {
                                               ++dials_;
                                               dial(self, peer, done);
                                             },
                                             [this] { ++progress_; }})
                          .value();
    }
  }
  void dial(DataPeer self, DataPeer peer, const SocketDataPlane::Calls::Dialed& done) {
    if (!why_unreachable_.ok()) return done(why_unreachable_);
    auto [one, other] = make_pair_of_sockets();
    done(Result<std::unique_ptr<DataSocket>>(std::move(one)));
    planes_[peer]->accept(self, std::make_unique<HarmedSocket>(std::move(other), next_harm()));
  }
  Harm next_harm() {
    if (!is_harmed_) return {};
    Harm harm;
    (draws_.below(2) == 0 ? harm.ends_behind : harm.flips_behind) = 1 + draws_.below(6 * kChunk);
    return harm;
  }

  /// Process 1 offers what process 0 fetches.
  std::shared_ptr<const std::vector<std::byte>> offer(DataKey key, std::size_t bytes) {
    auto value = std::make_shared<const std::vector<std::byte>>(make_value(key.id, bytes));
    planes_[1]->offer(0, key, source_of(value));
    return value;
  }
  struct Fetched {
    std::vector<std::byte> room;
    std::vector<Status> ends;
  };
  void fetch(DataKey key, Fetched& to, bool is_scattered = false) {
    planes_[0]->fetch(1, key, target_of(to.room, is_scattered),
                      [&to](Status status) { to.ends.push_back(std::move(status)); });
  }
  bool run(const Fetched& until) {
    return posts_.run([&until] { return !until.ends.empty(); });
  }

  RealClock clock_;
  Posts posts_;
  RandomStream draws_{1, 1};
  bool is_harmed_ = false;
  Status why_unreachable_;
  int dials_ = 0, progress_ = 0;
  std::array<std::unique_ptr<SocketDataPlane>, 2> planes_;
};

TEST_F(DataPlaneTest, AValueComesWholeAndItsMemoryIsGivenUpOnThisThread) {
  begin();
  auto value = offer({1, 2}, 5 * kChunk + 3);
  Fetched to{std::vector<std::byte>(value->size()), {}};
  fetch({1, 2}, to);
  ASSERT_TRUE(run(to));
  EXPECT_TRUE(to.ends[0].ok());
  EXPECT_EQ(to.room, *value);
  EXPECT_EQ(progress_, 1);
  EXPECT_EQ(planes_[1]->open(), 1u);
  planes_[1]->withdraw(0, {1, 2});
  EXPECT_EQ(planes_[1]->open() + planes_[0]->open(), 0u);
  EXPECT_TRUE(posts_.run([&] { return value.use_count() == 1; }));
}

TEST_F(DataPlaneTest, ValuesComeWholeOverConnectionsThatBreakAndChangeBits) {
  for (const std::uint32_t lanes : {1u, 3u}) {
    begin({.lanes = lanes});
    is_harmed_ = true;
    std::vector<std::shared_ptr<const std::vector<std::byte>>> values;
    std::vector<Fetched> rooms(12);
    for (std::uint32_t i = 0; i < rooms.size(); ++i) {
      values.push_back(offer({i, lanes}, 1 + draws_.below(20 * kChunk)));
      rooms[i].room.resize(values[i]->size());
    }
    for (std::uint32_t i = 0; i < rooms.size(); ++i) fetch({i, lanes}, rooms[i], i % 3 == 0);
    for (std::uint32_t i = 0; i < rooms.size(); ++i) {
      ASSERT_TRUE(run(rooms[i]));
      EXPECT_TRUE(rooms[i].ends[0].ok()) << rooms[i].ends[0].to_string();
      EXPECT_EQ(rooms[i].room, *values[i]) << i;
    }
    const DataPlane::Counts counts = planes_[0]->counts();
    EXPECT_GT(dials_, 2);
    EXPECT_GT(counts.reconnected, 0u);
    EXPECT_GT(counts.changed, 0u);
    planes_[0].reset();
    planes_[1].reset();
  }
}

TEST_F(DataPlaneTest, ALongValueIsDealtToAllLanes) {
  begin({.lanes = 4});
  auto value = offer({1, 0}, 64 * kChunk + 5);
  Fetched to{std::vector<std::byte>(value->size()), {}};
  fetch({1, 0}, to);
  ASSERT_TRUE(run(to));
  EXPECT_TRUE(to.ends[0].ok());
  EXPECT_EQ(to.room, *value);
  EXPECT_EQ(planes_[0]->counts().fetches, 4u);
  EXPECT_EQ(dials_, 4);
}

TEST_F(DataPlaneTest, WhatIsShorterFailsOnce) {
  begin({.lanes = 2});
  offer({1, 0}, 8 * kChunk);
  Fetched to{std::vector<std::byte>(64 * kChunk), {}};
  fetch({1, 0}, to);
  ASSERT_TRUE(run(to));
  EXPECT_EQ(to.ends[0].code(), StatusCode::kInputLost);
  EXPECT_EQ(to.ends.size(), 1u);
}

TEST_F(DataPlaneTest, WhatIsNotOfferedIsWaitedForAndThenGivenUp) {
  begin({.lane = {.give_up_ns = 300 * kMs}});
  Fetched never{std::vector<std::byte>(100), {}}, later{std::vector<std::byte>(100), {}};
  fetch({1, 0}, never);
  fetch({2, 0}, later);
  const auto value = offer({2, 0}, 100);
  ASSERT_TRUE(run(later));
  EXPECT_EQ(later.room, *value);
  ASSERT_TRUE(run(never));
  EXPECT_EQ(never.ends[0].to_string(),
            "HOST_LOST: process 1 has sent 0 of 100 bytes, and nothing more for 300 ms; "
            "INPUT_LOST: it is not offered");
}

TEST_F(DataPlaneTest, WhatIsCancelledEndsOnceAndIsNotWrittenBehindThat) {
  begin();
  for (int i = 0; i < 50; ++i) {
    const DataKey key{static_cast<std::uint64_t>(i), 0};
    const auto value = offer(key, 40 * kChunk);
    const std::uint64_t before = planes_[0]->counts().bytes;
    auto to = std::make_unique<Fetched>();
    to->room.resize(value->size());
    fetch(key, *to);
    // Within it, and at its very begin.
    const std::uint64_t part = before + static_cast<std::uint64_t>(i / 2) * kChunk;
    while (i % 2 == 0 && planes_[0]->counts().bytes < part) std::this_thread::yield();
    planes_[0]->cancel(1, key);
    planes_[0]->cancel(1, key);
    ASSERT_TRUE(run(*to));
    if (!to->ends[0].ok()) {
      EXPECT_EQ(to->ends[0].code(), StatusCode::kCancelled);
    }
    // Its room goes: whoever writes there now is found out by a sanitizer.
    planes_[1]->withdraw(0, key);
  }
  planes_[0]->cancel(1, {99, 99});
}

TEST_F(DataPlaneTest, WhoIsNotReachedIsGivenUpWithTheReason) {
  begin({.lane = {.give_up_ns = 300 * kMs, .again_ns = 100 * kMs, .dial_ns_max = 20 * kMs}});
  why_unreachable_ = Status(StatusCode::kHostLost, "cannot reach tcp:there:1");
  Fetched to{std::vector<std::byte>(100), {}};
  fetch({1, 0}, to);
  ASSERT_TRUE(run(to));
  EXPECT_EQ(to.ends[0].to_string(),
            "HOST_LOST: process 1 has sent 0 of 100 bytes, and nothing more for 300 ms; "
            "HOST_LOST: cannot reach tcp:there:1");
  EXPECT_GT(dials_, 3);
}

TEST_F(DataPlaneTest, WhoIsReachedInTheEndIsReadFrom) {
  begin({.lane = {.dial_ns_max = 20 * kMs}});
  why_unreachable_ = Status(StatusCode::kHostLost, "not yet");
  const auto value = offer({1, 0}, 100);
  Fetched to{std::vector<std::byte>(100), {}};
  fetch({1, 0}, to);
  ASSERT_TRUE(posts_.run([this] { return dials_ == 3; }));
  why_unreachable_ = {};
  ASSERT_TRUE(run(to));
  EXPECT_EQ(to.room, *value);
}

TEST_F(DataPlaneTest, ASilentConnectionIsReplaced) {
  begin({.lane = {.again_ns = 100 * kMs}});
  auto [silent, nobody] = make_pair_of_sockets();
  planes_[0]->accept(1, std::move(silent));
  const auto value = offer({1, 0}, 3 * kChunk);
  Fetched to{std::vector<std::byte>(value->size()), {}};
  fetch({1, 0}, to);
  ASSERT_TRUE(run(to));
  EXPECT_TRUE(to.ends[0].ok());
  EXPECT_EQ(to.room, *value);
  EXPECT_EQ(dials_, 1);
}

TEST_F(DataPlaneTest, APlaneThatEndsTellsNobody) {
  begin();
  Fetched to{std::vector<std::byte>(8 * kChunk), {}};
  offer({1, 0}, to.room.size());
  fetch({1, 0}, to);
  planes_[0].reset();
  planes_[1].reset();
  bool is_last = false;
  posts_.post([&is_last] { is_last = true; });
  EXPECT_TRUE(posts_.run([&is_last] { return is_last; }));
  EXPECT_TRUE(to.ends.empty());
}

SocketDataPlane::Calls no_calls() {
  return {[](const auto&) {}, [](DataPeer, const auto&) {}, [] {}};
}

TEST(DataPlane, IsMadeOrSaysWhatTheSystemHasNot) {
  const RealClock clock;
  const std::size_t before = descriptors();

  const std::size_t needed = expect_refusals_below_what_it_needs(
      [&clock] { return SocketDataPlane::make(clock, {.lanes = 2}, no_calls()); });

  EXPECT_EQ(needed, 4u);
  EXPECT_EQ(descriptors(), before);
}

TEST(DataPlane, IsNotMadeWithoutAThread) {
  const auto make = [] {
    have_no_more_threads();
    const RealClock clock;
    const auto made = SocketDataPlane::make(clock, {}, no_calls());
    std::_Exit(made.status().code() == StatusCode::kResourceExhausted ? 7 : 1);
  };

  EXPECT_EXIT(make(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace seaway::transport
