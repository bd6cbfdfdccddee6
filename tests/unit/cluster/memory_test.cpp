// Device memory, host room and quotas of whole clusters: tight budgets, spills, refusals, ends.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <vector>

#include "client/frames.hpp"
#include "client/outbox.hpp"
#include "cluster_fixture.hpp"
#include "unit/sanitized.hpp"

namespace seaway {
namespace {

constexpr std::int64_t kElements = 4096;  // 16 KiB on one device.
constexpr std::uint64_t kBytes = kElements * sizeof(float);

/// One device of `device_memory` bytes, and `next`, which adds 1.
struct World {
  explicit World(std::uint64_t device_memory, std::uint64_t host_memory = 64 << 20,
                 const std::string& more = "")
      : cluster(Cluster::start(
                    "embedded:devices=1,threads=4,device_memory=" + std::to_string(device_memory) +
                    ",host_memory=" + std::to_string(host_memory) + more)
                    .value()),
        client(cluster.connect({.tenant = "first"}).value()),
        slice(acquire(client, 1)),
        next(client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({kElements})})
                 .value()) {}

  Program program(ProgramOptions options = {}) {
    return client
        .program(
            "f", [&](Traced v) { return next(v); }, {spec()}, std::move(options))
        .value();
  }
  ArraySpec spec() const { return {f32({kElements}), rows(slice)}; }
  Array put(float first = 0) {
    return client.put<float>(counted(kElements, first), {kElements}, rows(slice));
  }

  Cluster cluster;
  Client client;
  Slice slice;
  Function next;
};

TEST(Memory, ManyRunsGoThroughTheRoomOfOne) {
  World world(2 * kBytes);  // Exactly one input and one output.
  const Program f = world.program();

  Array value = world.put();
  for (int i = 0; i < 300; ++i) value = f.execute({value}).output(0);

  EXPECT_EQ(read(value), counted(kElements, 300));
  EXPECT_LE(peak_bytes(world.cluster), 2 * kBytes);
}

TEST(Memory, AFreshUploadInEachStepNeedsNoMoreThanAStep) {
  World world(2 * kBytes + kBytes / 5);
  const Program f = world.program();

  std::vector<Array> kept;
  for (int i = 0; i < 200; ++i) {
    const Array result = f.execute({world.put(static_cast<float>(i))}).output(0);
    if (i % 50 == 0) kept.push_back(result);
  }

  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(read(kept[i]), counted(kElements, static_cast<float>(50 * i + 1)));
  }
  EXPECT_LE(peak_bytes(world.cluster), 2 * kBytes + kBytes / 5);
}

TEST(Memory, FinishedArraysAreSpilledAndComeBackAsTheyWere) {
  World world(3 * kBytes);
  const Program f = world.program();
  std::vector<Array> kept;
  for (int i = 0; i < 20; ++i) {
    kept.push_back(f.execute({world.put(static_cast<float>(100 * i))}).output(0));
  }
  EXPECT_TRUE(world.client.drain().ok());
  EXPECT_GT(
      ask<std::uint64_t>(world.cluster,
                         [](auto& embedded) { return embedded.scheduler(0).counters().spills; }),
      10u);

  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto first = static_cast<float>(100 * i + 1);
      EXPECT_EQ(read(kept[i]), counted(kElements, first));
      EXPECT_EQ(read(f.execute({kept[i]}).output(0)), counted(kElements, first + 1));
    }
  }
}

TEST(Memory, AClientThatKeepsEverythingIsRefusedAndAnotherGoesOn) {
  World world(4 * kBytes, 32 * kBytes);
  const Program f = world.program();
  Client other = world.cluster.connect({.tenant = "other"}).value();
  const Slice slice = acquire(other, 1);
  const Function next =
      other.function("next", [](Tensor x) { return x + 1.0f; }, {f32({kElements})}).value();
  const Array in = world.put();
  std::vector<seaway::Run> kept;
  for (int i = 0; i < 60; ++i) kept.push_back(f.execute({in}));

  int refused = 0;
  for (const seaway::Run& run : kept) {
    const Status status = run.status().get().status();
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find("would keep 16384 bytes"), std::string::npos)
        << status.to_string();
    EXPECT_NE(status.message().find("drop handles"), std::string::npos) << status.to_string();
  }
  EXPECT_EQ(refused, 60 - 27);  // Seven eighths of 32, and the input is one of them.
  EXPECT_EQ(
      read(
          next.execute({other.put<float>(counted(kElements), {kElements}, rows(slice))}).output(0)),
      counted(kElements, 1));

  kept.clear();
  EXPECT_EQ(read(f.execute({in}).output(0)), counted(kElements, 1));
}

/// A client that keeps as many arrays as there is room for: seven eighths of 32, and a little more.
struct FullWorld {
  explicit FullWorld(ClientOptions options)
      : cluster(Cluster::start(
                    "embedded:devices=1,threads=4,device_memory=" + std::to_string(64 * kBytes) +
                    ",host_memory=" + std::to_string(32 * kBytes + 1024))
                    .value()),
        client(cluster.connect(std::move(options)).value()),
        slice(acquire(client, 1)),
        total(client.function("total", [](Tensor x) { return reduce_sum(x); }, {f32({kElements})})
                  .value()) {
    for (int i = 0; i < 28; ++i) kept.push_back(put(static_cast<float>(i)));
    for (const Array& array : kept) EXPECT_TRUE(array.status().ok()) << array.status().to_string();
  }
  Array put(float first) {
    return client.put<float>(counted(kElements, first), {kElements}, rows(slice));
  }

  Cluster cluster;
  Client client;
  Slice slice;
  Function total;
  std::vector<Array> kept;
};

TEST(Memory, AnUploadOverTheQuotaIsRefusedAtOnceUnlessItsClientWaits) {
  FullWorld world({.tenant = "first", .when_full = WhenFull::kRefuse});

  const Status refused = world.put(100).status();
  world.kept.pop_back();
  const Array fits = world.put(100);

  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("needs 16384 bytes; live arrays of tenant first already keep " +
                                   std::to_string(28 * kBytes)),
            std::string::npos)
      << refused.to_string();
  EXPECT_NE(refused.message().find("drop handles"), std::string::npos) << refused.to_string();
  EXPECT_EQ(read(fits), counted(kElements, 100));
}

TEST(Memory, AnUploadOfAClientThatWaitsGetsTheRoomOfTheNextArrayThatGoes) {
  FullWorld world({.when_full = WhenFull::kWait});
  const Array first = world.put(100), second = world.put(200);
  const seaway::Run reader = world.total.execute({second});
  const Future<std::vector<float>> early = first.to_host<float>();
  const Future<std::vector<float>> nameless = world.put(300).to_host<float>();
  EXPECT_NE(first.why().find("waits for room: "), std::string::npos) << first.why();
  EXPECT_NE(reader.why().find("waits for room: "), std::string::npos) << reader.why();
  EXPECT_TRUE(first.error().ok());

  world.kept.erase(world.kept.begin(), world.kept.begin() + 3);

  EXPECT_EQ(early.get().value(), counted(kElements, 100));
  EXPECT_EQ(nameless.get().value(), counted(kElements, 300));
  EXPECT_EQ(read(second), counted(kElements, 200));
  EXPECT_EQ(read(reader.output(0)), std::vector<float>{200 * 4096 + 4095 * 2048});
}

TEST(Memory, AnUploadWaitsNoLongerThanItsClientWants) {
  FullWorld world({.tenant = "first", .when_full = WhenFull::kWait});
  const Array waiting = world.put(100);
  const seaway::Run reader = world.total.execute({waiting});
  const client::Said said = {.kind = client::Said::Kind::kCancel, .id = waiting.id()};

  on_control(world.cluster, [&] {
    world.cluster.state()->embedded->router().send(
        actor::Role::kController, 0, client::frames::runs(world.client.id(), {&said, 1}, {}));
  });

  const Status status = waiting.status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("found no room in its time: it needs 16384 bytes; live arrays "
                                  "of tenant first already keep " +
                                  std::to_string(28 * kBytes)),
            std::string::npos)
      << status.to_string();
  EXPECT_EQ(reader.status().get().status().code(), StatusCode::kInputLost);
  world.kept.pop_back();
  EXPECT_EQ(read(world.put(100)), counted(kElements, 100));
}

TEST(Memory, AnUploadThatWaitsCanBeDroppedAndItsClientCanGo) {
  FullWorld world({.when_full = WhenFull::kWait});
  { const Array dropped = world.put(100); }
  const Array waiting = world.put(200);

  world.client = {};

  EXPECT_EQ(waiting.status().code(), StatusCode::kCancelled);
  world.kept.clear();
  world.total = {};
  expect_nothing_left(world.cluster);
}

TEST(Memory, AnUploadThatItsClientCannotMakeRoomForIsRefusedAtOnce) {
  FullWorld world({.tenant = "shared", .when_full = WhenFull::kRefuse});
  const Client other =
      world.cluster.connect({.tenant = "shared", .when_full = WhenFull::kWait}).value();
  const Slice slice = acquire(other, 1);

  // It keeps nothing itself, and what others of its tenant keep is not its to drop.
  const Status refused = other.put<float>(counted(kElements), {kElements}, rows(slice)).status();

  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message().find("found no room in its time"), std::string::npos)
      << refused.to_string();
}

TEST(Memory, ARunThatCanNeverFitFailsAtOnce) {
  World world(2 * kBytes - 64);
  const seaway::Run run = world.program().execute({world.put()});

  const Status status = run.status().get().status();

  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find(std::to_string(2 * kBytes)), std::string::npos)
      << status.to_string();
  EXPECT_NE(status.message().find(std::to_string(2 * kBytes - 64)), std::string::npos);
  EXPECT_NE(status.message().find("shard it over more devices"), std::string::npos);
}

/// A number, as often as `elements` says.
Array repeated(World& world, std::int64_t elements) {
  const Shape shape{elements};
  const Function repeat =
      world.client
          .function("repeat", [&](Tensor x) { return broadcast_in_dim(x, shape, {0}); }, {f32({1})})
          .value();
  const ArraySpec one{f32({1}), rows(world.slice)};
  const Program program =
      world.client.program("p", [&](Traced x) { return repeat(x); }, {one}).value();
  return program.execute({world.client.put<float>({1}, one.sharding)}).output(0);
}

TEST(Memory, AValueThatNoDeviceCanHoldTakesNoMemoryOfItsReader) {
  World world(2 * kBytes);
  const std::int64_t elements = std::int64_t{1} << 37;  // 512 GiB.

  const auto value = repeated(world, elements).to_host<float>();

  ASSERT_TRUE(value.ready());
  const Status status = value.get().status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.to_string();
  const auto names = [&](std::int64_t bytes) {
    return status.message().find(std::to_string(bytes)) != std::string::npos;
  };
  // If the run has failed before it is read: with its argument.
  EXPECT_TRUE(names(4 * elements) || names(4 * elements + 64)) << status.to_string();
  EXPECT_TRUE(names(2 * kBytes)) << status.to_string();
  EXPECT_EQ(read(world.program().execute({world.put()}).output(0)), counted(kElements, 1));
}

TEST(Memory, AValueThatItsReaderHasNoMemoryForIsRefused) {
  if (kIsSanitized) GTEST_SKIP() << "an allocation that fails ends the process there";
  World world(std::uint64_t{1} << 62);
  const std::int64_t elements = std::int64_t{1} << 38;  // A TiB.
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &old), 0);
  const rlimit low{std::uint64_t{1} << 39, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &low), 0);

  const auto value = repeated(world, elements).to_host<float>();
  setrlimit(RLIMIT_AS, &old);

  ASSERT_TRUE(value.ready());
  const Status status = value.get().status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.to_string();
  EXPECT_NE(status.message().find("no memory"), std::string::npos) << status.to_string();
}

TEST(Memory, ADonatedInputGivesItsBufferToTheOutput) {
  World world(2 * kBytes, 20 * kBytes);  // Without donation a run needs three arrays at once.
  const Program f = world.client
                        .program("f", [&](Traced v) { return world.next(world.next(v)); },
                                 {world.spec()}, {.donated = {0}})
                        .value();

  Array value = world.put();
  for (int i = 0; i < 100; ++i) value = f.execute({value}).output(0);

  EXPECT_EQ(read(value), counted(kElements, 200));
  EXPECT_EQ(peak_bytes(world.cluster), 2 * kBytes);
  EXPECT_TRUE(world.client.drain().ok());
  EXPECT_EQ(ask<std::size_t>(world.cluster,
                             [](auto& embedded) { return embedded.controller().array_count(); }),
            1u);
}

TEST(Memory, AFunctionThatMayWorksInPlaceOnADonatedInput) {
  World world(kBytes), wide(16 * kBytes);  // There is room for one array, and no more.
  const Program f = world.program({.donated = {0}}), g = wide.program();

  Array value = world.put(0.25f), expected = wide.put(0.25f);
  for (int i = 0; i < 50; ++i) {
    value = f.execute({value}).output(0);
    expected = g.execute({expected}).output(0);
  }

  EXPECT_EQ(read(value), read(expected));
  EXPECT_EQ(peak_bytes(world.cluster), kBytes);
}

TEST(Memory, AProductIsNotMadeInPlace) {
  World world(3 * kBytes);  // Both operands and what the product packs, but not the result as well.
  const Function product =
      world.client
          .function("product",
                    [](Tensor x, Tensor y) {
                      const Tensor square = reshape(y, {64, 64});
                      return reshape(matmul(reshape(x, {64, 64}), square), {kElements});
                    },
                    {f32({kElements}), f32({kElements})})
          .value();
  const Program f = world.client
                        .program("f", [&](Traced x, Traced y) { return product(x, y); },
                                 {world.spec(), world.spec()}, {.donated = {0}})
                        .value();

  const Status status = f.execute({world.put(), world.put()}).status().get().status();

  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("needs " + std::to_string(4 * kBytes)), std::string::npos)
      << status.to_string();
}

TEST(Memory, ADonatedArrayNamedTwiceIsRefused) {
  World world(16 * kBytes);
  const Function sum = world.client
                           .function("sum", [](Tensor x, Tensor y) { return x + y; },
                                     {f32({kElements}), f32({kElements})})
                           .value();
  const Program f = world.client
                        .program("f", [&](Traced x, Traced y) { return sum(x, y); },
                                 {world.spec(), world.spec()}, {.donated = {0}})
                        .value();
  const Array in = world.put();

  const seaway::Run run = f.execute({in, in});

  EXPECT_EQ(run.status().get().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read(world.program().execute({world.put()}).output(0)), counted(kElements, 1));
}

TEST(Memory, ADonationOfARunThatNeverBeganIsFreedAllTheSame) {
  World world(16 * kBytes, 64 << 20, ",runs_in_flight=1");
  Gate gate;
  {
    const Function slow = world.client
                              .native("slow", copying({f32({kElements})},
                                                      [&gate] {
                                                        gate.pass();
                                                        return Status();
                                                      }))
                              .value();
    const Program f = world.program({.donated = {0}});
    const seaway::Run blocker = slow.execute({world.put()});
    gate.await();
    seaway::Run taker = f.execute({world.put()});
    taker.cancel();
    EXPECT_EQ(taker.status().get().status().code(), StatusCode::kCancelled);
    gate.open();
    EXPECT_TRUE(blocker.status().get().ok());
  }
  EXPECT_TRUE(eventually(world.cluster, [](auto& embedded) {
    return embedded.host(0).array_count() == 0;
  })) << ask<std::string>(world.cluster, leftovers);

  world.next = {};
  world.client = {};
  expect_nothing_left(world.cluster);
}

TEST(Memory, AllIsFreedWhenHandlesAndClientsGo) {
  World world(3 * kBytes);
  {
    const Program f = world.program(), donating = world.program({.donated = {0}});
    std::vector<Array> kept;
    for (int i = 0; i < 30; ++i) {
      kept.push_back(f.execute({world.put()}).output(0));
      if (i % 3 == 0) kept.push_back(donating.execute({world.put()}).output(0));
      if (i % 4 == 0) kept.erase(kept.begin());
    }
    read(kept.back());
  }
  EXPECT_TRUE(eventually(world.cluster,
                         [](auto& embedded) { return embedded.host(0).array_count() == 0; }));

  world.next = {};
  world.client = {};
  expect_nothing_left(world.cluster);
}

/// Two islands that are far apart, with room for little more than one run.
struct FarWorld {
  explicit FarWorld(std::uint64_t device_memory)
      : cluster(Cluster::start("embedded:islands=2,devices=1,threads=4,link_latency=2ms,"
                               "device_memory=" +
                               std::to_string(device_memory))
                    .value()),
        client(cluster.connect().value()),
        left(acquire(client, 1, 0)),
        right(acquire(client, 1, 1)),
        next(client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({kElements})})
                 .value()) {}
  Program there_and_back() {
    return client
        .program("f", [&](Traced v) { return next.on(left)(next.on(right)(next.on(left)(v))); },
                 {ArraySpec{f32({kElements}), rows(left)}})
        .value();
  }
  Array put() { return client.put<float>(counted(kElements), {kElements}, rows(left)); }

  Cluster cluster;
  Client client;
  Slice left, right;
  Function next;
};

TEST(Memory, ValuesInFlightKeepTheirRoomUntilTheyHaveArrived) {
  FarWorld world(5 * kBytes);
  const Program f = world.there_and_back();

  std::vector<seaway::Run> runs;
  const Array in = world.put();
  for (int i = 0; i < 30; ++i) runs.push_back(f.execute({in}));

  for (const seaway::Run& run : runs) EXPECT_EQ(read(run.output(0)), counted(kElements, 3));
}

TEST(Memory, ACancelWithValuesInFlightAndNoRoomToSpareHarmsNobody) {
  FarWorld world(4 * kBytes);
  {
    const Program f = world.there_and_back();
    const Array in = world.put();
    EXPECT_TRUE(f.execute({in}).status().get().ok());
    for (int round = 0; round < 15; ++round) {
      std::vector<seaway::Run> runs;
      for (int i = 0; i < 6; ++i) runs.push_back(f.execute({in}));
      if (round % 3 == 1) (void)runs[0].status().get(std::chrono::milliseconds(1 + round / 3));
      for (int i = 0; i < 6; ++i) {
        if ((i + round) % 2 == 0) runs[static_cast<std::size_t>(i)].cancel();
      }
      for (int i = 0; i < 6; ++i) {
        const seaway::Run& run = runs[static_cast<std::size_t>(i)];
        const Status status = run.status().get().status();
        const bool was_cancelled = (i + round) % 2 == 0;
        EXPECT_TRUE(status.ok() || was_cancelled) << status.to_string();
        if (status.ok()) {
          EXPECT_EQ(read(run.output(0)), counted(kElements, 3));
        }
      }
    }
  }
  world.next = {};
  world.client = {};
  expect_nothing_left(world.cluster);
}

}  // namespace
}  // namespace seaway
