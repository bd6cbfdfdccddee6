// What strangers say first: limits, garbage, other clusters, two at once.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "unit/transport/socket_fixture.hpp"

namespace seaway::transport {
namespace {

TEST_F(SocketWiresTest, AnIntroductionOfExactlyTheLimitIsHeardAndOneWordMoreIsNot) {
  const auto introduction_of = [](std::size_t words) {
    return introduction_frame(
        {kCluster, Frame::make(words, [](auto all) { std::fill(all.begin(), all.end(), 1); })});
  };
  const Frame largest = introduction_of(100), larger = introduction_of(101);
  SocketOptions narrow = options();
  narrow.introduction_bytes_max = largest.size_bytes();
  SocketHandlers handlers;
  handlers.answer = [](const Caller&, const Frame& heard, const auto& done) { done(heard); };
  auto wires = make(narrow, handlers);
  Stranger fits(path_), too_long(path_);

  fits.say(largest);
  too_long.say(larger);

  EXPECT_TRUE(refusal_of(fits).ok());
  EXPECT_EQ(fits.heard()->answer.words().size(), 100u);
  EXPECT_EQ(refusal_of(too_long),
            resource_exhausted("a frame of " + std::to_string(larger.size_bytes()) +
                               " bytes is announced; the limit is " +
                               std::to_string(largest.size_bytes())));
  EXPECT_EQ(wires->counts().refused, 1u);
}

TEST_F(SocketWiresTest, WhoDoesNotSayInTimeWhoHeIsIsToldSoAndClosed) {
  SocketOptions hasty = options();
  hasty.introduction_ns = 5 * kMs;
  auto wires = make(hasty);
  Stranger silent(path_), slow(path_);

  slow.say(std::as_bytes(introduction_frame(talk(1, 0)).words()).first(11));

  const Status expected = deadline_exceeded("nobody was introduced within 5 ms");
  EXPECT_EQ(refusal_of(silent), expected);
  EXPECT_EQ(refusal_of(slow), expected);
  EXPECT_EQ(wires->counts().refused, 2u);
}

TEST_F(SocketWiresTest, SoManyStrangersAreHeardAndOneMoreIsRefused) {
  SocketOptions narrow = options();
  narrow.strangers_max = 3;
  narrow.introduction_ns = kLongNs;
  auto wires = make(narrow);
  std::vector<std::unique_ptr<Stranger>> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(std::make_unique<Stranger>(path_));
  Stranger one_more(path_);

  EXPECT_EQ(refusal_of(one_more),
            resource_exhausted("3 of 3 connections have not said who they are; try again, or raise "
                               "SocketOptions::strangers_max"));
  silent.pop_back();
  // There is room as soon as it is seen that one of them has gone.
  EXPECT_TRUE(run([&] { return wires->counts().refused == 2; }));
  Stranger next(path_);
  next.say(introduction_frame({kCluster, question(1)}));
  EXPECT_EQ(refusal_of(next).code(), StatusCode::kUnimplemented);
}

TEST_F(SocketWiresTest, SoManyConnectionsAreOpenAndOneMoreIsRefusedAndTriesAgain) {
  SocketOptions narrow = options();
  narrow.connections_max = 1;
  auto wires = make(narrow);
  for (const ProcessId peer : {1u, 2u}) wires->attach(0, peer, {[] {}, {}, [] {}, [] {}});
  auto first = make_peer(1), second = make_peer(2);
  first->attach(1, 0, port());
  first->connect(1, 0);
  ASSERT_TRUE(run([&] { return connected_ == 1; }));
  second->attach(2, 0, port());

  second->connect(2, 0);
  EXPECT_TRUE(run([&] { return second->counts().failed > 2; }));

  // It is there, and only has no room: nobody is told that it is gone.
  EXPECT_EQ(refused_, 0);
  EXPECT_EQ(second->failure(0), resource_exhausted("1 of 1 connections are open; try again, or "
                                                   "raise SocketOptions::connections_max"));
  first->close(1, 0);
  EXPECT_TRUE(run([&] { return connected_ == 2; }));
}

TEST_F(SocketWiresTest, BytesOfAnyKindAreClosedAndNothingElseHappens) {
  auto wires = make(options());
  auto peer = make_peer(1);
  RandomStream random(3, 3);
  for (int i = 0; i < 300; ++i) {
    Stranger stranger(path_);
    std::vector<std::byte> bytes(8 + random.below(600));
    for (std::byte& one : bytes) one = static_cast<std::byte>(random.below(256));
    // Half of them look like something at first.
    if (i % 2 == 0) std::memset(bytes.data(), 0, 4 + random.below(3));
    stranger.say(bytes);
    stranger.hang_up();
    loop_.poll();
  }
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Stranger browser(path_);
  browser.say(bytes_of(request));

  EXPECT_EQ(refusal_of(browser).code(), StatusCode::kProtocolError);
  EXPECT_TRUE(run([&] { return wires->counts().refused == 301; }));
  wires->attach(0, 1, port());
  peer->attach(1, 0, port());
  peer->connect(1, 0);
  EXPECT_TRUE(run([&] { return connected_ == 2; }));
}

TEST_F(SocketWiresTest, EveryCutAndEveryFlippedBitOfAnIntroductionIsSurvived) {
  auto wires = make(options());
  const Frame frame = introduction_frame(talk(1, 0));
  std::vector<std::byte> whole(frame.size_bytes());
  std::memcpy(whole.data(), frame.words().data(), whole.size());
  std::uint64_t said = 0;
  // So many wait to be let in at most, and a stranger waits for his place.
  const auto let_it_in = [this] {
    for (int i = 0; i < 4; ++i) loop_.poll();
  };

  for (std::size_t size = 0; size < whole.size(); ++size, ++said) {
    Stranger stranger(path_);
    stranger.say(std::span(whole).first(size));
    stranger.hang_up();
    let_it_in();
  }
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit, ++said) {
    std::vector<std::byte> flipped = whole;
    flipped[bit / 8] ^= std::byte{1} << bit % 8;
    Stranger stranger(path_);
    stranger.say(flipped);
    stranger.hang_up();
    let_it_in();
  }

  // Process 1 is no peer here; who has hung up already is not told so.
  EXPECT_TRUE(run([&] { return wires->counts().refused >= whole.size() + 100; }));
  EXPECT_LE(wires->counts().refused, said);
  EXPECT_EQ(wires->counts().accepted, 0u);
}

TEST_F(SocketWiresTest, AnnouncedGigabytesTakeNoMemory) {
  auto wires = make(options());
  std::vector<std::unique_ptr<Stranger>> all;
  rusage before = {};
  ::getrusage(RUSAGE_SELF, &before);
  for (std::uint64_t i = 0; i < 40; ++i) {
    all.push_back(std::make_unique<Stranger>(path_));
    // One segment of 16 GiB, or sixteen.
    const std::uint32_t segments = i % 2 == 0 ? 0 : 15;
    std::vector<std::uint32_t> table(18, 0x7fff'ffff);
    table[0] = segments;
    all.back()->say(std::as_bytes(std::span(table)));
  }

  for (auto& stranger : all) {
    const Status refused = refusal_of(*stranger);
    EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(refused.message().find("the limit is 65536"), std::string::npos) << refused.message();
  }
  rusage after = {};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10);
}

TEST_F(SocketWiresTest, WrongMagicAndWrongProtocolsAreToldBothNumbers) {
  auto wires = make(options());
  const Frame other_protocol = introduction_frame(talk(1, 0), 99);
  const Frame other_magic = Frame::make(other_protocol.words().size(), [&](auto words) {
    std::memcpy(words.data(), other_protocol.words().data(), words.size_bytes());
    words[2] ^= 1;  // After the table and the root pointer.
  });
  Stranger first(path_), second(path_);

  first.say(other_protocol);
  second.say(other_magic);

  EXPECT_EQ(refusal_of(first),
            protocol_error("an introduction of protocol 99 where protocol 6 is talked: run one "
                           "version of Seaway at both ends"));
  EXPECT_EQ(refusal_of(second), protocol_error("an introduction with the magic number 1399153014; "
                                               "Seaway's is 1399153015"));
}

TEST_F(SocketWiresTest, WhoIsOfAnotherClusterOrLooksForAnotherProcessIsToldSo) {
  auto wires = make(options());
  Stranger first(path_), second(path_), third(path_);

  first.say(introduction_frame({8, Talk{1, 0}}));
  second.say(introduction_frame(talk(1, 5)));
  third.say(introduction_frame(talk(0, 0)));

  EXPECT_EQ(refusal_of(first), Status(StatusCode::kPermissionDenied,
                                      "this is cluster 7, and not cluster 8: look the address up "
                                      "again"));
  EXPECT_EQ(refusal_of(second),
            not_found("this is process 0 of cluster 7, and not process 5: look the address up "
                      "again"));
  EXPECT_EQ(refusal_of(third), invalid_argument("both ends say that they are process 0"));
  EXPECT_EQ(wires->counts().refused, 3u);
}

TEST_F(SocketWiresTest, WhoIsRefusedHearsItOnceAndTriesUntilHeIsNot) {
  bool is_admitted = false;
  int asked = 0;
  SocketHandlers handlers;
  handlers.admit = [&](ProcessId, const Caller&) -> Status {
    ++asked;
    if (is_admitted) return {};
    return {StatusCode::kPermissionDenied, "not yet"};
  };
  auto wires = make(options(), handlers);
  wires->attach(0, 1, {[] {}, {}, [] {}, [] {}});
  auto peer = make_peer(1);
  peer->attach(1, 0, port());

  peer->connect(1, 0);
  EXPECT_TRUE(run([&] { return asked >= 3; }));
  const Status failure = peer->failure(0);
  is_admitted = true;

  EXPECT_TRUE(run([&] { return connected_ == 1; }));
  EXPECT_EQ(refused_, 1);
  EXPECT_EQ(failure, Status(StatusCode::kPermissionDenied, "not yet"));
  EXPECT_TRUE(peer->failure(0).ok());
}

TEST_F(SocketWiresTest, WhoIsAdmittedMayBeAttachedWhileThatIsDecided) {
  std::unique_ptr<SocketWires> wires;
  SocketHandlers handlers;
  handlers.admit = [&](ProcessId peer, const Caller&) -> Status {
    wires->attach(0, peer, port());
    return {};
  };
  wires = make(options(), handlers);
  auto peer = make_peer(1);
  peer->attach(1, 0, port());

  peer->connect(1, 0);

  EXPECT_TRUE(run([&] { return connected_ == 2; }));
}

TEST_F(SocketWiresTest, TheSystemSaysWhoCallsFromThisMachine) {
  Caller seen;
  SocketHandlers handlers;
  handlers.admit = [&](ProcessId, const Caller& caller) -> Status {
    seen = caller;
    return {};
  };
  auto wires = make(options(), handlers);
  Stranger stranger(path_);

  stranger.say(introduction_frame(talk(1, 0)));
  EXPECT_EQ(refusal_of(stranger).code(), StatusCode::kNotFound);

  EXPECT_TRUE(seen.is_local);
  EXPECT_EQ(seen.user, ::getuid());
  EXPECT_EQ(seen.process, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(seen.name,
            "user " + std::to_string(::getuid()) + ", process " + std::to_string(::getpid()));
}

TEST_F(SocketWiresTest, OfWhoCallsFromElsewhereItKnowsTheAddress) {
  Caller seen;
  SocketOptions remote = options();
  remote.listen = "tcp:127.0.0.1:0";
  SocketHandlers handlers;
  handlers.answer = [&](const Caller& caller, const Frame& heard, const auto& done) {
    seen = caller;
    done(heard);
  };
  auto wires = make(remote, handlers);
  bool is_answered = false;

  ask(loop_, wires->address(), 0, question(1), kLongNs, [&](const auto&) { is_answered = true; });

  EXPECT_TRUE(run([&] { return is_answered; }));
  EXPECT_FALSE(seen.is_local);
  EXPECT_TRUE(seen.name.starts_with("127.0.0.1:")) << seen.name;
}

TEST_F(SocketWiresTest, TheLargerOfTwoThatConnectAtOnceTellsTheSmallerThatTheyHaveCrossed) {
  // Process 5 waits for the welcome of a process that says nothing, and does not admit it
  // meanwhile.
  const int silent = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string silent_path = directory_.path() + "/silent";
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, silent_path.data(), silent_path.size());
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  ASSERT_EQ(::listen(silent, 1), 0);
  SocketOptions larger = options();
  larger.self = 5;
  SocketHandlers handlers;
  handlers.find = [&](ProcessId, const auto& found) { found("unix:" + silent_path); };
  auto wires = make(larger, handlers);
  for (const ProcessId peer : {1u, 9u}) {
    wires->attach(5, peer, port());
    wires->connect(5, peer);
  }
  for (int i = 0; i < 10; ++i) loop_.poll();
  Stranger smaller(path_), largest(path_);

  smaller.say(introduction_frame(talk(1, 5)));
  largest.say(introduction_frame(talk(9, 5)));
  EXPECT_TRUE(run([&] { return smaller.is_over() && connected_ == 1; }));

  ASSERT_TRUE(smaller.heard().ok());
  EXPECT_EQ(smaller.heard()->kind, Welcome::Kind::kCrossed);
  EXPECT_FALSE(largest.is_over());
  EXPECT_EQ(largest.heard()->kind, Welcome::Kind::kTalk);
  ::close(silent);
}

TEST_F(SocketWiresTest, WhoHasHungUpAlreadyTakesNobodysPlace) {
  auto wires = make(options());
  wires->attach(0, 1, port());
  Stranger first(path_), gone(path_);
  first.say(introduction_frame(talk(1, 0)));
  ASSERT_TRUE(run([&] { return connected_ == 1; }));

  gone.say(introduction_frame(talk(1, 0)));
  gone.hang_up();
  for (int i = 0; i < 50; ++i) loop_.poll();
  first.say(bytes_of("still here"));

  EXPECT_TRUE(run([&] { return heard_ == 10; }));
  EXPECT_EQ(closed_, 0);
  EXPECT_EQ(wires->counts().accepted, 1u);
}

}  // namespace
}  // namespace seaway::transport
