// Values for clients and uploads of theirs, over connections for data.

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "actor/router.hpp"
#include "unit/device/host_world.hpp"
#include "unit/device/test_plane.hpp"

namespace seaway::device {
namespace {

using transport::DataKey;

constexpr ClientId kClient = 5;

class HostClients : public testing::Test {
 protected:
  /// As when a host ends: first nobody reads or writes its memory any more.
  void TearDown() override {
    plane_.offers.clear();
    plane_.end = nullptr;
  }
  /// Client 5 reads `array`, as an offer if it may be one.
  HostOutbox::Fetched read(ArrayId array, std::uint64_t request) {
    world_.core.fetch(array, kClient, request, true);
    auto& fetched = world_.core.outbox().fetched;
    EXPECT_EQ(fetched.size(), 1u);
    HostOutbox::Fetched one = std::move(fetched.front());
    fetched.clear();
    return one;
  }
  void put_here(ArrayId array, float first) {
    world_.put(array, HostWorld::row(first));
    world_.core.upload_arrived(array);
    world_.core.outbox().arrived.clear();
  }
  /// A put whose bytes are still with client 5: its id.
  ArrayId put_there() {
    const ArrayId array = make_id(kClient, 70);
    world_.core.define_spec(array, {f32({16}), NamedSharding(Mesh(1, {{"x", 1}}), P("x"))});
    world_.core.put(array, array, {0});
    EXPECT_EQ(std::exchange(world_.core.outbox().pulls, {}), std::vector<ArrayId>{array});
    return array;
  }
  void arrive(float first) {
    const std::vector<float> values = HostWorld::row(first);
    plane_.target->scatter(0, std::as_bytes(std::span(values)));
    plane_.end({});
  }

  TestPlane plane_{actor::data_peer_of_client(kClient)};
  HostWorld world_{1, 1 << 20, 0, nullptr, {}, 1, nullptr, &plane_};
};

TEST_F(HostClients, AValueStaysOfferedUntilTheClientHasTakenIt) {
  put_here(50, 41);

  const auto answer = read(50, 3);
  EXPECT_EQ(answer.streams, kShardBytes);
  EXPECT_TRUE(answer.value.empty());
  const DataKey key{3, answer.offer};
  EXPECT_EQ(plane_.offered(key), 41);

  world_.core.taken(kClient, 3, answer.offer + 1);  // Another one.
  world_.core.taken(kClient + 1, 3, answer.offer);  // Somebody else.
  EXPECT_EQ(plane_.offers.size(), 1u);
  world_.core.taken(kClient, 3, answer.offer);
  EXPECT_TRUE(plane_.offers.empty());
  world_.core.taken(kClient, 3, answer.offer);  // A repeat means nothing.
}

TEST_F(HostClients, WhoDoesNotAskForOffersGetsTheBytes) {
  put_here(50, 41);

  world_.fetch(50, 3);

  EXPECT_EQ(world_.answers(), "3: 41");
  EXPECT_TRUE(plane_.offers.empty());
}

TEST_F(HostClients, WhatIsReadOutlivesItsArray) {
  put_here(50, 41);
  const auto answer = read(50, 3);

  world_.free(50);
  put_here(51, 7);

  EXPECT_EQ(world_.core.array_count(), 1u);
  EXPECT_EQ(plane_.offered({3, answer.offer}), 41);
}

TEST_F(HostClients, ADonationDoesNotWriteWhereAClientStillReads) {
  put_here(50, 41);
  const auto answer = read(50, 3);
  PartMaker taker(1, {0});
  taker.gang({taker.arg()}, {taker.output()}).donate(0, 0);

  world_.run(1, taker, {50, 60});

  EXPECT_EQ(plane_.offered({3, answer.offer}), 41);
  EXPECT_EQ(plane_.offered({4, read(60, 4).offer}), 42);
}

TEST_F(HostClients, ClientsHaveNoMoreThanThereIsMemoryOnTheDevices) {
  HostWorld small(1, 4 * kShardBytes, 0, nullptr, {}, 1, nullptr, &plane_);
  small.put(50, HostWorld::row(41));
  small.core.upload_arrived(50);

  for (std::uint64_t request = 0; request < 6; ++request) {
    small.core.fetch(50, kClient, request, true);
  }

  const auto& fetched = small.core.outbox().fetched;
  ASSERT_EQ(fetched.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(fetched[i].streams > 0, i < 4) << i;
    EXPECT_EQ(fetched[i].value.size(), i < 4 ? 0 : kShardBytes) << i;
  }
  small.core.lose_client(kClient);
}

TEST_F(HostClients, NothingIsOfferedToAClientThatIsLost) {
  put_here(50, 41);
  read(50, 3);
  read(50, 4);

  world_.core.lose_client(kClient);

  EXPECT_TRUE(plane_.offers.empty());
  EXPECT_EQ(plane_.forgotten, std::vector{actor::data_peer_of_client(kClient)});
}

TEST_F(HostClients, WhatComesWhenItsReaderIsForgottenIsNotOfferedToHim) {
  const ArrayId array = put_there();
  world_.core.fetch(array, kClient + 1, 3, true);
  world_.core.upload_offered(array);

  world_.core.forget_client(kClient + 1);
  arrive(8);

  EXPECT_TRUE(plane_.offers.empty());
  EXPECT_TRUE(world_.core.outbox().fetched.empty());
  EXPECT_EQ(plane_.offered({4, read(array, 4).offer}), 8) << "nobody else is forgotten";
}

TEST_F(HostClients, AnUploadThatIsOfferedIsFetchedToWhereItWillLie) {
  const ArrayId array = put_there();

  ASSERT_TRUE(world_.core.check_upload_offer(array, kShardBytes).ok());
  world_.core.upload_offered(array);
  EXPECT_EQ(plane_.fetched, DataKey{array});
  EXPECT_TRUE(world_.core.outbox().arrived.empty());
  arrive(8);

  EXPECT_EQ(world_.core.outbox().arrived, std::vector<ArrayId>{array});
  EXPECT_EQ(plane_.offered({3, read(array, 3).offer}), 8);
}

TEST_F(HostClients, AnOfferOfAnotherSizeIsRefusedWithBothSizes) {
  const ArrayId array = put_there();

  EXPECT_EQ(world_.core.check_upload_offer(array, 65).to_string(),
            "PROTOCOL_ERROR: array 70 of client 5 is offered as 65 bytes; its shards have 64");
  EXPECT_TRUE(world_.core.check_upload_offer(array + 1, 65).ok()) << "nobody waits for that one";
}

TEST_F(HostClients, AnUploadThatBreaksOffIsFetchedAgain) {
  const ArrayId array = put_there();
  world_.core.upload_offered(array);

  std::exchange(plane_.end, nullptr)({StatusCode::kHostLost, "nothing came for long"});
  ASSERT_TRUE(plane_.end);
  arrive(8);

  EXPECT_EQ(world_.core.outbox().arrived, std::vector<ArrayId>{array});
}

TEST_F(HostClients, AClientThatDoesNotHaveWhatItHasOfferedIsNotBelieved) {
  const ArrayId array = put_there();
  world_.core.upload_offered(array);

  plane_.end({StatusCode::kInputLost, "it has 32 bytes"});

  const auto& wrong = world_.core.outbox().wrong;
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].index, kClient);
  EXPECT_EQ(wrong[0].why.to_string(), "PROTOCOL_ERROR: array 70: it has 32 bytes");
  EXPECT_TRUE(world_.core.outbox().arrived.empty());
}

TEST_F(HostClients, AnUploadThatIsFreedIsFetchedNoLonger) {
  const ArrayId array = put_there();
  world_.core.upload_offered(array);

  world_.free(array);
  EXPECT_EQ(plane_.cancels, 1);
  arrive(8);  // The last bytes were on their way: they go to memory that is nobody's.

  EXPECT_TRUE(world_.core.outbox().arrived.empty());
  EXPECT_EQ(world_.core.array_count(), 0u);
}

TEST_F(HostClients, AnUploadOfAClientThatIsLostIsPoison) {
  const ArrayId array = put_there();
  world_.core.upload_offered(array);

  world_.core.lose_client(kClient);
  EXPECT_EQ(plane_.cancels, 1);
  plane_.end({StatusCode::kCancelled, "it is not wanted any more"});

  world_.fetch(array, 3);
  EXPECT_EQ(world_.answers(),
            "3: HOST_LOST: array 70 did not arrive on island 0 before its client was lost");
}

}  // namespace
}  // namespace seaway::device
