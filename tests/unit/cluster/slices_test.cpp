// Slices of whole clusters: how they are asked for, and how they end.

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <optional>
#include <string>
#include <vector>

#include "client/frames.hpp"
#include "cluster_fixture.hpp"
#include "seaway/inspect.hpp"
#include "wire/frame_reader.hpp"

namespace seaway {
namespace {

/// The device that a gang of `function` ran on last.
DeviceId device_of(const Cluster& cluster, const std::string& function) {
  std::optional<DeviceId> device;
  for (const GangRecord& gang : recent_gangs(cluster).value()) {
    if (gang.function == function) device = gang.devices.at(0);
  }
  EXPECT_TRUE(device.has_value()) << function << " never ran";
  return device.value_or(1000);
}

/// Runs a function called `name` on `slice` and says on which device.
DeviceId device_behind(const Cluster& cluster, const Client& client, const Slice& slice,
                       const std::string& name) {
  const Function probe = client.function(name, [](Tensor x) { return -x; }, {f32({1})}).value();
  EXPECT_EQ(read(probe.execute({client.put<float>({1}, rows(slice))}).output(0)),
            std::vector<float>{-1});
  return device_of(cluster, name);
}

TEST(Slices, TheWishToBeSpreadReachesTheController) {
  const Cluster cluster = Cluster::start("embedded:devices=2").value();
  const Client client = cluster.connect().value();
  std::vector<std::pair<bool, bool>> wishes;
  on_control(cluster, [&] {
    cluster.state()->embedded->router().observe(
        [&wishes](actor::Role, std::uint32_t, const Frame& frame) {
          const Status status =
              wire::read_frame<wire::Message>(frame, [&wishes](wire::Message::Reader message) {
                if (!message.isRequest() || !message.getRequest().isAcquireSlice()) return;
                const auto acquire = message.getRequest().getAcquireSlice();
                wishes.emplace_back(acquire.getContiguous(), acquire.getSpread());
              });
          EXPECT_TRUE(status.ok()) << status.to_string();
        });
  });

  EXPECT_TRUE(client.acquire_slice({.devices = 1}).ok());
  EXPECT_TRUE(client.acquire_slice({.devices = 1, .contiguous = true}).ok());
  EXPECT_TRUE(client.acquire_slice({.devices = 1, .spread = true}).ok());

  on_control(cluster, [&] { cluster.state()->embedded->router().observe({}); });
  EXPECT_EQ(wishes,
            (std::vector<std::pair<bool, bool>>{{false, false}, {true, false}, {false, true}}));
}

TEST(Slices, TheControllerRefusesAStrangersContradiction) {
  const Cluster cluster = Cluster::start("embedded:devices=2").value();
  const Client client = cluster.connect().value();
  std::string refusal;
  on_control(cluster, [&] {
    actor::Router& router = cluster.state()->embedded->router();
    router.observe([&refusal](actor::Role role, std::uint32_t, const Frame& frame) {
      if (role != actor::Role::kClient) return;
      const Status status =
          wire::read_frame<wire::Message>(frame, [&refusal](wire::Message::Reader message) {
            if (message.isReply() && message.getReply().getCode() != 0)
              refusal = message.getReply().getMessage().cStr();
          });
      EXPECT_TRUE(status.ok()) << status.to_string();
    });
    router.send(actor::Role::kController, 0,
                client::frames::acquire_slice(client.id(), 1'000'000, make_id(client.id(), 77),
                                              {.contiguous = true, .spread = true}));
  });
  // Whatever the controller answers next comes behind that.
  EXPECT_TRUE(client.drain().ok());

  on_control(cluster, [&] { cluster.state()->embedded->router().observe({}); });
  EXPECT_EQ(refusal, "slice 77 refused: contiguous and spread exclude each other; ask for one");
}

}  // namespace
}  // namespace seaway
