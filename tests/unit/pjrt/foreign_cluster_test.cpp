// Foreign functions on clusters: programs that only the plugin reads, from one client to values.

#include "function/capture.hpp"
#include "seaway/seaway.hpp"
#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::pjrt {
namespace {

const std::string kBackend = std::string("backend=pjrt:") + SEAWAY_FAKE_PLUGIN;

/// Options of one replica of so many partitions, which name devices that are nobody's.
std::string partitioned(int partitions) {
  std::string build, options;
  build += std::string("\x20\x01\x28", 3) + static_cast<char>(partitions);
  options += std::string("\x1a", 1) + static_cast<char>(build.size()) + build;
  return options;
}

class ForeignClusterTest : public FakePluginTest {
 protected:
  /// Its text is all that the cluster is given; what it computes the fake plugin knows by that.
  std::string text_of(const function::Graph& graph, const function::AxisSizes& axes = {}) {
    known().add(graph, axes);
    return function::to_stablehlo(graph, axes);
  }
};

TEST_F(ForeignClusterTest, HasTheTypesThatThePluginSays) {
  auto client = connect("embedded:islands=2,devices=2," + kBackend).value();
  const Slice slice = client.acquire_slice({.devices = 1, .island = 1}).value();
  const NamedSharding here(slice.mesh(), P());

  const Function twice = client.foreign("twice", {.code = text_of(doubling())}).value();
  const Program program =
      client.program("p", [&](Traced x) { return twice(Traced(twice(x))); }, {{f32({4}), here}})
          .value();
  const auto y = program.execute({client.put<float>({1, 2, 3, 4}, here)}).output(0);

  EXPECT_EQ(twice.to_string(), "function twice(f32[4]) -> (f32[4])");
  EXPECT_EQ(y.to_host<float>().get().value(), (std::vector<float>{4, 8, 12, 16}));
}

TEST_F(ForeignClusterTest, RunsOverSeveralDevicesAsOneGangWithEachValueOnItsOwn) {
  auto client = connect("embedded:devices=3," + kBackend).value();
  const Slice slice = client.acquire_slice({.devices = 3}).value();
  const Mesh mesh = slice.mesh().part({2, 0});
  const NamedSharding first(mesh.device(0), P()), second(mesh.device(1), P());

  const Function sum =
      client
          .foreign("sum",
                   {.code = text_of(summing(), {{"a", 2}}), .options = partitioned(2), .shards = 2})
          .value();
  const auto body = [&](Traced x, Traced y) { return sum.on(mesh)(x, y); };
  const Program program =
      client.program("p", body, {{f32({4}), first}, {f32({4}), second}}).value();
  const seaway::Run run = program.execute(
      {client.put<float>({1, 2, 3, 4}, first), client.put<float>({10, 20, 30, 40}, second)});

  for (const std::size_t shard : {0u, 1u}) {
    EXPECT_EQ(run.output(shard).to_host<float>().get().value(),
              (std::vector<float>{11, 22, 33, 44}));
  }
  EXPECT_EQ(run.output(0).sharding(), first);
  EXPECT_EQ(run.output(1).sharding(), second);
  ASSERT_EQ(fake().launches().size(), 1u);
  EXPECT_NE(fake().launches()[0], 0);
}

TEST_F(ForeignClusterTest, AGangOverSeveralDevicesThatRunsTwiceGivesTheSameOnEach) {
  auto client = connect("embedded:devices=2,replay_per_mille=1000," + kBackend).value();
  const Mesh mesh = client.acquire_slice({.devices = 2}).value().mesh();
  const NamedSharding first(mesh.device(0), P()), second(mesh.device(1), P());
  const Function sum =
      client
          .foreign("sum",
                   {.code = text_of(summing(), {{"a", 2}}), .options = partitioned(2), .shards = 2})
          .value();
  const auto body = [&](Traced x, Traced y) { return sum.on(mesh)(x, y); };
  const Program program =
      client.program("p", body, {{f32({4}), first}, {f32({4}), second}}).value();

  const seaway::Run run = program.execute(
      {client.put<float>({1, 2, 3, 4}, first), client.put<float>({10, 20, 30, 40}, second)});

  EXPECT_EQ(run.output(0).to_host<float>().get().value(), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(run.output(1).to_host<float>().get().value(), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(fake().launches().size(), 2u);
}

TEST_F(ForeignClusterTest, LetsOutputsTakeTheRoomOfWhatItsCallerGivesUp) {
  std::string text = text_of(doubling());
  const std::string type = "tensor<4xf32>";
  text.insert(text.find(type) + type.size(), " {tf.aliasing_output = 0 : i32}");
  auto client = connect("embedded:devices=1," + kBackend).value();
  const NamedSharding here(client.acquire_slice({}).value().mesh(), P());

  const Function twice = client.foreign("twice", {.code = text}).value();
  const auto body = [&](Traced x) { return twice(x); };
  const Program program = client.program("p", body, {{f32({4}), here}}, {.donated = {0}}).value();
  Array x = client.put<float>({1, 2, 3, 4}, here);
  const auto y = program.execute({x}).output(0);

  // What the host lends the plugin keeps: the fake would complain.
  EXPECT_EQ(y.to_host<float>().get().value(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_TRUE(x.is_deleted());
}

TEST_F(ForeignClusterTest, SaysWhyAProgramDoesNotCompile) {
  auto client = connect("embedded:devices=2," + kBackend).value();
  const auto refusal = [&client](ForeignFunction function) {
    return client.foreign("f", std::move(function)).status();
  };

  const Status wrong = refusal({.code = "no program"});
  EXPECT_EQ(wrong.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(wrong.message().find("function f does not compile on host 0"), std::string::npos);
  EXPECT_NE(wrong.message().find("this is no program"), std::string::npos);
  EXPECT_EQ(refusal({}), invalid_argument("foreign function \"f\" has no code"));
  EXPECT_EQ(refusal({.code = "x", .shards = 0}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.code = std::string(13 << 20, 'x')}),
            resource_exhausted("foreign function \"f\" has 13631488 bytes; the limit is 12582912: "
                               "hand large constants over as arguments"));
  const Status shards = refusal({.code = text_of(doubling()), .options = partitioned(2)});
  EXPECT_NE(shards.message().find("function f is to run on 1 devices, and its compile options are "
                                  "for 1 replicas of 2 partitions"),
            std::string::npos);
  const Status many =
      refusal({.code = text_of(doubling()), .options = partitioned(3), .shards = 3});
  EXPECT_NE(many.message().find("function f spans 3 devices, and plugin"), std::string::npos);
}

TEST_F(ForeignClusterTest, CallsOnAnotherNumberOfDevicesAreRefused) {
  auto client = connect("embedded:devices=3," + kBackend).value();
  const Slice slice = client.acquire_slice({.devices = 3}).value();
  const NamedSharding here(slice.mesh().device(0), P());
  const Function sum =
      client
          .foreign("sum",
                   {.code = text_of(summing(), {{"a", 2}}), .options = partitioned(2), .shards = 2})
          .value();

  const auto body = [&](Traced x) { return sum.on(slice)(x, x); };
  const Status status = client.program("p", body, {{f32({4}), here}}).status();

  EXPECT_NE(status.message().find("it runs on 2 devices, but the call on mesh(devices=3)"),
            std::string::npos)
      << status.to_string();
}

TEST(ForeignFunctions, AreRefusedByDevicesWithoutACompilerOfTheirOwn) {
  auto client = connect("embedded:devices=1").value();

  const Status status = client.foreign("f", {.code = "module {}"}).status();

  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("function f is a foreign program of format mlir, which the "
                                  "built-in devices do not read; start hosts with --backend "
                                  "pjrt:/path/plugin.so"),
            std::string::npos);
}

TEST(ForeignFunctions, PrintWhatTheyAre) {
  EXPECT_EQ((ForeignFunction{.code = "123", .shards = 2}).to_string(),
            "foreign function in mlir, 3 bytes, 2 shards");
}

TEST(StoredTypes, AreMovedBetweenDevicesAndNotComputedWith) {
  auto client = connect("embedded:islands=2,devices=2").value();
  const Slice one = client.acquire_slice({.devices = 2, .island = 0}).value();
  const Slice two = client.acquire_slice({.devices = 2, .island = 1}).value();
  const NamedSharding here(one.mesh().device(1), P()), there(two.mesh(), P("devices"));

  const Array moved = client.put<double>({0.5, 2}, here).reshard(there).value();
  const auto body = [](Tensor x) { return x + x; };
  const Status status = client.function("f", body, {{DType::kF64, {2}}}).status();

  EXPECT_EQ(moved.to_host<double>().get().value(), (std::vector<double>{0.5, 2}));
  EXPECT_NE(status.message().find("captured functions compute with f32, i32 and i1, and not with "
                                  "f64; a native or a foreign function may"),
            std::string::npos)
      << status.to_string();
}

}  // namespace
}  // namespace seaway::pjrt
