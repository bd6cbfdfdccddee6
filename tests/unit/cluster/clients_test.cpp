// Clients of whole clusters: what is left of them when they go.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/frames.hpp"
#include "client/outbox.hpp"
#include "cluster_fixture.hpp"
#include "overheard.hpp"
#include "resources/slice_binder.hpp"

namespace seaway {
namespace {

std::size_t clients_of(const Cluster& cluster) {
  return ask<std::size_t>(cluster,
                          [](auto& embedded) { return embedded.controller().client_count(); });
}

/// A client that has slices, functions, programs, arrays and runs of its own.
Client make_busy_client(const Cluster& cluster) {
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

TEST(Clients, TheIdOfOneThatHasGoneIsNotUsedAgain) {
  const Cluster cluster = Cluster::start("embedded:devices=1").value();
  const Client observer = cluster.connect().value();
  const ClientId gone = make_busy_client(cluster).id();
  ASSERT_TRUE(eventually(cluster,
                         [](auto& embedded) { return embedded.controller().client_count() == 1; }));
  Overheard overheard(cluster);
  const RunId late = make_id(gone, 1'000'000);
  const client::Said said = {.kind = client::Said::Kind::kRun, .id = late, .first = late + 1};

  overheard.say(observer, client::frames::hello(gone, 77, {}));
  overheard.say(observer, client::frames::runs(gone, {&said, 1}, {}));

  EXPECT_EQ(overheard.replies[77],
            invalid_argument("client " + std::to_string(gone) +
                             " has said hello before; connect anew, ids are used once"));
  EXPECT_TRUE(overheard.outcomes.empty());
  EXPECT_EQ(clients_of(cluster), 1u);
}

TEST(Clients, KeepABoundedNumberOfTheirNamesForTraces) {
  resources::ResourceCore resources({});
  resources.add_island({{"cpu", 1 << 20}});
  resources::ResourceBinder binder(std::move(resources));
  const RealClock clock;
  events::EventStream events;
  controller::ControllerOptions options;
  options.limits.old_names_max = 2;
  controller::ControllerCore core(options, binder, clock, events);
  core.hello(1, "tenant", 0, 1);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    program::FunctionInfo info;
    info.id = make_id(1, i);
    info.name = "f" + std::to_string(i);
    core.define_function(1, info, Frame());
  }

  core.goodbye(1);
  core.pump();

  EXPECT_EQ(core.client_count(), 0u);
  EXPECT_EQ(core.function_name(make_id(1, 1)), "");
  EXPECT_EQ(core.function_name(make_id(1, 2)), "f2");
  EXPECT_EQ(core.function_name(make_id(1, 3)), "f3");
}

}  // namespace
}  // namespace seaway
