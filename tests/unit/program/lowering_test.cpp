// Lowering: parts, copies, edges, outputs, donation and segments, each in a small program.

#include "program/lowering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "program/codec.hpp"
#include "unit/program/program_fixture.hpp"
#include "unit/sanitized.hpp"

namespace seaway::program {
namespace {

using Kind = Gang::Kind;
using ArrayKind = SegmentArray::Kind;

ArraySpec on(const Mesh& mesh, const PartitionSpec& spec = P("x"), TensorType type = f32({8})) {
  return {std::move(type), NamedSharding(mesh, spec)};
}

std::uint64_t room_at(const Block& block, std::uint32_t gang) {
  std::uint64_t bytes = 0;
  for (const BlockStep& step : block.steps) {
    if (step.gang <= gang) bytes = step.bytes;
  }
  return bytes;
}

TEST(Lowering, ReadsAnArrayInPlaceWhenItsLayoutFits) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef v = b.parameter(on(mesh));
  const ValueRef x = b.call(mesh, {.operands = {v}});
  b.graph.outputs = {b.call(mesh, {.operands = {x}})};

  const LoweredProgram lowered = b.lower().value();

  ASSERT_EQ(lowered.segments.size(), 1u);
  ASSERT_EQ(lowered.segments[0].parts.size(), 1u);
  const PartPlan& part = lowered.segments[0].parts[0];
  ASSERT_EQ(part.gangs.size(), 2u);
  EXPECT_EQ(part.gangs[0].kind, Kind::kCompute);
  EXPECT_EQ(part.gangs[1].operands, part.gangs[0].results);
  EXPECT_EQ(part.values[part.gangs[0].results[0]].place, Value::Place::kBlock);
  ASSERT_EQ(part.outputs.size(), 1u);
  EXPECT_EQ(part.outputs[0].gang, 1u);
  EXPECT_EQ(part.values[part.outputs[0].value].place, Value::Place::kOutput);
  ASSERT_EQ(part.args.size(), 1u);
  EXPECT_EQ(part.args[0].last_gang, 0u);
  EXPECT_EQ(lowered.peak_bytes, 128u);  // One intermediate and one output, 64 bytes a shard each.
}

TEST(Lowering, TakesEqualLayoutsByOtherNamesAsEqual) {
  ProgramBuilder b;
  const Mesh one = b.slice(1, 0, {0, 1}, {{"x", 2}});
  const Mesh two = b.slice(2, 0, {0, 1}, {{"y", 2}, {"x", 1}});
  const ValueRef v = b.parameter(on(one));
  b.graph.outputs = {b.call(two, {.operands = {v}, .out_spec = P("y")})};

  const LoweredProgram lowered = b.lower().value();

  EXPECT_EQ(lowered.segments[0].parts[0].gangs.size(), 1u);
}

TEST(Lowering, SharesOneReshardAmongConsumersOfOneLayout) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef x = b.call(mesh, {.operands = {}});
  const ValueRef y = b.call(mesh, {.operands = {x}, .in_specs = {P()}});
  const ValueRef z = b.call(mesh, {.operands = {x, y}, .in_specs = {P(), P("x")}});
  b.graph.outputs = {z};

  const LoweredProgram lowered = b.lower().value();

  const PartPlan& part = lowered.segments[0].parts[0];
  ASSERT_EQ(part.gangs.size(), 4u);
  EXPECT_EQ(part.gangs[1].kind, Kind::kReshard);
  EXPECT_EQ(part.gangs[1].node, kNone);
  EXPECT_EQ(part.gangs[1].source_group, part.gangs[1].group);
  EXPECT_EQ(part.gangs[2].operands[0], part.gangs[1].results[0]);
  EXPECT_EQ(part.gangs[3].operands[0], part.gangs[1].results[0]);
  EXPECT_EQ(part.values[part.gangs[1].results[0]].spec, P());
}

TEST(Lowering, SendsAnArrayOverOneEdgeToAllItsReadersOfOneLayout) {
  ProgramBuilder b;
  const Mesh here = b.slice(1, 0, {0, 1}), there = b.slice(2, 1, {4, 5});
  const ValueRef x = b.call(here, {.operands = {}});
  const ValueRef y = b.call(there, {.operands = {x}});
  const ValueRef z = b.call(there, {.operands = {x, y}});
  const ValueRef w = b.call(here, {.operands = {x}});
  b.graph.outputs = {z, w};

  const LoweredProgram lowered = b.lower().value();

  ASSERT_EQ(lowered.segments[0].parts.size(), 2u);
  const PartPlan& sender = lowered.segments[0].parts[0];
  const PartPlan& receiver = lowered.segments[0].parts[1];
  ASSERT_EQ(sender.sends.size(), 1u);
  ASSERT_EQ(receiver.receives.size(), 1u);
  EXPECT_EQ(sender.sends[0].edge, receiver.receives[0].edge);
  EXPECT_EQ(sender.sends[0].peer, 1u);
  EXPECT_EQ(sender.sends[0].gang, 0u);
  EXPECT_EQ(sender.sends[0].target_group.devices, (std::vector<DeviceId>{4, 5}));
  EXPECT_EQ(receiver.receives[0].peer, 0u);
  EXPECT_EQ(receiver.receives[0].first_gang, 0u);
  EXPECT_EQ(receiver.receives[0].source_group.devices, (std::vector<DeviceId>{0, 1}));
  EXPECT_EQ(receiver.gangs[1].operands[0], receiver.receives[0].value);
  EXPECT_EQ(sender.send_bytes, 128u);
  // What is sent is held to the end of the part.
  ASSERT_EQ(sender.blocks.size(), 1u);
  EXPECT_EQ(room_at(sender.blocks[0], 1), 64u);
  std::set<std::uint32_t> positions;
  for (const PartPlan& part : lowered.segments[0].parts) {
    for (const Gang& gang : part.gangs) positions.insert(gang.position);
  }
  EXPECT_EQ(positions, (std::set<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Lowering, SendsAnArgumentBehindAGangOfItsOwn) {
  ProgramBuilder b;
  const Mesh here = b.slice(1, 0, {0, 1}), there = b.slice(2, 1, {0}), third = b.slice(3, 2, {0});
  const ValueRef v = b.parameter(on(here), true);
  const ValueRef y = b.call(there, {.operands = {v}});
  const ValueRef z = b.call(third, {.operands = {v}});
  b.graph.outputs = {y, z};

  const LoweredProgram lowered = b.lower().value();

  ASSERT_EQ(lowered.segments[0].parts.size(), 3u);
  const PartPlan& sender = lowered.segments[0].parts[0];
  ASSERT_EQ(sender.gangs.size(), 1u);
  EXPECT_EQ(sender.gangs[0].kind, Kind::kSend);
  EXPECT_EQ(sender.gangs[0].position, 0u);
  ASSERT_EQ(sender.sends.size(), 2u);
  EXPECT_EQ(sender.sends[0].gang, 0u);
  EXPECT_EQ(sender.sends[1].gang, 0u);
  EXPECT_NE(sender.sends[0].edge, sender.sends[1].edge);
  EXPECT_TRUE(sender.blocks.empty());
  EXPECT_EQ(sender.args[0].donated_to, kNone);
}

TEST(Lowering, NamesTheFirstReaderOfAReceiveBehindReshards) {
  ProgramBuilder b;
  const Mesh here = b.slice(1, 0, {0, 1}), there = b.slice(2, 1, {4, 5});
  const ValueRef x = b.call(here, {.operands = {}});
  const ValueRef u = b.call(there, {.operands = {}});
  b.graph.outputs = {b.call(there, {.operands = {x, u}, .in_specs = {P("x"), P()}})};

  const LoweredProgram lowered = b.lower().value();

  const PartPlan& receiver = lowered.segments[0].parts[1];
  ASSERT_EQ(receiver.gangs.size(), 3u);
  EXPECT_EQ(receiver.gangs[1].kind, Kind::kReshard);
  EXPECT_EQ(receiver.receives[0].first_gang, 2u);
}

TEST(Lowering, FreesRoomBehindTheLastGangThatItsDevicesRun) {
  ProgramBuilder b;
  const Mesh here = b.slice(1, 0, {0, 1}), beside = b.slice(2, 0, {2, 3});
  const Mesh there = b.slice(3, 1, {0, 1});
  const ValueRef v = b.parameter(on(here));
  const ValueRef sent = b.call(here, {.operands = {v}});
  const ValueRef other = b.call(beside, {.operands = {v}});
  b.graph.outputs = {b.call(there, {.operands = {sent}}), b.call(beside, {.operands = {other}})};

  const LoweredProgram lowered = b.lower().value();
  const PartPlan& part = lowered.segments[0].parts[0];

  ASSERT_EQ(part.sends.size(), 1u);
  const Value& value = part.values[part.sends[0].value];
  const auto block =
      std::find_if(part.blocks.begin(), part.blocks.end(),
                   [&value](const Block& each) { return each.group == value.group; });
  ASSERT_NE(block, part.blocks.end());
  std::uint32_t last = 0;
  for (std::uint32_t g = 0; g < part.gangs.size(); ++g) {
    if (part.runs_on(part.gangs[g], value.group)) last = g;
  }
  ASSERT_LT(last + 1, part.gangs.size());
  EXPECT_EQ(room_at(*block, last), 64u);
  EXPECT_EQ(room_at(*block, last + 1), 0u);
}

TEST(Lowering, GivesEachOutputRoomOfItsOwn) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef v = b.parameter(on(mesh));
  const ValueRef x = b.call(mesh, {.operands = {v}});
  b.graph.outputs = {x, v, x, v};

  const LoweredProgram lowered = b.lower().value();

  const PartPlan& part = lowered.segments[0].parts[0];
  ASSERT_EQ(part.outputs.size(), 4u);
  std::set<std::uint32_t> values;
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(part.outputs[i].output, i);
    values.insert(part.outputs[i].value);
    EXPECT_EQ(part.values[part.outputs[i].value].place, Value::Place::kOutput);
    EXPECT_EQ(part.values[part.outputs[i].value].index, i);
  }
  EXPECT_EQ(values.size(), 4u);
  EXPECT_EQ(part.gangs.size(), 4u);
  EXPECT_EQ(part.gangs[part.outputs[1].gang].kind, Kind::kReshard);
}

TEST(Lowering, LowersAProgramThatOnlyPassesThrough) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  b.graph.outputs = {b.parameter(on(mesh))};

  const LoweredProgram lowered = b.lower().value();

  ASSERT_EQ(lowered.segments.size(), 1u);
  ASSERT_EQ(lowered.segments[0].parts.size(), 1u);
  EXPECT_EQ(lowered.segments[0].parts[0].gangs.at(0).kind, Kind::kReshard);
}

TEST(Lowering, LowersAnEmptyProgramToOneSegmentWithoutParts) {
  const LoweredProgram lowered = ProgramBuilder().lower().value();

  ASSERT_EQ(lowered.segments.size(), 1u);
  EXPECT_TRUE(lowered.segments[0].parts.empty());
}

TEST(Lowering, TakesArraysWithoutElements) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1}), there = b.slice(2, 1, {4, 5});
  const ValueRef v = b.parameter(on(mesh, P("x"), f32({0, 4})));
  const ValueRef x = b.call(there, {.operands = {v}, .out = f32({0, 4})});
  b.graph.outputs = {b.call(mesh, {.operands = {x}, .in_specs = {P()}, .out = f32({0})})};

  const LoweredProgram lowered = b.lower().value();

  for (const PartPlan& part : lowered.segments[0].parts) EXPECT_TRUE(part.blocks.empty());
  EXPECT_EQ(lowered.peak_bytes, 0u);
}

TEST(Lowering, DonatesToALaterOutputOfTheSameSize) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef v = b.parameter(on(mesh), true);
  const ValueRef small = b.parameter(on(mesh, P("x"), f32({2})), true);
  const ValueRef kept = b.parameter(on(mesh));
  const ValueRef x = b.call(mesh, {.operands = {v, small, kept}, .out = f32({64})});
  b.graph.outputs = {b.call(mesh, {.operands = {x}, .out = f32({8})})};

  const LoweredProgram lowered = b.lower().value();

  const PartPlan& part = lowered.segments[0].parts[0];
  ASSERT_EQ(part.args.size(), 3u);
  // Both donated arguments take 64 bytes a shard; there is one output to give the room to.
  const int donated = (part.args[0].donated_to == 0) + (part.args[1].donated_to == 0);
  EXPECT_EQ(donated, 1);
  EXPECT_TRUE(part.args[0].donated);
  EXPECT_FALSE(part.args[2].donated);
  EXPECT_EQ(part.args[2].donated_to, kNone);
  EXPECT_EQ(lowered.peak_bytes, 128u);
}

TEST(Lowering, DonatesWithinAGangOnlyWhereTheFunctionAllowsIt) {
  for (const bool allowed : {false, true}) {
    ProgramBuilder b;
    const Mesh mesh = b.slice(1, 0, {0, 1});
    const ValueRef g = b.parameter(on(mesh), true), w = b.parameter(on(mesh), true);
    ProgramBuilder::Call call{.operands = {g, w}};
    if (allowed) call.in_place = {{0, 1}};
    b.graph.outputs = {b.call(mesh, call)};

    const LoweredProgram lowered = b.lower().value();

    const PartPlan& part = lowered.segments[0].parts[0];
    EXPECT_EQ(part.args[0].donated_to, kNone);
    EXPECT_EQ(part.args[1].donated_to, allowed ? 0 : kNone);
  }
}

TEST(Lowering, DonatesInPlaceWhicheverOperandIsDonated) {
  for (const std::uint32_t donated : {0u, 1u}) {
    ProgramBuilder b;
    const Mesh mesh = b.slice(1, 0, {0, 1});
    const ValueRef x = b.parameter(on(mesh), donated == 0), y = b.parameter(on(mesh), donated == 1);
    b.graph.outputs = {b.call(mesh, {.operands = {x, y}, .in_place = {{0, 0}, {0, 1}}})};

    const LoweredProgram lowered = b.lower().value();

    const PartPlan& part = lowered.segments[0].parts[0];
    EXPECT_EQ(part.args[donated].donated_to, 0u);
    EXPECT_EQ(part.args[1 - donated].donated_to, kNone);
  }
}

TEST(Lowering, DoesNotDonateInPlaceWhatIsReadTwice) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef w = b.parameter(on(mesh), true);
  b.graph.outputs = {b.call(mesh, {.operands = {w, w}, .in_place = {{0, 0}}})};

  const LoweredProgram lowered = b.lower().value();

  EXPECT_EQ(lowered.segments[0].parts[0].args[0].donated_to, kNone);
}

TEST(Lowering, MakesExactlyTheSuccessorsOfAnIrregularNodeWait) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef a = b.call(mesh, {.operands = {}, .irregular = true});  // 0
  const ValueRef c = b.call(mesh, {.operands = {}, .irregular = true});  // 1
  const ValueRef after_a = b.call(mesh, {.operands = {a}});              // 2
  const ValueRef after_both = b.call(mesh, {.operands = {after_a, c}});  // 3
  const ValueRef after_c = b.call(mesh, {.operands = {c}});              // 4
  const ValueRef free = b.call(mesh, {.operands = {}});                  // 5
  b.graph.outputs = {after_both, after_c, free, a};

  const LoweredProgram lowered = b.lower().value();

  ASSERT_EQ(lowered.segments.size(), 4u);
  EXPECT_EQ(lowered.segments[0].nodes, (std::vector<std::uint32_t>{0, 1, 5}));
  EXPECT_FALSE(lowered.segments[0].waits_for_finish);
  EXPECT_EQ(lowered.segments[1].nodes, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(lowered.segments[2].nodes, (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(lowered.segments[3].nodes, (std::vector<std::uint32_t>{3}));
  for (const std::uint32_t s : {1u, 2u, 3u}) {
    EXPECT_TRUE(lowered.segments[s].waits_for_finish);
    EXPECT_EQ(lowered.segments[s].waits_for, (std::vector<std::uint32_t>{0}));
  }
  // `a` is an output of the program: it is read again, never consumed.
  EXPECT_EQ(lowered.segments[1].args.at(0).kind, ArrayKind::kProgramOutput);
  EXPECT_EQ(lowered.segments[1].args.at(0).index, 3u);
  EXPECT_FALSE(lowered.segments[1].args.at(0).last_use);
  EXPECT_EQ(lowered.intermediates, 2u);
  // `c` is read by two segments, of which the second waits for all that the first waits for.
  EXPECT_FALSE(lowered.segments[2].args.at(0).last_use);
  EXPECT_EQ(lowered.segments[3].args.at(1).kind, ArrayKind::kIntermediate);
  EXPECT_TRUE(lowered.segments[3].args.at(1).last_use);
}

TEST(Lowering, LeavesTheLastReaderOpenWhenReadersWaitForDifferentNodes) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef v = b.parameter(on(mesh), true);
  const ValueRef a = b.call(mesh, {.operands = {}, .irregular = true});
  const ValueRef c = b.call(mesh, {.operands = {}, .irregular = true});
  const ValueRef one = b.call(mesh, {.operands = {a, v}});
  const ValueRef two = b.call(mesh, {.operands = {c, v}});
  b.graph.outputs = {one, two};

  const LoweredProgram lowered = b.lower().value();

  ASSERT_EQ(lowered.segments.size(), 3u);
  EXPECT_FALSE(lowered.segments[1].args.at(1).last_use);
  EXPECT_FALSE(lowered.segments[2].args.at(1).last_use);
}

TEST(Lowering, MakesASegmentPerNodeInSequentialDispatch) {
  ProgramBuilder b;
  b.graph.dispatch = Dispatch::kSequential;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  const ValueRef v = b.parameter(on(mesh), true);
  const ValueRef x = b.call(mesh, {.operands = {v}});
  const ValueRef y = b.call(mesh, {.operands = {x}, .irregular = true});
  b.graph.outputs = {b.call(mesh, {.operands = {x, y}})};

  const LoweredProgram lowered = b.lower().value();

  ASSERT_EQ(lowered.segments.size(), 3u);
  EXPECT_FALSE(lowered.segments[1].waits_for_finish);
  EXPECT_TRUE(lowered.segments[2].waits_for_finish);
  EXPECT_EQ(lowered.segments[2].waits_for, (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(lowered.segments[0].args.at(0).last_use);
  EXPECT_TRUE(lowered.segments[0].parts[0].args.at(0).donated);
  EXPECT_EQ(lowered.segments[0].outputs.at(0).kind, ArrayKind::kIntermediate);
  EXPECT_FALSE(lowered.segments[1].args.at(0).last_use);
  EXPECT_TRUE(lowered.segments[2].args.at(0).last_use);
  EXPECT_EQ(lowered.segments[2].outputs.at(0).kind, ArrayKind::kProgram);
}

TEST(Lowering, RefusesBindingsThatDoNotFit) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  b.graph.outputs = {b.call(mesh, {.operands = {}})};

  b.bindings[1].devices = {3, 3};
  EXPECT_EQ(b.lower().status().message(),
            "node 0 (f0 at test.cpp:0): slice 1 is bound to device 3 of island 0 twice");
  b.bindings[1].devices = {3};
  EXPECT_EQ(b.lower().status().message(),
            "node 0 (f0 at test.cpp:0): slice 1 is bound to 1 devices, but mesh(x=2) has 2");
  b.bindings.clear();
  EXPECT_EQ(b.lower().status().message(),
            "node 0 (f0 at test.cpp:0): slice 1 is not bound to devices; acquire it before the "
            "program runs");
}

TEST(Lowering, RefusesTooManyIrregularNodes) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  for (std::size_t i = 0; i <= kIrregularNodesMax; ++i) {
    b.call(mesh, {.operands = {}, .irregular = true});
  }

  EXPECT_EQ(b.lower().status().message(),
            "program \"test\" has 1025 irregular nodes; the limit is 1024, split the program");
}

/// A value in a block while it is needed; two such on one group must not overlap.
struct Live {
  std::uint32_t group, first, last, last_gang;  // `last_gang`: beyond it only sends need it.
  std::uint64_t offset, bytes;
};

std::vector<Live> live_values(const PartPlan& part,
                              const std::map<FunctionId, FunctionInfo>& functions) {
  std::vector<Live> live;
  for (std::uint32_t v = 0; v < part.values.size(); ++v) {
    const Value& value = part.values[v];
    if (value.place != Value::Place::kBlock || value.shard_bytes == 0) continue;
    Live range{value.group, kNone, 0, 0, value.offset, value.shard_bytes};
    for (std::uint32_t g = 0; g < part.gangs.size(); ++g) {
      for (const auto* list : {&part.gangs[g].operands, &part.gangs[g].results}) {
        if (std::count(list->begin(), list->end(), v) == 0) continue;
        range.first = std::min(range.first, g);
        range.last = g;
      }
    }
    for (const Receive& receive : part.receives) {
      if (receive.value != v) continue;
      EXPECT_EQ(receive.first_gang, range.first);
      range.first = 0;
    }
    range.last_gang = range.last;
    for (const Send& send : part.sends) {
      if (send.value == v) range.last = static_cast<std::uint32_t>(part.gangs.size() - 1);
    }
    live.push_back(range);
  }
  for (std::uint32_t g = 0; g < part.gangs.size(); ++g) {
    const Gang& gang = part.gangs[g];
    if (gang.kind != Kind::kCompute) continue;
    const std::uint64_t scratch = (functions.at(gang.function).scratch_bytes + 63) / 64 * 64;
    if (scratch > 0) live.push_back({gang.group, g, g, g, gang.scratch_offset, scratch});
  }
  return live;
}

void expect_sound(const LoweredProgram& lowered,
                  const std::map<FunctionId, FunctionInfo>& functions) {
  for (const Segment& segment : lowered.segments) {
    std::map<std::uint32_t, std::pair<int, int>> edges;
    std::set<std::uint32_t> positions;
    for (const PartPlan& part : segment.parts) {
      const std::vector<Live> live = live_values(part, functions);
      for (std::size_t i = 0; i < live.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
          const Live &a = live[i], &b = live[k];
          if (a.group != b.group || a.last < b.first || b.last < a.first) continue;
          ASSERT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
        }
        for (const Block& block : part.blocks) {
          if (block.group != live[i].group) continue;
          for (std::uint32_t g = live[i].first; g <= live[i].last_gang; ++g) {
            ASSERT_LE(live[i].offset + live[i].bytes, room_at(block, g));
          }
        }
      }
      // What is free is free behind a gang that the devices of the block have run.
      ASSERT_TRUE(validate(part).ok()) << validate(part).message();
      for (std::size_t g = 0; g < part.gangs.size(); ++g) {
        EXPECT_TRUE(positions.insert(part.gangs[g].position).second);
        if (g > 0) {
          EXPECT_LT(part.gangs[g - 1].position, part.gangs[g].position);
        }
      }
      for (const Send& send : part.sends) {
        ++edges[send.edge].first;
        EXPECT_LT(send.gang, part.gangs.size());
      }
      for (const Receive& receive : part.receives) ++edges[receive.edge].second;
      for (const Arg& arg : part.args) {
        if (arg.donated_to == kNone) continue;
        EXPECT_GT(part.outputs[arg.donated_to].gang, arg.last_gang);
      }
    }
    if (!positions.empty()) {
      EXPECT_EQ(*positions.rbegin() + 1, positions.size());
    }
    for (const auto& [edge, count] : edges) EXPECT_EQ(count, std::pair(1, 1)) << edge;
  }
}

TEST(Lowering, IsSoundForRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed, 2);
    ProgramBuilder b;
    if (random.chance(20)) b.graph.dispatch = Dispatch::kSequential;
    const std::vector<Mesh> meshes = {b.slice(1, 0, {0, 1}), b.slice(2, 0, {1, 2}),
                                      b.slice(3, 1, {0, 1, 2, 3}), b.slice(4, 2, {0, 1}),
                                      b.slice(5, 1, {1, 0}, {{"y", 1}, {"x", 2}})};
    const std::vector<PartitionSpec> specs = {P(), P("x"), P("", "x")};
    std::vector<ValueRef> values;
    const auto pick = [&random](const auto& list) { return list[random.below(list.size())]; };
    const auto type = [&random] {
      return f32({static_cast<std::int64_t>(8 * random.below(4)), 16});
    };
    for (int i = 0; i < 4; ++i) {
      values.push_back(b.parameter(on(pick(meshes), pick(specs), type()), random.chance(50)));
    }
    for (std::uint64_t i = 0, nodes = random.below(30); i < nodes; ++i) {
      ProgramBuilder::Call call{.out = type(), .out_spec = pick(specs)};
      call.scratch_bytes = random.below(3) * 100;
      call.irregular = random.chance(10);
      for (std::uint64_t k = random.below(4); k > 0; --k) {
        call.operands.push_back(pick(values));
        call.in_specs.push_back(pick(specs));
      }
      values.push_back(b.call(pick(meshes), call));
    }
    for (std::uint64_t i = random.below(6); i > 0; --i) b.graph.outputs.push_back(pick(values));

    Result<LoweredProgram> lowered = b.lower();

    ASSERT_TRUE(lowered.ok()) << lowered.status().message();
    expect_sound(*lowered, b.functions);
    if (HasFatalFailure()) return;
  }
}

TEST(Lowering, LowersAMillionNodesIntoTwoBuffers) {
  ProgramBuilder b;
  const Mesh mesh = b.slice(1, 0, {0, 1});
  ValueRef v = b.parameter(on(mesh));
  v = b.call(mesh, {.operands = {v}});
  while (b.graph.nodes.size() < fewer_if_sanitized(kNodesMax)) {
    Node next = b.graph.nodes[0];
    next.operands = {v};
    b.graph.nodes.push_back(std::move(next));
    v = {static_cast<std::uint32_t>(b.graph.nodes.size() - 1), 0};
  }
  b.graph.outputs = {v};

  const LoweredProgram lowered = b.lower().value();

  EXPECT_EQ(lowered.segments[0].parts[0].blocks.at(0).steps[0].bytes, 128u);
  EXPECT_EQ(lowered.peak_bytes, 192u);
}

}  // namespace
}  // namespace seaway::program
