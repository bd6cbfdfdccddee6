// Clusters that keep checksums of values and run gangs twice: what users see, and what it needs.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster_fixture.hpp"

namespace seaway {
namespace {

constexpr std::int64_t kElements = 4096;  // 16 KiB on one device.
constexpr std::uint64_t kBytes = kElements * sizeof(float);

struct World {
  explicit World(const std::string& more)
      : cluster(Cluster::start("embedded:devices=2,threads=4," + more).value()),
        client(cluster.connect().value()),
        slice(acquire(client, 1)),
        next(
            client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({kElements})}).value()),
        program(client.program("f", [&](Traced v) { return next(v); }, {spec()}).value()) {}

  ArraySpec spec() const { return {f32({kElements}), rows(slice)}; }
  Array put() { return client.put<float>(counted(kElements), {kElements}, rows(slice)); }
  /// Changes one bit of `array`, where it lies.
  void change(const Array& array) {
    on_control(cluster, [&array, this] {
      for (const auto& value : cluster.state()->embedded->host(0).values_at_rest()) {
        if (value.array == array.id()) value.bytes.shard(0)[100] ^= std::byte{16};
      }
    });
  }
  Status outcome(const Array& array) { return program.execute({array}).status().get().status(); }

  Cluster cluster;
  Client client;
  Slice slice;
  Function next;
  Program program;
};

TEST(Integrity, AValueThatHasChangedIsNamedToWhoeverReadsItAndOthersAreAsTheyWere) {
  World world("shard_checksums=on");
  const Array array = world.put(), other = world.put();
  ASSERT_EQ(read(array), counted(kElements));

  world.change(array);

  const std::string name = "array " + std::to_string(array.id() % (1 << 20));
  const Status error = array.to_host<float>().get().status();
  EXPECT_EQ(error.code(), StatusCode::kDataCorruption);
  EXPECT_EQ(error.message().find(name + " has changed by itself in shard 0, on device 0 of island "
                                        "0: its CRC-32 was 0x"),
            0u)
      << error.message();
  const Status failure = world.outcome(array);
  EXPECT_EQ(failure.code(), StatusCode::kInputLost);
  EXPECT_NE(failure.message().find(": " + error.to_string()), std::string::npos)
      << failure.message();
  EXPECT_EQ(read(other), counted(kElements));
  EXPECT_TRUE(world.outcome(other).ok());
}

TEST(Integrity, WithoutChecksumsNothingIsNoticed) {
  World world("shard_checksums=off");
  const Array array = world.put();
  ASSERT_EQ(read(array), counted(kElements));

  world.change(array);

  EXPECT_EQ(read(array), counted(kElements));  // Nothing is known of what lies still.
  EXPECT_TRUE(world.outcome(array).ok());
}

TEST(Integrity, ProgramsOverIslandsGiveTheSameWithBoth) {
  const Cluster cluster =
      Cluster::start(
          "embedded:islands=2,devices=4,threads=4,shard_checksums=on,replay_per_mille=1000")
          .value();
  {
    const Client client = cluster.connect().value();
    const Slice left = acquire(client, 2, 0), right = acquire(client, 4, 1);
    // One that runs in line, and one that does not.
    const Function next =
        client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({2})}).value();
    const Function square =
        client
            .function("square", [](Tensor x) { return matmul(x, transpose(x)); }, {f32({256, 256})})
            .value();
    const NamedSharding whole(right.mesh(), P());
    const Program small =
        client
            .program("small",
                     [&](Traced v) { return next.on(left)(next.on(left)(v)).reshard(rows(right)); },
                     {ArraySpec{f32({4}), rows(left)}})
            .value();
    const Program large = client
                              .program("large", [&](Traced v) { return square.on(right)(v); },
                                       {ArraySpec{f32({256, 256}), whole}})
                              .value();

    Array value = client.put<float>({1, 2, 3, 4}, rows(left));
    const Array made = small.execute({value}).output(0);
    const std::vector<float> ones(256 * 256, 1);
    const Array product = large.execute({client.put<float>(ones, {256, 256}, whole)}).output(0);

    EXPECT_EQ(read(made), (std::vector<float>{3, 4, 5, 6}));
    EXPECT_EQ(read(product), std::vector<float>(256 * 256, 256));
  }
  expect_nothing_left(cluster);
}

TEST(Integrity, WhatRunsTwiceIsReservedForAndRefusedWhereItNeverFits) {
  const std::string twice = ",replay_per_mille=1000";
  World once("device_memory=" + std::to_string(2 * kBytes));
  World fits("device_memory=" + std::to_string(3 * kBytes) + twice);
  World never("device_memory=" + std::to_string(3 * kBytes - 64) + twice);

  EXPECT_TRUE(once.outcome(once.put()).ok());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(fits.outcome(fits.put()).ok());
  EXPECT_EQ(never.outcome(never.put()).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(peak_bytes(fits.cluster), 3 * kBytes);
}

TEST(Integrity, ItsOptionsAreReadFromTheWordOfTheCluster) {
  const auto parsed = cluster::parse_embedded("embedded:shard_checksums=on,replay_per_mille=25");

  EXPECT_EQ(parsed.value().integrity,
            (device::Integrity{.shard_checksums = true, .replay_per_mille = 25}));
  EXPECT_EQ(cluster::parse_embedded("embedded").value().integrity, device::Integrity());
  EXPECT_EQ(cluster::parse_embedded("embedded:shard_checksums=yes").status(),
            invalid_argument("cluster option shard_checksums=yes is not on or off"));
  EXPECT_EQ(
      cluster::parse_embedded("embedded:replay_per_mille=1001").status(),
      invalid_argument("cluster option replay_per_mille=1001 is not a number from 1 to 1000"));
}

}  // namespace
}  // namespace seaway
