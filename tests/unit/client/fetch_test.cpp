// Fetches from hosts of other processes: values that are wrong, late, or offered twice.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/session.hpp"
#include "fake_controller.hpp"
#include "unit/device/fake_data_plane.hpp"

namespace seaway::client {
namespace {

/// A client of other processes with one fetch of 8 bytes, which no host has answered.
class OpenFetch {
 public:
  explicit OpenFetch(transport::DataPlane* data = nullptr) : world({}, true, data) {
    world.controller->set({.answers_fetches = false});
    array = world.client.put<float>({1, 2}, world.row);
    future = array.to_host(std::as_writable_bytes(std::span(target)));
    EXPECT_TRUE(world.hears([](const Heard& heard) { return heard.fetches.size() == 1; }));
    request = world.controller->heard().fetches.at(0);
  }

  std::vector<float> target = {9, 9};
  DoublingWorld world;
  Array array;
  Future<void> future;
  std::uint64_t request = 0;
};

/// The parameter: bytes of a value of wrong size that arrives first; 0: none.
class WrongValue : public testing::TestWithParam<std::size_t> {};

TEST_P(WrongValue, FailsTheFetchAndIsNotWrittenLater) {
  OpenFetch fetch;
  FakeController& controller = *fetch.world.controller;

  fetch.world.engine->post([&controller, request = fetch.request] {
    if (GetParam() > 0) controller.send_value(1, request, GetParam());
    controller.send_fetched(1, request);
    controller.send_value(1, request, 8);
  });

  EXPECT_EQ(fetch.future.get().status(),
            protocol_error("fetch: request " + std::to_string(fetch.request) +
                           " was answered without its value of 8 bytes; fetch again"));
  EXPECT_EQ(fetch.world.bulk.size(), 0u);
  EXPECT_TRUE(fetch.world.client.drain().ok());  // Behind the late value.
  EXPECT_EQ(fetch.target, (std::vector<float>{9, 9}));
}

INSTANTIATE_TEST_SUITE_P(Fetch, WrongValue, testing::Values(0, 4, 16));

TEST(FetchOverData, FailsThoughAnEarlierOfferIsQueued) {
  device::FakeDataPlane::Network network;
  device::FakeDataPlane plane(7, network);
  OpenFetch fetch(&plane);
  DoublingWorld& world = fetch.world;

  const Status why = resource_exhausted("the host has no memory");
  world.engine->post([&world, &why, request = fetch.request] {
    world.controller->send_offer(1, request, 1, 8);
    world.controller->send_offer(1, request, 2, 8);
    world.controller->send_fetched(1, request, why);
  });
  EXPECT_TRUE(world.client.drain().ok());  // Behind all three messages.
  world.engine->post([&plane] { plane.step(); });

  ASSERT_TRUE(world.engine->wait([&fetch] { return fetch.future.ready(); },
                                 world.clock.now_ns() + 5'000'000'000));
  EXPECT_EQ(fetch.future.get().status(), why);
  EXPECT_EQ(plane.open(), 0u);
}

}  // namespace
}  // namespace seaway::client
