// Where sockets listen, and what becomes of their files.

#include "transport/socket_address.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "transport/io_loop_state.hpp"
#include "unit/transport/socket_fixture.hpp"

namespace seaway::transport {
namespace {

TEST_F(SocketWiresTest, TheFileOfASocketIsItsUsersAloneAndGoesWithIt) {
  struct stat file = {};
  auto wires = make(options());

  ASSERT_EQ(::stat(path_.c_str(), &file), 0);
  EXPECT_TRUE(S_ISSOCK(file.st_mode));
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  EXPECT_EQ(wires->address(), "unix:" + path_);
  wires.reset();
  EXPECT_NE(::stat(path_.c_str(), &file), 0);
}

TEST_F(SocketWiresTest, AFileThatNobodyListensOnIsReplaced) {
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path_.data(), path_.size());
  ASSERT_EQ(::bind(left, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  ::close(left);

  auto wires = make(options());

  EXPECT_TRUE(Stranger(path_).is_connected());
}

TEST_F(SocketWiresTest, AnAddressWhereSomebodyListensIsRefused) {
  auto wires = make(options());

  const Status refused = refusal_of(options());

  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(), "cannot listen at unix:" + path_ +
                                   ": another process listens there; end it, or choose another "
                                   "path");
  EXPECT_TRUE(Stranger(path_).is_connected());
}

TEST_F(SocketWiresTest, AFileThatIsNoSocketStays) {
  std::ofstream(path_) << "precious";

  const Status refused = refusal_of(options());

  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("exists and is no socket"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(SocketWiresTest, ASocketThatHasTakenItsPlaceStaysWhenItEnds) {
  auto first = make(options());
  ::unlink(path_.c_str());
  auto second = make(options());

  first.reset();

  EXPECT_TRUE(Stranger(path_).is_connected());
}

TEST_F(SocketWiresTest, WhatIsNoAddressIsRefusedByName) {
  for (const std::string text :
       {"", "host0", "tcp:", "tcp:host", "tcp:host:", "tcp::1", "tcp:127.0.0.1:x",
        "tcp:127.0.0.1:65536", "tcp:::1:80", "unix:", "udp:127.0.0.1:1"}) {
    SocketOptions wrong = options();
    wrong.listen = text;
    if (text.empty()) {
      EXPECT_EQ(make(wrong)->address(), "");
      continue;
    }
    const Status refused = refusal_of(wrong);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(refused.message().find(text), std::string::npos) << refused.message();
  }
}

TEST_F(SocketWiresTest, APathHasALimit) {
  constexpr std::size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;
  const std::string longest =
      directory_.path() + "/" + std::string(kPathMax - directory_.path().size() - 1, 'a');
  SocketOptions fits = options(), too_long = options();
  fits.listen = "unix:" + longest;
  too_long.listen = "unix:" + longest + "a";

  EXPECT_TRUE(make(fits));
  const Status refused = refusal_of(too_long);

  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("at most 107 bytes"), std::string::npos);
}

TEST_F(SocketWiresTest, AMissingDirectoryIsNamed) {
  SocketOptions wrong = options();
  wrong.listen = "unix:" + directory_.path() + "/none/socket";

  const Status refused = refusal_of(wrong);

  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("No such file or directory"), std::string::npos);
}

TEST_F(SocketWiresTest, APortZeroBecomesARealOneWhichNobodyElseGets) {
  SocketOptions any = options();
  any.listen = "tcp:127.0.0.1:0";
  auto wires = make(any);
  SocketOptions same = options();
  same.listen = wires->address();

  EXPECT_TRUE(wires->address().starts_with("tcp:127.0.0.1:"));
  EXPECT_FALSE(wires->address().ends_with(":0"));
  const Status refused = refusal_of(same);
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find(same.listen), std::string::npos);
}

/// Whether `dialed` has come while `step` moves the loop on.
bool reaches(IoLoop& loop, const std::string& address, const std::function<void(int)>& step) {
  bool is_over = false, is_there = false;
  auto dialing = dial(loop, address, nullptr)
                     .then([&](Dialed&& dialed) {
                       is_over = true;
                       is_there = dialed.status.ok();
                     })
                     .eagerlyEvaluate(nullptr);
  const RealClock clock;
  const std::uint64_t until_ns = clock.now_ns() + kLongNs / 4;
  for (int steps = 0; !is_over && clock.now_ns() < until_ns; ++steps) step(steps);
  EXPECT_TRUE(is_over) << "the answer of a lookup was not noticed";
  return is_there;
}

TEST_F(SocketWiresTest, FindsAHostByNameWhilePolled) {
  const auto listener = Listener::make(loop_, "tcp:127.0.0.1:0").value();
  const std::string port = listener.address().substr(listener.address().rfind(':'));

  EXPECT_TRUE(reaches(loop_, "tcp:localhost" + port, [this](int) { loop_.poll(); }));
}

TEST_F(SocketWiresTest, FindsHostsByNameAmongPollsAndWaits) {
  auto listener = Listener::make(loop_, "tcp:127.0.0.1:0").value();
  const std::string port = listener.address().substr(listener.address().rfind(':'));
  for (int i = 0; i < 200; ++i) {
    // Polls among the waits take the signals that the waits are there for.
    ASSERT_TRUE(reaches(loop_, "tcp:localhost" + port,
                        [this](int steps) { steps % 3 == 2 ? loop_.wait(kMs) : loop_.poll(); }));
    loop_.state().tasks.add(listener.accept().ignoreResult());
  }
}

}  // namespace
}  // namespace seaway::transport
