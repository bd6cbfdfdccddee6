// Foreign functions: nobody knows their types before all hosts have compiled them, and say the
// same.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

program::ForeignCompiled taking(std::int64_t size) {
  program::ForeignCompiled compiled;
  compiled.info.parameters = {f32({size})};
  compiled.info.outputs = {f32({size}), f32({})};
  compiled.info.shards = 1;
  compiled.info.donated = {0};
  compiled.format = "hlo";
  compiled.description = "bytes";
  return compiled;
}

/// A client that has asked for one on two islands.
struct Asked {
  Asked() { define(client, id); }
  void define(ClientId by, FunctionId function) {
    program::FunctionInfo info;
    info.id = function;
    info.name = "f";
    world.core.define_foreign(by, 7, std::move(info), Frame());
  }
  void compiled(HostId host, const program::ForeignCompiled* said, const Status& status = {}) {
    world.core.compiled(id, host, status, 64, 1000, {}, said);
  }

  ControllerWorld world{{.islands = 2}};
  ClientId client = world.client();
  FunctionId id = make_id(client, 21);
};

TEST(Foreign, IsAnsweredWithItsTypesWhenAllHostsHaveCompiledIt) {
  Asked asked;
  EXPECT_EQ(asked.world.said(), "");
  EXPECT_EQ(asked.world.definitions[0], 1u);
  EXPECT_EQ(asked.world.definitions[1], 1u);
  const program::ForeignCompiled compiled = taking(16);

  asked.compiled(1, &compiled);
  EXPECT_EQ(asked.world.said(), "");
  asked.compiled(0, &compiled);
  asked.world.core.pump();
  const auto& replies = asked.world.core.outbox().client(asked.client).replies;

  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].request, 7u);
  ASSERT_TRUE(replies[0].foreign);
  EXPECT_EQ(replies[0].foreign->info.id, asked.id);
  EXPECT_EQ(replies[0].foreign->info.parameters, compiled.info.parameters);
  EXPECT_EQ(replies[0].foreign->info.outputs, compiled.info.outputs);
  EXPECT_EQ(replies[0].foreign->info.donated, compiled.info.donated);
  EXPECT_EQ(replies[0].foreign->info.scratch_bytes, 64u);
  EXPECT_EQ(replies[0].foreign->description, "bytes");
  EXPECT_EQ(asked.world.said(), "reply 7 OK");
}

TEST(Foreign, FailsWithTheHostThatDoesNotCompileIt) {
  Asked asked;
  const program::ForeignCompiled compiled = taking(16);
  asked.compiled(0, &compiled);
  asked.compiled(1, nullptr, unimplemented("no compiler"));

  EXPECT_EQ(asked.world.said(),
            "reply 7 UNIMPLEMENTED: function f does not compile on host 1: no compiler");
}

TEST(Foreign, FailsWhereHostsMakeDifferentThingsOfIt) {
  Asked asked;
  const program::ForeignCompiled first = taking(16), other = taking(8);
  asked.compiled(0, &first);
  asked.compiled(1, &other);

  EXPECT_EQ(asked.world.said(),
            "reply 7 INVALID_ARGUMENT: function f does not compile on host 1: host 1 makes other "
            "parameters or results of it than a host before; let all hosts use the same plugin");
}

TEST(Foreign, FailsWhereAHostSaysNothingOfItsTypes) {
  Asked asked;
  const program::ForeignCompiled compiled = taking(16);
  asked.compiled(0, nullptr);
  asked.compiled(1, &compiled);

  EXPECT_EQ(asked.world.said(),
            "reply 7 PROTOCOL_ERROR: function f does not compile on host 0: it says nothing of the "
            "types of a foreign program");
}

TEST(Foreign, IsRefusedUnderAnIdThatIsUsedOrAnothers) {
  Asked asked;
  const std::string refusal =
      "reply 7 INVALID_ARGUMENT: function 21 is not this client's to name; ids are used once";
  asked.define(asked.client, asked.id);
  EXPECT_EQ(asked.world.said(), refusal);
  asked.define(asked.client, make_id(asked.client + 1, 21));
  EXPECT_EQ(asked.world.said(), refusal);
  EXPECT_EQ(asked.world.definitions[0], 1u);
}

TEST(Foreign, FailsTheRunsThatWaitForIt) {
  Asked asked;
  const SliceId slice = asked.world.slice(asked.client);
  const ProgramId program =
      asked.world.chain(asked.client, {.function = asked.id, .slices = {slice}});
  const ArrayId input = asked.world.put(asked.client, slice);
  asked.world.run(asked.client, program, {input});
  EXPECT_EQ(asked.world.said(), "");

  asked.compiled(0, nullptr, unimplemented("no compiler"));
  asked.compiled(1, nullptr, unimplemented("no compiler"));

  const std::string said = asked.world.said();
  EXPECT_NE(said.find("run 1 UNIMPLEMENTED: "), std::string::npos) << said;
}

}  // namespace
}  // namespace seaway::controller
