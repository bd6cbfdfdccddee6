// Processes that talk over breaking wires, lose each other, and meet again.

#include "cluster/peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "actor/seeded_process.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;

constexpr std::uint64_t kMs = 1'000'000;

Frame frame(std::uint64_t number) {
  return Frame::make(1, [number](std::span<std::uint64_t> words) { words[0] = number; });
}

/// Two processes: the hosts of islands 0 and 1.
class PeersTest : public testing::Test {
 protected:
  struct Node {
    std::unique_ptr<actor::SeededProcess> process;
    std::unique_ptr<Peers> peers;
    std::uint32_t life = 0;
    std::vector<std::uint64_t> heard;
    std::vector<std::string> news;     // "there 1", "lost 1".
    std::vector<std::string> reasons;  // Of the losses.
  };

  void begin(std::uint64_t seed, transport::WireOptions options = {}) {
    engine_ = actor::make_seeded_engine(seed);
    options.seed = seed;
    options.keepalive_ns = 20 * kMs;
    wires_ = std::make_unique<transport::SimulatedWires>(
        2, options, engine_->clock(), [this](std::uint64_t at_ns, std::function<void()> work) {
          engine_->schedule(at_ns, std::move(work));
        });
    start(0);
    start(1);
  }
  void start(transport::ProcessId self) {
    Node& node = nodes_[self];
    ++node.life;
    node.process = engine_->make_process("host" + std::to_string(self));
    PeersOptions options;
    options.self = self;
    options.life = node.life;
    options.control.frame_bytes_max = frame_bytes_max_[self];
    options.control.packet_bytes = packet_bytes_;
    node.peers = std::make_unique<Peers>(
        *node.process, *wires_, options,
        [&node](const RoleName&, const RoleName&, const Frame& heard) {
          node.heard.push_back(heard.words()[0]);
        },
        [&node](const PeerNews& news) {
          node.news.push_back((news.is_lost ? "lost " : "there ") + std::to_string(news.life));
          if (news.is_lost) node.reasons.push_back(news.reason);
        });
    node.peers->meet(1 - self, {Role::kHost, 1 - self});
  }
  void kill(transport::ProcessId self) {
    wires_->detach(self, false);
    nodes_[self].process->kill();
    nodes_[self].peers.reset();
    nodes_[self].process.reset();
  }
  void say(transport::ProcessId self, std::uint64_t number) {
    Node& node = nodes_[self];
    node.process->post([&node, self, number] {
      node.peers->send({Role::kHost, 1 - self}, frame(number));
    });
  }
  /// 40 words, of which the first is the number.
  void send_long(transport::ProcessId self, std::uint64_t number) {
    Node& node = nodes_[self];
    node.process->post([&node, self, number] {
      node.peers->send({Role::kHost, 1 - self},
                       Frame::make(40, [number](auto words) { std::ranges::fill(words, number); }));
    });
  }
  void block(bool is_blocked) {
    wires_->block(0, 1, is_blocked);
    wires_->block(1, 0, is_blocked);
  }
  void pass(std::uint64_t time_ns) {
    const std::uint64_t until_ns = engine_->now_ns() + time_ns;
    engine_->wait([] { return false; }, until_ns);
  }

  std::unique_ptr<actor::SeededEngine> engine_;
  std::unique_ptr<transport::SimulatedWires> wires_;
  std::array<Node, 2> nodes_;
  std::array<std::size_t, 2> frame_bytes_max_ = {transport::kFrameBytesMax,
                                                 transport::kFrameBytesMax};
  std::size_t packet_bytes_ = transport::kPacketFrameBytesMax;
};

/// A host and two clients. Frames take several packets, and two packets exhaust the credit.
struct HostAndClients {
  HostAndClients() {
    for (transport::ProcessId self = 0; self < 3; ++self) {
      PeersOptions options;
      options.self = self;
      options.control.packet_bytes = 64;
      options.control.credit_packets = 2;
      options.partial_bytes_max = 200;
      options.reject_client = [this](const RoleName& client, const Status& why) {
        rejected.push_back(to_string(client) + ": " + why.message());
        processes[0]->post([this, client, why] { peers[0]->begin_anew(client, why); });
      };
      processes[self] = engine->make_process("process" + std::to_string(self));
      peers[self] = std::make_unique<Peers>(
          *processes[self], wires, options,
          [this](const RoleName& from, const RoleName&, const Frame& frame) {
            received.push_back(to_string(from) + " " + std::to_string(frame.size_bytes()));
          },
          [](const PeerNews&) {});
    }
    for (transport::ProcessId client = 1; client < 3; ++client) {
      peers[0]->meet(client, {Role::kClient, client});
      peers[client]->meet(0, {Role::kHost, 0});
    }
  }
  ~HostAndClients() {
    for (auto& one : peers) one.reset();
  }
  void send(transport::ProcessId client, std::size_t words) {
    processes[client]->post([this, client, words] {
      peers[client]->send({Role::kHost, 0}, Frame::make(words, [](auto) {}));
    });
  }
  void pass(std::uint64_t time_ns) {
    engine->wait([] { return false; }, engine->now_ns() + time_ns);
  }

  std::unique_ptr<actor::SeededEngine> engine = actor::make_seeded_engine(1);
  transport::SimulatedWires wires{3, {}, engine->clock(), [this](std::uint64_t at_ns, auto work) {
                                    engine->schedule(at_ns, std::move(work));
                                  }};
  std::array<std::unique_ptr<actor::SeededProcess>, 3> processes;
  std::array<std::unique_ptr<Peers>, 3> peers;
  std::vector<std::string> received, rejected;
};

TEST(PeersOfClients, LimitPartialFramesOfAllTogether) {
  HostAndClients world;
  world.send(1, 40);
  world.send(2, 20);

  world.pass(500 * kMs);

  EXPECT_EQ(world.rejected,
            std::vector<std::string>{
                "client 1: peers: partially received frames of all clients: 256 bytes (limit 200), "
                "128 of them from this client: send smaller frames or retry"});
  EXPECT_EQ(world.received, std::vector<std::string>{"client 2 160"});
}

TEST(PeersOfClients, AcceptFramesOneAfterAnother) {
  HostAndClients world;
  for (int i = 0; i < 10; ++i) {
    world.send(1, 20);
    world.pass(100 * kMs);
    world.send(2, 24);
    world.pass(100 * kMs);
  }

  EXPECT_EQ(world.received.size(), 20u);
  EXPECT_EQ(world.rejected, std::vector<std::string>{});
}

TEST_F(PeersTest, FramesArriveOnceAndInOrderOverBreakingWires) {
  std::vector<std::uint64_t> expected;
  for (std::uint64_t number = 0; number < 300; ++number) expected.push_back(number);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    nodes_ = {};
    begin(seed, {.faults = {.cut = 20, .half_open = 20, .flip = 20, .repeat = 50}});

    for (const std::uint64_t number : expected) {
      say(0, number);
      say(1, number);
      pass(kMs);
    }
    pass(5'000 * kMs);

    EXPECT_EQ(nodes_[0].heard, expected);
    EXPECT_EQ(nodes_[1].heard, expected);
    EXPECT_EQ(nodes_[0].news, std::vector<std::string>{"there 1"});
  }
}

TEST_F(PeersTest, WhoIsKilledIsLostAtOnceAndComesBackAsSomebodyElse) {
  begin(7);
  pass(50 * kMs);

  kill(1);
  pass(50 * kMs);
  const std::vector<std::string> seen_dead = nodes_[0].news;
  say(0, 1);
  pass(50 * kMs);
  start(1);
  pass(50 * kMs);
  say(0, 2);
  pass(50 * kMs);

  EXPECT_EQ(seen_dead, (std::vector<std::string>{"there 1", "lost 1"}));
  EXPECT_EQ(nodes_[0].news.back(), "there 2");
  ASSERT_FALSE(nodes_[1].heard.empty());
  EXPECT_EQ(nodes_[1].heard.back(), 2u);
}

TEST_F(PeersTest, LivesOfEveryLifeOfAControllerAreToldApart) {
  // The last ones that Enrolment gives.
  nodes_[0].life = nodes_[1].life = 0xfffe'fffd;
  begin(7);
  pass(50 * kMs);

  kill(1);
  pass(50 * kMs);
  start(1);
  say(0, 1);
  pass(50 * kMs);

  EXPECT_EQ(nodes_[0].news,
            (std::vector<std::string>{"there 4294901758", "lost 4294901758", "there 4294901759"}));
  EXPECT_EQ(nodes_[1].heard.back(), 1u);
}

TEST_F(PeersTest, ARefusalFromBeforeThePeersBeginningLosesNobody) {
  begin(7);
  kill(1);

  say(0, 1);
  pass(kMs);
  start(1);
  pass(50 * kMs);

  EXPECT_EQ(nodes_[0].news, std::vector<std::string>{"there 2"});
  EXPECT_EQ(nodes_[1].heard, std::vector<std::uint64_t>{1});
}

TEST_F(PeersTest, WhoWasNeverHeardInAConversationIsLostWithoutALife) {
  begin(3);
  pass(50 * kMs);
  block(true);
  pass(1'500 * kMs);
  const std::vector<std::string> seen_cut = nodes_[0].news;

  say(0, 1);  // To the same life, or to a later one: nobody knows.
  pass(1'500 * kMs);

  EXPECT_EQ(seen_cut, (std::vector<std::string>{"there 1", "lost 1"}));
  EXPECT_EQ(nodes_[0].news, (std::vector<std::string>{"there 1", "lost 1", "lost 0"}));
}

TEST_F(PeersTest, TwoThatCannotReachEachOtherAreLostAndMeetAgainWithoutWhatWasSaidMeanwhile) {
  begin(3);
  pass(50 * kMs);
  say(0, 1);
  pass(50 * kMs);

  block(true);
  say(0, 2);
  pass(3'000 * kMs);
  const std::vector<std::string> seen_cut = nodes_[0].news;
  block(false);
  pass(3'000 * kMs);
  say(0, 3);
  pass(50 * kMs);

  // What was said when they lost each other counts as lost; both live all the time.
  EXPECT_EQ(seen_cut.at(1), "lost 1");
  EXPECT_EQ(nodes_[0].news.back(), "there 1");
  EXPECT_EQ(nodes_[1].news.back(), "there 1");
  EXPECT_EQ(nodes_[1].heard, (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(PeersTest, WhoStandsStillForTooLongIsLostAndHearsSoWhenItGoesOn) {
  begin(5);
  pass(50 * kMs);

  nodes_[1].process->pause();
  pass(1'500 * kMs);
  const std::string seen = nodes_[0].news.back();
  nodes_[1].process->resume();
  pass(100 * kMs);

  EXPECT_EQ(seen, "lost 1");
  ASSERT_GE(nodes_[1].news.size(), 2u);
  EXPECT_EQ(nodes_[1].news[1], "lost 1");
}

TEST_F(PeersTest, WhatIsTooMuchToWaitEndsTheConversationAndIsNotLostInSilence) {
  begin(5);
  pass(50 * kMs);
  block(true);

  for (std::uint64_t number = 0; number < 70'000; ++number) {
    nodes_[0].peers->send({Role::kHost, 1}, frame(number));
  }

  EXPECT_GT(nodes_[0].peers->counts().refused, 0u);
  EXPECT_EQ(nodes_[0].news.back(), "lost 1");
}

TEST_F(PeersTest, ReportsAChannelThatAcknowledgesNothing) {
  begin(6);
  pass(50 * kMs);
  EXPECT_TRUE(nodes_[0].peers->stalled().empty());
  wires_->block(1, 0, true);  // The frame arrives; its acknowledgement does not.
  say(0, 1);

  pass(800 * kMs);
  const auto stalled = nodes_[0].peers->stalled();

  ASSERT_EQ(stalled.size(), 1u);
  EXPECT_EQ(to_string(stalled[0].peer), "the host of island 1");
  EXPECT_EQ(stalled[0].frames, 1u);
  EXPECT_EQ(stalled[0].bytes, 8u);
  EXPECT_GE(stalled[0].for_ns, 750 * kMs);
}

TEST_F(PeersTest, AFrameThatThePeerRefusesIsNotSentAgain) {
  frame_bytes_max_[1] = 64;
  begin(7);
  pass(50 * kMs);
  const std::uint64_t writes = wires_->counts().writes;

  send_long(0, 100);
  pass(200 * kMs);

  // Both are told of the end, once, and talk again.
  EXPECT_EQ(nodes_[0].news, (std::vector<std::string>{"there 1", "lost 1", "there 1"}));
  EXPECT_EQ(nodes_[1].news, (std::vector<std::string>{"there 1", "lost 1", "there 1"}));
  EXPECT_NE(nodes_[0].reasons[0].find("the limit is 64"), std::string::npos)
      << nodes_[0].reasons[0];
  EXPECT_LT(wires_->counts().writes - writes, 50u);
  say(0, 5);
  pass(50 * kMs);
  EXPECT_EQ(nodes_[1].heard, (std::vector<std::uint64_t>{5}));
}

TEST_F(PeersTest, LongFramesArriveInPartsOverBreakingWires) {
  packet_bytes_ = 64;
  transport::WireOptions options;
  options.faults = {.cut = 20, .half_open = 20, .flip = 20, .repeat = 50};
  begin(8, options);
  pass(50 * kMs);

  for (std::uint64_t number = 1; number <= 20; ++number) send_long(0, number);
  pass(2'000 * kMs);

  std::vector<std::uint64_t> all(20);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(nodes_[1].heard, all);
}

}  // namespace
}  // namespace seaway::cluster
