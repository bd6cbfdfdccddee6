// Functions, programs, specs and slices on a whole cluster: forgotten everywhere, and limited while
// they live.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "client/session.hpp"
#include "cluster_fixture.hpp"

namespace seaway {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kElements = 8;

struct World {
  explicit World(const std::string& more = "")
      : cluster(Cluster::start("embedded:devices=1,threads=1,device_memory=16MiB" + more).value()),
        client(cluster.connect().value()),
        slice(client.acquire_slice({}).value()),
        whole(slice.mesh(), P()) {}

  Array put(std::int64_t elements = kElements) {
    const std::vector<float> values(static_cast<std::size_t>(elements), 1.0f);
    return client.put(values, {elements}, whole);
  }
  Result<Function> function(double number = 2) {
    return client.function("f", [number](Tensor x) { return x * number; }, {f32({kElements})});
  }
  Result<Program> program(const Function& f) {
    return client.program("p", [&f](const Traced& x) { return f(x); },
                          {ArraySpec{f32({kElements}), whole}});
  }

  Cluster cluster;
  Client client;
  Slice slice;
  NamedSharding whole;
};

/// Live records of definitions: of the session, the controller, the host and the scheduler.
struct Records {
  std::uint64_t session = 0, controller = 0, functions = 0, plans = 0, specs = 0, scheduled = 0;
  friend bool operator==(const Records&, const Records&) = default;
};

Records records_of(World& world) {
  Records records = ask<Records>(world.cluster, [](cluster::Embedded& embedded) {
    const device::HostCore& host = embedded.host(0);
    return Records{0,
                   embedded.controller().definition_count(),
                   host.function_count(),
                   host.plan_count(),
                   host.spec_count(),
                   embedded.plans_at_scheduler(0)};
  });
  records.session = world.client.session().definitions();
  return records;
}

std::string text_of(const Records& records) {
  return std::to_string(records.session) + " of the session, " +
         std::to_string(records.controller) + " of the controller, " +
         std::to_string(records.functions) + " functions, " + std::to_string(records.plans) +
         " plans, " + std::to_string(records.specs) + " specs, " +
         std::to_string(records.scheduled) + " plans of the scheduler";
}

void expect_returns_to(const Records& wanted, World& world) {
  static_cast<void>(
      eventually(world.cluster, [&](auto&) { return world.client.session().in_flight() == 0; }));
  EXPECT_EQ(world.client.drain(), Status());
  Records now = records_of(world);
  for (int look = 0; look < 10'000 && now != wanted; ++look) now = records_of(world);
  EXPECT_EQ(text_of(now), text_of(wanted));
}

/// Captures, runs and drops a function and a program, `rounds` times; `look` is called in between.
void come_and_go(
    int rounds, const std::function<void(int round)>& look = [](int) {}) {
  World world;
  const Array x = world.put();
  const auto round = [&](int i) {
    const Function f = world.function(i).value();
    const Program p = world.program(f).value();
    EXPECT_EQ(p.execute({x}).status().get().status(), Status());
  };
  round(0);
  EXPECT_EQ(world.client.drain(), Status());
  Records before = records_of(world);
  for (int i = 0; i < 10'000 && before.functions > 0; ++i) before = records_of(world);

  for (int i = 1; i <= rounds; ++i) {
    round(i);
    look(i);
  }

  expect_returns_to(before, world);
}

TEST(Definitions, Of20000ProgramsLeaveNothing) { come_and_go(20'000); }

/// Every night; prints what the process has in memory.
TEST(Definitions, DISABLED_OfAMillionProgramsLeaveMemoryFlat) {
  const auto resident_bytes = [] {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  };
  std::uint64_t early = 0;

  come_and_go(1'000'000, [&](int round) {
    if (round % 100'000 != 0) return;
    const std::uint64_t now = resident_bytes();
    if (early == 0) early = now;
    std::cout << round << " programs: " << now / 1024 << " KiB\n";
  });

  EXPECT_LT(resident_bytes(), early + (std::uint64_t{32} << 20));
}

TEST(Definitions, MoreThanTheLimitOneAfterAnotherAllRun) {
  World world(",definitions=100");
  const Array x = world.put();

  for (int i = 0; i < 2'000; ++i) {
    const auto f = world.function(i);
    ASSERT_TRUE(f.ok()) << i << ": " << f.status().to_string();
    const auto p = world.program(*f);
    ASSERT_TRUE(p.ok()) << i << ": " << p.status().to_string();
    const seaway::Run run = p->execute({x});
    ASSERT_EQ(run.status().get().status(), Status()) << i;
    ASSERT_TRUE(run.output(0).to_host<float>().get().ok()) << i;
  }
}

TEST(Definitions, OfEverNewShapesAreForgotten) {
  World world(",definitions=100");
  const Records before = records_of(world);

  for (std::int64_t i = 1; i <= 2'000; ++i) ASSERT_EQ(world.put(i).status(), Status()) << i;

  const Records after = records_of(world);
  EXPECT_LE(after.session, before.session + 8);
  EXPECT_LE(after.controller, before.controller + 9);
  EXPECT_LE(after.specs, before.specs + 18);
}

TEST(Definitions, BeyondTheLimitAreRefusedAtTheCallWithTheNumbers) {
  World world(",definitions=6");
  const Array x = world.put();  // A slice and a spec.
  std::vector<Function> held;
  for (int i = 0; i < 4; ++i) held.push_back(world.function(i).value());

  const auto function = world.function();
  const auto program = world.program(held[0]);
  const auto slice = world.client.acquire_slice({});
  const Array array = world.put(3);

  for (const Status& status :
       {function.status(), program.status(), slice.status(), array.error()}) {
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_THAT(status.message(), HasSubstr("client 1 has 6 of 6 live functions, programs"));
  }
  held.pop_back();
  const auto again = world.program(held[0]);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->execute({x}).status().get().status(), Status());
}

TEST(Definitions, OfSlicesAreForgotten) {
  World world(",definitions=10");

  for (int i = 0; i < 1'000; ++i) {
    auto slice = world.client.acquire_slice({});
    ASSERT_TRUE(slice.ok()) << i << ": " << slice.status().to_string();
    const Array x = world.client.put<float>({1}, NamedSharding(slice->mesh(), P()));
    ASSERT_EQ(x.status(), Status()) << i;
    ASSERT_EQ(slice->release(), Status()) << i;
  }
}

TEST(Definitions, AFunctionMayGoBeforeItsProgramAndThatBeforeItsArrays) {
  World world;
  const Array x = world.put();
  std::vector<Array> made;

  for (int i = 1; i <= 100; ++i) {
    Function f = world.function(i).value();
    Program p = world.program(f).value();
    f = Function();
    Array y = p.execute({x}).output(0);
    y = p.execute({y}).output(0);
    p = Program();
    made.push_back(std::move(y));
  }

  for (int i = 1; i <= 100; ++i) {
    const auto value = made[static_cast<std::size_t>(i - 1)].to_host<float>().get();
    ASSERT_TRUE(value.ok()) << value.status().to_string();
    EXPECT_EQ(value->front(), static_cast<float>(i) * static_cast<float>(i));
  }
}

}  // namespace
}  // namespace seaway
