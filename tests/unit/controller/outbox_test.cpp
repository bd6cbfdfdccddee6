// What clients are told: whose words lie in the outbox, and what is left when they are sent.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "controller/controller_outbox.hpp"

namespace seaway::controller {
namespace {

/// Takes all words out, as the actor does; gives who was told something, and how much.
std::vector<std::pair<ClientId, std::size_t>> send_all(ControllerOutbox& outbox) {
  std::vector<std::pair<ClientId, std::size_t>> told;
  while (!outbox.clients.empty()) {
    auto& [id, client] = *outbox.clients.begin();
    told.emplace_back(id, client.resolved.size());
    client.resolved.clear();
    outbox.end_first_client();
  }
  return told;
}

TEST(ControllerOutbox, HoldsThoseAloneWhoAreToldSomethingInTheOrderOfTheirIds) {
  ControllerOutbox outbox;
  outbox.client(900'000).resolved.push_back({1, {}});
  outbox.client(7).resolved.push_back({2, {}});
  outbox.client(900'000).resolved.push_back({3, {}});

  const auto first = send_all(outbox);
  outbox.client(8).resolved.push_back({4, {}});
  const auto second = send_all(outbox);

  EXPECT_EQ(first, (std::vector<std::pair<ClientId, std::size_t>>{{7, 1}, {900'000, 2}}));
  EXPECT_EQ(second, (std::vector<std::pair<ClientId, std::size_t>>{{8, 1}}));
}

TEST(ControllerOutbox, TheRoomOfOneServesTheNext) {
  ControllerOutbox outbox;
  for (std::uint64_t i = 0; i < 100; ++i) outbox.client(1).resolved.push_back({i, {}});
  send_all(outbox);

  EXPECT_GE(outbox.client(2).resolved.capacity(), 100u);
  EXPECT_TRUE(outbox.spare_clients.empty());
}

TEST(ControllerOutbox, RoomIsKeptForABoundedNumber) {
  ControllerOutbox outbox;
  for (ClientId id = 1; id <= ControllerOutbox::kSpareClientsMax + 1; ++id) {
    outbox.client(id).resolved.push_back({id, {}});
  }

  EXPECT_EQ(send_all(outbox).size(), ControllerOutbox::kSpareClientsMax + 1);

  EXPECT_EQ(outbox.spare_clients.size(), ControllerOutbox::kSpareClientsMax);
}

}  // namespace
}  // namespace seaway::controller
