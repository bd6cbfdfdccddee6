// Outputs that stay with the plugin: where they lie, who takes them, and when they go.

#include "unit/pjrt/pjrt_world.hpp"

namespace seaway::pjrt {
namespace {

using device::ConformingGang;
using device::GangEnd;
using device::GangWork;

class PjrtResidentTest : public ::testing::Test {
 protected:
  explicit PjrtResidentTest(InputWay way = InputWay::kLent)
      : world_(std::make_unique<PjrtWorld>(way)),
        executable_(world_->compile(doubling(), {}).value()) {}

  /// Doubles what lies at `from`, or {1, 2, 3, 4}, on `device`.
  GangEnd run(DeviceId device = 0, std::byte* from = nullptr) {
    ConformingGang gang(executable_, {device});
    gang.buffers().operand(0).set<float>(0, {1, 2, 3, 4});
    const std::vector<function::ShardedBuffer> there = {{from, 16}};
    GangWork work = gang.work();
    work.may_keep_outputs = true;
    work.may_hold_operands = from != nullptr;
    if (from != nullptr) work.operands = there;
    return run(gang, work);
  }
  GangEnd run_in_place() {
    ConformingGang gang(executable_, {0});
    gang.buffers().operand(0).set<float>(0, {1, 2, 3, 4});
    gang.overwrite(0, 0);
    GangWork work = gang.work();
    work.may_hold_operands = true;
    return run(gang, work);
  }
  GangEnd run(ConformingGang& gang, const GangWork& work) {
    GangEnd end;
    std::atomic<bool> is_done = false;
    world_->on_control([&] {
      world_->backend().start(work, 1000, [&](GangEnd ended) {
        end = std::move(ended);
        is_done = true;
        world_->engine().notify();
      });
    });
    world_->wait([&] { return is_done.load(); });
    copied_ = gang.buffers().output(0).get<float>(0);
    return end;
  }
  static std::vector<float> value(const GangEnd& end) {
    const auto* const first = reinterpret_cast<const float*>(end.made.at(0).base);
    return {first, first + 4};
  }
  std::size_t lends() { return fake().calls(abi::Call::kClientBufferFromHostBuffer); }
  FakePlugin& fake() { return world_->fake(); }

  std::vector<float> copied_;  // What the last one has written to the room of its output.

 private:
  std::unique_ptr<PjrtWorld> world_;
  std::shared_ptr<const function::Executable> executable_;
};

const std::vector<float> kDoubled = {2, 4, 6, 8}, kTwiceDoubled = {4, 8, 12, 16};

TEST_F(PjrtResidentTest, IsReadWhereThePluginHasMadeIt) {
  const GangEnd end = run();

  ASSERT_EQ(end.made.size(), 1u) << end.status.to_string();
  EXPECT_EQ(value(end), kDoubled);
  EXPECT_NE(copied_, kDoubled);
}

TEST_F(PjrtResidentTest, IsThePluginsOwnBufferInTheNextGang) {
  const GangEnd first = run();
  const std::size_t before = lends();

  const GangEnd second = run(0, first.made.at(0).base);

  EXPECT_EQ(value(second), kTwiceDoubled);
  EXPECT_EQ(lends(), before);
}

TEST_F(PjrtResidentTest, IsLentToAnotherDevice) {
  const GangEnd first = run();
  const std::size_t before = lends();

  const GangEnd second = run(1, first.made.at(0).base);

  EXPECT_EQ(value(second), kTwiceDoubled);
  EXPECT_EQ(lends(), before + 1);
}

TEST_F(PjrtResidentTest, GoesWithItsLastOwner) {
  const std::size_t before = fake().alive();
  GangEnd end = run();
  EXPECT_EQ(fake().alive(), before + 1);

  end.made.clear();

  EXPECT_EQ(fake().alive(), before);
}

TEST_F(PjrtResidentTest, AnOperandIsLentOnceForAsLongAsItIsHeld) {
  function::TestBuffer x(16, 1);
  x.set<float>(0, {1, 2, 3, 4});
  const std::size_t alive = fake().alive(), before = lends();

  GangEnd first = run(0, x.view().base);
  GangEnd second = run(0, x.view().base);

  ASSERT_EQ(first.held.size(), 1u);
  EXPECT_NE(first.held[0], nullptr);
  EXPECT_TRUE(second.held.empty());
  EXPECT_EQ(value(second), kDoubled);
  EXPECT_EQ(lends(), before + 1);
  first = second = GangEnd();
  EXPECT_EQ(fake().alive(), alive);
  x.set<float>(0, {4, 4, 4, 4});
  EXPECT_EQ(value(run(0, x.view().base)), (std::vector<float>{8, 8, 8, 8}));
}

TEST_F(PjrtResidentTest, WhatIsWrittenOverIsNotHeld) {
  const GangEnd end = run_in_place();

  EXPECT_TRUE(end.status.ok()) << end.status.to_string();
  EXPECT_TRUE(end.held.empty());
}

TEST_F(PjrtResidentTest, WhatIsNotAlignedIsNotHeld) {
  function::TestBuffer x(32, 1);
  x.set<float>(0, {0, 1, 2, 3, 4, 0, 0, 0});

  const GangEnd end = run(0, x.view().base + sizeof(float));

  EXPECT_EQ(value(end), kDoubled);
  EXPECT_TRUE(end.held.empty());
}

TEST_F(PjrtResidentTest, AFailureKeepsNothing) {
  const std::size_t before = fake().alive();
  fake().fail(abi::Call::kBufferOpaqueDeviceMemoryDataPointer, 1, abi::ErrorCode::kUnimplemented,
              "no addresses");
  fake().fail(abi::Call::kBufferToHostBuffer, 1, abi::ErrorCode::kInternal, "nor copies");

  const GangEnd end = run();

  EXPECT_EQ(end.status.code(), StatusCode::kUserFunctionError);
  EXPECT_TRUE(end.made.empty());
  EXPECT_EQ(fake().alive(), before);
}

class PromisedPjrtResidentTest : public PjrtResidentTest {
 protected:
  PromisedPjrtResidentTest() : PjrtResidentTest(InputWay::kPromised) {}
};

TEST_F(PromisedPjrtResidentTest, NothingStaysWhereTheHostCannotReadIt) {
  const GangEnd end = run();

  EXPECT_TRUE(end.made.empty());
  EXPECT_EQ(copied_, kDoubled);
}

TEST(Residents, OutliveAllThatMadeThem) {
  WithFake fake;
  fake.known().add(doubling(), {});
  LaunchEnd end;
  {
    const auto executable = PjrtExecutable::compile(WithFake::target(1), doubling(), {}).value();
    function::TestBuffer x(16, 1), y(16, 1);
    x.set<float>(0, {1, 2, 3, 4});
    const function::ShardedBuffer in = x.view(), out = y.view();
    const std::uint32_t device = 0;
    WaitsFor waits_for = 0;
    end = executable->launch({&in, 1}, {&out, 1}, {&device, 1}, waits_for, {.outputs = true});
  }

  ASSERT_EQ(end.made.size(), 1u);
  EXPECT_EQ(*reinterpret_cast<const float*>(end.made[0].base), 2);
}

TEST(Residents, OneLiesAtAnAddressAndIsFoundAsWhatItIs) {
  const abi::Api api{};
  Residents residents;
  std::byte place{}, other{};
  auto* const buffer = reinterpret_cast<abi::Buffer*>(&other);
  const Resident one{Buffer(api, buffer), 1, std::make_shared<const TensorType>(f32({4}))};

  EXPECT_TRUE(residents.add(&place, one));
  EXPECT_FALSE(residents.add(&place, one));

  EXPECT_EQ(residents.find(&place, 1, f32({4})), buffer);
  EXPECT_EQ(residents.find(&place, 0, f32({4})), nullptr);
  EXPECT_EQ(residents.find(&place, 1, i32({4})), nullptr);
  EXPECT_EQ(residents.find(&other, 1, f32({4})), nullptr);
  residents.remove(&place);
  EXPECT_EQ(residents.size(), 0u);
}

}  // namespace
}  // namespace seaway::pjrt
