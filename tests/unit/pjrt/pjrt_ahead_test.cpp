// The gang behind the one that runs on the control thread, enqueued before that one has ended: what
// it reads, and what becomes of it when one of the two fails, is forgotten or meets the end.

#include <thread>

#include "unit/pjrt/pjrt_world.hpp"

namespace seaway::pjrt {
namespace {

using device::ConformingGang;
using device::ForeseenGang;
using device::GangEnd;
using device::GangWork;

constexpr std::uint64_t kLongNs = 3'600'000'000'000;

/// Twice x + x: the second gang doubles what the first one makes.
class PjrtAheadTest : public ::testing::Test {
 protected:
  explicit PjrtAheadTest(InputWay way = InputWay::kLent,
                         PjrtBackend::Limits limits = {.here_ns = kLongNs,
                                                       .here_alone_ns = kLongNs,
                                                       .ahead_ns = 0})
      : world_(std::make_unique<PjrtWorld>(way, limits)),
        executable_(world_->compile(doubling(), {}).value()),
        first_(executable_, {0}),
        second_(executable_, {0}) {
    first_.buffers().operand(0).set<float>(0, {1, 2, 3, 4});
    made_ = {first_.buffers().output(0).view()};
  }

  /// Until it is known how long one takes.
  void warm_up() {
    for (int i = 0; i < 8; ++i) {
      ConformingGang gang(executable_, {0});
      ASSERT_TRUE(gang.run(*world_).status.ok());
    }
    is_warm_ = fake().calls(abi::Call::kLoadedExecutableExecute);
  }
  std::size_t executes() const {
    return fake().calls(abi::Call::kLoadedExecutableExecute) - is_warm_;
  }
  GangWork work_of_first(bool is_alone = true) {
    GangWork work = first_.work();
    work.stamp = 1;
    work.is_alone = is_alone;
    return work;
  }
  /// Gang `stamp`, which reads what the first makes.
  GangWork work_behind_first(ConformingGang& gang, Stamp stamp) {
    GangWork work = gang.work();
    work.stamp = stamp;
    work.is_alone = true;
    work.operands = made_;
    return work;
  }
  GangWork work_of_second() { return work_behind_first(second_, 2); }
  /// Starts the first, behind which the second stands.
  void start_first() {
    GangWork first = work_of_first();
    ASSERT_TRUE(backend().looks_ahead(first));
    const std::vector<function::ShardedBuffer> nowhere(1);
    const std::vector<ForeseenGang::Source> sources = {{.places_ahead = 1}};
    ForeseenGang next{.work = work_of_second(), .sources = sources};
    next.work.operands = nowhere;
    next.work.outputs = {};
    first.next = &next;
    backend().start(first, 1000, [this](GangEnd end) { add(std::move(end)); });
  }
  /// What a host does in one turn: starts the first, and then the second or not. The ends may come
  /// later only if somebody holds them.
  void take_turn(bool begins = true) {
    start_first();
    if (begins) {
      backend().start(work_of_second(), 1000, [this](GangEnd end) { add(std::move(end)); });
    } else {
      backend().forget_next();
      is_forgotten_early_ = !is_complete_;
    }
  }
  void take_turn_on_control(bool begins = true) {
    world_->on_control([&] { take_turn(begins); });
  }
  void add(GangEnd end) {
    ends_.push_back(std::move(end));
    ++ended_;
    world_->engine().notify();
  }
  /// Posts a turn: it blocks the control thread until what is held is complete.
  void post_turn(bool begins = true) {
    world_->engine().post([this, begins] {
      take_turn(begins);
      has_turned_ = true;
      world_->engine().notify();
    });
  }
  /// The same, up to where the plugin has both and holds the first.
  void post_held_turn(bool begins = true) {
    warm_up();
    fake().hold();
    post_turn(begins);
    fake().wait_for_held(1);
    while (executes() < 2) std::this_thread::yield();
  }
  void wait_for_turn() {
    world_->wait([&] { return has_turned_.load(); });
  }
  void wait_for_ends(std::size_t count) {
    world_->wait([&] { return ended_ >= count; });
  }
  std::vector<float> result() { return second_.buffers().output(0).get<float>(0); }
  PjrtBackend& backend() { return world_->backend(); }
  FakePlugin& fake() const { return world_->fake(); }
  PjrtWorld& world() { return *world_; }
  ConformingGang& first() { return first_; }
  const std::shared_ptr<const function::Executable>& executable() { return executable_; }
  const PjrtExecutable& code() { return dynamic_cast<const PjrtExecutable&>(*executable_); }

  std::vector<GangEnd> ends_;  // Of the control thread; read behind their count.
  std::atomic<std::size_t> ended_ = 0;
  std::atomic<bool> is_complete_ = false;  // Set before the plugin ends the second.
  bool is_forgotten_early_ = false;        // Of the control thread; read behind its turn.

 private:
  std::unique_ptr<PjrtWorld> world_;
  std::shared_ptr<const function::Executable> executable_;
  ConformingGang first_, second_;
  std::vector<function::ShardedBuffer> made_;
  std::size_t is_warm_ = 0;
  std::atomic<bool> has_turned_ = false;
};

const std::vector<float> kTwiceDoubled = {4, 8, 12, 16};

TEST_F(PjrtAheadTest, TheSecondIsWithThePluginBeforeTheFirstHasEnded) {
  post_held_turn();
  const std::size_t ended = ended_;
  fake().complete(0);
  fake().wait_for_held(1);
  fake().complete(0);
  wait_for_ends(2);

  EXPECT_EQ(ended, 0u);
  EXPECT_EQ(executes(), 2u);
  for (const GangEnd& end : ends_) EXPECT_TRUE(end.status.ok()) << end.status.to_string();
  EXPECT_EQ(first().buffers().output(0).get<float>(0), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(result(), kTwiceDoubled);
}

TEST_F(PjrtAheadTest, BothEndWhereTheyAreStarted) {
  warm_up();

  std::size_t ended = 0;
  world().on_control([&] {
    take_turn();
    ended = ended_;
  });

  EXPECT_EQ(ended, 2u);
  EXPECT_EQ(executes(), 2u);
  EXPECT_EQ(result(), kTwiceDoubled);
  // So that its tenant is charged for all of the device's time.
  EXPECT_EQ(ends_[1].begin_ns, ends_[0].end_ns);
  EXPECT_LE(ends_[1].begin_ns, ends_[1].end_ns);
}

TEST_F(PjrtAheadTest, WhatOneHoldsThatWasAheadIsWhatItHasRead) {
  warm_up();
  function::TestBuffer near(16, 1), far(16, 1);
  near.set<float>(0, {5, 6, 7, 8});
  far.set<float>(0, {10, 20, 30, 40});
  const std::vector<function::ShardedBuffer> of_second = {near.view()}, of_third = {far.view()};
  ConformingGang third(executable(), {0});

  world().on_control([&] {
    std::vector<function::ShardedBuffer> list = of_second;
    const std::vector<ForeseenGang::Source> sources(1);
    ForeseenGang next{.work = work_of_second(), .sources = sources};
    next.work.operands = list;
    next.work.outputs = {};
    GangWork told = work_of_first();
    told.next = &next;
    backend().start(told, 1000, [this](GangEnd end) { add(std::move(end)); });
    // The list is a host's, which tells of the next one in it.
    list = of_third;
    GangWork second = work_of_second();
    second.operands = of_second;
    second.may_hold_operands = true;
    backend().start(second, 1000, [this](GangEnd end) { add(std::move(end)); });
    GangWork last = third.work();
    last.operands = of_third;
    last.is_alone = true;
    backend().start(last, 1000, [this](GangEnd end) { add(std::move(end)); });
  });
  wait_for_ends(3);

  EXPECT_EQ(result(), (std::vector<float>{10, 12, 14, 16}));
  EXPECT_EQ(third.buffers().output(0).get<float>(0), (std::vector<float>{20, 40, 60, 80}));
  ends_.clear();  // What is held goes before the memory that it is of.
}

/// Behind the first the second, which reads what that makes, and a third that reads it as well.
class PjrtFurtherAheadTest : public PjrtAheadTest {
 protected:
  PjrtFurtherAheadTest() : third_(executable(), {0}) { warm_up(); }
  GangWork work_of_third() { return work_behind_first(third_, 3); }
  void start_all_told(std::uint32_t place_of_third = 2) {
    const std::vector<function::ShardedBuffer> nowhere(1);
    const std::vector<ForeseenGang::Source> of_second = {{.places_ahead = 1}};
    const std::vector<ForeseenGang::Source> of_third = {{.places_ahead = 2}};
    ForeseenGang third{.work = work_of_third(), .place = place_of_third, .sources = of_third};
    ForeseenGang second{.work = work_of_second(), .sources = of_second};
    second.work.next = &third;
    for (ForeseenGang* one : {&second, &third}) {
      one->work.operands = nowhere;
      one->work.outputs = {};
    }
    GangWork first = work_of_first();
    first.next = &second;
    start(first);
  }
  void start(const GangWork& work) {
    backend().start(work, 1000, [this](GangEnd end) { add(std::move(end)); });
  }
  /// All three, to their ends; how many of them the plugin had when the first had ended.
  std::size_t run_all(std::uint32_t place_of_third = 2) {
    std::size_t had = 0;
    world().on_control([&] {
      start_all_told(place_of_third);
      had = executes();
      start(work_of_second());
      start(work_of_third());
    });
    wait_for_ends(3);
    for (const GangEnd& end : ends_) EXPECT_TRUE(end.status.ok()) << end.status.to_string();
    EXPECT_EQ(result(), kTwiceDoubled);
    EXPECT_EQ(third_result(), kTwiceDoubled);
    return had;
  }
  std::vector<float> third_result() { return third_.buffers().output(0).get<float>(0); }

 private:
  ConformingGang third_;
};

TEST_F(PjrtFurtherAheadTest, AllAreWithThePluginBehindTheFirstAndReadWhatStandsAheadOfThem) {
  EXPECT_EQ(run_all(), 3u);

  EXPECT_EQ(executes(), 3u);
  EXPECT_EQ(ends_[2].begin_ns, ends_[1].end_ns);
}

TEST_F(PjrtFurtherAheadTest, AllAreForgottenAtOnce) {
  const std::size_t alive = fake().alive();
  std::size_t left = 0;
  world().on_control([&] {
    start_all_told();
    backend().forget_next();
    left = fake().alive();
    start(work_of_second());
    start(work_of_third());
  });
  wait_for_ends(3);

  EXPECT_EQ(left, alive);
  EXPECT_EQ(executes(), 5u);
  EXPECT_EQ(third_result(), kTwiceDoubled);
}

TEST_F(PjrtFurtherAheadTest, NoneIsEnqueuedBehindOneThatDidNotGo) {
  fake().fail(abi::Call::kLoadedExecutableExecute, 2, abi::ErrorCode::kResourceExhausted, "full");

  EXPECT_EQ(run_all(), 2u);

  EXPECT_EQ(executes(), 4u);
}

TEST_F(PjrtFurtherAheadTest, NoneIsEnqueuedWhosePlaceCountsOthersThanThoseThatWent) {
  EXPECT_EQ(run_all(3), 2u);

  EXPECT_EQ(executes(), 3u);
}

TEST_F(PjrtAheadTest, OneThatIsForgottenLeavesNothingAndRunsLaterAsAnyOther) {
  warm_up();
  const std::size_t alive = fake().alive();

  take_turn_on_control(false);
  const std::size_t left = fake().alive();
  world().on_control([&] {
    backend().start(work_of_second(), 1000, [this](GangEnd end) { add(std::move(end)); });
  });
  wait_for_ends(2);

  EXPECT_EQ(left, alive);
  EXPECT_EQ(executes(), 3u);
  EXPECT_EQ(result(), kTwiceDoubled);
}

TEST_F(PjrtAheadTest, OneThatIsForgottenIsWaitedForSinceItReadsWhatOthersGetThen) {
  post_held_turn(false);
  fake().complete(0);
  wait_for_ends(1);
  fake().wait_for_held(1);
  is_complete_ = true;
  fake().complete(0);
  wait_for_turn();

  EXPECT_FALSE(is_forgotten_early_);
}

TEST_F(PjrtAheadTest, AFailureOfTheFirstIsItsOwnAndTheSecondsThatReadsIt) {
  post_held_turn();
  fake().complete(0, abi::ErrorCode::kInternal);
  fake().wait_for_held(1);
  fake().complete(0);
  wait_for_ends(2);

  EXPECT_EQ(ends_[0].status.code(), StatusCode::kUserFunctionError);
  EXPECT_EQ(ends_[1].status.code(), StatusCode::kUserFunctionError);
}

TEST_F(PjrtAheadTest, AFailureOfTheSecondsProgramIsTheSeconds) {
  post_held_turn();
  fake().complete(0);
  fake().wait_for_held(1);
  fake().complete(0, abi::ErrorCode::kInternal);
  wait_for_ends(2);

  EXPECT_TRUE(ends_[0].status.ok()) << ends_[0].status.to_string();
  EXPECT_EQ(ends_[1].status.code(), StatusCode::kUserFunctionError);
}

TEST_F(PjrtAheadTest, ASecondThatCannotBeEnqueuedAheadIsStartedWhenItsTurnComes) {
  warm_up();
  fake().fail(abi::Call::kLoadedExecutableExecute, 2, abi::ErrorCode::kResourceExhausted, "full");

  take_turn_on_control();
  wait_for_ends(2);

  EXPECT_EQ(executes(), 3u);
  for (const GangEnd& end : ends_) EXPECT_TRUE(end.status.ok()) << end.status.to_string();
  EXPECT_EQ(result(), kTwiceDoubled);
}

TEST_F(PjrtAheadTest, ADeviceThatRefusesTheFirstTwiceIsToldOfAndNothingIsAhead) {
  warm_up();
  const std::size_t alive = fake().alive();
  // One that does not go with the next one behind it is tried alone.
  for (const std::size_t nth : {1, 2}) {
    fake().fail(abi::Call::kLoadedExecutableExecute, nth, abi::ErrorCode::kResourceExhausted,
                "full");
  }

  take_turn_on_control(false);
  wait_for_ends(1);

  EXPECT_EQ(ends_[0].unlaunched_on, DeviceId{0});
  EXPECT_EQ(fake().alive(), alive);
}

TEST_F(PjrtAheadTest, ClosesBehindBothWhenTheEndComesMeanwhile) {
  post_held_turn();
  std::thread closer([&] { backend().close(); });
  fake().complete(0);
  fake().wait_for_held(1);
  fake().complete(0);
  closer.join();
  wait_for_turn();

  EXPECT_EQ(executes(), 2u);
}

TEST_F(PjrtAheadTest, WhatIsStillAheadEndsWithTheBackend) {
  warm_up();
  world().on_control([&] { start_first(); });
  wait_for_ends(1);
  ASSERT_EQ(executes(), 2u);
  const std::size_t alive = fake().alive();

  backend().close();

  EXPECT_LT(fake().alive(), alive);
}

TEST_F(PjrtAheadTest, LooksAheadOfNoneThatIsNotAloneOrHasSeveralShards) {
  warm_up();
  ConformingGang wide(executable(), {0, 1});
  GangWork two = wide.work();
  two.is_alone = true;

  world().on_control([&] {
    EXPECT_TRUE(backend().looks_ahead(work_of_first()));
    EXPECT_FALSE(backend().looks_ahead(work_of_first(false)));
    EXPECT_FALSE(backend().looks_ahead(two));
  });
}

TEST_F(PjrtAheadTest, LooksAheadOfNoneWhoseTimeIsNotKnown) {
  world().on_control([&] { EXPECT_FALSE(backend().looks_ahead(work_of_first())); });
}

class ShortPjrtAheadTest : public PjrtAheadTest {
 protected:
  ShortPjrtAheadTest()
      : PjrtAheadTest(InputWay::kLent,
                      {.here_ns = kLongNs, .here_alone_ns = kLongNs, .ahead_ns = kLongNs}) {}
};

TEST_F(ShortPjrtAheadTest, LooksAheadOfNoneThatIsTooShortForIt) {
  warm_up();

  world().on_control([&] { EXPECT_FALSE(backend().looks_ahead(work_of_first())); });
  EXPECT_EQ(PjrtBackend::Limits().ahead_ns, 40'000u);
}

class PromisedPjrtAheadTest : public PjrtAheadTest {
 protected:
  PromisedPjrtAheadTest() : PjrtAheadTest(InputWay::kPromised) {}
};

TEST_F(PromisedPjrtAheadTest, LooksAheadOfNoneWhoseOperandsAreCopied) {
  warm_up();

  world().on_control([&] { EXPECT_FALSE(backend().looks_ahead(work_of_first())); });
}

}  // namespace
}  // namespace seaway::pjrt
