// Simulated files of hosts: what goes wrong with them is told, and nothing else does.

#include "sim/sim_spill.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actor/seeded_engine.hpp"

namespace seaway::sim {
namespace {

class SimSpills : public testing::Test {
 protected:
  void open(const SpillFaults& faults) {
    spill_ = std::make_unique<SimSpill>(
        *engine_, 7, 2, 1, faults, [this](const SpillLoss& loss) { losses_.push_back(loss); },
        [this](std::string text) { complaints_.push_back(std::move(text)); });
  }
  std::shared_ptr<store::SpillJob> job(std::uint64_t offset) {
    auto made = std::make_shared<store::SpillJob>();
    made->array = 5;
    made->shards = {{bytes_, {{offset, bytes_.size()}}}};
    return made;
  }
  Status move(bool is_write, const std::shared_ptr<store::SpillJob>& moved) {
    std::optional<Status> outcome;
    const auto done = [&outcome](Status status) { outcome = std::move(status); };
    is_write ? spill_->write(moved, done) : spill_->read(moved, done);
    EXPECT_FALSE(outcome.has_value()) << "not within the call";
    while (engine_->step()) continue;
    return outcome.value_or(cancelled("nobody was told"));
  }

  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1, {});
  std::vector<std::byte> bytes_ = std::vector<std::byte>(64, std::byte{9});
  std::vector<SpillLoss> losses_;
  std::vector<std::string> complaints_;
  std::unique_ptr<SimSpill> spill_;
};

TEST_F(SimSpills, GiveBackWhatWasWritten) {
  open({});
  const auto out = job(100);
  ASSERT_TRUE(move(true, out).ok());
  bytes_.assign(64, std::byte{0});

  const auto in = job(100);
  EXPECT_TRUE(move(false, in).ok());

  EXPECT_EQ(bytes_, std::vector<std::byte>(64, std::byte{9}));
  EXPECT_EQ(in->shards[0].sum, out->shards[0].sum);
  EXPECT_TRUE(losses_.empty() && complaints_.empty());
}

TEST_F(SimSpills, ComplainOfReadsBehindWhatWasWritten) {
  open({});
  ASSERT_TRUE(move(true, job(0)).ok());

  EXPECT_FALSE(move(false, job(1)).ok());

  ASSERT_EQ(complaints_.size(), 1u);
  EXPECT_EQ(complaints_[0],
            "bytes 1 to 65 of the file of island 2 are read, and were never written");
}

TEST_F(SimSpills, TellOfABitThatHasChangedWhenItIsReadAndNotOfOneThatWasWrittenAnew) {
  open({.flip = 1000});
  const auto out = job(0), in = job(0);
  ASSERT_TRUE(move(true, out).ok());
  ASSERT_TRUE(move(false, in).ok());

  ASSERT_EQ(losses_.size(), 1u);
  EXPECT_EQ(losses_[0].array, 5u);
  EXPECT_EQ(losses_[0].island, 2u);
  EXPECT_TRUE(losses_[0].has_changed);
  EXPECT_NE(in->shards[0].sum, out->shards[0].sum);
}

TEST_F(SimSpills, FailAsTheyAreTold) {
  open({.full = 1000});
  EXPECT_EQ(move(true, job(0)).code(), StatusCode::kResourceExhausted);
  open({.write_error = 1000});
  EXPECT_EQ(move(true, job(0)).code(), StatusCode::kDataCorruption);
  open({.short_write = 1000});
  bytes_.resize(4096);
  EXPECT_EQ(move(true, job(0)).code(), StatusCode::kResourceExhausted);
  bytes_.resize(64);
  open({.read_error = 1000});
  ASSERT_TRUE(move(true, job(0)).ok());
  EXPECT_EQ(move(false, job(0)).code(), StatusCode::kDataCorruption);

  ASSERT_EQ(losses_.size(), 1u);
  EXPECT_FALSE(losses_[0].has_changed);
}

TEST_F(SimSpills, CallNobodyOnceTheyAreClosed) {
  open({});
  bool is_called = false;
  spill_->write(job(0), [&is_called](const Status&) { is_called = true; });
  spill_->close();
  while (engine_->step()) continue;

  EXPECT_FALSE(is_called);
}

TEST(SpillFaults, AreLeftOutByTheirNames) {
  SpillFaults faults{.full = 1, .write_error = 2, .short_write = 3, .read_error = 4, .flip = 5};
  ASSERT_EQ(faults.lines().size(), 5u);
  for (const FaultLine& line : faults.lines()) faults.leave_out({line.name});

  EXPECT_TRUE(faults.lines().empty());
}

}  // namespace
}  // namespace seaway::sim
