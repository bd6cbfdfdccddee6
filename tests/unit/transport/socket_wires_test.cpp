// What only connections over sockets have: writes that gather, who does not read, who is looked
// for.

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "unit/transport/socket_fixture.hpp"

namespace seaway::transport {
namespace {

TEST_F(SocketWiresTest, WhatWaitsToBeWrittenLeavesTogether) {
  auto wires = make(options());
  auto peer = make_peer(1);
  wires->attach(0, 1, port());
  peer->attach(1, 0, port());
  peer->connect(1, 0);
  ASSERT_TRUE(run([&] { return connected_ == 2; }));

  for (int i = 0; i < 1000; ++i) peer->write(1, 0, bytes_of("0123456789"));
  EXPECT_TRUE(run([&] { return heard_ == 10'000; }));

  EXPECT_EQ(peer->counts().written, 10'000u);
  EXPECT_EQ(wires->counts().read, 10'000u);
  EXPECT_LE(peer->counts().writes, 3u);
}

TEST_F(SocketWiresTest, SmallAndLargeWritesArriveInTheirOrder) {
  auto wires = make(options());
  auto peer = make_peer(1);
  std::vector<std::byte> heard, written;
  WirePort listening = port();
  listening.on_bytes = [&heard](std::span<const std::byte> bytes) {
    heard.insert(heard.end(), bytes.begin(), bytes.end());
  };
  wires->attach(0, 1, listening);
  peer->attach(1, 0, port());
  peer->connect(1, 0);
  ASSERT_TRUE(run([&] { return connected_ == 2; }));

  for (std::size_t i = 0; i < 600; ++i) {
    const std::vector<std::byte> bytes(i % 7 == 0 ? 3000 : 1 + i % 200, std::byte(i));
    written.insert(written.end(), bytes.begin(), bytes.end());
    peer->write(1, 0, bytes);
  }

  EXPECT_TRUE(run([&] { return heard.size() == written.size(); }));
  EXPECT_EQ(heard, written);
}

TEST_F(SocketWiresTest, WhoDoesNotReadIsClosedWhenTooMuchWaitsForHim) {
  SocketOptions narrow = options();
  narrow.unwritten_bytes_max = 1 << 20;
  auto wires = make(narrow);
  wires->attach(0, 1, port());
  Stranger stranger(path_);
  stranger.say(introduction_frame(talk(1, 0)));
  ASSERT_TRUE(run([&] { return connected_ == 1; }));
  for (int i = 0; i < 10; ++i) loop_.poll();  // Until its welcome has left.
  const std::vector<std::byte> half(1 << 19);

  // One is under way, and two may wait.
  for (int i = 0; i < 3; ++i) wires->write(0, 1, half);
  for (int i = 0; i < 10; ++i) loop_.poll();
  const int closed_at_limit = closed_;
  wires->write(0, 1, {std::byte{1}});

  EXPECT_TRUE(run([&] { return closed_ == 1; }));
  EXPECT_EQ(closed_at_limit, 0);
}

TEST_F(SocketWiresTest, AWriteToADeadConnectionClosesIt) {
  auto wires = make(options());
  wires->attach(0, 1, port());
  Stranger stranger(path_);
  stranger.say(introduction_frame(talk(1, 0)));
  ASSERT_TRUE(run([&] { return connected_ == 1; }));

  stranger.hang_up();
  for (int i = 0; i < 10; ++i) wires->write(0, 1, bytes_of("nobody hears this"));

  EXPECT_TRUE(run([&] { return closed_ == 1; }));
}

TEST_F(SocketWiresTest, APeerThatNobodyFindsIsWaitedForInSilence) {
  int looked = 0;
  auto wires = make(options());
  wires->attach(0, 1, port());
  SocketOptions own;
  own.self = 1;
  own.cluster = kCluster;
  own.again_ns = kMs;
  SocketHandlers handlers;
  handlers.find = [&](ProcessId, const auto& found) {
    if (++looked < 4) return found(not_found("nobody knows"));
    found("unix:" + path_);
  };
  auto peer = make(own, handlers);
  peer->attach(1, 0, port());

  peer->connect(1, 0);

  EXPECT_TRUE(run([&] { return connected_ == 2; }));
  EXPECT_EQ(refused_, 0);
}

TEST_F(SocketWiresTest, WhoIsFoundTooLateIsNotConnectedToAnyMore) {
  std::vector<std::function<void(Result<std::string>)>> waiting;
  auto wires = make(options());
  wires->attach(0, 1, port());
  SocketOptions own;
  own.self = 1;
  own.cluster = kCluster;
  SocketHandlers handlers;
  handlers.find = [&](ProcessId, const auto& found) { waiting.push_back(found); };
  auto peer = make(own, handlers);
  peer->attach(1, 0, port());
  for (int i = 1; i <= 2; ++i) {
    peer->connect(1, 0);
    ASSERT_TRUE(run([&] { return waiting.size() == static_cast<std::size_t>(i); }));
    peer->close(1, 0);
  }

  waiting[0]("unix:" + path_);
  for (int i = 0; i < 20; ++i) loop_.poll();
  peer.reset();
  waiting[1]("unix:" + path_);
  for (int i = 0; i < 20; ++i) loop_.poll();

  EXPECT_EQ(connected_, 0);
  EXPECT_EQ(wires->counts().accepted, 0u);
}

}  // namespace
}  // namespace seaway::transport
