// TLS: who is let in, what each refusal says, and how connections end.

#include "transport/tls.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "transport/address_text.hpp"
#include "transport/pass.hpp"
#include "unit/transport/socket_fixture.hpp"

namespace seaway::transport {
namespace {

/// A process that listens at "tls:127.0.0.1:PORT" and answers each question with itself.
class TlsTest : public SocketWiresTest {
 protected:
  std::unique_ptr<SocketWires> listen(std::shared_ptr<Tls> tls) {
    SocketOptions wanted = options();
    wanted.listen = "tls:127.0.0.1:0";
    wanted.credentials.tls = std::move(tls);
    wanted.introduction_ns = introduction_ns_;
    wanted.guess_ns = kMs;
    SocketHandlers handlers;
    handlers.answer = [this](const Caller& caller, Frame heard, const auto& done) {
      caller_ = caller;
      done(std::move(heard));
    };
    handlers.refused = [this](const Caller& caller, const Status& why) {
      caller_ = caller;
      refusal_ = why;
    };
    auto wires = make(std::move(wanted), std::move(handlers));
    address_ = wires ? wires->address() : "";
    return wires;
  }
  Result<Frame> ask_there(const Credentials& shown, const std::string& address) {
    std::optional<Result<Frame>> answer;
    ask(
        loop_, address, kCluster, question(5), kLongNs,
        [&answer](Result<Frame> said) { answer.emplace(std::move(said)); }, shown);
    EXPECT_TRUE(run([&answer] { return answer.has_value(); }));
    return *answer;
  }
  Result<Frame> ask_there(const Credentials& shown) { return ask_there(shown, address_); }
  /// A socket that is connected to it.
  int call() const {
    const int caller = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1))));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(caller, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    return caller;
  }
  static void expect_refused(const Result<Frame>& answer, StatusCode code,
                             const std::string& part) {
    EXPECT_EQ(answer.status().code(), code) << answer.to_string();
    EXPECT_NE(answer.status().message().find(part), std::string::npos) << answer.to_string();
  }

  std::uint64_t introduction_ns_ = 5'000 * kMs;
  std::string address_;
  Caller caller_;
  Status refusal_;
};

TEST_F(TlsTest, AQuestionIsAnsweredAndTheCallerIsWhoHisCertificateSays) {
  auto wires = listen(make_tls("controller"));

  const auto answer = ask_there({make_tls("client/ann"), "swt_x"});

  ASSERT_TRUE(answer.ok()) << answer.to_string();
  EXPECT_EQ(answer->words()[0], 5u);
  EXPECT_TRUE(caller_.is_encrypted);
  EXPECT_FALSE(caller_.is_local);
  EXPECT_EQ(caller_.certificate, "client/ann");
  EXPECT_EQ(caller_.host, "127.0.0.1");
  EXPECT_EQ(caller_.token, "swt_x");
}

TEST_F(TlsTest, ACallerNeedsNoCertificate) {
  auto wires = listen(make_tls("controller"));

  const auto answer = ask_there({make_caller_tls(), ""});

  ASSERT_TRUE(answer.ok()) << answer.to_string();
  EXPECT_EQ(caller_.certificate, "");
}

TEST_F(TlsTest, AServerOfAnotherAuthorityIsNotBelieved) {
  const auto other = make_authority({.cluster = "blue", .now_s = today_s()}).value();
  auto wires = listen(make_tls(certificate_of("controller"), other));

  const auto answer = ask_there({make_caller_tls(), "swt_x"});

  expect_refused(answer, StatusCode::kUnauthenticated, "see ca_file");
  EXPECT_TRUE(run([&] { return wires->counts().refused == 1; }));
  EXPECT_EQ(caller_.token, "") << "it was never sent";
}

TEST_F(TlsTest, AServerOfAnotherNameIsNotBelieved) {
  CertificateOptions elsewhere = certificate_of("controller");
  elsewhere.ip_addresses = {"10.0.0.7"};
  auto wires = listen(make_tls(elsewhere));

  expect_refused(ask_there({make_caller_tls(), ""}), StatusCode::kUnauthenticated,
                 "IP address mismatch");
}

TEST_F(TlsTest, NamesOfHostsAreChecked) {
  CertificateOptions elsewhere = certificate_of("controller");
  elsewhere.dns_names = {"elsewhere.example.org"};
  auto wires = listen(make_tls(elsewhere));
  const std::string port = address_.substr(address_.rfind(':'));

  expect_refused(ask_there({make_caller_tls(), ""}, "tls:localhost" + port),
                 StatusCode::kUnauthenticated, "ostname mismatch");
  wires = listen(make_tls("controller"));
  EXPECT_TRUE(
      ask_there({make_caller_tls(), ""}, "tls:localhost" + address_.substr(address_.rfind(':')))
          .ok());
}

TEST_F(TlsTest, ACertificateThatIsOverIsNotBelieved) {
  CertificateOptions old = certificate_of("controller");
  const auto authority =
      make_authority({.cluster = "blue", .now_s = today_s() - 10 * kDaySeconds}).value();
  old.now_s = today_s() - 5 * kDaySeconds;
  old.lasts_s = kDaySeconds;
  auto wires = listen(make_tls(old, authority, authority));

  expect_refused(ask_there({make_caller_tls(authority), ""}), StatusCode::kUnauthenticated,
                 "certificate has expired");
}

TEST_F(TlsTest, AClientsCertificateMakesNoServer) {
  auto wires = listen(make_tls("client/mallory"));

  expect_refused(ask_there({make_caller_tls(), ""}), StatusCode::kUnauthenticated,
                 "shows the certificate of client/mallory");
}

TEST_F(TlsTest, ACallersCertificateOfAnotherAuthorityIsRefused) {
  const auto other = make_authority({.cluster = "blue", .now_s = today_s()}).value();
  auto wires = listen(make_tls("controller"));

  const auto answer = ask_there({make_tls(certificate_of("host/1"), other), ""});

  EXPECT_EQ(answer.status().code(), StatusCode::kUnauthenticated) << answer.to_string();
  EXPECT_EQ(refusal_.code(), StatusCode::kUnauthenticated) << refusal_.to_string();
}

TEST_F(TlsTest, WhoTalksWithoutTlsIsToldSo) {
  auto wires = listen(make_tls("controller"));

  expect_refused(ask_there({}, "tcp" + address_.substr(3)), StatusCode::kProtocolError,
                 "the other end talks TLS and this one does not");
}

TEST_F(TlsTest, WhoTalksTlsWhereThereIsNoneIsToldSo) {
  SocketOptions plain = options();
  plain.listen = "tcp:127.0.0.1:0";
  auto wires = make(plain);

  expect_refused(ask_there({make_caller_tls(), ""}, "tls" + wires->address().substr(3)),
                 StatusCode::kProtocolError, "talks with tls: addresses alone");
}

TEST_F(TlsTest, ATlsAddressNeedsAnAuthorityAndAListenerACertificate) {
  expect_refused(ask_there({}, "tls:127.0.0.1:1"), StatusCode::kInvalidArgument, "SEAWAY_CA_FILE");
  SocketOptions wanted = options();
  wanted.listen = "tls:127.0.0.1:0";
  EXPECT_EQ(refusal_of(wanted).code(), StatusCode::kInvalidArgument);
  wanted.credentials.tls = make_caller_tls();
  EXPECT_NE(refusal_of(wanted).message().find("ca_file, cert_file, key_file"), std::string::npos);
}

TEST_F(TlsTest, HalfAHandshakeEndsAtTheDeadline) {
  introduction_ns_ = 20 * kMs;
  auto wires = listen(make_tls("controller"));
  const int caller = call();
  const unsigned char begin[] = {0x16, 0x03, 0x01, 0x02, 0x00};
  EXPECT_EQ(::send(caller, begin, sizeof(begin), MSG_NOSIGNAL), 5);

  EXPECT_TRUE(run([&] { return wires->counts().refused == 1; }));

  EXPECT_EQ(refusal_.code(), StatusCode::kDeadlineExceeded);
  char byte;
  EXPECT_TRUE(run([&] { return ::recv(caller, &byte, 1, MSG_DONTWAIT) == 0; }));
  ::close(caller);
}

TEST_F(TlsTest, WhoHangsUpWithinAHandshakeIsForgotten) {
  auto wires = listen(make_tls("controller"));
  const int caller = call();

  ::close(caller);

  EXPECT_TRUE(run([&] { return wires->counts().refused == 1; }));
  EXPECT_EQ(refusal_.code(), StatusCode::kHostLost) << refusal_.to_string();
}

/// A caller of OpenSSL's own, on a thread of its own.
TEST_F(TlsTest, AnEndWithoutAFarewellIsNoEnd) {
  auto wires = listen(make_tls("controller"));
  const int caller = call();
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const ssl = SSL_new(context);
  SSL_set_fd(ssl, caller);
  std::thread shaking([ssl] { EXPECT_EQ(SSL_connect(ssl), 1); });
  EXPECT_TRUE(run([&] { return SSL_is_init_finished(ssl) != 0; }));
  shaking.join();
  const Frame half = introduction_frame({kCluster, question(5)});

  EXPECT_GT(SSL_write(ssl, half.words().data(), 16), 0);
  ::close(caller);

  EXPECT_TRUE(run([&] { return wires->counts().refused == 1; }));
  EXPECT_NE(refusal_.message().find("TLS ends with a farewell"), std::string::npos)
      << refusal_.to_string();
  SSL_free(ssl);
  SSL_CTX_free(context);
}

TEST_F(TlsTest, OlderVersionsAreRefused) {
  auto wires = listen(make_tls("controller"));
  const int caller = call();
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  SSL* const ssl = SSL_new(context);
  SSL_set_fd(ssl, caller);
  std::atomic<int> done = 2;
  std::thread shaking([ssl, &done] { done = SSL_connect(ssl); });

  EXPECT_TRUE(run([&] { return done != 2; }));

  shaking.join();
  EXPECT_NE(done, 1);
  EXPECT_EQ(refusal_.code(), StatusCode::kProtocolError) << refusal_.to_string();
  SSL_free(ssl);
  SSL_CTX_free(context);
  ::close(caller);
}

TEST_F(TlsTest, ATokenThatIsBoundToAnotherConnectionIsRefused) {
  auto wires = listen(make_tls("controller"));
  const int caller = call();
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const ssl = SSL_new(context);
  SSL_set_fd(ssl, caller);
  std::atomic<bool> is_said = false;
  std::thread saying([ssl, &is_said] {
    EXPECT_EQ(SSL_connect(ssl), 1);
    Introduction recorded{kCluster, question(5)};
    recorded.token = "swt_x";
    recorded.binding = bind_token("swt_x", std::string(32, 'a'));
    const Frame frame = introduction_frame(recorded);
    EXPECT_GT(SSL_write(ssl, frame.words().data(), static_cast<int>(frame.size_bytes())), 0);
    is_said = true;
  });

  EXPECT_TRUE(run([&] { return is_said && wires->counts().refused == 1; }));

  saying.join();
  EXPECT_EQ(refusal_.code(), StatusCode::kUnauthenticated);
  EXPECT_NE(refusal_.message().find("bound to another connection"), std::string::npos);
  SSL_free(ssl);
  SSL_CTX_free(context);
  ::close(caller);
}

TEST_F(TlsTest, NewFilesAreOfNewConnections) {
  const auto next = make_authority({.cluster = "blue", .now_s = today_s()}).value();
  const auto tls = make_tls("controller");
  auto wires = listen(tls);
  ASSERT_TRUE(ask_there({make_caller_tls(), ""}).ok());

  const Status reloaded = tls->reload(
      {next.certificate, issue_certificate(next, certificate_of("controller")).value()});

  EXPECT_TRUE(reloaded.ok()) << reloaded.to_string();
  EXPECT_FALSE(ask_there({make_caller_tls(), ""}).ok());
  EXPECT_TRUE(ask_there({make_caller_tls(next), ""}).ok());
  EXPECT_FALSE(tls->reload({"no PEM", {}}).ok());
  EXPECT_TRUE(ask_there({make_caller_tls(next), ""}).ok());
}

TEST(Tls, FilesThatCannotBeAreRefused) {
  const auto one = issue_certificate(test_authority(), certificate_of("host/1")).value();
  const auto other = issue_certificate(test_authority(), certificate_of("host/1")).value();
  const std::string& trusted = test_authority().certificate;

  for (const TlsFiles& wrong :
       {TlsFiles{"", one}, TlsFiles{"no PEM", one}, TlsFiles{trusted, {"", one.key}},
        TlsFiles{trusted, {one.certificate, ""}},
        TlsFiles{trusted, {one.certificate, other.key}}}) {
    EXPECT_EQ(Tls::make(wrong).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(Tls::make({trusted, one}).value()->can_listen());
  EXPECT_FALSE(Tls::make({trusted, {}}).value()->can_listen());
}

TEST_F(SocketWiresTest, WhatIsNotEncryptedDoesNotLeaveTheMachine) {
  SocketOptions open = options();
  open.listen = "tcp:0.0.0.0:0";

  EXPECT_EQ(refusal_of(open).code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refusal_of(open).message().find("name tls:HOST:PORT"), std::string::npos);
  std::optional<Status> told;
  ask(loop_, "tcp:192.0.2.1:7", 0, question(1), kLongNs,
      [&told](const Result<Frame>& answer) { told = answer.status(); });
  EXPECT_TRUE(run([&told] { return told.has_value(); }));
  EXPECT_EQ(told->code(), StatusCode::kInvalidArgument);
}

TEST_F(SocketWiresTest, ListensAtSeveralAddressesAtOnce) {
  SocketOptions both = options();
  both.listen = "unix:" + path_ + ",tcp:127.0.0.1:0";
  SocketHandlers handlers;
  handlers.answer = [](const Caller&, Frame heard, const auto& done) { done(std::move(heard)); };
  auto wires = make(both, handlers);
  const auto addresses = split_addresses(wires->address());
  int told = 0;

  ASSERT_EQ(addresses.size(), 2u) << wires->address();
  for (const std::string& address : addresses) {
    ask(loop_, address, kCluster, question(1), kLongNs,
        [&told](const Result<Frame>& answer) { told += answer.ok(); });
  }

  EXPECT_TRUE(run([&told] { return told == 2; }));
}

TEST_F(SocketWiresTest, WhoIsNotKnownIsToldAfterAWhile) {
  SocketOptions slow = options();
  slow.guess_ns = 30 * kMs;
  SocketHandlers handlers;
  handlers.answer = [](const Caller&, const Frame&, const auto& done) {
    done(Status(StatusCode::kUnauthenticated, "who is that?"));
  };
  auto wires = make(slow, handlers);
  const RealClock clock;
  const std::uint64_t begin_ns = clock.now_ns();
  std::optional<Status> told;

  ask(loop_, "unix:" + path_, kCluster, question(1), kLongNs,
      [&told](const Result<Frame>& answer) { told = answer.status(); });

  EXPECT_TRUE(run([&told] { return told.has_value(); }));
  EXPECT_EQ(told->code(), StatusCode::kUnauthenticated);
  EXPECT_GE(clock.now_ns() - begin_ns, 29 * kMs);
}

}  // namespace
}  // namespace seaway::transport
