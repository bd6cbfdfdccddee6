// Looking at an embedded cluster from outside.

#include "seaway/inspect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actor/handler_scope.hpp"
#include "base/ids.hpp"
#include "seaway/seaway.hpp"

namespace seaway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A cluster on which `runs` runs of one function over two devices are done.
struct Worked {
  explicit Worked(int runs, std::int64_t elements = 2)
      : cluster(Cluster::start("embedded:islands=1,devices=2").value()) {
    const Client client = cluster.connect({.tenant = "baker"}).value();
    const Slice slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
    const Function twice =
        client.function("twice", [](Tensor x) { return x * 2; }, {f32({elements / 2})}).value();
    const NamedSharding row(slice.mesh(), P("data"));
    const std::vector<float> ones(static_cast<std::size_t>(elements), 1.0f);
    Array x = client.put(ones, {elements}, row);
    for (int i = 0; i < runs; ++i) x = twice.execute({x}).output(0);
    EXPECT_EQ(x.to_host<float>().get().value()[0], static_cast<float>(1 << runs));
  }
  Cluster cluster;
};

TEST(Inspect, CountsGangsAndTimeOfEachDevice) {
  const Worked worked(3);

  const ClusterStats all = stats(worked.cluster).value();

  ASSERT_EQ(all.devices.size(), 2u);
  for (const DeviceStats& device : all.devices) {
    EXPECT_EQ(device.gangs, 3u);
    EXPECT_GT(device.busy_ns, 0u);
    EXPECT_GT(device.peak_bytes, 0u);
    EXPECT_EQ(device.budget_bytes, std::uint64_t{1} << 30);
  }
  EXPECT_EQ(all.busy_ns(), all.devices[0].busy_ns + all.devices[1].busy_ns);
  EXPECT_GT(all.frames(), 0u);
}

TEST(Inspect, IsRefusedInAHandler) {
  class Counter final : public actor::Handling {
    std::string describe() const override { return "actor \"counter\" 17"; }
  };
  const Cluster cluster = Cluster::start("embedded:islands=1,devices=1").value();
  const Counter counter;
  const actor::HandlerScope scope(counter);

  const auto all = stats(cluster);

  EXPECT_EQ(all.status(),
            invalid_argument("inspecting a cluster would block actor \"counter\" 17, and with it "
                             "every actor of its worker; do it in a thread of your own"));
}

TEST(Inspect, GangsOfARunThatFailedAreNotCounted) {
  const Cluster cluster = Cluster::start("embedded:islands=1,devices=1").value();
  const Client client = cluster.connect({}).value();
  NativeFunction refuses;
  refuses.parameters = {f32({1})};
  refuses.outputs = {f32({1})};
  refuses.body = [](std::span<const std::byte* const>, std::span<std::byte* const>, std::byte*) {
    return user_function_error("refused");
  };
  const Function first = client.native("refuses", refuses).value();
  const Function second = client.function("second", [](Tensor x) { return x; }, {f32({1})}).value();
  const Slice slice = client.acquire_slice({.devices = 1}).value();
  const auto body = [&](Traced x) { return second(second(first(x))); };
  const NamedSharding whole(slice.mesh(), P());
  const Program program = client.program("fails", body, {ArraySpec{f32({1}), whole}}).value();

  const Status outcome = program.execute({client.put<float>({1}, whole)}).status().get().status();
  const ClusterStats all = stats(cluster).value();

  EXPECT_EQ(outcome.code(), StatusCode::kUserFunctionError);
  EXPECT_EQ(all.devices[0].gangs, 1u);
}

TEST(Inspect, PayloadDoesNotPassTheController) {
  const Worked small(3, 2), large(3, 1 << 20);

  const ClusterStats few = stats(small.cluster).value(), many = stats(large.cluster).value();

  EXPECT_LT(many.to_controller.bytes, few.to_controller.bytes + 4096);
  EXPECT_LT(many.to_islands.bytes, few.to_islands.bytes + 4096);
}

TEST(Inspect, GangsHaveTheNamesThatUsersGaveThem) {
  const Worked worked(3);

  const std::vector<GangRecord> gangs = recent_gangs(worked.cluster).value();

  ASSERT_EQ(gangs.size(), 3u);
  for (const GangRecord& gang : gangs) {
    EXPECT_EQ(gang.function, "twice");
    EXPECT_EQ(gang.tenant, "baker");
    EXPECT_THAT(gang.devices, ElementsAre(0, 1));
    EXPECT_NE(gang.run, 0u);
    EXPECT_LE(gang.begin_ns, gang.end_ns);
  }
  EXPECT_LT(gangs[0].stamp, gangs[1].stamp);
}

TEST(Inspect, CountersAndGangsPrintTheirNumbers) {
  const Worked worked(1);

  const GangRecord gang = recent_gangs(worked.cluster).value().at(0);
  const ClusterStats all = stats(worked.cluster).value();

  EXPECT_EQ(gang.to_string(),
            "twice of " + gang.program + ", run " + std::to_string(sequence_of(gang.run)) +
                " of client " + std::to_string(client_of(gang.run)) + ", island 0, devices 0 1, " +
                std::to_string(gang.end_ns - gang.begin_ns) + " ns");
  const std::string text = all.to_string();
  EXPECT_THAT(text, HasSubstr("to controller " + std::to_string(all.to_controller.frames) +
                              " frames of " + std::to_string(all.to_controller.bytes) + " bytes"));
  for (const DeviceStats& device : all.devices) {
    EXPECT_THAT(text, HasSubstr("\nisland " + std::to_string(device.island) + ", device " +
                                std::to_string(device.device) + ": 1 gangs, busy " +
                                std::to_string(device.busy_ns) + " ns, peak " +
                                std::to_string(device.peak_bytes) + " of " +
                                std::to_string(device.budget_bytes) + " bytes\n"));
  }
}

TEST(Inspect, EachCounterPrintsAlone) {
  const DeviceStats device{.island = 1,
                           .device = 2,
                           .gangs = 3,
                           .busy_ns = 1200,
                           .peak_bytes = 64,
                           .budget_bytes = 1024};
  const MessageStats messages{.frames = 3, .bytes = 480};
  ClusterStats all;
  all.devices = {device};
  all.to_hosts = messages;

  EXPECT_EQ(device.to_string(), "island 1, device 2: 3 gangs, busy 1200 ns, peak 64 of 1024 bytes");
  DeviceStats straggler = device;
  straggler.delayed = 2;
  EXPECT_EQ(straggler.to_string(), device.to_string() + ", delayed 2 of the gangs");
  EXPECT_EQ(messages.to_string(), "3 frames of 480 bytes");
  EXPECT_EQ(all.to_string(),
            "to controller 0 frames of 0 bytes, to islands 0 frames of 0 bytes, to hosts 3 frames "
            "of 480 bytes, to clients 0 frames of 0 bytes\n"
            "island 1, device 2: 3 gangs, busy 1200 ns, peak 64 of 1024 bytes\n");
}

TEST(Inspect, TheTraceNamesFunctionsAndTenants) {
  const Worked worked(1);

  const std::string trace = chrome_trace(worked.cluster).value();

  EXPECT_THAT(trace, HasSubstr("\"twice\""));
  EXPECT_THAT(trace, HasSubstr("\"baker\""));
}

TEST(Inspect, TheTraceShowsTheMemoryOfEachDeviceAndWhichRunReadsWhich) {
  const Worked worked(3, 4096);  // 8 KiB on each of two devices; an input and an output at once.

  const nlohmann::json trace = nlohmann::json::parse(chrome_trace(worked.cluster).value());

  std::map<std::string, std::uint64_t> most;
  int arrows = 0;
  for (const auto& entry : trace["traceEvents"]) {
    if (entry["ph"] == "C") {
      std::uint64_t& bytes = most[entry["name"]];
      bytes = std::max(bytes, entry["args"]["bytes"].get<std::uint64_t>());
    }
    arrows += entry["ph"] == "s" && entry["name"] == "data";
  }
  const std::uint64_t peak = stats(worked.cluster).value().devices[0].peak_bytes;
  EXPECT_EQ(most, (std::map<std::string, std::uint64_t>{{"memory of device 0", peak},
                                                        {"memory of device 1", peak}}));
  EXPECT_GE(peak, 2 * 8192u);
  EXPECT_EQ(arrows, 2);  // From the first run to the second, and from that to the third.
}

TEST(Inspect, AnEmptyHandleIsRefused) {
  EXPECT_EQ(stats(Cluster()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(recent_gangs(Cluster()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(chrome_trace(Cluster()).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seaway
