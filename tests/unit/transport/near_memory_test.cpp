// What is lent, who reads it, and what becomes of that when it is taken back.

#include "transport/near_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace seaway::transport {
namespace {

constexpr HostId kLender = 3;
constexpr std::uint32_t kLife = 5;

SharedRegion make_region(std::size_t bytes) {
  auto* const base = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
  std::memset(base, 0, bytes);
  return {{base, bytes}, std::shared_ptr<void>(base, &std::free)};
}

/// Two hosts of a machine: what one lends, the other one reads.
class NearMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = NearMemory::kTableBytes + 4096;
  using Done = std::function<void(Result<SharedRegion>)>;

  SharedRegion region_ = make_region(kBytes);
  NearMemory lender_{region_, [](HostId, std::uint32_t, const Done&) {}};
  std::vector<std::pair<std::uint32_t, Done>> asked_;
  std::optional<NearMemory> reader_{
      std::in_place, SharedRegion(),
      [this](HostId, std::uint32_t life, Done done) { asked_.emplace_back(life, done); }};
};

TEST_F(NearMemoryTest, WhatIsLentIsReadWhereItLies) {
  reader_->meet(kLender, kLife);
  EXPECT_FALSE(reader_->reads(kLender));
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_EQ(asked_[0].first, kLife);
  asked_[0].second(region_);
  ASSERT_TRUE(reader_->reads(kLender));
  std::byte* const value = lender_.lendable().data() + 128;
  std::memset(value, 9, 64);

  const auto place = lender_.lend(value, 64);

  ASSERT_TRUE(place);
  const auto read = reader_->read(kLender, *place);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->base, value);
  EXPECT_TRUE(read->loan->holds());
  EXPECT_EQ(lender_.lent(), 1u);
}

TEST_F(NearMemoryTest, WhoReadsWhatWasTakenBackSeesIt) {
  reader_->meet(kLender, kLife);
  asked_[0].second(region_);
  std::byte* const value = lender_.lendable().data();
  const auto place = lender_.lend(value, 64);
  const auto read = reader_->read(kLender, *place);

  lender_.take_back(*place);

  EXPECT_FALSE(read->loan->holds());
  EXPECT_EQ(lender_.lent(), 0u);
  // Nor when the same place is lent again.
  const auto again = lender_.lend(value, 64);
  EXPECT_FALSE(read->loan->holds());
  EXPECT_TRUE(reader_->read(kLender, *again)->loan->holds());
}

TEST_F(NearMemoryTest, WhatIsNotLendableIsNotLent) {
  std::byte elsewhere[64] = {};
  EXPECT_FALSE(lender_.lend(elsewhere, 64));
  EXPECT_FALSE(lender_.lend(region_.bytes.data(), 64)) << "its table";
  EXPECT_FALSE(reader_->lend(elsewhere, 64)) << "it has nothing";
  EXPECT_TRUE(reader_->lendable().empty());
  const std::span<std::byte> all = lender_.lendable();
  EXPECT_FALSE(lender_.lend(all.data(), all.size() + 64)) << "its end lies elsewhere";
  EXPECT_TRUE(lender_.lend(all.data(), all.size()));
}

TEST_F(NearMemoryTest, NoMoreIsLentThanTheLimit) {
  std::vector<NearMemory::Place> places;
  for (std::uint32_t i = 0; i < NearMemory::kLoansMax; ++i) {
    places.push_back(*lender_.lend(lender_.lendable().data(), 64));
  }
  EXPECT_FALSE(lender_.lend(lender_.lendable().data(), 64));

  lender_.take_back(places[7]);

  EXPECT_TRUE(lender_.lend(lender_.lendable().data(), 64));
}

TEST_F(NearMemoryTest, NothingIsReadOfWhoIsLost) {
  reader_->meet(kLender, kLife);
  asked_[0].second(region_);
  const auto place = lender_.lend(lender_.lendable().data(), 64);
  const auto before = reader_->read(kLender, *place);

  reader_->lose(kLender);

  EXPECT_FALSE(reader_->reads(kLender));
  EXPECT_EQ(reader_->read(kLender, *place).status().code(), StatusCode::kInputLost);
  EXPECT_TRUE(before->loan->holds()) << "who reads it already goes on";
}

TEST_F(NearMemoryTest, MemoryThatComesLateIsThatOfALifeThatIsOver) {
  reader_->meet(kLender, kLife);
  reader_->lose(kLender);
  reader_->meet(kLender, kLife + 1);

  asked_[0].second(region_);
  EXPECT_FALSE(reader_->reads(kLender));
  asked_[1].second(region_);
  EXPECT_TRUE(reader_->reads(kLender));
}

TEST_F(NearMemoryTest, WhoseMemoryIsNotToBeHadSendsItsValues) {
  reader_->meet(kLender, kLife);
  asked_[0].second(not_found("it is on another machine"));
  EXPECT_FALSE(reader_->reads(kLender));
  reader_->meet(kLender, kLife);
  asked_[1].second(make_region(NearMemory::kTableBytes - 64));
  EXPECT_FALSE(reader_->reads(kLender)) << "it has not even a table";
}

TEST_F(NearMemoryTest, AnAnswerThatComesAfterItsEndIsDropped) {
  reader_->meet(kLender, kLife);
  reader_.reset();
  asked_[0].second(region_);
}

TEST_F(NearMemoryTest, WhatIsNotWithinTheRegionIsRefused) {
  reader_->meet(kLender, kLife);
  asked_[0].second(region_);
  const auto code = [this](NearMemory::Place place) {
    return reader_->read(kLender, place).status().code();
  };
  constexpr std::uint64_t kTable = NearMemory::kTableBytes;
  EXPECT_EQ(code({kTable, kBytes - kTable, 0, 1}), StatusCode::kOk);
  EXPECT_EQ(code({kTable, kBytes - kTable + 1, 0, 1}), StatusCode::kProtocolError);
  EXPECT_EQ(code({kTable - 1, 1, 0, 1}), StatusCode::kProtocolError);
  EXPECT_EQ(code({kBytes + 1, 0, 0, 1}), StatusCode::kProtocolError);
  EXPECT_EQ(code({~std::uint64_t{0}, 2, 0, 1}), StatusCode::kProtocolError);
  EXPECT_EQ(code({kTable, 1, NearMemory::kLoansMax, 1}), StatusCode::kProtocolError);
}

}  // namespace
}  // namespace seaway::transport
