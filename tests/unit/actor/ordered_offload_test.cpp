// What waits for work on another thread: in order, up to a limit.

#include "actor/ordered_offload.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/actor/recorder.hpp"

namespace seaway::actor {
namespace {

using Said = std::vector<std::string>;

/// A role for which numbers above kWork mean work. What it offloads runs in end_next().
class OrderedOffloadTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kWork = 100;
  static constexpr std::size_t kFramesMax = 3;

  void hear(std::uint64_t number) { receive(number_frame(number)); }
  void receive(const Frame& frame) {
    if (offload_.is_busy()) return offload_.hold(frame);
    const std::string name = std::to_string(number_of(frame));
    if (number_of(frame) < kWork) return said_.push_back(name);
    offload_.begin([this, name, held = std::make_shared<int>()] {
      ++works_;
      held_ = held;
      return [this, name, held] { said_.push_back("made " + name); };
    });
  }
  void end_next() {
    const auto [work, then] = std::move(offloaded_.front());
    offloaded_.pop_front();
    work();
    then();
  }

  std::deque<std::pair<std::function<void()>, std::function<void()>>> offloaded_;
  Said said_;
  int works_ = 0, idles_ = 0;
  std::weak_ptr<int> held_;  // By the work of which idle() is told, and by what it has made.
  OrderedOffload offload_{
      {.offload = [this](auto work, auto then) { offloaded_.emplace_back(work, then); },
       .held = {.frames = kFramesMax}},
      [this](const Frame& frame) { receive(frame); },
      [this] {
        ++idles_;
        EXPECT_TRUE(offload_.is_busy() || held_.expired());
      }};
};

TEST_F(OrderedOffloadTest, FramesWaitForTheWorkBeforeThem) {
  hear(1);
  hear(101);
  hear(2);
  hear(102);
  hear(3);
  EXPECT_EQ(said_, Said{"1"});

  end_next();
  EXPECT_EQ(said_, (Said{"1", "made 101", "2"}));
  EXPECT_EQ(idles_, 1);
  EXPECT_TRUE(offload_.is_busy());
  end_next();
  EXPECT_EQ(said_, (Said{"1", "made 101", "2", "made 102", "3"}));
  EXPECT_FALSE(offload_.is_busy());
}

TEST_F(OrderedOffloadTest, DoesTheWorkAtOnceWhenTooMuchWaits) {
  hear(101);
  for (std::uint64_t number = 1; number <= kFramesMax; ++number) hear(number);
  EXPECT_EQ(said_, Said{});
  hear(4);
  EXPECT_EQ(said_, (Said{"made 101", "1", "2", "3", "4"}));
  EXPECT_FALSE(offload_.is_busy());

  EXPECT_EQ(idles_, 0);
  end_next();  // It has gone on elsewhere, for nobody.
  EXPECT_EQ(idles_, 1);
  EXPECT_EQ(said_.size(), 5u);
  EXPECT_EQ(works_, 2);
}

TEST_F(OrderedOffloadTest, WhatIsLeftOfEarlierWorkDoesNotEndTheNext) {
  hear(101);
  for (std::uint64_t number = 1; number <= kFramesMax + 1; ++number) hear(number);
  hear(102);

  end_next();
  EXPECT_EQ(said_.back(), "4");
  EXPECT_TRUE(offload_.is_busy());
  end_next();
  EXPECT_EQ(said_.back(), "made 102");
}

TEST_F(OrderedOffloadTest, KeepsTheOrderWhenWorkIsAmongWhatWaits) {
  hear(101);
  hear(102);
  for (std::uint64_t number = 1; number <= 6; ++number) hear(number);

  while (!offloaded_.empty()) end_next();

  EXPECT_EQ(said_, (Said{"made 101", "made 102", "1", "2", "3", "4", "5", "6"}));
}

TEST(HeldFrames, RefusesAboveItsLimitsWithTheNumbers) {
  HeldFrames frames({.frames = 2, .bytes = 20});
  EXPECT_TRUE(frames.hold(number_frame(1)).ok());
  EXPECT_TRUE(frames.hold(number_frame(2)).ok());
  const Status status = frames.hold(number_frame(3));
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "3 frames of 24 bytes are held; the limits are 2 and 20");
  frames.drop_if([](const Frame& frame) { return number_of(frame) == 1; });
  EXPECT_EQ(number_of(frames.pop()), 2u);
  EXPECT_TRUE(frames.hold(number_frame(4)).ok());

  HeldFrames taken = frames.take();
  EXPECT_TRUE(frames.empty());
  EXPECT_EQ(number_of(taken.pop()), 3u);
  EXPECT_EQ(number_of(taken.front()), 4u);
}

}  // namespace
}  // namespace seaway::actor
