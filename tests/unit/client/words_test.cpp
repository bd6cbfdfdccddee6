// What handles and choices print: short, with the number that messages and `why` use.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace seaway::client
