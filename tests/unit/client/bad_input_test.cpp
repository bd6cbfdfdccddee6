// Each wrong input has its exact typed error, after which client and program go on working.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "fake_controller.hpp"

namespace seaway::client {
namespace {

class BadInput : public testing::Test {
 protected:
  void TearDown() override {
    if (world.slice.is_released()) return;
    const seaway::Run run = world.program.execute({good()});
    EXPECT_TRUE(run.status().get().ok()) << "the client no longer works: " << run.to_string();
  }

  Array good() { return world.client.put<float>({1, 2}, world.row); }
  Result<Program> capture(std::function<Traced(Traced)> body) {
    return world.client.program("p", std::move(body), {ArraySpec{f32({2}), world.row}});
  }

  DoublingWorld world;
};

std::string after_line(const std::string& message) {
  const auto at = message.find(": ");
  return at == std::string::npos ? message : message.substr(at + 2);
}

TEST_F(BadInput, AShapeThatDoesNotFitIsPrintedWithBothShapesAndTheLine) {
  const Function wide =
      world.client.function("wide", [](Tensor x) { return x; }, {f32({3})}).value();

  const auto program = capture([&wide](Traced v) { return wide(v); });

  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(program.status().message().rfind("program \"p\", bad_input_test.cpp:", 0), 0u)
      << program.status().message();
  EXPECT_EQ(
      after_line(program.status().message()),
      "function \"wide\": operand 0 is f32[2], here split P(\"data\") over mesh(data=2): each "
      "shard is f32[1], but parameter 0 is f32[3]");
}

TEST_F(BadInput, OneSpecIsWantedForEachOperandAndResult) {
  const auto operands = capture([this](Traced v) {
    return world.twice.on(world.slice).with({.in = {P("data"), P()}, .out = {}})(v);
  });
  const auto results = capture([this](Traced v) {
    return world.twice.on(world.slice).with({.in = {}, .out = {P("data"), P()}})(v);
  });

  EXPECT_NE(operands.status().message().find("2 operand specs for 1"), std::string::npos)
      << operands.status().message();
  EXPECT_NE(results.status().message().find("2 result specs for 1"), std::string::npos)
      << results.status().message();
}

TEST_F(BadInput, AFunctionOnAMeshOfAReleasedSliceIsRefused) {
  Slice other = world.client.acquire_slice({.devices = 2, .mesh = {{"x", 2}}}).value();
  ASSERT_TRUE(other.release().ok());

  const auto function = world.client.function("sum", [](Tensor x) { return all_reduce(x, "x"); },
                                              {f32({1})}, {.mesh = other.mesh()});

  EXPECT_EQ(function.status(),
            invalid_argument("slice " + name_of(other.id()) + " was released; acquire another"));
}

TEST_F(BadInput, ADtypeThatDoesNotFitIsPrinted) {
  const Function integer =
      world.client.function("integer", [](Tensor x) { return x; }, {i32({1})}).value();

  const auto program = capture([&integer](Traced v) { return integer(v); });

  EXPECT_NE(program.status().message().find("each shard is f32[1], but parameter 0 is i32[1]"),
            std::string::npos)
      << program.status().message();
}

TEST_F(BadInput, AMistakeInAFunctionIsReturnedWithItsLine) {
  const auto function =
      world.client.function("bad", [](Tensor x, Tensor y) { return x + y; }, {f32({2}), f32({3})});

  EXPECT_EQ(function.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(function.status().message().find("bad_input_test.cpp:"), std::string::npos);
  EXPECT_NE(function.status().message().find("f32[2]"), std::string::npos);
  EXPECT_NE(function.status().message().find("f32[3]"), std::string::npos);
}

TEST_F(BadInput, AnUnknownAxisIsNamed) {
  const NamedSharding wrong(world.slice.mesh(), P("model"));

  const Array array = world.client.put<float>({1, 2}, wrong);
  const auto program =
      capture([this](Traced v) { return world.twice.with({.in = {P("model")}})(v); });

  EXPECT_EQ(array.error().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(array.error().message().find("model"), std::string::npos) << array.error().message();
  EXPECT_EQ(array.id(), 0u);
  EXPECT_NE(program.status().message().find("model"), std::string::npos);
}

TEST_F(BadInput, TheWrongNumberOfElementsIsPrinted) {
  const std::vector<float> three = {1, 2, 3};

  const Array array = world.client.put(three, {2}, world.row);

  EXPECT_EQ(array.error(), invalid_argument("put refused: 3 elements for f32[2], which has 2"));
}

TEST_F(BadInput, NullDataIsRefused) {
  const Array array = world.client.put_bytes(f32({2}), nullptr, 2, world.row,
                                             HostBufferSemantics::kImmutableOnlyDuringCall);

  EXPECT_EQ(array.error(),
            invalid_argument("put refused: null data for f32[2], which has 8 bytes"));
}

TEST_F(BadInput, ARefusedArrayPassesItsErrorOn) {
  const std::vector<float> three = {1, 2, 3};

  const seaway::Run run = world.program.execute({world.client.put(three, {2}, world.row)});

  EXPECT_EQ(
      run.error(),
      invalid_argument("argument 0 of program \"double\" was refused: put refused: 3 elements "
                       "for f32[2], which has 2"));
  EXPECT_EQ(run.output(0).error(), run.error());
  EXPECT_EQ(run.output(0).to_host<float>().get().status(), run.error());
}

TEST_F(BadInput, AnEmptyArrayHandleIsRefused) {
  const seaway::Run run = world.program.execute({Array()});

  EXPECT_EQ(run.error().message(),
            "argument 0 of program \"double\" is an empty Array; put or compute one");
  EXPECT_EQ(Array().status().code(), StatusCode::kInvalidArgument);
}

TEST_F(BadInput, TheWrongNumberOfArgumentsIsPrinted) {
  const seaway::Run run = world.program.execute({good(), good()});

  EXPECT_EQ(run.error(), invalid_argument("program \"double\" takes 1 arguments, not 2"));
}

TEST_F(BadInput, AnArgumentOfAnotherSpecIsPrintedWithBoth) {
  const Array replicated = world.client.put<float>({1, 2}, NamedSharding(world.slice.mesh(), P()));

  const seaway::Run run = world.program.execute({replicated});

  EXPECT_EQ(run.error(),
            invalid_argument("argument 0 of program \"double\" is " + to_string(replicated.spec()) +
                             ", but the parameter is " + to_string(world.program.parameters()[0]) +
                             "; reshard() changes a sharding"));
}

TEST_F(BadInput, ArraysAndFunctionsOfAnotherClientAreRefused) {
  Client other = world.connect(2);
  const Slice slice = other.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  const Array array = other.put<float>({1, 2}, NamedSharding(slice.mesh(), P("data")));
  const Function theirs = other.function("f", [](Tensor x) { return x; }, {f32({1})}).value();

  const seaway::Run run = world.program.execute({array});
  const auto program = capture([&theirs](Traced v) { return theirs(v); });
  const Array foreign = world.client.put<float>({1, 2}, NamedSharding(slice.mesh(), P("data")));

  EXPECT_EQ(run.error(),
            invalid_argument("argument 0 of program \"double\" is array " + name_of(array.id()) +
                             " of another client or cluster; put it through this one"));
  EXPECT_EQ(after_line(program.status().message()), "function \"f\" belongs to another client");
  EXPECT_EQ(foreign.error(),
            invalid_argument("slice " + name_of(slice.id()) +
                             " is not one that client 1 has acquired; slices are not shared"));
}

TEST_F(BadInput, ADonatedArrayNamesWhereItWent) {
  const Array x = good();

  const seaway::Run first = world.program.execute({x}, {.donate = {0}});
  const seaway::Run second = world.program.execute({x});

  EXPECT_TRUE(first.error().ok());
  EXPECT_TRUE(x.is_deleted());
  const std::string message = second.error().message();
  EXPECT_EQ(second.error().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(message.rfind("array " + name_of(x.id()) +
                              " was donated as parameter 0 of the run at bad_input_test.cpp:",
                          0),
            0u)
      << message;
  EXPECT_EQ(x.to_host<float>().get().status().code(), StatusCode::kInvalidArgument);
}

TEST_F(BadInput, ADonationThatIsRefusedTakesNothing) {
  const auto add =
      world.client.function("add", [](Tensor x, Tensor y) { return x + y; }, {f32({1}), f32({1})});
  const ArraySpec spec{f32({2}), world.row};
  const auto program = world.client.program(
      "sum", [&add](Traced x, Traced y) { return (*add)(x, y); }, {spec, spec}, {.donated = {0}});
  const Array x = good();

  const seaway::Run run = program->execute({x, x});
  const seaway::Run none = program->execute({x, good()}, {.donate = {5}});

  EXPECT_EQ(run.error().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(none.error(),
            invalid_argument("program \"sum\" has no parameter 5 to donate; it has 2"));
  EXPECT_FALSE(x.is_deleted());
  EXPECT_TRUE(program->execute({x, good()}).error().ok());
}

TEST_F(BadInput, AnArrayThatIsGoneStaysSoWhenItsNextDonationIsRefused) {
  const auto add =
      world.client.function("add", [](Tensor x, Tensor y) { return x + y; }, {f32({1}), f32({1})});
  const ArraySpec spec{f32({2}), world.row};
  const auto program = world.client.program(
      "sum", [&add](Traced x, Traced y) { return (*add)(x, y); }, {spec, spec});
  const Array x = good(), y = good();
  EXPECT_TRUE(world.program.execute({x}, {.donate = {0}}).error().ok());

  EXPECT_FALSE(program->execute({y, x}, {.donate = {0, 1}}).error().ok());

  EXPECT_TRUE(x.is_deleted());
  EXPECT_FALSE(y.is_deleted());
  EXPECT_FALSE(world.program.execute({x}).error().ok());
  EXPECT_TRUE(world.program.execute({y}).error().ok());
}

TEST_F(BadInput, ADeletedArrayIsRefused) {
  Array x = good();
  x.delete_now();

  EXPECT_EQ(world.program.execute({x}).error(),
            invalid_argument("array " + name_of(x.id()) +
                             " was deleted with delete_now(); put or compute it again"));
}

TEST_F(BadInput, AReleasedSliceIsRefusedEverywhere) {
  const Array x = good();
  ASSERT_TRUE(world.slice.release().ok());

  const std::string name = name_of(world.slice.id());
  const Status gone = invalid_argument("slice " + name + " was released; acquire another");
  EXPECT_EQ(world.program.execute({x}).error(),
            invalid_argument("program \"double\" runs on slice " + name +
                             ", which was released; acquire another and capture it again"));
  EXPECT_EQ(good().error(), gone);
  EXPECT_NE(capture([](Traced v) { return v; }).status().message().find(gone.message()),
            std::string::npos);
  EXPECT_FALSE(world.slice.release().ok());
}

TEST_F(BadInput, ASliceWhoseAxesDoNotMultiplyIsRefused) {
  const auto slice = world.client.acquire_slice({.devices = 4, .mesh = {{"x", 3}}});
  const auto twice = world.client.acquire_slice({.devices = 4, .mesh = {{"x", 2}, {"x", 2}}});
  const auto both = world.client.acquire_slice({.devices = 1, .contiguous = true, .spread = true});

  EXPECT_EQ(slice.status(),
            invalid_argument("slice refused: 4 devices, but mesh(x=3) has 3; the axis sizes "
                             "multiply to the number of devices"));
  EXPECT_EQ(twice.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(both.status(),
            invalid_argument("slice refused: contiguous and spread exclude each other"));
}

TEST_F(BadInput, CallsThatCannotBeMadeAreNamed) {
  const auto expect = [this](const std::string& wanted, std::function<Traced(Traced)> body) {
    EXPECT_EQ(after_line(capture(std::move(body)).status().message()), wanted);
  };
  const Function both =
      world.client.function("both",
                            [](Tensor x) {
                              return std::pair{x, x};
                            },
                            {f32({1})})
          .value();
  const Function none = world.client.function("none", [] { return zeros(f32({1})); }, {}).value();
  Traced stray;
  ASSERT_TRUE(capture([&stray](Traced v) { return stray = v; }).ok());

  expect("function \"twice\" takes 1 operands, not 2",
         [this](Traced v) { return world.twice(v, v); });
  expect("operand 0 of function \"twice\" is an empty Traced",
         [this](Traced) { return world.twice(Traced()); });
  expect("operand 0 of function \"twice\" belongs to another program",
         [this, &stray](Traced) { return world.twice(stray); });
  expect("operand 0 of function \"twice\" stands for 2 results; pick one with [index]",
         [this, &both](Traced v) { return world.twice(both(v)); });
  expect("function \"none\" has no operands that say where it runs; use .on(slice)",
         [&none](Traced) { return none(); });
  expect("output 0 belongs to another program", [&stray](Traced) { return stray; });
  EXPECT_TRUE(capture([this, &none](Traced) { return none.on(world.slice)(); }).ok());
}

TEST_F(BadInput, ABodyThatThrowsOrTakesAnotherNumberIsReported) {
  const auto thrown = capture([](Traced) -> Traced { throw std::runtime_error("oh"); });
  const auto arity = world.client.program("p", [](Traced a, Traced) { return a; },
                                          {ArraySpec{f32({2}), world.row}});

  EXPECT_EQ(thrown.status(), user_function_error("the body of program \"p\" threw: oh"));
  EXPECT_EQ(
      arity.status(),
      invalid_argument("the body of \"p\" cannot be called with 1 values; let it take as many "
                       "as there are parameters, or a span"));
}

TEST_F(BadInput, AnOutputPastTheEndCarriesItsError) {
  const seaway::Run run = world.program.execute({good()});

  EXPECT_EQ(run.output(1).error().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(seaway::Run().error().code(), StatusCode::kInvalidArgument);
}

TEST_F(BadInput, ArraysOfTheOtherModeAreRefused) {
  const Array x = good();
  world.client.set_debug(true);
  const seaway::Run run = world.program.execute({x});
  const seaway::Run local = world.program.execute({good()});
  world.client.set_debug(false);

  EXPECT_EQ(run.error(), invalid_argument("argument 0 of program \"double\" was made with debug "
                                          "mode off; put or compute it again"));
  EXPECT_EQ(local.output(0).to_host<float>().get().value(), (std::vector<float>{2, 4}));
  EXPECT_FALSE(world.program.execute({local.output(0)}).error().ok());
}

TEST_F(BadInput, NanAndInfinityAreData) {
  world.client.set_debug(true);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const seaway::Run run =
      world.program.execute({world.client.put<float>({nan, infinity}, world.row)});
  const std::vector<float> value = run.output(0).to_host<float>().get().value();
  world.client.set_debug(false);

  EXPECT_TRUE(std::isnan(value[0]));
  EXPECT_EQ(value[1], infinity);
}

TEST_F(BadInput, ZeroSizeArraysWorkInPrograms) {
  world.client.set_debug(true);
  const Function twice =
      world.client.function("twice", [](Tensor x) { return 2.0 * x; }, {f32({0, 3})}).value();
  const seaway::Run run = twice.execute({world.client.put<float>({}, {0, 3}, world.row)});
  world.client.set_debug(false);

  EXPECT_TRUE(run.error().ok()) << run.to_string();
  EXPECT_EQ(run.output(0).to_host<float>().get().value().size(), 0u);
}

TEST_F(BadInput, MoreThanAMillionNodesAreRefused) {
  const auto program = capture([this](Traced v) {
    for (std::size_t i = 0; i <= program::kNodesMax; ++i) v = world.twice(v);
    return v;
  });

  EXPECT_EQ(program.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(program.status().message().find("a program has at most 1000000 nodes"),
            std::string::npos)
      << program.status().message();
}

}  // namespace
}  // namespace seaway::client
