// Whole programs on an embedded cluster, from capture to value.

#include "cluster/embedded.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "seaway/seaway.hpp"

namespace seaway {
namespace {

TEST(Embedded, ThePapersProgramGivesItsValues) {
  auto client = connect("embedded:islands=2,devices=4").value();
  auto slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  const NamedSharding row(slice.mesh(), P("data"));
  auto a = client.function("a", [](Tensor x) { return 2.0f * x; }, {f32({1})}).value();
  auto b = client.function("b", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
  auto c = client.function("c", [](Tensor x) { return x / 2.0f; }, {f32({1})}).value();
  auto f = client
               .program("f",
                        [&](Traced v) {
                          auto x = a(v);
                          return std::tuple{b(x), a(c(x))};
                        },
                        {ArraySpec{f32({2}), row}})
               .value();

  seaway::Run run = f.execute({client.put<float>({1, 2}, row)});

  EXPECT_EQ(run.output(0).to_host<float>().get().value(), (std::vector<float>{3, 5}));
  EXPECT_EQ(run.output(1).to_host<float>().get().value(), (std::vector<float>{2, 4}));
}

TEST(Embedded, ValuesCrossIslands) {
  auto client = connect("embedded:islands=2,devices=4").value();
  auto left = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}, .island = 0}).value();
  auto right = client.acquire_slice({.devices = 4, .mesh = {{"model", 4}}, .island = 1}).value();
  const NamedSharding row(left.mesh(), P("data"));
  auto twice = client.function("twice", [](Tensor x) { return x + x; }, {f32({4})}).value();
  auto next = client
                  .function("next", [](Tensor x) { return x + 1.0f; }, {f32({2})},
                            {.in = {P("model")}, .out = {P("model")}})
                  .value();
  auto f = client.program(
      "f",
      [&](Traced v) {
        return twice.with({.in = {P("data")}})(next.on(right)(twice(v)).reshard(row));
      },
      {ArraySpec{f32({8}), row}});
  ASSERT_TRUE(f.ok()) << f.status().to_string();

  seaway::Run run = f->execute({client.put<float>({0, 1, 2, 3, 4, 5, 6, 7}, row)});

  auto value = run.output(0).to_host<float>().get();
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ(*value, (std::vector<float>{2, 6, 10, 14, 18, 22, 26, 30}));
}

TEST(Embedded, LinksBetweenIslandsAreReadFromItsWord) {
  const auto options = cluster::parse_embedded(
      "embedded:islands=2,link_latency=50us,"
      "link_bandwidth=1GB");

  EXPECT_EQ(options.value().links,
            (transport::LinkOptions{.latency_ns = 50'000, .bytes_per_second = 1'000'000'000}));
  EXPECT_EQ(cluster::parse_embedded("embedded:link_latency=50").status(),
            invalid_argument("link_latency: duration \"50\" has no unit (known: ns, us, ms, s, "
                             "min, h, d); write for example 50us or 1.5ms"));
}

class ClusterFromTheEnvironment : public testing::Test {
 protected:
  void TearDown() override { unsetenv("SEAWAY_CLUSTER"); }
};

TEST_F(ClusterFromTheEnvironment, IsWhatConnectWithoutAWordMeans) {
  unsetenv("SEAWAY_CLUSTER");
  const std::string without = Cluster::start().value().to_string();
  setenv("SEAWAY_CLUSTER", "embedded:islands=3,devices=2", 1);

  EXPECT_EQ(without, "embedded cluster of 1 island with 1 device each");
  EXPECT_EQ(Cluster::start().value().to_string(),
            "embedded cluster of 3 islands with 2 devices each");
  EXPECT_EQ(Cluster::start("embedded:islands=2").value().to_string(),
            "embedded cluster of 2 islands with 1 device each");
  EXPECT_TRUE(connect().value().acquire_slice({.devices = 2, .island = 2}).ok());
  EXPECT_EQ(Cluster().to_string(), "cluster (empty)");
}

TEST_F(ClusterFromTheEnvironment, IsRefusedWhenItsWordIsWrong) {
  setenv("SEAWAY_CLUSTER", "embedded:iland=3", 1);

  const Status status = connect().status();

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("iland"), std::string::npos) << status.to_string();
}

TEST(Embedded, ManyDependentRunsAreEnqueuedAhead) {
  auto client = connect("embedded:islands=1,devices=2").value();
  auto slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  const NamedSharding row(slice.mesh(), P("data"));
  auto next = client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
  auto f =
      client.program("f", [&](Traced v) { return next(v); }, {ArraySpec{f32({2}), row}}).value();

  Array value = client.put<float>({0, 100}, row);
  for (int i = 0; i < 10'000; ++i) value = f.execute({value}).output(0);

  EXPECT_EQ(value.to_host<float>().get().value(), (std::vector<float>{10'000, 10'100}));
}

}  // namespace
}  // namespace seaway
