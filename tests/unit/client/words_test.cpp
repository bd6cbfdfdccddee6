// What handles and choices print: short, with the number that messages and `why` use.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_controller.hpp"

namespace seaway::client {
namespace {

TEST(Words, HandlesPrintWhatTheyAre) {
  DoublingWorld world({.tenant = "blue"});
  const Array array = world.client.put<float>({1, 2}, world.row);
  const std::string slice = name_of(world.slice.id());

  EXPECT_EQ(world.client.to_string(), "client 1 of tenant \"blue\"");
  EXPECT_EQ(world.slice.to_string(), "slice " + slice + " mesh(data=2)");
  EXPECT_EQ(world.row.to_string(), "P(\"data\") over mesh(data=2)");
  EXPECT_EQ(array.to_string(),
            "array " + name_of(array.id()) + " f32[2] as P(\"data\") over mesh(data=2)");
  EXPECT_EQ(world.twice.to_string(), "function twice(f32[1]) -> (f32[1])");
  EXPECT_EQ(world.program.to_string().rfind("program " + std::to_string(world.program.id()), 0), 0u)
      << world.program.to_string();
}

TEST(Words, HandlesPrintHowTheyStand) {
  DoublingWorld world;
  world.controller->set({.resolves_runs = false});
  const Array array = world.client.put<float>({1, 2}, world.row);
  const seaway::Run run = world.program.execute({array});
  const std::string name = "run " + name_of(run.id()) + " of double: ";
  const std::string before = run.to_string();
  world.resolve(run.id(), user_function_error("no luck"));
  EXPECT_FALSE(run.status().get().ok());
  const seaway::Run refused = world.program.execute({array, array});
  const Array no_array = world.client.put<float>({1, 2, 3}, {2}, world.row);
  ASSERT_TRUE(world.slice.release().ok());

  EXPECT_EQ(before, name + "pending");
  EXPECT_EQ(run.to_string(), name + "USER_FUNCTION_ERROR: no luck");
  EXPECT_EQ(refused.to_string(), "run refused of double: " + refused.error().to_string());
  EXPECT_EQ(no_array.to_string(), "array (refused) f32[2] as P(\"data\") over mesh(data=2)");
  EXPECT_EQ(world.slice.to_string(),
            "slice " + name_of(world.slice.id()) + " mesh(data=2) (released)");
}

TEST(Words, EmptyHandlesPrintThatTheyAre) {
  EXPECT_EQ(Client().to_string(), "client (empty)");
  EXPECT_EQ(Slice().to_string(), "slice (empty)");
  EXPECT_EQ(Array().to_string(), "array (empty)");
  EXPECT_EQ(seaway::Run().to_string(), "run (empty)");
  EXPECT_EQ(Program().to_string(), "program (empty)");
  EXPECT_EQ(Traced().to_string(), "traced (of no program that is being captured)");
}

TEST(Words, ValuesOfAProgramPrintTheirNodeAndSpec) {
  DoublingWorld world;
  const Function both =
      world.client.function("both",
                            [](Tensor x) {
                              return std::pair{x, x};
                            },
                            {f32({1})})
          .value();
  std::vector<std::string> printed;

  const auto program = world.client.program("p",
                                            [&](Traced x) {
                                              const Traced y = world.twice(x), z = both(y);
                                              for (const Traced& value : {x, y, z, z[1]}) {
                                                printed.push_back(value.to_string());
                                              }
                                              return z[1];
                                            },
                                            {ArraySpec{f32({2}), world.row}});

  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const std::string spec = " f32[2] as P(\"data\") over mesh(data=2)";
  EXPECT_EQ(printed, (std::vector<std::string>{"p0" + spec, "n0.0" + spec, "n1 with 2 results",
                                               "n1.1" + spec}));
}

TEST(Words, ChoicesPrintTheirNames) {
  EXPECT_EQ(to_string(HostBufferSemantics::kImmutableOnlyDuringCall), "immutable only during call");
  EXPECT_EQ(to_string(HostBufferSemantics::kImmutableUntilTransferCompletes),
            "immutable until transfer completes");
  EXPECT_EQ(to_string(HostBufferSemantics::kZeroCopy), "zero copy");
  EXPECT_EQ(to_string(ArrayCopySemantics::kAlwaysCopy), "always copy");
  EXPECT_EQ(to_string(ArrayCopySemantics::kReuseInput), "reuse input");
  EXPECT_EQ(to_string(ArrayCopySemantics::kDonateInput), "donate input");
  EXPECT_EQ(to_string(DispatchMode::kParallel), "parallel");
  EXPECT_EQ(to_string(DispatchMode::kSequential), "sequential");
  EXPECT_EQ(to_string(WhenFull::kRefuse), "refuse");
  EXPECT_EQ(to_string(WhenFull::kWait), "wait");
}

TEST(Words, OptionsOfAClientPrintWhatTheyAsk) {
  EXPECT_EQ(ClientOptions().to_string(),
            "client options: tenant \"default\", weight unchanged, at most 16384 runs and "
            "1073741824 bytes of uploads in flight, when full refuse, requests within 30 s");
  EXPECT_EQ((ClientOptions{.tenant = "blue",
                           .weight = 3,
                           .runs_in_flight_max = 7,
                           .upload_bytes_max = 64,
                           .when_full = WhenFull::kWait,
                           .request_timeout = std::chrono::microseconds(1500)})
                .to_string(),
            "client options: tenant \"blue\", weight 3, at most 7 runs and 64 bytes of uploads in "
            "flight, when full wait, requests within 1500 us");
}

TEST(Words, ARequestOfASlicePrintsWhatItAsks) {
  EXPECT_EQ(SliceRequest().to_string(), "slice request: 1 device, any island");
  EXPECT_EQ((SliceRequest{.devices = 8,
                          .mesh = {{"data", 2}, {"model", 4}},
                          .kind = "cpu",
                          .island = 1,
                          .contiguous = true})
                .to_string(),
            "slice request: 8 devices of kind \"cpu\" as mesh(data=2, model=4), island 1, "
            "contiguous");
  EXPECT_EQ((SliceRequest{.devices = 2, .spread = true}).to_string(),
            "slice request: 2 devices, any island, spread");
}

TEST(Words, ChoicesForFunctionsPrintSpecsAndMesh) {
  EXPECT_EQ(CallSpecs().to_string(), "call specs (as they are) -> (as the operands)");
  EXPECT_EQ((CallSpecs{.in = {P("data"), P()}, .out = {P()}}).to_string(),
            "call specs (P(\"data\"), P()) -> (P())");
  EXPECT_EQ(FunctionOptions().to_string(),
            "function options: no mesh, call specs (as they are) -> (as the operands)");
  EXPECT_EQ((FunctionOptions{.mesh = Mesh(0, {{"data", 2}}), .in = {P("data")}}).to_string(),
            "function options: mesh(data=2), call specs (P(\"data\")) -> (as the operands)");
}

TEST(Words, ANativeFunctionPrintsItsTypesAndPromises) {
  NativeFunction sum;
  sum.parameters = {f32({2}), i32({})};
  sum.outputs = {f32({})};
  sum.scratch_bytes = 64;
  sum.body = [](auto, auto, auto) { return Status(); };
  NativeFunction careful = sum;
  careful.idempotent = false;
  careful.irregular = true;
  careful.out = {P()};

  EXPECT_EQ(sum.to_string(),
            "native function (f32[2], i32[]) -> (f32[]), 64 bytes of scratch, about 1000 ns, "
            "idempotent, call specs (as they are) -> (as the operands)");
  EXPECT_EQ(careful.to_string(),
            "native function (f32[2], i32[]) -> (f32[]), 64 bytes of scratch, about 1000 ns, not "
            "idempotent, irregular, call specs (as they are) -> (P())");
  EXPECT_EQ(NativeFunction().to_string(),
            "native function () -> (), 0 bytes of scratch, about 1000 ns, idempotent, without a "
            "body, call specs (as they are) -> (as the operands)");
}

TEST(Words, ChoicesForProgramsAndRunsPrintDonationsAndDeadline) {
  EXPECT_EQ(ProgramOptions().to_string(), "program options: parallel, donates nothing");
  EXPECT_EQ((ProgramOptions{.dispatch = DispatchMode::kSequential, .donated = {0, 2}}).to_string(),
            "program options: sequential, donates parameters 0 2");
  EXPECT_EQ(ExecuteOptions().to_string(), "execute options: no deadline, donates nothing");
  EXPECT_EQ((ExecuteOptions{.deadline = std::chrono::milliseconds(5), .donate = {1}}).to_string(),
            "execute options: deadline 5 ms, donates parameters 1");
}

TEST(Words, DurationsPrintInTheLargestUnitThatLosesNothing) {
  const auto printed = [](std::chrono::nanoseconds deadline) {
    return ExecuteOptions{.deadline = deadline}.to_string();
  };

  EXPECT_EQ(printed(std::chrono::nanoseconds(0)),
            "execute options: deadline 0 ns, donates nothing");
  EXPECT_EQ(printed(std::chrono::nanoseconds(1'000'001)),
            "execute options: deadline 1000001 ns, donates nothing");
  EXPECT_EQ(printed(std::chrono::hours(1)), "execute options: deadline 3600 s, donates nothing");
}

TEST(Words, AFuturePrintsWhatBecameOfIt) {
  auto state = std::make_shared<internal::FutureState<int>>(nullptr);
  Future<int> future(state);
  const std::string before = future.to_string();
  state->complete(7);

  EXPECT_EQ(Future<int>().to_string(), "future (empty)");
  EXPECT_EQ(before, "future: pending");
  EXPECT_EQ(future.to_string(), "future: done");
  EXPECT_EQ(Future<void>::of({}).to_string(), "future: done");
  EXPECT_EQ(Future<void>::of(cancelled("no more")).to_string(), "future: CANCELLED: no more");
}

TEST(Words, AResultPrintsItsStatus) {
  EXPECT_EQ(Result<int>(7).to_string(), "OK");
  EXPECT_EQ(Result<int>(cancelled("no more")).to_string(), "CANCELLED: no more");
  EXPECT_EQ(Result<void>().to_string(), "OK");
  EXPECT_EQ(Result<void>(cancelled("no more")).to_string(), "CANCELLED: no more");
}

TEST(Words, AnExecutorPrintsWhatItCallsItself) {
  class Quiet final : public Executor {
    void execute(std::function<void()> work) override { work(); }
  };

  EXPECT_EQ(inline_executor().to_string(), "inline executor");
  EXPECT_EQ(Quiet().to_string(), "executor");
}

}  // namespace
}  // namespace seaway::client
