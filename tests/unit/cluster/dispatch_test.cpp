// Dispatch and data movement of whole clusters: modes, order, resharding, links, run-ahead.

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "cluster_fixture.hpp"

namespace seaway {
namespace {

using namespace std::chrono_literals;

TEST(Dispatch, SequentialDispatchGivesTheSameValues) {
  const Client client = connect("embedded:islands=2,devices=2").value();
  const Slice left = acquire(client, 2, 0), right = acquire(client, 2, 1);
  const Function next =
      client.function("next", [](Tensor x) { return x * 2.0f + 1.0f; }, {f32({2})}).value();
  const auto make = [&](DispatchMode mode) {
    return client
        .program("f",
                 [&](Traced v) {
                   const Traced far = next.on(right)(next(v));
                   return std::tuple{next.on(left)(far), next(next(v)), far};
                 },
                 {ArraySpec{f32({4}), rows(left)}}, {.dispatch = mode})
        .value();
  };
  const Array in = client.put<float>({1, 2, 3, 4}, rows(left));

  const seaway::Run parallel = make(DispatchMode::kParallel).execute({in});
  const seaway::Run sequential = make(DispatchMode::kSequential).execute({in});

  EXPECT_EQ(read(parallel.output(0)), (std::vector<float>{15, 23, 31, 39}));
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    EXPECT_EQ(read(sequential.output(i)), read(parallel.output(i)));
  }
}

TEST(Dispatch, AnIrregularNodeMakesExactlyItsSuccessorsWait) {
  const Cluster cluster = Cluster::start("embedded:islands=2,devices=1,threads=4").value();
  const Client client = cluster.connect().value();
  const Slice left = acquire(client, 1, 0), right = acquire(client, 1, 1);
  Gate gate;
  NativeFunction filter = copying({f32({2})}, [&gate] {
    gate.pass();
    return Status();
  });
  filter.irregular = true;
  const Function irregular = client.native("filter", filter).value();
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({2})}).value();
  const Program f = client
                        .program("f",
                                 [&](Traced v) {
                                   const Traced rest = next.on(right)(next.on(right)(v));
                                   return std::tuple{next(irregular(v)), rest};
                                 },
                                 {ArraySpec{f32({2}), rows(left)}})
                        .value();

  const seaway::Run run = f.execute({client.put<float>({1, 2}, rows(left))});
  gate.await();

  // The two nodes on the right have run, and the successor is not even launched.
  const auto gangs_done = [](IslandId island) {
    return [island](cluster::Embedded& embedded) {
      return embedded.scheduler(island).counters().gangs_done;
    };
  };
  EXPECT_TRUE(eventually(cluster, [&](auto& embedded) { return gangs_done(1)(embedded) == 2; }));
  EXPECT_FALSE(run.output(0).ready().ready());
  gate.open();
  EXPECT_EQ(read(run.output(0)), (std::vector<float>{2, 3}));
  EXPECT_EQ(read(run.output(1)), (std::vector<float>{3, 4}));
}

TEST(Dispatch, GangsOfTwoClientsInOppositeOrderRunThrough) {
  const Cluster cluster = Cluster::start("embedded:islands=2,devices=2").value();
  std::vector<Client> clients;
  std::vector<Program> programs;
  std::vector<Array> values;
  for (const int turn : {0, 1}) {
    Client client = cluster.connect({.tenant = "tenant" + std::to_string(turn)}).value();
    const Slice left = acquire(client, 2, turn), right = acquire(client, 2, 1 - turn);
    const Function sum = client
                             .function("sum", [](Tensor x) { return all_reduce(x, "data"); },
                                       {f32({1})}, {.mesh = left.mesh()})
                             .value();
    programs.push_back(
        client
            .program("f", [&](Traced v) { return sum.on(left)(sum.on(right)(sum.on(left)(v))); },
                     {ArraySpec{f32({2}), rows(left)}})
            .value());
    values.push_back(client.put<float>({0.5f, 0.5f}, rows(left)));
    clients.push_back(std::move(client));
  }
  std::vector<seaway::Run> runs;
  for (int i = 0; i < 200; ++i) {
    for (std::size_t c = 0; c < 2; ++c) runs.push_back(programs[c].execute({values[c]}));
  }

  for (const seaway::Run& run : runs) EXPECT_EQ(read(run.output(0)), (std::vector<float>{4, 4}));
}

TEST(Dispatch, AnyShardingBecomesAnyOtherWithinAndBetweenIslands) {
  const Client client = connect("embedded:islands=2,devices=4").value();
  std::vector<NamedSharding> shardings;
  const auto add = [&](std::vector<MeshAxis> axes, std::uint32_t devices, std::int32_t island,
                       std::vector<PartitionSpec> specs) {
    const Slice slice =
        client.acquire_slice({.devices = devices, .mesh = axes, .island = island}).value();
    for (const PartitionSpec& spec : specs) shardings.emplace_back(slice.mesh(), spec);
  };
  const std::vector<PartitionSpec> square = {P(),
                                             P("a"),
                                             P("", "b"),
                                             P("a", "b"),
                                             P("b", "a"),
                                             P(DimAxes{"a", "b"}),
                                             P("", DimAxes{"b", "a"})};
  add({{"a", 2}, {"b", 2}}, 4, 0, square);
  add({{"a", 2}, {"b", 2}}, 4, 1, square);
  add({{"c", 2}}, 2, 0, {P("c"), P("", "c"), P()});
  add({}, 1, 1, {P()});
  const std::vector<float> value = counted(32);

  for (const NamedSharding& from : shardings) {
    const Array in = client.put<float>(value, {8, 4}, from);
    for (const NamedSharding& to : shardings) {
      const auto moved = in.reshard(to);
      ASSERT_TRUE(moved.ok()) << moved.status().to_string();
      EXPECT_EQ(read(*moved), value) << from.to_string() << " to " << to.to_string();
    }
  }
}

/// The bytes that islands have received from one another.
std::uint64_t crossed_bytes(const Cluster& cluster) {
  std::uint64_t bytes = 0;
  on_control(cluster, [&] {
    for (const events::Event& event : cluster.state()->events.ring().snapshot()) {
      if (event.kind == events::EventKind::kReceive) bytes += event.value;
    }
  });
  return bytes;
}

TEST(Dispatch, AByteCrossesOnceForEachDestinationHoweverManyFunctionsReadIt) {
  constexpr std::int64_t kElements = 1024;
  constexpr std::uint64_t kBytes = kElements * sizeof(float);
  const Cluster cluster = Cluster::start("embedded:islands=2,devices=4").value();
  const Client client = cluster.connect().value();
  const Slice left = acquire(client, 2, 0), right = acquire(client, 4, 1);
  const Array in = client.put<float>(counted(kElements), {kElements}, rows(left));
  // Each of two calls there reads it, split over four devices or whole on each of them.
  const auto bytes_to = [&](const PartitionSpec& spec, std::int64_t shard) {
    const auto make = [&](const char* name, float term) {
      return client
          .function(name, [term](Tensor x) { return x + term; }, {f32({shard})},
                    {.in = {spec}, .out = {spec}})
          .value()
          .on(right);
    };
    const Function one = make("one", 1), two = make("two", 2);
    const Program f = client
                          .program("f",
                                   [&](Traced v) {
                                     return std::tuple{one(v), two(v)};
                                   },
                                   {ArraySpec{f32({kElements}), rows(left)}})
                          .value();
    const std::uint64_t before = crossed_bytes(cluster);
    const seaway::Run run = f.execute({in});
    EXPECT_EQ(read(run.output(0)), counted(kElements, 1));
    EXPECT_EQ(read(run.output(1)), counted(kElements, 2));
    return crossed_bytes(cluster) - before;
  };

  EXPECT_EQ(bytes_to(P("data"), kElements / 4), kBytes);
  EXPECT_EQ(bytes_to(P(), kElements), 4 * kBytes);
}

/// When the last array that crossed between islands was received, after the first was sent.
std::uint64_t crossing_ns(const Cluster& cluster) {
  std::uint64_t sent_ns = 0, received_ns = 0;
  on_control(cluster, [&] {
    for (const events::Event& event : cluster.state()->events.ring().snapshot()) {
      if (event.kind == events::EventKind::kSend && sent_ns == 0) sent_ns = event.time_ns;
      if (event.kind == events::EventKind::kReceive) received_ns = event.time_ns;
    }
  });
  EXPECT_GT(sent_ns, 0u);
  return received_ns - sent_ns;
}

TEST(Dispatch, ALinkDelaysWhatPassesIt) {
  const Cluster cluster =
      Cluster::start("embedded:islands=2,devices=1,link_latency=20ms,link_bandwidth=10MiB").value();
  const Client client = cluster.connect().value();
  const Slice left = acquire(client, 1, 0), right = acquire(client, 1, 1);
  const std::int64_t size = 1 << 18;  // 1 MiB: 100 ms at that bandwidth.
  const Array in = client.put<float>(counted(size), {size}, rows(left));

  EXPECT_EQ(read(in.reshard(rows(right)).value()), counted(size));

  EXPECT_GE(crossing_ns(cluster), 119'000'000u);
}

/// Behind one another where they share a link, side by side in its two directions.
TEST(Dispatch, TenantsShareALinkAndDirectionsDoNot) {
  const auto cross = [](std::int32_t second_from) {
    const Cluster cluster =
        Cluster::start("embedded:islands=2,devices=2,threads=4,link_bandwidth=10MiB").value();
    const std::int64_t size = 1 << 17;  // 512 KiB: 50 ms at that bandwidth.
    std::vector<Client> clients;
    std::vector<NamedSharding> targets;
    std::vector<Array> inputs, outputs;
    for (const std::int32_t from : {0, second_from}) {
      clients.push_back(
          cluster.connect({.tenant = "tenant" + std::to_string(clients.size())}).value());
      const Client& client = clients.back();
      targets.push_back(rows(acquire(client, 1, 1 - from)));
      inputs.push_back(client.put<float>(counted(size), {size}, rows(acquire(client, 1, from))));
      EXPECT_TRUE(inputs.back().status().ok());
    }
    // Both set out together, so that only what they share can part them.
    for (std::size_t i = 0; i < 2; ++i) outputs.push_back(inputs[i].reshard(targets[i]).value());
    for (const Array& output : outputs) EXPECT_EQ(read(output), counted(size));
    return crossing_ns(cluster);
  };

  EXPECT_GE(cross(0), 99'000'000u);
  EXPECT_GE(cross(1), 49'000'000u);
}

TEST(Dispatch, ASliceIsBoundAnewBetweenRunsAndItsArraysFollow) {
  const Client client = connect("embedded:islands=2,devices=4").value();
  Slice slice = acquire(client, 2);
  const Function next =
      client.function("next", [](Tensor x) { return x * 1.1f; }, {f32({2})}).value();
  const Program f =
      client.program("f", [&](Traced v) { return next(v); }, {ArraySpec{f32({4}), rows(slice)}})
          .value();
  const Array in = client.put<float>({1, 2, 3, 4}, rows(slice));
  const Array before = f.execute({in}).output(0);
  const std::vector<float> expected = read(before), twice = read(f.execute({before}).output(0));

  for (int i = 0; i < 10; ++i) {
    std::vector<seaway::Run> running;
    for (int k = 0; k < 5; ++k) running.push_back(f.execute({in}));
    const Status status = slice.rebind();
    ASSERT_TRUE(status.ok()) << status.to_string();

    EXPECT_EQ(read(f.execute({in}).output(0)), expected);
    EXPECT_EQ(read(before), expected);
    EXPECT_EQ(read(f.execute({before}).output(0)), twice);
    for (const seaway::Run& run : running) EXPECT_EQ(read(run.output(0)), expected);
  }
}

TEST(Dispatch, TwoClustersLiveSideBySide) {
  const Client one = connect("embedded:devices=2").value(), two = connect("embedded").value();
  const Slice wide = acquire(one, 2), narrow = acquire(two, 1);
  const Array here = one.put<float>({1, 2}, rows(wide)), there = two.put<float>({3}, rows(narrow));
  const Function next = one.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();

  EXPECT_EQ(read(next.execute({here}).output(0)), (std::vector<float>{2, 3}));
  EXPECT_EQ(next.execute({there}).status().get().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read(there), (std::vector<float>{3}));
}

TEST(Dispatch, AFullClientRefusesOrWaitsAsItWasTold) {
  const Cluster cluster = Cluster::start("embedded:devices=1,threads=4").value();
  Gate gate;
  const auto start = [&](const Client& client, const std::string& name) {
    const Slice slice = acquire(client, 1);
    const Function slow = client
                              .native(name, copying({f32({1})},
                                                    [&gate] {
                                                      gate.pass();
                                                      return Status();
                                                    }))
                              .value();
    return std::pair{slow, client.put<float>({1}, rows(slice))};
  };
  const Client refusing = cluster.connect({.runs_in_flight_max = 3}).value();
  auto [slow, in] = start(refusing, "slow");
  std::vector<seaway::Run> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(slow.execute({in}));

  const Status refused = runs[3].error();

  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("3 of 3 runs"), std::string::npos) << refused.to_string();
  gate.open();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(runs[static_cast<std::size_t>(i)].status().get().ok());

  const Client waiting =
      cluster.connect({.runs_in_flight_max = 3, .when_full = WhenFull::kWait}).value();
  auto [quick, value] = start(waiting, "quick");
  runs.clear();
  for (int i = 0; i < 100; ++i) runs.push_back(quick.execute({value}));
  for (const seaway::Run& run : runs) EXPECT_TRUE(run.status().get().ok());
}

TEST(Dispatch, WhyNamesTheRootOfAWait) {
  const Cluster cluster = Cluster::start("embedded:devices=1,threads=4,runs_in_flight=1").value();
  const Client client = cluster.connect({.tenant = "a \"quoted\" tenant"}).value();
  const Slice slice = acquire(client, 1);
  Gate gate;
  const Function slow = client
                            .native("slow", copying({f32({1})},
                                                    [&gate] {
                                                      gate.pass();
                                                      return Status();
                                                    }))
                            .value();
  const seaway::Run root = slow.execute({client.put<float>({1}, rows(slice))});
  std::vector<seaway::Run> chain = {slow.execute({root.output(0)})};
  for (int i = 0; i < 5; ++i) chain.push_back(slow.execute({chain.back().output(0)}));
  gate.await();

  EXPECT_NE(root.why().find("runs now"), std::string::npos) << root.why();
  const std::string why = chain.back().why();
  EXPECT_NE(why.find("waits behind 5 runs"), std::string::npos) << why;
  EXPECT_NE(why.find("1 of 1 runs are in flight"), std::string::npos) << why;
  const auto stats = nlohmann::json::parse(client.stats().value());
  EXPECT_EQ(stats.at("runs_in_flight"), 1);
  EXPECT_EQ(stats.at("tenants").at(0).at("name"), "a \"quoted\" tenant");
  gate.open();
  EXPECT_TRUE(chain.back().status().get().ok());
}

TEST(Dispatch, ZeroSizedArraysPassEverywhere) {
  const Client client = connect("embedded:islands=2,devices=2").value();
  const Slice left = acquire(client, 2, 0), right = acquire(client, 2, 1);
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({0, 3})}).value();
  const Program f = client
                        .program("f", [&](Traced v) { return next.on(right)(next(v)); },
                                 {ArraySpec{f32({0, 3}), rows(left)}})
                        .value();
  const Array in = client.put<float>({}, {0, 3}, rows(left));

  EXPECT_EQ(read(in), std::vector<float>());
  EXPECT_EQ(read(f.execute({in}).output(0)), std::vector<float>());
}

TEST(Dispatch, OutputsMayBeParametersAndMayBeNamedTwice) {
  const Client client = connect("embedded:islands=2,devices=2").value();
  const Slice slice = acquire(client, 2);
  const ArraySpec spec{f32({2}), rows(slice)};
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
  const auto make = [&](ProgramOptions options) {
    return client
        .program(
            "f",
            [&](Traced used, Traced) {
              const Traced y = next(used);
              return std::tuple{used, y, y, used};
            },
            {spec, spec}, std::move(options))
        .value();
  };
  for (const auto& donated : {std::vector<std::uint32_t>{}, {0}, {1}, {0, 1}}) {
    const Program f = make({.donated = donated});

    const seaway::Run run =
        f.execute({client.put<float>({1, 2}, rows(slice)), client.put<float>({5, 6}, rows(slice))});

    EXPECT_EQ(read(run.output(0)), (std::vector<float>{1, 2}));
    EXPECT_EQ(read(run.output(1)), (std::vector<float>{2, 3}));
    EXPECT_EQ(read(run.output(2)), (std::vector<float>{2, 3}));
    EXPECT_EQ(read(run.output(3)), (std::vector<float>{1, 2}));
  }
}

}  // namespace
}  // namespace seaway
