// Both ends of one connection for data, in turns.

#include "transport/data_link.hpp"

#include <gtest/gtest.h>

#include <map>

#include "unit/transport/data_ends.hpp"

namespace seaway::transport {
namespace {

constexpr std::size_t kChunk = DataHeader::kChunkBytesMax;

TEST(DataHeader, ComesAsItWasSaid) {
  DataHeader said{DataHeader::Kind::kChunk, 17, {1ull << 40, 3}, 0xdeadbeef, 4096, 0};
  const auto heard = DataHeader::read(said.to_bytes());
  ASSERT_TRUE(heard.has_value());
  EXPECT_EQ(heard->kind, DataHeader::Kind::kChunk);
  EXPECT_EQ(heard->length, 17u);
  EXPECT_EQ(heard->key, (DataKey{1ull << 40, 3}));
  EXPECT_EQ(heard->checksum, 0xdeadbeefu);
  EXPECT_EQ(heard->offset, 4096u);
}

TEST(DataHeader, EachChangedBitShows) {
  const DataHeader said{DataHeader::Kind::kAsk, 0, {9, 1}, 0, 0, 100};
  for (std::size_t bit = 0; bit < 44 * 8; ++bit) {
    auto bytes = said.to_bytes();
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(DataHeader::read(bytes).has_value()) << bit;
  }
}

TEST(DataHeader, WhatNobodySaysIsNone) {
  const auto is_one = [](DataHeader header) {
    return DataHeader::read(header.to_bytes()).has_value();
  };
  EXPECT_FALSE(is_one({static_cast<DataHeader::Kind>(0), 0, {}, 0, 0, 0}));
  EXPECT_FALSE(is_one({static_cast<DataHeader::Kind>(5), 0, {}, 0, 0, 0}));
  EXPECT_FALSE(is_one({DataHeader::Kind::kChunk, 0, {}, 0, 0, 0}));
  EXPECT_TRUE(is_one({DataHeader::Kind::kChunk, kChunk, {}, 0, 0, 0}));
  EXPECT_FALSE(is_one({DataHeader::Kind::kChunk, kChunk + 1, {}, 0, 0, 0}));
  EXPECT_FALSE(is_one({DataHeader::Kind::kAsk, 0, {}, 0, 7, 7}));
  EXPECT_FALSE(is_one({DataHeader::Kind::kGone, 1, {}, 0, 0, 0}));
}

/// A reader and whoever has what it reads.
class DataLinkTest : public testing::Test {
 protected:
  void connect(Harm of_maker = {}) {
    auto [one, other] = make_pair_of_sockets();
    const auto find = [this](DataKey key) {
      const auto found = offers_.find(key);
      return found == offers_.end() ? nullptr : found->second;
    };
    maker_ =
        std::make_unique<DataLink>(std::make_unique<HarmedSocket>(std::move(one), of_maker), find);
    reader_ = std::make_unique<DataLink>(std::move(other), [](DataKey) { return nullptr; });
  }
  void offer(DataKey key, std::uint64_t seed, std::size_t bytes, std::uint32_t tenant = 0) {
    values_[key] = std::make_shared<const std::vector<std::byte>>(make_value(seed, bytes));
    offers_[key] = std::make_shared<const DataSource>(source_of(values_[key], tenant));
  }
  DataFetch fetch_of(DataKey key, std::vector<std::byte>& room, bool is_scattered = false) {
    return {key, std::make_shared<const DataTarget>(target_of(room, is_scattered)), 0, room.size()};
  }
  /// Both have turns of `bytes` until nothing happens any more, or for `turns`.
  void run(std::uint64_t bytes = kChunk, int turns = 100'000) {
    for (int idle = 0; idle < 2000 && turns > 0; --turns) {
      reader_->readable();
      reader_->writable();
      maker_->readable();
      maker_->writable();
      const bool is_busy = maker_->run(bytes) | reader_->run(bytes);
      idle = is_busy ? 0 : idle + 1;
      for (auto& ended : reader_->take_ended()) ended_.push_back(std::move(ended));
    }
  }

  std::map<DataKey, std::shared_ptr<const std::vector<std::byte>>> values_;
  std::map<DataKey, std::shared_ptr<const DataSource>> offers_;
  std::unique_ptr<DataLink> maker_, reader_;
  std::vector<DataLink::Ended> ended_;
};

TEST_F(DataLinkTest, BytesComeToTheirPlaceWhateverTheirNumber) {
  connect();
  for (const std::size_t bytes :
       {std::size_t{1}, kChunk - 1, kChunk, kChunk + 1, 5 * kChunk + 77}) {
    for (const bool is_scattered : {false, true}) {
      const DataKey key{bytes, is_scattered};
      offer(key, bytes, bytes);
      std::vector<std::byte> room(bytes);
      DataFetch fetch = fetch_of(key, room, is_scattered);
      ended_.clear();
      reader_->ask(fetch);
      run(100'000);
      ASSERT_EQ(ended_.size(), 1u) << bytes;
      EXPECT_TRUE(ended_[0].status.ok());
      EXPECT_EQ(room, *values_[key]);
      EXPECT_EQ(fetch.next, bytes);
    }
  }
}

TEST_F(DataLinkTest, WhatComesRightToItsPlaceNeedsNoOtherMemory) {
  connect();
  offer({1, 0}, 1, 3 * kChunk);
  std::vector<std::byte> room(3 * kChunk);
  DataFetch fetch = fetch_of({1, 0}, room);
  reader_->ask(fetch);
  run();
  EXPECT_EQ(reader_->extra_bytes(), 0u);
  std::vector<std::byte> scattered(3 * kChunk);
  DataFetch again = fetch_of({1, 0}, scattered, true);
  reader_->ask(again);
  run();
  EXPECT_EQ(scattered, room);
  EXPECT_EQ(reader_->extra_bytes(), kChunk);
}

TEST_F(DataLinkTest, ManyValuesComeTogether) {
  connect();
  std::vector<std::vector<std::byte>> rooms;
  for (std::uint32_t i = 0; i < 50; ++i) {
    offer({7, i}, i, 1000 + i * 31'337, i % 3);
    rooms.emplace_back(values_[{7, i}]->size());
  }
  std::vector<DataFetch> fetches;
  for (std::uint32_t i = 0; i < 50; ++i) fetches.push_back(fetch_of({7, i}, rooms[i], i % 2 == 0));
  for (DataFetch& fetch : fetches) reader_->ask(fetch);
  run();
  ASSERT_EQ(ended_.size(), 50u);
  for (std::uint32_t i = 0; i < 50; ++i) EXPECT_EQ(rooms[i], *values_.at({7, i})) << i;
}

TEST_F(DataLinkTest, ALongValueDoesNotHoldUpAShortOne) {
  connect();
  offer({1, 0}, 1, 64 * kChunk);
  offer({2, 0}, 2, kChunk);
  std::vector<std::byte> long_room(64 * kChunk), short_room(kChunk);
  DataFetch first = fetch_of({1, 0}, long_room), second = fetch_of({2, 0}, short_room);
  reader_->ask(first);
  reader_->ask(second);
  run();
  ASSERT_EQ(ended_.size(), 2u);
  EXPECT_EQ(ended_[0].fetch, &second);
}

TEST_F(DataLinkTest, TenantsShareByTheirWeights) {
  connect();
  constexpr std::size_t kBytes = 80 * kChunk;
  offer({1, 0}, 1, kBytes, 1);
  offer({2, 0}, 2, kBytes, 2);
  maker_->set_weight(1, 4);
  std::vector<std::byte> heavy(kBytes), light(kBytes);
  DataFetch first = fetch_of({1, 0}, heavy), second = fetch_of({2, 0}, light);
  reader_->ask(second);
  reader_->ask(first);
  while (ended_.empty()) run(kChunk, 1);
  EXPECT_EQ(ended_[0].fetch, &first);
  EXPECT_NEAR(static_cast<double>(second.next), kBytes / 4.0, 4.0 * kChunk);
}

TEST_F(DataLinkTest, WhatIsNotOfferedIsNotToBeHad) {
  connect();
  std::vector<std::byte> room(100);
  DataFetch fetch = fetch_of({1, 0}, room);
  reader_->ask(fetch);
  run();
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].status.code(), StatusCode::kInputLost);
}

/// What a stranger might say.
class DataLinkStrangerTest : public DataLinkTest {
 protected:
  DataLinkStrangerTest() {
    auto [one, other] = make_pair_of_sockets();
    stranger_ = std::move(other);
    maker_ = std::make_unique<DataLink>(std::move(one), [this](DataKey key) {
      const auto found = offers_.find(key);
      return found == offers_.end() ? nullptr : found->second;
    });
  }
  /// Whether all of it was taken.
  bool ask(DataKey key, std::uint64_t end) {
    const auto bytes = DataHeader{DataHeader::Kind::kAsk, 0, key, 0, 0, end}.to_bytes();
    const DataSocket::ConstPiece piece(bytes);
    return stranger_->write(std::span(&piece, 1)).bytes == bytes.size();
  }
  void hear() {
    for (int turn = 0; turn < 100; ++turn) {
      maker_->readable();
      maker_->writable();
      maker_->run(kChunk);
    }
  }

  std::unique_ptr<DataSocket> stranger_;
};

TEST_F(DataLinkStrangerTest, WhoAsksTwiceForOneThingIsNotBelieved) {
  offer({1, 0}, 1, 64 * kChunk);
  ASSERT_TRUE(ask({1, 0}, 64 * kChunk));
  hear();
  ASSERT_FALSE(maker_->has_ended());

  ASSERT_TRUE(ask({1, 0}, 64 * kChunk));
  hear();

  EXPECT_TRUE(maker_->has_ended());
}

TEST_F(DataLinkStrangerTest, WhoDoesNotReadAnswersIsNotHeardForEver) {
  std::uint64_t asked = 0;
  for (int rounds = 0; rounds < 100'000; ++rounds) {
    if (!ask({++asked, 0}, 1)) break;
    if (rounds % 64 == 0) hear();
  }

  EXPECT_LT(asked, 50'000u) << "its questions stay in the socket, as no room is left for answers";
  EXPECT_FALSE(maker_->has_ended());
}

TEST_F(DataLinkTest, WhatIsShorterThanWasAskedForIsNotSent) {
  connect();
  offer({1, 0}, 1, 99);
  std::vector<std::byte> room(100);
  DataFetch fetch = fetch_of({1, 0}, room);
  reader_->ask(fetch);
  run();
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].status.to_string(), "INPUT_LOST: it has 99 bytes, and 100 were asked for");
}

TEST_F(DataLinkTest, WhatIsWithdrawnEndsForWhoReadsIt) {
  connect();
  offer({1, 0}, 1, 64 * kChunk);
  std::vector<std::byte> room(64 * kChunk);
  DataFetch fetch = fetch_of({1, 0}, room);
  reader_->ask(fetch);
  run(kChunk, 4);
  ASSERT_TRUE(ended_.empty());
  offers_.clear();
  const std::weak_ptr<const std::vector<std::byte>> value = values_[{1, 0}];
  values_.clear();
  maker_->withdraw({1, 0});
  run();
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].status.code(), StatusCode::kInputLost);
  EXPECT_TRUE(value.expired()) << "nobody reads it any more";
}

TEST_F(DataLinkTest, NothingIsWrittenForWhoHasStopped) {
  connect();
  offer({1, 0}, 1, 64 * kChunk);
  offer({2, 0}, 2, kChunk);
  auto room = std::make_unique<std::vector<std::byte>>(64 * kChunk);
  auto fetch = std::make_unique<DataFetch>(fetch_of({1, 0}, *room));
  reader_->ask(*fetch);
  run(10'000, 30);  // Within a chunk.
  reader_->stop(*fetch);
  fetch.reset();
  room.reset();  // Whoever writes there is found out by the sanitizer.
  std::vector<std::byte> other(kChunk);
  DataFetch next = fetch_of({2, 0}, other);
  reader_->ask(next);
  run();
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(other, (*values_[{2, 0}]));
  EXPECT_FALSE(reader_->has_ended());
}

TEST_F(DataLinkTest, WhatBreaksGoesOnFromWhereItBroke) {
  for (const std::uint64_t behind : {std::uint64_t{1}, std::uint64_t{48}, std::uint64_t{kChunk},
                                     std::uint64_t{3 * kChunk + 5}}) {
    connect({.ends_behind = behind});
    offer({1, 0}, 1, 8 * kChunk);
    std::vector<std::byte> room(8 * kChunk);
    DataFetch fetch = fetch_of({1, 0}, room);
    reader_->ask(fetch);
    run();
    EXPECT_TRUE(reader_->has_ended());
    EXPECT_LE(fetch.next, behind);
    EXPECT_EQ(fetch.next % kChunk, 0u);
    connect();
    ended_.clear();
    reader_->ask(fetch);
    run();
    ASSERT_EQ(ended_.size(), 1u);
    EXPECT_EQ(room, (*values_[{1, 0}]));
  }
}

TEST_F(DataLinkTest, AChangedBitAnywhereEndsTheConnectionAndNeverTheValue) {
  for (std::uint64_t at = 1; at < 2 * kChunk + 96; at += at < 60 ? 1 : 9973) {
    if (at >= 44 && at < 48) continue;  // Nobody reads these.
    connect({.flips_behind = at});
    offer({1, 0}, at, 3 * kChunk);
    std::vector<std::byte> room(3 * kChunk);
    DataFetch fetch = fetch_of({1, 0}, room, at % 2 == 0);
    reader_->ask(fetch);
    run();
    ASSERT_TRUE(reader_->has_ended()) << at;
    EXPECT_EQ(reader_->changed(), 1u) << at;
    connect();
    ended_.clear();
    reader_->ask(fetch);
    run();
    ASSERT_EQ(ended_.size(), 1u) << at;
    ASSERT_EQ(room, (*values_[{1, 0}])) << at;
  }
}

}  // namespace
}  // namespace seaway::transport
