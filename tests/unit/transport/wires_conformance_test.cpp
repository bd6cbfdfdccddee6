// What all wires have in common: simulated ones, Unix sockets, TCP and TLS hold the same tests.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "transport/conversation.hpp"
#include "transport/packet.hpp"
#include "unit/transport/wires_world.hpp"

namespace seaway::transport {
namespace {

enum class Kind : std::uint8_t { kSimulated, kUnix, kTcp, kTls };

std::string name_of(const testing::TestParamInfo<Kind>& kind) {
  switch (kind.param) {
    case Kind::kSimulated:
      return "Simulated";
    case Kind::kUnix:
      return "Unix";
    case Kind::kTcp:
      return "Tcp";
    case Kind::kTls:
      break;
  }
  return "Tls";
}

class WiresConformance : public testing::TestWithParam<Kind> {
 protected:
  struct End {
    int connected = 0, closed = 0, refused = 0;
    std::string heard;
    bool is_open = false;
    std::function<void()> on_connected, on_closed;
  };

  WiresConformance() {
    if (GetParam() == Kind::kSimulated) {
      world_ = std::make_unique<SimulatedWorld>();
    } else {
      world_ = std::make_unique<SocketWorld>(GetParam() == Kind::kUnix  ? "unix"
                                             : GetParam() == Kind::kTcp ? "tcp"
                                                                        : "tls");
    }
  }
  ~WiresConformance() override { EXPECT_FALSE(was_called_within_a_call_); }

  /// Begins `self`, which has all of `peers`.
  void begin(ProcessId self, const std::vector<ProcessId>& peers) {
    world_->begin(self);
    for (const ProcessId peer : peers) attach(self, peer);
  }
  void attach(ProcessId self, ProcessId peer) {
    End& end = ends_[{self, peer}];
    const auto look = [this] { was_called_within_a_call_ |= is_calling_; };
    call([&] {
      world_->wires(self).attach(self, peer,
                                 {[&end, look] {
                                    look();
                                    ++end.connected;
                                    end.is_open = true;
                                    if (end.on_connected) end.on_connected();
                                  },
                                  [&end, look](std::span<const std::byte> bytes) {
                                    look();
                                    EXPECT_TRUE(end.is_open);
                                    end.heard.append(reinterpret_cast<const char*>(bytes.data()),
                                                     bytes.size());
                                  },
                                  [&end, look] {
                                    look();
                                    EXPECT_TRUE(end.is_open);
                                    ++end.closed;
                                    end.is_open = false;
                                    if (end.on_closed) end.on_closed();
                                  },
                                  [&end, look] {
                                    look();
                                    ++end.refused;
                                  }});
    });
  }
  void connect(ProcessId self, ProcessId peer) {
    end(self, peer).is_open = false;
    call([&] { world_->wires(self).connect(self, peer); });
  }
  void write(ProcessId self, ProcessId peer, const std::string& text) {
    call([&] { world_->wires(self).write(self, peer, bytes_of(text)); });
  }
  void close(ProcessId self, ProcessId peer) {
    end(self, peer).is_open = false;
    call([&] { world_->wires(self).close(self, peer); });
  }
  void call(const std::function<void()>& work) {
    const bool was_calling = std::exchange(is_calling_, true);
    work();
    is_calling_ = was_calling;
  }
  End& end(ProcessId self, ProcessId peer) { return ends_[{self, peer}]; }
  bool are_connected(ProcessId self, ProcessId peer) {
    return end(self, peer).is_open && end(peer, self).is_open;
  }
  void join(ProcessId self, ProcessId peer) {
    connect(self, peer);
    ASSERT_TRUE(world_->run([&] { return are_connected(self, peer); }));
  }

  std::unique_ptr<WiresWorld> world_;
  std::map<std::pair<ProcessId, ProcessId>, End> ends_;
  bool is_calling_ = false;
  bool was_called_within_a_call_ = false;
};

TEST_P(WiresConformance, BothEndsHearOfAConnectionOnce) {
  begin(0, {1});
  begin(1, {0});

  join(0, 1);
  world_->settle();

  EXPECT_EQ(end(0, 1).connected, 1);
  EXPECT_EQ(end(1, 0).connected, 1);
  EXPECT_EQ(end(0, 1).refused + end(0, 1).closed + end(1, 0).closed, 0);
}

TEST_P(WiresConformance, BytesOfEachDirectionArriveInTheirOrder) {
  begin(0, {1});
  begin(1, {0});
  join(1, 0);
  std::string there, back;

  for (int i = 0; i < 1000; ++i) {
    write(0, 1, std::to_string(i) + " ");
    write(1, 0, std::to_string(-i) + " ");
    there += std::to_string(i) + " ";
    back += std::to_string(-i) + " ";
  }

  EXPECT_TRUE(world_->run([&] {
    return end(1, 0).heard.size() == there.size() && end(0, 1).heard.size() == back.size();
  }));
  EXPECT_EQ(end(1, 0).heard, there);
  EXPECT_EQ(end(0, 1).heard, back);
}

TEST_P(WiresConformance, WhoClosesHearsNothingMoreAndTheOtherOneHearsThat) {
  begin(0, {1});
  begin(1, {0});
  join(0, 1);

  write(1, 0, "too late");
  close(0, 1);
  const bool is_told = world_->run([&] { return end(1, 0).closed == 1; });
  world_->settle();

  EXPECT_TRUE(is_told);
  EXPECT_EQ(end(0, 1).heard, "");
  EXPECT_EQ(end(0, 1).closed, 0);
}

TEST_P(WiresConformance, WhatWasWrittenBeforeACloseArrivesBeforeIt) {
  begin(0, {1});
  begin(1, {0});
  join(0, 1);
  const std::string text(3'000'000, 'x');

  write(0, 1, text);
  write(0, 1, "end");
  close(0, 1);

  EXPECT_TRUE(world_->run([&] { return end(1, 0).closed == 1; }));
  EXPECT_EQ(end(1, 0).heard.size(), text.size() + 3);
  EXPECT_TRUE(end(1, 0).heard.ends_with("xend"));
}

TEST_P(WiresConformance, WhereNobodyListensAConnectionIsRefused) {
  begin(0, {1});
  begin(1, {0});
  world_->kill(1);

  connect(0, 1);

  EXPECT_TRUE(world_->run([&] { return end(0, 1).refused == 1; }));
  EXPECT_EQ(end(0, 1).connected, 0);
}

TEST_P(WiresConformance, WhoseProcessHasNoSuchPeerIsRefused) {
  begin(0, {1});
  begin(1, {});

  connect(0, 1);

  EXPECT_TRUE(world_->run([&] { return end(0, 1).refused == 1; }));
  EXPECT_EQ(end(0, 1).connected, 0);
}

TEST_P(WiresConformance, WithoutAConnectionAWriteIsLost) {
  begin(0, {1});
  begin(1, {0});

  write(0, 1, "lost");
  join(0, 1);
  write(0, 1, "heard");
  EXPECT_TRUE(world_->run([&] { return !end(1, 0).heard.empty(); }));
  close(0, 1);
  write(0, 1, "lost again");
  EXPECT_TRUE(world_->run([&] { return end(1, 0).closed == 1; }));

  EXPECT_EQ(end(1, 0).heard, "heard");
}

TEST_P(WiresConformance, ANewConnectionTakesThePlaceOfAnOldOne) {
  for (const ProcessId again : {0u, 1u}) {
    begin(0, {1});
    begin(1, {0});
    ends_.clear();
    attach(0, 1);
    attach(1, 0);
    join(0, 1);
    const ProcessId other = 1 - again;

    write(other, again, "of before");
    connect(again, other);
    const bool is_made = world_->run([&] { return end(again, other).connected == 2; });
    const bool is_heard = world_->run([&] { return end(other, again).connected == 2; });
    end(again, other).heard.clear();
    write(other, again, "of now");
    const bool is_open = world_->run([&] { return end(again, other).heard == "of now"; });

    EXPECT_TRUE(is_made && is_heard && is_open);
    EXPECT_EQ(end(again, other).closed, 0);
    EXPECT_EQ(end(other, again).closed, 1);
    world_->kill(0);
    world_->kill(1);
    world_->settle();
  }
}

TEST_P(WiresConformance, TwoThatConnectAtOnceAgreeOnOneConnection) {
  begin(0, {1});
  begin(1, {0});
  RandomStream random(1, 1);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    end(0, 1) = {};
    end(1, 0) = {};
    const ProcessId first = static_cast<ProcessId>(random.below(2));

    connect(first, 1 - first);
    int steps = static_cast<int>(random.below(6));
    world_->run([&] { return are_connected(0, 1) || steps-- <= 0; });
    if (!are_connected(0, 1)) connect(1 - first, first);
    ASSERT_TRUE(world_->run([&] { return are_connected(0, 1); }));
    if (round % 10 == 0) world_->settle();
    ASSERT_TRUE(world_->run([&] { return are_connected(0, 1); }));
    write(0, 1, "a");
    write(1, 0, "b");

    // Until both agree, one end may have taken another connection for theirs.
    bool again = false;
    ASSERT_TRUE(world_->run([&] {
      if (are_connected(0, 1) && end(0, 1).closed + end(1, 0).closed > 0 && !again) {
        again = true;
        write(0, 1, "a");
        write(1, 0, "b");
      }
      return end(1, 0).heard.starts_with("a") && end(0, 1).heard.starts_with("b");
    }));
    close(0, 1);
    ASSERT_TRUE(world_->run([&] { return !end(1, 0).is_open; }));
  }
}

TEST_P(WiresConformance, APeerThatBeginsLaterAndConnectsIsThere) {
  begin(0, {1});
  connect(0, 1);
  world_->settle();

  begin(1, {0});
  connect(1, 0);

  EXPECT_TRUE(world_->run([&] { return are_connected(0, 1); }));
}

TEST_P(WiresConformance, WhoDiesIsHeardOfAndIsThereAgainInAnotherLife) {
  begin(0, {1});
  begin(1, {0});
  join(0, 1);

  end(1, 0).is_open = false;
  world_->kill(1);
  const bool is_told = world_->run([&] { return end(0, 1).closed == 1; });
  connect(0, 1);
  const bool is_refused = world_->run([&] { return end(0, 1).refused == 1; });
  begin(1, {0});
  connect(1, 0);

  EXPECT_TRUE(is_told && is_refused);
  EXPECT_TRUE(world_->run([&] { return are_connected(0, 1); }));
}

TEST_P(WiresConformance, APacketThatIsCutInTheMiddleIsNeverTakenForOne) {
  begin(0, {1});
  begin(1, {0});
  join(0, 1);
  std::vector<std::byte> packet;
  write_packet({.kind = Packet::Kind::kFrame,
                .frame = Frame::make(100,
                                     [](auto words) {
                                       for (auto& word : words) word = 5;
                                     })},
               packet);
  const std::string text(reinterpret_cast<const char*>(packet.data()), packet.size());

  write(1, 0, text + text.substr(0, 500));
  end(1, 0).is_open = false;
  world_->kill(1);
  ASSERT_TRUE(world_->run([&] { return end(0, 1).closed == 1; }));
  PacketReader reader;
  reader.feed(bytes_of(end(0, 1).heard));

  // Whether anything arrives is chance when a process dies; half a packet is none.
  const std::string& heard = end(0, 1).heard;
  EXPECT_EQ(heard, (text + text).substr(0, heard.size()));
  const auto first = reader.next();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->has_value(), heard.size() >= text.size());
  if (first->has_value()) {
    EXPECT_FALSE(reader.next()->has_value());
  }
}

TEST_P(WiresConformance, SeveralMebibytesGoBothWaysAtOnce) {
  begin(0, {1});
  begin(1, {0});
  join(0, 1);
  std::string there(5'000'000, 'a'), back(7'000'000, 'b');
  for (std::size_t i = 0; i < there.size(); i += 1000) there[i] = static_cast<char>(i / 1000 % 128);

  for (int i = 0; i < 2; ++i) {
    write(0, 1, there);
    write(1, 0, back);
  }

  EXPECT_TRUE(world_->run([&] {
    return end(1, 0).heard.size() == 2 * there.size() && end(0, 1).heard.size() == 2 * back.size();
  }));
  EXPECT_TRUE(end(1, 0).heard == there + there);
  EXPECT_TRUE(end(0, 1).heard == back + back);
}

TEST_P(WiresConformance, ManyPeersHaveAConnectionEach) {
  constexpr ProcessId kMany = 20;
  std::vector<ProcessId> all(kMany);
  std::iota(all.begin(), all.end(), 0u);
  for (const ProcessId self : all) {
    std::vector<ProcessId> peers = all;
    std::erase(peers, self);
    begin(self, peers);
  }

  // Both of each two, for nobody knows who begins first.
  for (const ProcessId self : all) {
    for (const ProcessId peer : all) {
      if (self != peer) connect(self, peer);
    }
  }
  const auto all_agree = [&] {
    for (const ProcessId self : all) {
      for (const ProcessId peer : all) {
        if (self != peer && !are_connected(self, peer)) return false;
      }
    }
    return true;
  };
  ASSERT_TRUE(world_->run(all_agree));
  world_->settle();
  ASSERT_TRUE(world_->run(all_agree));
  for (const ProcessId self : all) {
    for (const ProcessId peer : all) {
      if (self != peer) write(self, peer, std::to_string(self) + " to " + std::to_string(peer));
    }
  }

  EXPECT_TRUE(world_->run([&] {
    for (const auto& [ids, one] : ends_) {
      if (one.heard != std::to_string(ids.second) + " to " + std::to_string(ids.first))
        return false;
    }
    return true;
  }));
}

TEST_P(WiresConformance, APortMayCloseAndConnectWhenItIsCalled) {
  begin(0, {1});
  begin(1, {0});
  end(0, 1).on_connected = [this] {
    if (end(0, 1).connected < 10) close(0, 1);
  };
  end(1, 0).on_closed = [this] { connect(1, 0); };

  connect(1, 0);

  EXPECT_TRUE(world_->run([&] { return end(0, 1).connected == 10 && are_connected(0, 1); }));
}

/// Two that talk, whose connection is closed under them again and again.
class ConversationOverWires : public WiresConformance {
 protected:
  struct Talker {
    std::unique_ptr<Conversation> conversation;
    PacketReader reader;
    std::vector<std::uint64_t> heard;
  };

  void begin_talk(ProcessId self) {
    talkers_[self].conversation = std::make_unique<Conversation>(
        ConversationOptions{.peer = "the other one"}, world_->now_ns());
    world_->begin(self);
    world_->wires(self).attach(self, 1 - self,
                               {[this, self] {
                                  talkers_[self].reader = PacketReader();
                                  talkers_[self].conversation->connected(world_->now_ns());
                                  turn(self);
                                },
                                [this, self](std::span<const std::byte> bytes) {
                                  Talker& own = talkers_[self];
                                  own.reader.feed(bytes);
                                  for (;;) {
                                    auto packet = own.reader.next();
                                    ASSERT_TRUE(packet.ok()) << packet.to_string();
                                    if (!*packet) break;
                                    own.conversation->receive(std::move(**packet),
                                                              world_->now_ns());
                                  }
                                  turn(self);
                                },
                                [this, self] {
                                  talkers_[self].conversation->disconnected();
                                  world_->wires(self).connect(self, 1 - self);
                                },
                                [] {}});
  }
  void turn(ProcessId self) {
    Talker& own = talkers_[self];
    std::vector<std::byte> bytes;
    for (const Packet& packet : own.conversation->take_packets(world_->now_ns())) {
      write_packet(packet, bytes);
    }
    if (!bytes.empty()) world_->wires(self).write(self, 1 - self, std::move(bytes));
    for (const Letter& letter : own.conversation->take_letters()) {
      own.heard.push_back(letter.frame.words()[0]);
    }
  }

  Talker talkers_[2];
};

TEST_P(ConversationOverWires, LosesAndDoublesNothingHoweverOftenTheConnectionBreaks) {
  constexpr std::uint64_t kNumbers = 2000;
  begin_talk(0);
  begin_talk(1);
  world_->wires(0).connect(0, 1);
  RandomStream random(2, 2);

  std::uint64_t said = 0;
  const bool is_over = world_->run([&] {
    if (said < kNumbers) {
      for (const ProcessId self : {0u, 1u}) {
        // From one word to many, so that some are under way whenever it breaks.
        const Frame frame = Frame::make(1 + random.below(3000), [&](auto words) {
          for (auto& word : words) word = said;
        });
        EXPECT_TRUE(talkers_[self].conversation->send(frame, world_->now_ns()).ok());
        turn(self);
      }
      ++said;
      if (random.below(50) == 0) {
        const ProcessId self = static_cast<ProcessId>(random.below(2));
        talkers_[self].conversation->disconnected();
        world_->wires(self).connect(self, 1 - self);
      }
    }
    return talkers_[0].heard.size() >= kNumbers && talkers_[1].heard.size() >= kNumbers;
  });

  std::vector<std::uint64_t> expected(kNumbers);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_TRUE(is_over);
  EXPECT_EQ(talkers_[0].heard, expected);
  EXPECT_EQ(talkers_[1].heard, expected);
  EXPECT_GT(talkers_[0].conversation->counts().resent, 0u);
}

INSTANTIATE_TEST_SUITE_P(Wires, WiresConformance,
                         testing::Values(Kind::kSimulated, Kind::kUnix, Kind::kTcp, Kind::kTls),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Wires, ConversationOverWires,
                         testing::Values(Kind::kSimulated, Kind::kUnix, Kind::kTcp, Kind::kTls),
                         name_of);

}  // namespace
}  // namespace seaway::transport
