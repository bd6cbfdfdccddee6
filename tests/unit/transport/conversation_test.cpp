// Conversations: what each end says and hears, packet by packet.

#include "transport/conversation.hpp"

#include <gtest/gtest.h>

namespace seaway::transport {
namespace {

Frame frame(std::uint64_t number) {
  return Frame::make(2, [number](std::span<std::uint64_t> words) {
    words[0] = number;
    words[1] = ~number;
  });
}

std::vector<std::uint64_t> numbers(Conversation& conversation) {
  std::vector<std::uint64_t> numbers;
  for (const Letter& one : conversation.take_letters()) numbers.push_back(one.frame.words()[0]);
  return numbers;
}

class Conversations : public testing::Test {
 protected:
  /// All that both have to say, until nobody says anything.
  void talk() {
    for (bool is_quiet = false; !is_quiet;) {
      is_quiet = true;
      for (Packet& packet : left.take_packets(now_ns)) {
        right.receive(packet, now_ns), is_quiet = false;
      }
      for (Packet& packet : right.take_packets(now_ns)) {
        left.receive(packet, now_ns), is_quiet = false;
      }
    }
  }
  void connect() {
    left.connected(now_ns);
    right.connected(now_ns);
    talk();
  }
  void send(Conversation& conversation, std::uint64_t number) {
    ASSERT_TRUE(conversation.send(frame(number), now_ns).ok());
  }

  std::uint64_t now_ns = 1'000;
  static ConversationOptions small_options() {
    ConversationOptions options{.epoch = 4, .peer = "right"};
    options.control.frames_max = 3;
    options.control.waiting_bytes_max = 100;
    return options;
  }
  ConversationOptions left_options = small_options();
  ConversationOptions right_options{.epoch = 2, .peer = "left"};
  Conversation left{left_options, 0}, right{right_options, 0};
};

TEST_F(Conversations, SendInOrderAndForgetWhatHasArrived) {
  connect();
  send(left, 1);
  send(left, 2);
  send(right, 10);
  talk();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(numbers(left), (std::vector<std::uint64_t>{10}));
  EXPECT_EQ(left.unacknowledged(), 0u);
  EXPECT_EQ(right.unacknowledged(), 0u);
  EXPECT_EQ(left.peer_epoch(), 2u);
  EXPECT_EQ(right.peer_epoch(), 4u);
}

TEST_F(Conversations, SayTheSameAsBytesAndAsPackets) {
  connect();
  send(left, 1);
  send(left, 2);
  Conversation copy = left;

  std::vector<std::byte> bytes;
  for (const Packet& packet : copy.take_packets(now_ns)) write_packet(packet, bytes);

  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(left.take_bytes(now_ns), bytes);
  EXPECT_TRUE(left.take_bytes(now_ns).empty());
  EXPECT_EQ(left.hash(), copy.hash());
}

TEST_F(Conversations, WhatWasSentBeforeAConnectionGoesWithIt) {
  send(left, 1);
  send(left, 2);
  EXPECT_TRUE(left.take_packets(now_ns).empty());

  connect();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(Conversations, ControlOvertakesPayload) {
  left_options.bulk = right_options.bulk = {.packet_bytes = 8, .credit_packets = 1};
  left = Conversation(left_options, 0);
  right = Conversation(right_options, 0);
  connect();
  ASSERT_TRUE(left.send(frame(100), now_ns, 5, Lane::kBulk).ok());
  send(left, 1);

  const auto packets = left.take_packets(now_ns);
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].kind, Packet::Kind::kFrame);
  EXPECT_EQ(packets[1].kind, Packet::Kind::kChunkPart);
  for (const Packet& packet : packets) right.receive(packet, now_ns);
  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1}));
  send(left, 2);
  talk();
  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{2, 100}));
  EXPECT_EQ(left.bulk().waiting_bytes(), 0u);
}

TEST_F(Conversations, PayloadOutlivesItsConnection) {
  left_options.bulk = right_options.bulk = {.packet_bytes = 8, .credit_packets = 1};
  left = Conversation(left_options, 0);
  right = Conversation(right_options, 0);
  connect();
  ASSERT_TRUE(left.send(frame(100), now_ns, 5, Lane::kBulk).ok());
  for (const Packet& packet : left.take_packets(now_ns)) right.receive(packet, now_ns);
  right.take_packets(now_ns);  // Its acknowledgement is lost.
  left.disconnected();
  right.disconnected();

  connect();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{100}));
  EXPECT_EQ(left.bulk().waiting_bytes(), 0u);
}

TEST_F(Conversations, AChunkThatIsNoneEndsIt) {
  connect();
  right.receive({Packet::Kind::kChunkPart, 4, 2, 1, 0, Frame(), 0, 0}, now_ns);

  EXPECT_TRUE(right.has_ended());
  EXPECT_EQ(right.reason().code(), StatusCode::kProtocolError);
}

TEST_F(Conversations, WhatABrokenConnectionLostIsSentAgainAndNothingTwice) {
  connect();
  send(left, 1);
  send(left, 2);
  send(left, 3);
  std::vector<Packet> packets = left.take_packets(now_ns);
  right.receive(packets[0], now_ns);  // The others are lost, and so is the word of this one.
  left.disconnected();
  right.disconnected();

  connect();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(left.counts().resent, 2u);
  EXPECT_EQ(left.unacknowledged(), 0u);
}

TEST_F(Conversations, WhatIsRepeatedHasNoEffect) {
  left.connected(now_ns);
  right.connected(now_ns);
  send(left, 1);
  std::vector<Packet> all;
  for (int i = 0; i < 3; ++i) {
    for (Packet& packet : left.take_packets(now_ns)) {
      all.push_back(packet);
      right.receive(std::move(packet), now_ns);
    }
    for (Packet& packet : right.take_packets(now_ns)) left.receive(std::move(packet), now_ns);
  }

  for (const Packet& packet : all) right.receive(packet, now_ns);
  send(right, 10);
  talk();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(numbers(left), (std::vector<std::uint64_t>{10}));
  EXPECT_GE(right.counts().repeated, 1u);
  EXPECT_FALSE(right.take_close());
}

TEST_F(Conversations, AGapEndsTheConnectionAndNotTheConversation) {
  connect();
  send(left, 1);
  send(left, 2);
  std::vector<Packet> packets = left.take_packets(now_ns);

  right.receive(packets[1], now_ns);

  EXPECT_TRUE(right.take_close());
  EXPECT_FALSE(right.take_close());
  EXPECT_TRUE(numbers(right).empty());
  left.disconnected();
  connect();
  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(Conversations, MoreThanTheLimitsIsRefusedUntilSomeHasArrived) {
  connect();
  for (std::uint64_t i = 1; i <= 3; ++i) send(left, i);

  const Status refused = left.send(frame(4), now_ns);
  talk();
  const Status again = left.send(frame(4), now_ns);
  const Status large = left.send(Frame::make(20, [](auto) {}), now_ns);

  EXPECT_EQ(
      refused.to_string(),
      "RESOURCE_EXHAUSTED: right: has not acknowledged 3 frames of 48 bytes, and 16 bytes more "
      "are too many; the limits are 3 and 100; wait until it has");
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(large.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Conversations, LimitsAreOfWhatWaitsAndNotOfAllThatWasEverSaid) {
  ConversationOptions narrow = small_options();
  narrow.control.credit_bytes = 64;
  left = Conversation(narrow, 0);
  connect();

  for (std::uint64_t number = 1; number <= 50; ++number) {
    send(left, number);
    talk();
    ASSERT_EQ(numbers(right), std::vector<std::uint64_t>{number});
  }

  EXPECT_EQ(left.waiting().bytes, 0u);
}

TEST_F(Conversations, ALongFrameTravelsInPartsBetweenHeartbeats) {
  left_options.control.packet_bytes = left_options.control.credit_bytes = 8;
  left_options.heartbeat_ns = 100;
  left = Conversation(left_options, 0);
  connect();
  send(left, 1);
  send(left, 2);

  std::vector<Packet> packets = left.take_packets(now_ns);
  ASSERT_EQ(packets.size(), 1u);  // The credit is one packet.
  EXPECT_EQ(packets[0].kind, Packet::Kind::kPart);
  left.tick(now_ns += 100);
  const std::vector<Packet> heartbeat = left.take_packets(now_ns);
  ASSERT_EQ(heartbeat.size(), 1u);
  EXPECT_EQ(heartbeat[0].kind, Packet::Kind::kAck);
  right.receive(packets[0], now_ns);
  EXPECT_EQ(right.control().coming_bytes(), 8u);
  EXPECT_TRUE(numbers(right).empty());
  talk();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(left.unacknowledged(), 0u);
}

TEST_F(Conversations, ANewConnectionBringsOnlyTheMissingParts) {
  left_options.control.packet_bytes = 8;
  left = Conversation(left_options, 0);
  connect();
  send(left, 1);
  right.receive(left.take_packets(now_ns)[0], now_ns);
  left.disconnected();
  right.disconnected();

  connect();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(left.counts().resent, 1u);
}

TEST_F(Conversations, AFrameOverTheLimitIsRefusedBeforeItIsSent) {
  left_options.control.frame_bytes_max = left_options.bulk.frame_bytes_max = 8;
  left = Conversation(left_options, 0);
  connect();

  for (const Lane lane : {Lane::kControl, Lane::kBulk}) {
    EXPECT_EQ(left.send(frame(1), now_ns, 0, lane),
              resource_exhausted("right: a frame of 16 bytes; the limit is 8: send it in parts"));
  }
  EXPECT_FALSE(left.has_ended());
  EXPECT_TRUE(left.take_packets(now_ns).empty());
}

TEST_F(Conversations, AFrameThatThePeerRefusesEndsBothWithTheReason) {
  right_options.control.frame_bytes_max = 8;
  right = Conversation(right_options, 0);
  connect();
  send(left, 1);

  talk();

  EXPECT_EQ(right.reason(),
            protocol_error("left sends on the control lane, kind 1: a frame of at least 16 bytes; "
                           "the limit is 8"));
  EXPECT_EQ(left.reason(),
            protocol_error("right has refused a packet: left sends on the control lane, kind 1: a "
                           "frame of at least 16 bytes; the limit is 8"));
  EXPECT_TRUE(left.was_ended_by_peer());
  EXPECT_FALSE(right.was_ended_by_peer());
}

TEST_F(Conversations, DamagedPacketsAreHealedUnlessTheyRepeat) {
  const Status damage = protocol_error("a connection brings a frame whose checksum is wrong");
  right_options.damaged_max = 3;
  right = Conversation(right_options, 0);
  const auto damage_next = [&] {
    left.disconnected();
    right.disconnected();
    left.connected(now_ns);
    right.connected(now_ns);
    for (Packet& packet : left.take_packets(now_ns)) right.receive(packet, now_ns);
    for (Packet& packet : right.take_packets(now_ns)) left.receive(packet, now_ns);
    left.take_packets(now_ns);
    right.unreadable(damage, false);
    right.unreadable(damage, false);  // What comes behind it on the connection does not count.
  };
  send(left, 1);
  damage_next();
  damage_next();
  connect();
  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1}));

  send(left, 2);
  for (int i = 0; i < 3; ++i) damage_next();

  EXPECT_EQ(right.reason(),
            protocol_error("left behind packet 1: 3 connections in a row: a connection brings a "
                           "frame whose checksum is wrong"));
}

TEST_F(Conversations, DamagedHeartbeatsDoNotAddUp) {
  right_options.damaged_max = 3;
  left_options.heartbeat_ns = 100;
  left = Conversation(left_options, 0);
  right = Conversation(right_options, 0);
  for (int i = 0; i < 10; ++i) {
    connect();
    left.tick(now_ns += 100);
    for (Packet& packet : left.take_packets(now_ns)) right.receive(packet, now_ns);
    right.unreadable(protocol_error("a header whose checksum is wrong"), false);
    left.disconnected();
  }

  EXPECT_FALSE(right.has_ended()) << right.reason().to_string();
}

TEST_F(Conversations, DamageDoesNotAddUpWhileBothLanesGoOn) {
  right_options.damaged_max = 3;
  right = Conversation(right_options, 0);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    connect();
    send(left, i);
    ASSERT_TRUE(left.send(frame(i), now_ns, 0, Lane::kBulk).ok());
    talk();
    EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{i, i}));
    right.unreadable(protocol_error("a header whose checksum is wrong"), false);
    left.disconnected();
  }

  EXPECT_FALSE(right.has_ended()) << right.reason().to_string();
}

TEST_F(Conversations, APacketThatIsWrongAsItWasSentEndsIt) {
  connect();
  right.unreadable(protocol_error("a connection brings packets of kind 9, which is unknown"), true);
  talk();

  EXPECT_EQ(left.reason(),
            protocol_error("right has refused a packet: left behind packet 0: a connection brings "
                           "packets of kind 9, which is unknown"));
}

TEST_F(Conversations, ReportSinceWhenNothingWasAcknowledged) {
  connect();
  send(left, 1);
  now_ns += 500;
  send(left, 2);

  EXPECT_EQ(left.waiting().frames, 2u);
  EXPECT_EQ(left.waiting().bytes, 32u);
  EXPECT_EQ(left.waiting().since_ns, now_ns - 500);
  talk();
  EXPECT_EQ(left.waiting().frames, 0u);
}

TEST_F(Conversations, EndWhenThePeerBeginsANewLife) {
  connect();
  send(left, 1);
  Conversation again({.epoch = 3, .peer = "left"}, now_ns);

  left.connected(now_ns);
  again.connected(now_ns);
  for (Packet& packet : again.take_packets(now_ns)) left.receive(std::move(packet), now_ns);

  EXPECT_TRUE(left.has_ended());
  EXPECT_TRUE(left.take_close());
  EXPECT_EQ(left.reason().to_string(),
            "HOST_LOST: right has begun a new life, number 3; this was number 2");
  EXPECT_EQ(left.successor_epoch(), 3u);
  EXPECT_EQ(left.send(frame(2), now_ns), left.reason());
}

TEST_F(Conversations, DoNotHearWhoWasReplacedNorWhoMeansAnEarlierLife) {
  Conversation again({.epoch = 5, .peer = "right"}, now_ns);  // Of the left process.
  connect();
  send(right, 10);
  std::vector<Packet> of_before = right.take_packets(now_ns);

  again.connected(now_ns);
  for (const Packet& packet : of_before) again.receive(packet, now_ns);
  again.receive({Packet::Kind::kHello, 2, 4, 0, 1, {}}, now_ns);  // It means life 4.
  again.receive({Packet::Kind::kHello, 2, 5, 0, 0, {}}, now_ns);
  again.receive({Packet::Kind::kFrame, 1, 5, 1, 0, frame(11)}, now_ns);  // A life before that.
  again.receive({Packet::Kind::kFrame, 2, 5, 1, 0, frame(12)}, now_ns);

  EXPECT_EQ(numbers(again), (std::vector<std::uint64_t>{12}));
  EXPECT_EQ(again.counts().stale, 3u);
}

TEST_F(Conversations, TellEarlierLivesOfThePeerThatTheyAreOver) {
  Conversation next({.epoch = 4, .peer = "right", .peer_epoch_min = 3}, now_ns);
  next.connected(now_ns);
  right.connected(now_ns);

  for (Packet& packet : right.take_packets(now_ns)) next.receive(std::move(packet), now_ns);
  for (Packet& packet : next.take_packets(now_ns)) right.receive(std::move(packet), now_ns);

  EXPECT_EQ(right.reason(), cancelled("left has ended the conversation"));
  EXPECT_FALSE(next.has_ended());
  EXPECT_EQ(next.peer_epoch(), 0u);
}

TEST_F(Conversations, TellThemSoAlsoWhenTheyHaveReceivedMoreThanTheyHaveSent) {
  connect();
  send(left, 1);
  talk();
  Conversation next({.epoch = 4, .peer = "right", .peer_epoch_min = 3}, now_ns);
  right.disconnected();
  next.connected(now_ns);
  right.connected(now_ns);

  for (Packet& packet : right.take_packets(now_ns)) next.receive(std::move(packet), now_ns);
  for (Packet& packet : next.take_packets(now_ns)) right.receive(std::move(packet), now_ns);

  EXPECT_EQ(right.reason(), cancelled("left has ended the conversation"));
}

TEST_F(Conversations, IgnoreWhatAConnectionBringsBeforeItsHello) {
  connect();
  left.disconnected();
  right.disconnected();
  right.connected(now_ns);

  right.receive({Packet::Kind::kFrame, 4, 2, 1, 0, frame(1)}, now_ns);
  right.receive({Packet::Kind::kFrame, 4, 2, 5, 0, frame(5)}, now_ns);

  EXPECT_TRUE(numbers(right).empty());
  EXPECT_FALSE(right.take_close());
  EXPECT_EQ(right.counts().repeated, 2u);
}

TEST_F(Conversations, EndInPeaceForBoth) {
  connect();
  send(left, 1);
  left.end();
  talk();

  EXPECT_EQ(numbers(right), (std::vector<std::uint64_t>{1})) << "what was said before arrives";
  EXPECT_EQ(left.reason(), cancelled("this end has ended the conversation with right"));
  EXPECT_EQ(right.reason(), cancelled("left has ended the conversation"));
}

TEST_F(Conversations, EndWhenNobodyIsThere) {
  left.refused();
  left.refused();

  EXPECT_EQ(left.reason().to_string(), "HOST_LOST: right does not exist any more");
}

TEST_F(Conversations, EndOfAPeerThatAcknowledgesWhatWasNeverSent) {
  connect();
  left.receive({Packet::Kind::kAck, 2, 4, 0, 7, {}}, now_ns);

  EXPECT_EQ(left.reason().to_string(), "PROTOCOL_ERROR: right acknowledges packet 7 of 0");
}

TEST_F(Conversations, SayThatTheyLiveAndNoticeSilence) {
  const std::uint64_t ms = 1'000'000;
  Conversation steady(
      {.epoch = 1, .peer = "right", .heartbeat_ns = 100 * ms, .silence_max_ns = 1000 * ms}, 0);
  EXPECT_EQ(steady.due_ns(), 1000 * ms);
  steady.connected(0);
  steady.receive({Packet::Kind::kHello, 2, 0, 0, 0, {}}, 50 * ms);
  static_cast<void>(steady.take_packets(50 * ms));
  EXPECT_EQ(steady.due_ns(), 100 * ms);

  steady.tick(100 * ms);
  const std::vector<Packet> said = steady.take_packets(100 * ms);
  steady.receive({Packet::Kind::kAck, 2, 1, 0, 0, {}}, 900 * ms);
  steady.tick(1050 * ms);
  EXPECT_FALSE(steady.has_ended());
  steady.tick(1900 * ms);

  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].kind, Packet::Kind::kAck);
  EXPECT_EQ(steady.reason().to_string(),
            "HOST_LOST: right was not heard for 1000 ms; the limit is 1000 ms");
  EXPECT_FALSE(steady.due_ns().has_value());
}

TEST_F(Conversations, AllSayAtTheSameTimesThatTheyLive) {
  const std::uint64_t ms = 1'000'000;
  for (const std::uint64_t begin_ms : {110, 150, 199}) {
    Conversation one({.epoch = 1, .peer = "right", .heartbeat_ns = 100 * ms}, 0);
    one.connected(begin_ms * ms);
    one.receive({Packet::Kind::kHello, 2, 0, 0, 0, {}}, begin_ms * ms);
    ASSERT_TRUE(one.send(frame(1), begin_ms * ms).ok());
    static_cast<void>(one.take_packets(begin_ms * ms));
    EXPECT_EQ(one.due_ns(), 200 * ms) << begin_ms;

    one.tick(205 * ms);
    EXPECT_EQ(one.take_packets(205 * ms).size(), 1u) << begin_ms;
    EXPECT_EQ(one.due_ns(), 300 * ms) << begin_ms;
  }
}

TEST_F(Conversations, AreSoonerOverWithAPeerWhoseConnectionHasEnded) {
  const std::uint64_t ms = 1'000'000;
  const Packet hello{Packet::Kind::kHello, 2, 0, 0, 0, {}};
  Conversation one(
      {.epoch = 1, .peer = "right", .silence_max_ns = 1000 * ms, .absence_max_ns = 300 * ms}, 0);
  one.connected(0);
  one.receive(hello, 50 * ms);
  EXPECT_EQ(one.due_ns(), 1050 * ms);
  one.disconnected();
  EXPECT_EQ(one.due_ns(), 350 * ms);

  one.connected(200 * ms);
  one.receive(hello, 210 * ms);
  EXPECT_EQ(one.due_ns(), 1210 * ms) << "it has come back";

  one.disconnected();
  one.tick(509 * ms);
  EXPECT_FALSE(one.has_ended());
  one.tick(510 * ms);
  EXPECT_EQ(one.reason().to_string(),
            "HOST_LOST: right was not heard for 300 ms; the limit is 300 ms without a connection");
}

TEST_F(Conversations, CountTheSilenceOfAPeerThatWasNeverHeardFromTheFirstWordToIt) {
  const std::uint64_t ms = 1'000'000;
  Conversation fresh({.epoch = 1, .peer = "right", .silence_max_ns = 1000 * ms}, 0);

  ASSERT_TRUE(fresh.send(frame(1), 900 * ms).ok());
  fresh.tick(1100 * ms);
  EXPECT_FALSE(fresh.has_ended());
  ASSERT_TRUE(fresh.send(frame(2), 1100 * ms).ok());  // A second word puts nothing off.
  EXPECT_EQ(fresh.due_ns(), 1900 * ms);
  fresh.tick(1900 * ms);

  EXPECT_EQ(fresh.reason().to_string(),
            "HOST_LOST: right was not heard for 1000 ms; the limit is 1000 ms");
}

TEST_F(Conversations, CountTheSilenceOfAPeerThatWasHeardFromItsLastWord) {
  const std::uint64_t ms = 1'000'000;
  Conversation steady({.epoch = 1, .peer = "right", .silence_max_ns = 1000 * ms}, 0);
  steady.connected(0);
  steady.receive({Packet::Kind::kHello, 2, 0, 0, 0, {}}, 50 * ms);

  ASSERT_TRUE(steady.send(frame(1), 900 * ms).ok());
  EXPECT_EQ(steady.due_ns(), 1050 * ms);
  steady.tick(1050 * ms);

  EXPECT_TRUE(steady.has_ended());
}

}  // namespace
}  // namespace seaway::transport
