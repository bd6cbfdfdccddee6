// Clients of whole clusters: what is left of them when they go.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster_fixture.hpp"
#include "resources/slice_binder.hpp"

namespace seaway {
namespace {

std::size_t clients_of(const Cluster& cluster) {
  return ask<std::size_t>(cluster,
                          [](auto& embedded) { return embedded.controller().client_count(); });
}

/// A client that has slices, functions, programs, arrays and runs of its own. What it has defined
/// is not released while `kept` has its program.
Client make_busy_client(const Cluster& cluster, std::vector<Program>* kept = nullptr) {
  Client client = cluster.connect().value();
  const Slice slice = acquire(client, 1);
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
  const Program f =
      client.program("f", [&](Traced v) { return next(v); }, {ArraySpec{f32({1}), rows(slice)}})
          .value();
  EXPECT_EQ(read(f.execute({client.put<float>({1}, rows(slice))}).output(0)),
            std::vector<float>{2});
  f.execute({client.put<float>({2}, rows(slice))});  // Perhaps still on its way when it goes.
  if (kept) kept->push_back(f);
  return client;
}

/// CO-7.
TEST(Clients, OfOneThatHasGoneNothingIsLeft) {
  const Cluster cluster = Cluster::start("embedded:devices=2").value();
  const Client observer = cluster.connect({.tenant = "observer"}).value();

  for (int i = 0; i < 20; ++i) make_busy_client(cluster);

  EXPECT_TRUE(eventually(cluster, [](auto& embedded) {
    return embedded.controller().client_count() == 1 && leftovers(embedded).empty();
  })) << ask<std::string>(cluster, leftovers);
  const std::string stats = observer.stats().value();
  EXPECT_NE(stats.find("\"clients\":1,"), std::string::npos) << stats;
  EXPECT_NE(stats.find("\"programs\":0,\"functions\":0,"), std::string::npos) << stats;
}

/// What hosts and schedulers know of programs, functions and uploads, island by island.
std::string definitions_of(cluster::Embedded& embedded) {
  std::string text;
  for (IslandId island = 0; island < embedded.options().islands; ++island) {
    device::HostCore& host = embedded.host(island);
    text += std::to_string(host.plan_count()) + " plans, " + std::to_string(host.function_count()) +
            " functions, " + std::to_string(host.spec_count()) +
            " specs; scheduler: " + std::to_string(embedded.plans_at_scheduler(island)) +
            " plans, " + std::to_string(embedded.scheduler(island).plan_count()) + " profiles; ";
  }
  return text;
}

/// CO-7.
TEST(Clients, IslandsForgetThePlansAndFunctionsOfThoseThatHaveGone) {
  const Cluster cluster = Cluster::start("embedded:islands=2,devices=2").value();
  std::vector<Program> kept;
  const Client client = make_busy_client(cluster, &kept);
  EXPECT_TRUE(client.drain().ok());
  const std::string before = ask<std::string>(cluster, definitions_of);

  for (int i = 0; i < 20; ++i) make_busy_client(cluster, &kept);

  EXPECT_TRUE(
      eventually(cluster, [&before](auto& embedded) { return definitions_of(embedded) == before; }))
      << before << "became\n"
      << ask<std::string>(cluster, definitions_of);
  EXPECT_NE(before.find("1 plans, 1 functions, 2 specs; scheduler: 1 plans, 1 profiles"),
            std::string::npos)
      << before;
}

/// CO-7. Counts stay as they are while a thousand come and go, and in the end there is nothing.
TEST(Clients, AThousandComeAndGoWhileOneGoesOn) {
  const Cluster cluster = Cluster::start("embedded:islands=2,devices=2").value();
  {
    const Client lasting = cluster.connect({.tenant = "lasting"}).value();
    const Slice slice = acquire(lasting, 2);
    const Function next =
        lasting.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
    const Program f =
        lasting.program("f", [&](Traced v) { return next(v); }, {ArraySpec{f32({2}), rows(slice)}})
            .value();
    const Array in = lasting.put<float>({1, 2}, rows(slice));
    EXPECT_EQ(read(f.execute({in}).output(0)), (std::vector<float>{2, 3}));
    EXPECT_TRUE(lasting.drain().ok());
    const std::string before = ask<std::string>(cluster, definitions_of);

    for (int i = 1; i <= 1000; ++i) {
      const seaway::Run run = f.execute({in});
      make_busy_client(cluster);
      EXPECT_EQ(read(run.output(0)), (std::vector<float>{2, 3}));
      if (i % 250 != 0) continue;
      EXPECT_TRUE(eventually(cluster,
                             [&before](auto& embedded) {
                               return embedded.controller().client_count() == 1 &&
                                      definitions_of(embedded) == before;
                             }))
          << before << "became\n"
          << ask<std::string>(cluster, definitions_of);
    }

    const auto told = [](cluster::Embedded& embedded) {
      const controller::ControllerOutbox& outbox = embedded.controller().outbox();
      return outbox.clients.size() + outbox.spare_clients.size();
    };
    EXPECT_LE(ask<std::size_t>(cluster, told), 4u);  // The most that were told something at once.
  }

  const std::string none = "0 plans, 0 functions, 0 specs; scheduler: 0 plans, 0 profiles; ";
  EXPECT_TRUE(eventually(cluster, [&none](auto& embedded) {
    return definitions_of(embedded) == none + none;
  })) << ask<std::string>(cluster, definitions_of);
  expect_nothing_left(cluster);
}

TEST(Clients, PlansOfAnEarlierBindingAreForgotten) {
  const Cluster cluster = Cluster::start("embedded:islands=2,devices=2").value();
  const Client client = cluster.connect().value();
  Slice slice = acquire(client, 1);
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
  const Program f =
      client.program("f", [&](Traced v) { return next(v); }, {ArraySpec{f32({1}), rows(slice)}})
          .value();
  const Array in = client.put<float>({1}, rows(slice));

  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(read(f.execute({in}).output(0)), std::vector<float>{2});
    EXPECT_TRUE(slice.rebind().ok());
  }
  EXPECT_EQ(read(f.execute({in}).output(0)), std::vector<float>{2});

  const auto plans = [](cluster::Embedded& embedded) {
    std::size_t count = 0;
    for (const IslandId island : {0u, 1u}) {
      count += embedded.host(island).plan_count() + embedded.plans_at_scheduler(island);
    }
    return count;
  };
  EXPECT_TRUE(eventually(cluster, [&](auto& embedded) { return plans(embedded) == 2; }))
      << ask<std::size_t>(cluster, plans);
}

TEST(Clients, OneThatGoesIsRememberedUntilItsLastRunEnds) {
  const Cluster cluster = Cluster::start("embedded:devices=1,threads=4").value();
  const Client observer = cluster.connect().value();
  Gate gate;
  {
    const Client client = cluster.connect().value();
    const Slice slice = acquire(client, 1);
    const Function slow = client
                              .native("slow", copying({f32({1})},
                                                      [&gate] {
                                                        gate.pass();
                                                        return Status();
                                                      }))
                              .value();
    slow.execute({client.put<float>({1}, rows(slice))});
    gate.await();
  }
  EXPECT_TRUE(observer.drain().ok());  // Behind the goodbye.

  EXPECT_EQ(clients_of(cluster), 2u);
  gate.open();

  EXPECT_TRUE(eventually(cluster,
                         [](auto& embedded) { return embedded.controller().client_count() == 1; }));
}

/// A controller of one device that nobody runs.
struct LoneController {
  explicit LoneController(controller::ControllerOptions options = {})
      : binder(make_resources()), core(options, binder, clock, events) {}

  static resources::ResourceCore make_resources() {
    resources::ResourceCore resources({});
    resources.add_island({{"cpu", 1 << 20}});
    return resources;
  }
  void define(ClientId client, std::uint64_t sequence, const std::string& name) {
    program::FunctionInfo info;
    info.id = make_id(client, sequence);
    info.name = name;
    core.define_function(client, info, Frame());
    core.compiled(info.id, 0, {}, 0, 1);
  }

  resources::ResourceBinder binder;
  RealClock clock;
  events::EventStream events;
  controller::ControllerCore core;
};

TEST(Clients, TheIdOfOneThatHasGoneIsNotUsedAgain) {
  LoneController lone;
  lone.core.hello(1, "tenant", 0, 1);
  lone.core.goodbye(1);
  lone.core.pump();
  ASSERT_EQ(lone.core.client_count(), 0u);

  lone.core.hello(1, "tenant", 0, 2);
  lone.define(1, 3, "late");
  lone.core.run(1, {.run = make_id(1, 4), .first_output = make_id(1, 5), .args = {}});

  ASSERT_EQ(lone.core.outbox().clients.at(1).replies.size(), 1u);
  EXPECT_EQ(lone.core.outbox().clients[1].replies[0].status,
            invalid_argument("client 1 has said hello before; connect anew, ids are used once"));
  EXPECT_TRUE(lone.core.outbox().clients[1].resolved.empty());
  EXPECT_EQ(lone.core.client_count(), 0u);
  EXPECT_EQ(lone.core.function_name(make_id(1, 3)), "");
}

TEST(Clients, ARunUnderAStrangersNumberIsRefused) {
  LoneController lone;
  lone.core.hello(1, "tenant", 0, 1);
  lone.core.hello(2, "tenant", 0, 1);

  lone.core.run(2, {.run = make_id(1, 4), .first_output = make_id(2, 5), .args = {}});
  lone.core.run(2, {.run = make_id(2, 4), .first_output = make_id(1, 5), .args = {}});

  ASSERT_EQ(lone.core.outbox().clients.at(2).resolved.size(), 2u);
  for (const auto& resolved : lone.core.outbox().clients[2].resolved) {
    EXPECT_EQ(resolved.status.code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(lone.core.runs_unfinished(), 0u);
}

TEST(Clients, KeepABoundedNumberOfTheirNamesForTraces) {
  controller::ControllerOptions options;
  options.limits.old_names_max = 2;
  LoneController lone(options);
  lone.core.hello(1, "tenant", 0, 1);
  for (std::uint64_t i = 1; i <= 3; ++i) lone.define(1, i, "f" + std::to_string(i));

  lone.core.goodbye(1);
  lone.core.pump();

  EXPECT_EQ(lone.core.client_count(), 0u);
  EXPECT_EQ(lone.core.function_name(make_id(1, 1)), "");
  EXPECT_EQ(lone.core.function_name(make_id(1, 2)), "f2");
  EXPECT_EQ(lone.core.function_name(make_id(1, 3)), "f3");
}

}  // namespace
}  // namespace seaway
