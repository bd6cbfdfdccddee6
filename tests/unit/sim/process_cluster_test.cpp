// Processes that are killed, paused and cut off, and come back.

#include "sim/process_cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/fault_point.hpp"
#include "seaway/client.hpp"
#include "seaway/function.hpp"
#include "seaway/program.hpp"
#include "sim/sim_backend.hpp"
#include "unit/sim/process_events.hpp"

namespace seaway::sim {
namespace {

using Kind = ProcessFault::Kind;

constexpr std::uint64_t kLatencyNs = kMsNs;

/// A cluster of one island of one device, and what is heard of its processes.
class Place final : public ProcessSink {
 public:
  explicit Place(std::vector<ProcessFault> faults) : engine(actor::make_seeded_engine(7)) {
    ProcessCluster::Options options;
    options.cluster.islands = 1;
    options.cluster.devices = 1;
    options.faults.faults = std::move(faults);
    options.faults.wires.latency_min_ns = options.faults.wires.latency_max_ns = kLatencyNs;
    options.sinks = {this};
    cluster = std::make_unique<ProcessCluster>(
        std::move(options), *engine, stream,
        [](actor::Engine& process, IslandId island, std::function<void()> on_progress) {
          return std::make_unique<SimBackend>(
              process, 7, island, CostModel(), std::move(on_progress),
              [](const std::string& text) { ADD_FAILURE() << text; });
        });
  }
  ~Place() override {
    engine->abandon_bodies();
    cluster.reset();
  }
  void run_until(std::uint64_t at_ns) {
    while (engine->now_ns() < at_ns && engine->step()) {
    }
  }
  void started(const cluster::RoleName& name, std::uint32_t life) override {
    heard.push_back(cluster::to_string(name) + " starts " + std::to_string(life));
  }
  void ended(const cluster::RoleName& name, std::uint32_t life) override {
    heard.push_back(cluster::to_string(name) + " ends " + std::to_string(life));
  }
  void began(const ProcessFault& fault) override { begun.push_back(fault.at_ns); }
  void record(const cluster::RoleName& teller, const events::Event& event) override {
    heard.push_back(cluster::to_string(teller) + ": " + std::string(events::to_string(event.kind)));
  }
  std::uint64_t count(const std::string& text) const {
    return static_cast<std::uint64_t>(std::count(heard.begin(), heard.end(), text));
  }

  events::EventStream stream{16};
  std::vector<std::string> heard;
  std::vector<std::uint64_t> begun;
  std::unique_ptr<actor::SeededEngine> engine;
  std::unique_ptr<ProcessCluster> cluster;
};

TEST(ProcessCluster, AKilledHostIsDownAndBeginsANewLife) {
  Place place(
      {{.kind = Kind::kKill, .at_ns = 100 * kMsNs, .duration_ns = 800 * kMsNs, .target = host(0)}});

  place.run_until(300 * kMsNs);
  cluster::Member* const while_down = place.cluster->member(host(0));
  place.run_until(1'500 * kMsNs);

  EXPECT_EQ(while_down, nullptr);
  ASSERT_NE(place.cluster->member(host(0)), nullptr);
  EXPECT_EQ(place.cluster->life(host(0)), 2u);
  EXPECT_EQ(place.count("the host of island 0 ends 1"), 1u);
  EXPECT_EQ(place.count("the host of island 0 starts 2"), 1u);
  EXPECT_EQ(place.count("the controller: host_joined"), 2u);
  EXPECT_EQ(place.count("the controller: host_lost"), 1u);
  EXPECT_EQ(place.cluster->done(Kind::kKill), 1u);
}

/// Has one process run out of memory, at one of the frames that all of them send.
class OutOfMemory final : public FaultChooser {
 public:
  explicit OutOfMemory(std::uint64_t at_frame) : at_frame_(at_frame) {
    exchange_fault_chooser(this);
  }
  ~OutOfMemory() override { exchange_fault_chooser(nullptr); }
  bool fires(FaultPoint point) override {
    return point == FaultPoint::kOutOfMemory && ++frames_ == at_frame_;
  }

 private:
  const std::uint64_t at_frame_;
  std::uint64_t frames_ = 0;
};

TEST(ProcessCluster, AProcessThatDiesBetweenTwoMessagesIsKilledAndBeginsANewLife) {
  // Joins, views and turns: whoever sends that one dies of it.
  for (std::uint64_t frame = 1; frame <= 6; ++frame) {
    OutOfMemory death(frame);
    Place place({});
    const std::vector<cluster::RoleName> names = {kTheController, host(0), scheduler(0)};
    const auto is_up = [&place](const auto& name) { return place.cluster->member(name); };

    while (place.begun.empty() && place.engine->step()) {
    }
    EXPECT_EQ(std::ranges::count_if(names, is_up), 2) << frame;
    place.run_until(5'000 * kMsNs);

    EXPECT_EQ(place.cluster->done(Kind::kKill), 1u) << frame;
    EXPECT_EQ(place.begun.size(), 1u) << frame;
    std::uint64_t ends = 0;
    for (const cluster::RoleName& name : names) {
      const std::string died = cluster::to_string(name) + " ends 1";
      ends += place.count(died);
      const auto at = std::find(place.heard.begin(), place.heard.end(), died);
      if (at == place.heard.end()) continue;
      const std::string back = cluster::to_string(name) + " starts 2";
      const auto again = std::find(at, place.heard.end(), back);
      EXPECT_NE(again, place.heard.end()) << frame;
      // The rest of its handler is not heard.
      const std::string says = cluster::to_string(name) + ": ";
      EXPECT_TRUE(std::none_of(at, again, [&](const std::string& one) {
        return one.starts_with(says);
      })) << frame;
      ASSERT_NE(place.cluster->member(name), nullptr) << frame;
    }
    EXPECT_GE(ends, 1u) << frame;
    EXPECT_NE(place.cluster->member(host(0))->controller_life(), 0u) << frame;
  }
}

TEST(ProcessCluster, AControllerThatIsKilledTakesAllFollowersWithIt) {
  Place place({{.kind = Kind::kKill, .at_ns = 100 * kMsNs, .duration_ns = 1, .target = {}}});

  place.run_until(1'000 * kMsNs);

  EXPECT_EQ(place.cluster->life(kTheController), 2u);
  EXPECT_EQ(place.cluster->life(host(0)), 2u);
  EXPECT_EQ(place.cluster->life(scheduler(0)), 2u);
  EXPECT_EQ(place.cluster->member(host(0))->controller_life(), 2u);
}

TEST(ProcessCluster, WhatSeveralFaultsBlockIsOpenWhenTheLastOfThemIsOver) {
  // The second fault ends while the first one goes on: the host is not heard, and is lost.
  Place place({{.kind = Kind::kIsolate,
                .at_ns = 100 * kMsNs,
                .duration_ns = 3'000 * kMsNs,
                .target = host(0)},
               {.kind = Kind::kMute, .at_ns = 200 * kMsNs, .duration_ns = 1, .target = host(0)}});

  place.run_until(2'900 * kMsNs);
  const std::uint64_t lost = place.count("the controller: host_lost");
  const std::uint64_t joined = place.count("the controller: host_joined");
  place.run_until(4'500 * kMsNs);

  EXPECT_EQ(lost, 1u);
  EXPECT_EQ(joined, 1u);
  EXPECT_EQ(place.count("the controller: host_joined"), 2u);
}

TEST(ProcessCluster, TwoThatLostEachOtherTalkAgainAtOnce) {
  // The client hears the first words of the others, and they hear none: it alone begins anew.
  Place place({{.kind = Kind::kMute,
                .at_ns = kLatencyNs + kLatencyNs / 2,
                .duration_ns = 1'500 * kMsNs,
                .target = client(1)}});
  bool is_connected = false;
  place.cluster->start_client(1, [&](cluster::Member& member, actor::SeededProcess& process) {
    process.wait([] { return false; }, 4'000 * kMsNs);
    is_connected = member.connect({}).ok();
  });

  place.run_until(8'000 * kMsNs);

  EXPECT_TRUE(is_connected);
  // A circle of conversations that end each other would make thousands.
  EXPECT_LT(place.cluster->wire_counts().connections, 100u);
}

TEST(ProcessCluster, AnIslandWhoseRoleDiesAgainAndAgainFailsAndIsUsedAgainLater) {
  for (const auto& victim : {host(0), scheduler(0)}) {
    Place place({{.kind = Kind::kCrashLoop,
                  .at_ns = 100 * kMsNs,
                  .duration_ns = 800 * kMsNs,
                  .target = victim,
                  .amount = 100 * kMsNs}});

    place.run_until(2'000 * kMsNs);
    EXPECT_FALSE(place.cluster->member(kTheController)->controller()->has_host(0));
    EXPECT_FALSE(place.cluster->member(kTheController)->controller()->has_scheduler(0));
    place.run_until(12'000 * kMsNs);

    EXPECT_TRUE(place.cluster->member(kTheController)->controller()->has_host(0));
    EXPECT_TRUE(place.cluster->member(kTheController)->controller()->has_scheduler(0));
  }
}

TEST(ProcessCluster, WithoutAFaultAllOthersAreAsTheyWere) {
  std::vector<ProcessFault> all = {
      {.kind = Kind::kIsolate, .at_ns = 10, .duration_ns = kMsNs, .target = host(0)},
      {.kind = Kind::kPause, .at_ns = 20, .duration_ns = kMsNs, .target = scheduler(0)},
      {.kind = Kind::kDeafen, .at_ns = 30, .duration_ns = kMsNs, .target = {}}};
  std::vector<ProcessFault> fewer = {all[0], all[2]};
  Place whole(all), part(fewer);

  whole.run_until(50 * kMsNs);
  part.run_until(50 * kMsNs);

  EXPECT_EQ(whole.begun, (std::vector<std::uint64_t>{10, 20, 30}));
  EXPECT_EQ(part.begun, (std::vector<std::uint64_t>{10, 30}));
}

/// Hands in so many runs at once, and returns how many of them succeed.
int run_all(Client& client, int runs) {
  const Slice slice = client.acquire_slice({.devices = 1}).value();
  const TensorType type{DType::kF32, {4}};
  const ArraySpec spec{type, NamedSharding(slice.mesh(), P())};
  Function step = client.function("step", [](Tensor x) { return x + 1; }, {type}).value();
  Program program = client.program("program", [&](Traced x) { return step(x); }, {spec}).value();
  const Array input = client.put<float>({1, 2, 3, 4}, spec.sharding);
  std::vector<Future<void>> ends;
  for (int i = 0; i < runs; ++i) ends.push_back(program.execute({input}).status());
  return static_cast<int>(
      std::ranges::count_if(ends, [](Future<void>& end) { return end.get().ok(); }));
}

TEST(ProcessCluster, ASchedulerBeginsWithAsManyRunsAsThereAre) {
  // The runs are handed in while it is down.
  Place place({{.kind = Kind::kKill,
                .at_ns = 100 * kMsNs,
                .duration_ns = 400 * kMsNs,
                .target = scheduler(0)}});
  place.run_until(200 * kMsNs);
  int succeeded = 0;
  place.cluster->start_client(1, [&succeeded](cluster::Member& member, actor::SeededProcess&) {
    Client client = member.connect({}).value();
    succeeded = run_all(client, 2'000);
  });

  place.run_until(3'000 * kMsNs);

  EXPECT_EQ(succeeded, 2'000);
  EXPECT_EQ(place.cluster->life(scheduler(0)), 2u);
}

TEST(ProcessCluster, OfAClientThatEndsWhileItFetchesNothingIsLeft) {
  const auto token = std::make_shared<bool>(true);
  bool is_reading = false;
  {
    Place place({});
    place.run_until(200 * kMsNs);
    place.cluster->start_client(1, [&](cluster::Member& member, actor::SeededProcess& process) {
      Client client = member.connect({}).value();
      const Slice slice = client.acquire_slice({.devices = 1}).value();
      const Array array =
          client.put(std::vector<float>(64, 1), {64}, NamedSharding(slice.mesh(), P()));
      ASSERT_TRUE(array.ready().get().ok());
      // What is done with the value belongs to whatever waits for it.
      static_cast<void>(
          array.to_host<float>().then(inline_executor(), [token](const auto&) { return *token; }));
      is_reading = true;
      process.wait([] { return false; }, 0);
    });
    const auto fetches = [&] {
      const cluster::Member* const member = place.cluster->member(client(1));
      return is_reading && member && member->open_data() > 0;
    };
    while (!fetches() && place.engine->step()) {
    }
    ASSERT_TRUE(fetches());
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(ProcessCluster, AfterItIsHealedNobodyIsDown) {
  Place place({{.kind = Kind::kPause,
                .at_ns = 10 * kMsNs,
                .duration_ns = 60'000 * kMsNs,
                .target = scheduler(0)},
               {.kind = Kind::kIsolate,
                .at_ns = 10 * kMsNs,
                .duration_ns = 60'000 * kMsNs,
                .target = host(0)}});

  place.run_until(3'000 * kMsNs);
  place.cluster->heal();
  place.run_until(6'000 * kMsNs);

  EXPECT_TRUE(place.cluster->is_healed());
  EXPECT_NE(place.cluster->member(scheduler(0))->scheduler()->view(), 0u);
  EXPECT_EQ(place.cluster->member(kTheController)->controller()->has_host(0), true);
}

}  // namespace
}  // namespace seaway::sim
