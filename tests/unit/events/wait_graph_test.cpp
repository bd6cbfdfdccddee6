// Cycles, root causes, and the sentences about them.

#include "events/wait_graph.hpp"

#include <gtest/gtest.h>

namespace seaway::events {
namespace {

using Labels = std::vector<std::string>;

/// Two gangs on two devices, each running on one and waiting for the other.
WaitGraph opposite_orders() {
  WaitGraph graph;
  const auto a = graph.node(WaitKind::kGang, "a");
  const auto device_1 = graph.node(WaitKind::kDevice, "1");
  const auto b = graph.node(WaitKind::kGang, "b");
  const auto device_0 = graph.node(WaitKind::kDevice, "0");
  graph.add_edge(a, device_1, "it has device 0 and needs device 1");
  graph.add_edge(device_1, b, "b came first there");
  graph.add_edge(b, device_0, "it has device 1 and needs device 0");
  graph.add_edge(device_0, a, "a came first there");
  return graph;
}

TEST(WaitGraph, FindsTheCycleOfTwoCollectivesInOppositeOrder) {
  const WaitGraph graph = opposite_orders();

  EXPECT_EQ(graph.labels(graph.find_cycle()), (Labels{"a", "1", "b", "0"}));
  EXPECT_EQ(graph.explain(),
            "deadlock: 4 wait in a circle:\n"
            "  gang a waits for device 1: it has device 0 and needs device 1\n"
            "  device 1 waits for gang b: b came first there\n"
            "  gang b waits for device 0: it has device 1 and needs device 0\n"
            "  device 0 waits for gang a: a came first there\n");
}

TEST(WaitGraph, NamesTheSameNodeOnce) {
  WaitGraph graph;

  const auto first = graph.node(WaitKind::kGang, "a");

  EXPECT_EQ(graph.node(WaitKind::kGang, "a"), first);
  EXPECT_NE(graph.node(WaitKind::kRun, "a"), first);
  EXPECT_EQ(graph.size(), 2u);
}

TEST(WaitGraph, FollowsTheLongestChainToItsRootCause) {
  WaitGraph graph;
  const auto run = graph.node(WaitKind::kRun, "7");
  const auto gang = graph.node(WaitKind::kGang, "7.0");
  const auto idle = graph.node(WaitKind::kGang, "7.1");
  const auto memory = graph.node(WaitKind::kMemory, "of device 3");
  const auto upload = graph.node(WaitKind::kUpload, "of array 12");
  graph.add_edge(run, idle, "it has not run");
  graph.add_edge(run, gang, "it has not run");
  graph.add_edge(gang, memory, "1,024 bytes missing");
  graph.add_edge(memory, upload, "");

  EXPECT_EQ(graph.labels(graph.chain_from(run)),
            (Labels{"7", "7.0", "of device 3", "of array 12"}));
  EXPECT_EQ(graph.explain(run),
            "why run 7 waits:\n"
            "  run 7 waits for gang 7.0: it has not run\n"
            "  gang 7.0 waits for memory of device 3: 1,024 bytes missing\n"
            "  memory of device 3 waits for upload of array 12\n"
            "root cause: upload of array 12\n");
  EXPECT_TRUE(graph.find_cycle().empty());
  EXPECT_EQ(graph.explain(), "no deadlock: nothing waits for itself\n");
}

TEST(WaitGraph, LeadsFromAWaitingRunIntoTheDeadlockAndOnceAround) {
  WaitGraph graph = opposite_orders();
  const auto run = graph.node(WaitKind::kRun, "9");
  const auto done = graph.node(WaitKind::kUpload, "u");
  graph.add_edge(run, done, "first");
  graph.add_edge(run, graph.node(WaitKind::kGang, "b"), "it is a part");

  EXPECT_EQ(graph.labels(graph.chain_from(run)), (Labels{"9", "b", "0", "a", "1", "b"}));
  EXPECT_NE(graph.explain(run).find("deadlock: gang b waits for itself"), std::string::npos);
}

TEST(WaitGraph, SaysThatANodeWithoutEdgesWaitsForNothing) {
  WaitGraph graph;
  const auto run = graph.node(WaitKind::kRun, "1");

  EXPECT_EQ(graph.explain(run), "run 1 waits for nothing\n");
  EXPECT_TRUE(WaitGraph().find_cycle().empty());
}

TEST(WaitGraph, FindsANodeThatWaitsForItself) {
  WaitGraph graph;
  const auto run = graph.node(WaitKind::kRun, "1");
  graph.add_edge(run, run, "of itself");

  EXPECT_EQ(graph.labels(graph.find_cycle()), (Labels{"1"}));
  EXPECT_EQ(graph.labels(graph.chain_from(run)), (Labels{"1", "1"}));
}

TEST(WaitGraph, HoldsChainsLongerThanAThreadsStack) {
  WaitGraph graph;
  constexpr WaitGraph::Node kLength = 200'000;
  for (WaitGraph::Node i = 0; i < kLength; ++i) graph.node(WaitKind::kGang, std::to_string(i));
  for (WaitGraph::Node i = 0; i + 1 < kLength; ++i) graph.add_edge(i, i + 1, "");

  EXPECT_EQ(graph.chain_from(0).size(), kLength);
  graph.add_edge(kLength - 1, 0, "");
  EXPECT_EQ(graph.find_cycle().size(), kLength);
}

TEST(WaitGraph, DrawsTheCycleInRed) {
  const std::string dot = opposite_orders().to_dot();

  EXPECT_NE(dot.find("n0 [label=\"gang a\"]"), std::string::npos);
  EXPECT_NE(dot.find("n3 -> n0 [label=\"a came first there\", color=red]"), std::string::npos);
}

}  // namespace
}  // namespace seaway::events
