// What a user gets wrong, end to end on an embedded cluster: the exact error, after which the same
// client and a second one run a correct program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "seaway/seaway.hpp"

namespace seaway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BadInput : public testing::Test {
 protected:
  using Run = seaway::Run;  // Not the private member of testing::Test.

  BadInput()
      : cluster_(Cluster::start("embedded:islands=2,devices=4,device_memory=64MiB").value()),
        client_(cluster_.connect({.tenant = "first"}).value()),
        other_(cluster_.connect({.tenant = "second"}).value()),
        slice_(client_.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value()),
        row_(slice_.mesh(), P("data")) {}

  /// Both clients get the right numbers from a program of their own.
  void TearDown() override {
    for (const Client& client : {client_, other_}) {
      const auto slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}});
      ASSERT_TRUE(slice.ok()) << slice.status().to_string();
      FunctionOptions options;
      options.mesh = slice->mesh();
      const auto sum = client.function(
          "sum", [](Tensor x) { return all_reduce(x, "data") + x; }, {f32({1})}, options);
      ASSERT_TRUE(sum.ok()) << sum.status().to_string();
      const NamedSharding row(slice->mesh(), P("data"));
      const Run run = sum->execute({client.put<float>({1, 2}, row)});
      const auto numbers = run.output(0).to_host<float>().get();
      ASSERT_TRUE(numbers.ok()) << numbers.status().to_string();
      EXPECT_THAT(*numbers, ElementsAre(4, 5));
    }
  }

  Function twice() {
    return client_.function("twice", [](Tensor x) { return x * 2; }, {f32({1})}).value().on(slice_);
  }
  Program program_of(const Function& function, std::vector<std::uint32_t> donated = {}) {
    return client_
        .program("p", [&](const Traced& x) { return function(x); }, {ArraySpec{f32({2}), row_}},
                 {.donated = std::move(donated)})
        .value();
  }

  Cluster cluster_;
  Client client_, other_;
  Slice slice_;
  NamedSharding row_;
};

void expect_error(const Status& status, StatusCode code, const std::vector<std::string>& parts) {
  EXPECT_EQ(status.code(), code) << status.to_string();
  for (const std::string& part : parts) EXPECT_THAT(status.message(), HasSubstr(part));
}

TEST_F(BadInput, ShapesThatDoNotFitAreRefusedAtCaptureWithBoth) {
  const auto function = client_.function("f", [](Tensor a, Tensor b) { return matmul(a, b); },
                                         {f32({2, 3}), f32({4, 5})});

  expect_error(function.status(), StatusCode::kInvalidArgument,
               {"f32[2,3]", "f32[4,5]", "bad_input_test.cpp"});
}

TEST_F(BadInput, TypesThatDoNotFitAreRefusedAtCaptureWithBoth) {
  const auto function =
      client_.function("f", [](Tensor a, Tensor b) { return a + b; }, {f32({2}), i32({2})});

  expect_error(function.status(), StatusCode::kInvalidArgument, {"f32[2]", "i32[2]"});
}

TEST_F(BadInput, AnArgumentOfAnotherTypeIsRefusedAtOnce) {
  const Program program = program_of(twice());

  const Run run = program.execute({client_.put<std::int32_t>({1, 2}, row_)});

  expect_error(run.error(), StatusCode::kInvalidArgument, {"f32[2]", "i32[2]"});
  EXPECT_EQ(run.output(0).to_host<float>().get().status().code(), StatusCode::kInvalidArgument);
}

TEST_F(BadInput, ACallWithTheWrongShapeIsRefusedAtCaptureOfTheProgram) {
  const Function function = twice();

  const auto program = client_.program("p", [&](const Traced& x) { return function(x); },
                                       {ArraySpec{f32({4}), row_}});

  expect_error(program.status(), StatusCode::kInvalidArgument, {"bad_input_test.cpp"});
}

/// A native function is handed memory of the types that it declares, and so makes no others: what
/// can be wrong is what it declares.
TEST_F(BadInput, ANativeFunctionOfTheWrongShapesIsRefusedWithBoth) {
  NativeFunction native;
  native.parameters = {f32({1})};
  native.outputs = {f32({3})};
  native.body = [](auto, auto, std::byte*) { return Status(); };
  const Function wide = client_.native("wide", native).value().on(slice_);
  native.outputs = {f32({-3})};
  const Function next = twice();

  const auto behind = client_.program("p", [&](const Traced& x) { return next(wide(x)); },
                                      {ArraySpec{f32({2}), row_}});
  const auto before =
      client_.program("p", [&](const Traced& x) { return wide(x); }, {ArraySpec{f32({4}), row_}});

  expect_error(behind.status(), StatusCode::kInvalidArgument,
               {"function \"twice\": operand 0 is f32[6]", "each shard is f32[3]",
                "parameter 0 is f32[1]", "bad_input_test.cpp:"});
  expect_error(before.status(), StatusCode::kInvalidArgument,
               {"function \"wide\": operand 0 is f32[4]", "each shard is f32[2]",
                "parameter 0 is f32[1]", "bad_input_test.cpp:"});
  expect_error(client_.native("negative", native).status(), StatusCode::kInvalidArgument,
               {"f32[-3]"});
}

TEST_F(BadInput, AnUploadWithTheWrongCountSaysBoth) {
  const Array array = client_.put<float>({1, 2, 3}, {2}, row_);

  expect_error(array.error(), StatusCode::kInvalidArgument, {"3", "2"});
}

TEST_F(BadInput, AnUnknownAxisOfAShardingIsRefused) {
  const Array array = client_.put<float>({1, 2}, NamedSharding(slice_.mesh(), P("model")));

  expect_error(array.error(), StatusCode::kInvalidArgument, {"model"});
}

TEST_F(BadInput, AnUnknownAxisOfACollectiveIsRefusedAtCapture) {
  FunctionOptions options;
  options.mesh = slice_.mesh();
  const auto function = client_.function(
      "f", [](Tensor x) { return all_reduce(x, "model"); }, {f32({1})}, options);

  expect_error(function.status(), StatusCode::kInvalidArgument, {"model", "bad_input_test.cpp"});
}

TEST_F(BadInput, ASliceThatNoIslandCouldHoldIsRefusedWithWhatThereIs) {
  expect_error(client_.acquire_slice({.devices = 5}).status(), StatusCode::kInvalidArgument,
               {"5 devices wanted, but the largest island has 4 of one kind (2 islands, 8 devices "
                "in all), and a slice over several islands is not possible yet; ask for at most 4, "
                "or join several slices by the edges of a program"});
  expect_error(client_.acquire_slice({.devices = 2, .mesh = {{"data", 3}}}).status(),
               StatusCode::kInvalidArgument, {"3", "2"});
  expect_error(client_.acquire_slice({.devices = 1, .island = 7}).status(),
               StatusCode::kInvalidArgument, {"7"});
  expect_error(client_.acquire_slice({.devices = 1, .kind = "abacus"}).status(),
               StatusCode::kInvalidArgument, {"abacus"});
  expect_error(client_.acquire_slice({.devices = 0}).status(), StatusCode::kInvalidArgument, {"0"});
}

TEST_F(BadInput, AReleasedSliceTakesNoMoreRunsNorUploads) {
  const Slice slice = client_.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  const NamedSharding row(slice.mesh(), P("data"));
  const Function function = twice().on(slice);
  const auto program = client_.program("p", [&](const Traced& x) { return function(x); },
                                       {ArraySpec{f32({2}), row}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const Array before = client_.put<float>({1, 2}, row);
  Slice released = slice;
  ASSERT_TRUE(released.release().ok());

  expect_error(program->execute({before}).error(), StatusCode::kInvalidArgument,
               {"program \"p\" runs on slice ", ", which was released; acquire another"});
  expect_error(function.execute({before}).error(), StatusCode::kInvalidArgument,
               {"slice ", " was released; acquire another"});
  expect_error(twice().execute({before}).error(), StatusCode::kInvalidArgument,
               {"slice ", " was released; acquire another"});
  expect_error(client_.put<float>({1, 2}, row).error(), StatusCode::kInvalidArgument, {"released"});
  EXPECT_EQ(released.release().code(), StatusCode::kInvalidArgument);
}

TEST_F(BadInput, AnArrayOfAnotherClusterIsRefused) {
  const Client stranger = connect("embedded:islands=1,devices=2").value();
  const Slice slice = stranger.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  const Array foreign = stranger.put<float>({1, 2}, NamedSharding(slice.mesh(), P("data")));

  const Run run = program_of(twice()).execute({foreign});

  expect_error(run.error(), StatusCode::kInvalidArgument,
               {"argument 0 of program \"p\" is array ",
                " of another client or cluster; put it through this one"});
  EXPECT_EQ(run.output(0).to_host<float>().get().status(), run.error());
  EXPECT_THAT(foreign.to_host<float>().get().value(), ElementsAre(1, 2));
}

TEST_F(BadInput, AnArrayOfAnotherClientIsRefused) {
  const Slice slice = other_.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  const Array foreign = other_.put<float>({1, 2}, NamedSharding(slice.mesh(), P("data")));

  const Run run = program_of(twice()).execute({foreign});

  expect_error(run.error(), StatusCode::kInvalidArgument,
               {"argument 0 of program \"p\" is array ",
                " of another client or cluster; put it through this one"});
}

TEST_F(BadInput, ADonatedArrayCannotBeUsedAgain) {
  const Program program = program_of(twice(), {0});
  const Array input = client_.put<float>({1, 2}, row_);
  const Run first = program.execute({input});

  expect_error(program.execute({input}).error(), StatusCode::kInvalidArgument, {"donated"});
  expect_error(input.to_host<float>().get().status(), StatusCode::kInvalidArgument,
               {"was donated as parameter 0 of the run at bad_input_test.cpp:"});
  EXPECT_THAT(first.output(0).to_host<float>().get().value(), ElementsAre(2, 4));
}

TEST_F(BadInput, AFailedFunctionIsTheErrorOfItsValuesAndOfAllMadeFromThem) {
  NativeFunction native;
  native.parameters = native.outputs = {f32({1})};
  native.body = [](auto, auto, std::byte*) {
    return Status(StatusCode::kInvalidArgument, "the oven is cold");
  };
  const Function cold = client_.native("cold", native).value().on(slice_);
  const Run failed = program_of(cold).execute({client_.put<float>({1, 2}, row_)});

  const Run behind = program_of(twice()).execute({failed.output(0)});

  expect_error(failed.output(0).to_host<float>().get().status(), StatusCode::kUserFunctionError,
               {"the oven is cold", "bad_input_test.cpp"});
  expect_error(behind.output(0).to_host<float>().get().status(), StatusCode::kInputLost,
               {"the oven is cold"});
}

TEST_F(BadInput, AFunctionThatThrowsFailsItsOwnRunOnly) {
  NativeFunction native;
  native.parameters = native.outputs = {f32({1})};
  native.body = [](auto, auto, std::byte*) -> Status { throw std::runtime_error("no flour"); };
  const Function thrower = client_.native("thrower", native).value().on(slice_);
  const Array input = client_.put<float>({1, 2}, row_);

  const Run failed = program_of(thrower).execute({input});
  const Run good = program_of(twice()).execute({input});

  expect_error(failed.status().get().status(), StatusCode::kUserFunctionError, {"no flour"});
  EXPECT_THAT(good.output(0).to_host<float>().get().value(), ElementsAre(2, 4));
}

TEST_F(BadInput, ArraysOfNoElementsAreExactlyThat) {
  const Function function =
      client_
          .function("f",
                    [](Tensor x) {
                      return std::tuple{x * 2, reduce_sum(x, {0})};
                    },
                    {f32({0, 3})},
                    {.mesh = slice_.mesh(), .in = {P("data")}, .out = {P("data"), P()}})
          .value();
  const Array empty = client_.put<float>(std::vector<float>(), {0, 3}, row_);

  const Run run = function.execute({empty});

  EXPECT_TRUE(run.output(0).to_host<float>().get().value().empty());
  EXPECT_THAT(run.output(1).to_host<float>().get().value(), ElementsAre(0, 0, 0));
}

TEST_F(BadInput, AProgramOfAMillionNodesRunsAndALargerOneIsRefused) {
  const Function next =
      client_.function("next", [](Tensor x) { return x + 1; }, {i32({})}).value().on(slice_);
  const NamedSharding whole(slice_.mesh(), P());
  const auto chain = [&](std::size_t nodes) {
    return client_.program("chain",
                           [&next, nodes](Traced x) {
                             for (std::size_t i = 0; i < nodes; ++i) x = next(x);
                             return x;
                           },
                           {ArraySpec{i32({}), whole}});
  };

  const auto program = chain(1'000'000);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const Run run = program->execute({client_.put<std::int32_t>({5}, {}, whole)});
  const auto result = run.output(0).to_host<std::int32_t>().get();

  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_THAT(*result, ElementsAre(1'000'005));
  expect_error(chain(1'000'001).status(), StatusCode::kResourceExhausted, {"1000000"});
}

TEST_F(BadInput, NullAndEmptyHandlesAreRefused) {
  const Program program = program_of(twice());
  const auto nothing = [this](std::size_t elements) {
    return client_.put_bytes(f32({2}), nullptr, elements, row_,
                             HostBufferSemantics::kImmutableOnlyDuringCall);
  };

  expect_error(nothing(2).error(), StatusCode::kInvalidArgument, {"null"});
  expect_error(program.execute({Array()}).error(), StatusCode::kInvalidArgument,
               {"argument 0 of program \"p\" is an empty Array; put or compute one"});
  expect_error(Program().execute({Array()}).error(), StatusCode::kInvalidArgument,
               {"this Run is empty: it was default-made, moved from, or its Program was"});
  expect_error(Function().execute({Array()}).error(), StatusCode::kInvalidArgument,
               {"this Run is empty"});
  expect_error(Array().to_host<float>().get().status(), StatusCode::kInvalidArgument,
               {"this Array is empty"});
  expect_error(Array().reshard(row_).status(), StatusCode::kInvalidArgument,
               {"this Array is empty"});
  expect_error(Future<int>().get().status(), StatusCode::kInvalidArgument,
               {"this future was default-made and stands for nothing"});
  expect_error(Client().acquire_slice({}).status(), StatusCode::kInvalidArgument,
               {"this Client is empty"});
  expect_error(Cluster().connect().status(), StatusCode::kInvalidArgument,
               {"this cluster was default-made; start one with Cluster::start"});
  expect_error(Slice().release(), StatusCode::kInvalidArgument, {"this Slice is empty"});
  expect_error(client_.function("f", [](Tensor) { return Tensor(); }, {f32({1})}).status(),
               StatusCode::kInvalidArgument, {});
  expect_error(client_.native("n", {}).status(), StatusCode::kInvalidArgument,
               {"native function \"n\" has no body"});
}

TEST_F(BadInput, NotANumberIsANumberLikeAnyOther) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  FunctionOptions options;
  options.mesh = slice_.mesh();
  options.out = {P("data"), P(), P("data"), P("data")};
  const Function function = client_
                                .function(
                                    "f",
                                    [](Tensor x) {
                                      return std::tuple{x * 2, all_reduce(x, "data"), relu(x),
                                                        convert(equal(x, x), DType::kF32)};
                                    },
                                    {f32({1})}, options)
                                .value();

  const Run run = function.execute({client_.put<float>({1, kNaN}, row_)});

  const auto doubled = run.output(0).to_host<float>().get().value();
  EXPECT_EQ(doubled[0], 2);
  EXPECT_TRUE(std::isnan(doubled[1]));
  EXPECT_TRUE(std::isnan(run.output(1).to_host<float>().get().value()[0]));
  EXPECT_TRUE(std::isnan(run.output(2).to_host<float>().get().value()[1]));
  EXPECT_THAT(run.output(3).to_host<float>().get().value(), ElementsAre(1, 0));
}

}  // namespace
}  // namespace seaway
