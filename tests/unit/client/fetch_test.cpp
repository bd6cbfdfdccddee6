// Fetches from hosts of other processes: values that are wrong, late, or offered twice.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/session.hpp"
#include "fake_controller.hpp"
#include "unit/device/fake_data_plane.hpp"

namespace seaway::client {
namespace {

/// A host that answers in the wrong order, or with the value of something else.
class WrongValue : public testing::TestWithParam<std::size_t> {};

TEST_P(WrongValue, FailsTheFetchAndIsNotWrittenLater) {
  DoublingWorld world({}, true);
  world.controller->set({.answers_fetches = false});
  const Array x = world.client.put<float>({1, 2}, world.row);
  std::vector<float> target(2, 9);
  Future<void> future = x.to_host(std::as_writable_bytes(std::span(target)));
  ASSERT_TRUE(world.hears([](const Heard& heard) { return heard.fetches.size() == 1; }));
  const std::uint64_t request = world.controller->heard().fetches[0];

  world.engine->post([&world, request] {
    if (GetParam() > 0) world.controller->send_value(1, request, GetParam());
    world.controller->send_fetched(1, request);
    world.controller->send_value(1, request, 8);
  });

  EXPECT_EQ(future.get().status(), protocol_error("request " + std::to_string(request) +
                                                  " was answered without its value of 8 bytes"));
  EXPECT_EQ(world.bulk.size(), 0u);
  EXPECT_TRUE(world.client.drain().ok());  // The late value has been received.
  EXPECT_EQ(target, (std::vector<float>{9, 9}));
}

INSTANTIATE_TEST_SUITE_P(Fetch, WrongValue, testing::Values(0, 4, 16));

TEST(FetchOverData, FailsThoughAnEarlierOfferIsQueued) {
  device::FakeDataPlane::Network network;
  device::FakeDataPlane plane(7, network);
  DoublingWorld world({}, true, &plane);
  world.controller->set({.answers_fetches = false});
  const Array x = world.client.put<float>({1, 2}, world.row);
  std::vector<float> target(2, 9);
  Future<void> future = x.to_host(std::as_writable_bytes(std::span(target)));
  ASSERT_TRUE(world.hears([](const Heard& heard) { return heard.fetches.size() == 1; }));
  const std::uint64_t request = world.controller->heard().fetches[0];

  const Status why = resource_exhausted("the host has no memory");
  world.engine->post([&world, &why, request] {
    world.controller->send_offer(1, request, 1, 8);
    world.controller->send_offer(1, request, 2, 8);
    world.controller->send_fetched(1, request, why);
  });
  EXPECT_TRUE(world.client.drain().ok());  // All three have been received.
  world.engine->post([&plane] { plane.step(); });

  EXPECT_TRUE(
      world.engine->wait([&] { return future.ready(); }, world.clock.now_ns() + 5'000'000'000));
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.get().status(), why);
  EXPECT_EQ(plane.open(), 0u);
}

}  // namespace
}  // namespace seaway::client
