// The devices of a plugin keep what all backends promise; they hang, are late, refuse and are lost.

#include "pjrt/pjrt_backend.hpp"

#include "unit/device/backend_conformance.hpp"
#include "unit/pjrt/pjrt_world.hpp"

namespace seaway::device {

INSTANTIATE_TEST_SUITE_P(
    Pjrt, BackendConformance,
    ::testing::Values(
        NamedBackend{"lent",
                     [] { return std::make_unique<pjrt::PjrtWorld>(pjrt::InputWay::kLent); }},
        NamedBackend{"promised",
                     [] { return std::make_unique<pjrt::PjrtWorld>(pjrt::InputWay::kPromised); }}),
    [](const auto& one) { return one.param.name; });

}  // namespace seaway::device

namespace seaway::pjrt {
namespace {

using device::ConformingGang;
using device::GangEnd;

/// Gangs of x + x that are started, and their ends in order.
class PjrtBackendTest : public ::testing::Test {
 protected:
  explicit PjrtBackendTest(PjrtBackend::Limits limits = {})
      : world_(std::make_unique<PjrtWorld>(InputWay::kLent, limits)),
        executable_(world_->compile(doubling(), {}).value()) {}

  void start(std::vector<DeviceId> devices) {
    gangs_.push_back(std::make_unique<ConformingGang>(executable_, std::move(devices)));
    const int number = static_cast<int>(gangs_.size()) - 1;
    world_->on_control([&] {
      world_->backend().start(gangs_.back()->work(), 1000, [this, number](GangEnd end) {
        ends_.emplace_back(number, std::move(end));
        ++ended_;
        world_->engine().notify();
      });
    });
  }
  /// Starts one on device 0 when the others have ended. True: it had ended when start() returned.
  bool ends_at_once(bool is_alone = false) {
    const std::size_t before = ended_;
    bool is_at_once = false;
    gangs_.push_back(std::make_unique<ConformingGang>(executable_, std::vector<DeviceId>{0}));
    world_->on_control([&] {
      device::GangWork work = gangs_.back()->work();
      work.is_alone = is_alone;
      world_->backend().start(work, 1000, [this](GangEnd end) {
        ends_.emplace_back(0, std::move(end));
        ++ended_;
        world_->engine().notify();
      });
      is_at_once = ended_ > before;
    });
    wait_for_ends(before + 1);
    return is_at_once;
  }
  void wait_for_ends(std::size_t count) {
    world_->wait([&] { return ended_ >= count; });
  }
  std::optional<DeviceId> give_up(const std::vector<DeviceId>& devices) {
    std::optional<DeviceId> device;
    world_->on_control([&] { device = world_->backend().give_up(devices); });
    return device;
  }
  FakePlugin& fake() { return world_->fake(); }
  PjrtWorld& world() { return *world_; }

  std::vector<std::pair<int, GangEnd>> ends_;  // Of the control thread; read behind their count.
  std::atomic<std::size_t> ended_ = 0;

 private:
  std::unique_ptr<PjrtWorld> world_;
  std::shared_ptr<const function::Executable> executable_;
  std::vector<std::unique_ptr<ConformingGang>> gangs_;
};

TEST_F(PjrtBackendTest, RunsNothingOnTheControlThreadThatHasNotRunElsewhere) {
  EXPECT_FALSE(world().backend().runs_inline(0));
  EXPECT_EQ(PjrtBackend::Limits().here_ns, 50'000u);
  EXPECT_EQ(PjrtBackend::Limits().here_alone_ns, 500'000u);
}

TEST_F(PjrtBackendTest, GangsEndInTheOrderInWhichThePluginEndsThem) {
  fake().hold();
  start({0});
  fake().wait_for_held(1);
  start({1});
  fake().wait_for_held(2);

  fake().complete(1);
  wait_for_ends(1);
  fake().complete(0);
  wait_for_ends(2);

  EXPECT_EQ(ends_[0].first, 1);
  EXPECT_EQ(ends_[1].first, 0);
  EXPECT_TRUE(ends_[0].second.status.ok() && ends_[1].second.status.ok());
}

TEST_F(PjrtBackendTest, AFailedProgramFailsItsGang) {
  fake().hold();
  start({0});
  fake().wait_for_held(1);

  fake().complete(0, abi::ErrorCode::kInternal);
  wait_for_ends(1);

  EXPECT_EQ(ends_[0].second.status.code(), StatusCode::kUserFunctionError);
  EXPECT_FALSE(ends_[0].second.unlaunched_on);
}

TEST_F(PjrtBackendTest, ADeviceThatRefusesAGangIsNamed) {
  fake().fail(abi::Call::kLoadedExecutableExecute, 2, abi::ErrorCode::kResourceExhausted, "full");

  start({2, 3});
  wait_for_ends(1);

  EXPECT_EQ(ends_[0].second.status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ends_[0].second.unlaunched_on, DeviceId{3});
}

TEST_F(PjrtBackendTest, ADeviceThatIsNotAvailableAfterAGangHasBegunIsLost) {
  std::vector<std::pair<DeviceId, std::string>> lost;
  world().on_control([&] {
    world().backend().watch([&](DeviceId device, const std::string& cause) {
      EXPECT_EQ(ended_, 0u);
      lost.emplace_back(device, cause);
    });
  });
  fake().hold();
  start({2, 3});
  fake().wait_for_held(2);

  fake().complete(1, abi::ErrorCode::kUnavailable);
  fake().complete(0);
  wait_for_ends(1);

  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].first, DeviceId{3});
  EXPECT_NE(lost[0].second.find("the program failed"), std::string::npos) << lost[0].second;
  EXPECT_EQ(ends_[0].second.status.code(), StatusCode::kDeviceLost);
}

TEST_F(PjrtBackendTest, NamesTheDeviceThatIsWaitedForAndIsToldOfALateEnd) {
  fake().hold();
  start({1, 2});
  fake().wait_for_held(2);
  fake().complete(0);

  const auto unknown = give_up({1});
  const auto device = give_up({1, 2});
  const auto again = give_up({1, 2});
  fake().complete(0);
  wait_for_ends(1);

  EXPECT_EQ(unknown, std::nullopt);
  EXPECT_TRUE(device == DeviceId{1} || device == DeviceId{2});
  EXPECT_EQ(again, std::nullopt);
}

TEST_F(PjrtBackendTest, ClosesWhileAPluginHangsWithWhatWasGivenUp) {
  const std::size_t before = fake().alive();
  world().leave_thread_behind();
  fake().hang(abi::Call::kLoadedExecutableExecute, 1);
  start({3});
  fake().wait_for_hang();

  const auto device = give_up({3});
  world().backend().close();
  start({0});  // Nothing begins.
  fake().release();
  fake().wait_for_alive(before);

  EXPECT_EQ(device, DeviceId{3});
  EXPECT_EQ(ended_, 0u);
}

class PatientPjrtBackendTest : public PjrtBackendTest {
 protected:
  static constexpr std::uint64_t kLongNs = 3'600'000'000'000;
  explicit PatientPjrtBackendTest(PjrtBackend::Limits limits = {.here_ns = kLongNs,
                                                                .here_alone_ns = kLongNs})
      : PjrtBackendTest(limits) {}
};

TEST_F(PatientPjrtBackendTest, RunsWhereItIsStartedWhatWasShortThreeTimes) {
  for (int before = 0; before < 3; ++before) EXPECT_FALSE(ends_at_once()) << before;

  EXPECT_TRUE(ends_at_once());
  EXPECT_TRUE(ends_at_once());
  for (const auto& [number, end] : ends_) EXPECT_TRUE(end.status.ok()) << end.status.to_string();
  EXPECT_GE(ends_.back().second.end_ns, ends_.back().second.begin_ns);
}

TEST_F(PatientPjrtBackendTest, HandsOverAGangOfSeveralShardsAllTheSame) {
  while (!ends_at_once()) {
  }
  fake().hold();
  const std::size_t before = ended_;

  start({0, 1});
  fake().wait_for_held(2);
  fake().complete(0);
  fake().complete(0);
  wait_for_ends(before + 1);

  EXPECT_TRUE(ends_.back().second.status.ok());
}

TEST_F(PatientPjrtBackendTest, TellsLaterOfADeviceThatRefusesAGangHere) {
  while (!ends_at_once()) {
  }
  fake().fail(abi::Call::kLoadedExecutableExecute, 1, abi::ErrorCode::kResourceExhausted, "full");

  EXPECT_FALSE(ends_at_once());

  EXPECT_EQ(ends_.back().second.unlaunched_on, DeviceId{0});
  EXPECT_TRUE(ends_at_once());
}

TEST_F(PatientPjrtBackendTest, AFailedProgramFailsItsGangHere) {
  while (!ends_at_once()) {
  }
  fake().fail(abi::Call::kLoadedExecutableExecute, 1, abi::ErrorCode::kInternal, "broken");

  EXPECT_TRUE(ends_at_once());

  EXPECT_EQ(ends_.back().second.status.code(), StatusCode::kUserFunctionError);
}

class PatientAlonePjrtBackendTest : public PatientPjrtBackendTest {
 protected:
  PatientAlonePjrtBackendTest()
      : PatientPjrtBackendTest({.here_ns = 0, .here_alone_ns = kLongNs}) {}
};

TEST_F(PatientAlonePjrtBackendTest, RunsALongerOneWhereItIsStartedOnlyIfNothingElseCouldRun) {
  for (int before = 0; before < 4; ++before) ends_at_once();

  EXPECT_TRUE(ends_at_once(true));
  EXPECT_FALSE(ends_at_once(false));
}

class BoundedPjrtBackendTest : public PjrtBackendTest {
 protected:
  BoundedPjrtBackendTest() : PjrtBackendTest({.gangs_max = 3}) {}
};

TEST_F(BoundedPjrtBackendTest, HasNoMoreGangsUnderWayThanItsLimit) {
  fake().hold();
  for (DeviceId device = 0; device < 5; ++device) start({device % 4});
  fake().wait_for_held(3);

  for (std::size_t ended = 1; ended <= 5; ++ended) {
    if (ended <= 3) fake().wait_for_held(3);
    fake().complete(0);
    wait_for_ends(ended);
  }

  EXPECT_EQ(fake().unfinished_max(), 3u);
  EXPECT_EQ(PjrtBackend::Limits().gangs_max, 16u);
}

}  // namespace
}  // namespace seaway::pjrt
