// Connections for data: introduced as all others, refused as all others, and then their owner's.

#include <gtest/gtest.h>

#include "unit/transport/data_ends.hpp"
#include "unit/transport/socket_fixture.hpp"
#include "unit/transport/tls_support.hpp"

namespace seaway::transport {
namespace {

class DataCallTest : public SocketWiresTest {
 protected:
  std::unique_ptr<SocketWires> listen(SocketOptions options, Status admitted = {}) {
    SocketHandlers handlers;
    handlers.admit = [this, admitted](ProcessId peer, const Caller& caller) {
      wires_->attach(0, peer, port());
      shown_ = caller.pass;
      return admitted;
    };
    handlers.data = [this](ProcessId peer, std::unique_ptr<DataSocket> socket) {
      peer_ = peer;
      accepted_ = std::move(socket);
    };
    auto wires = make(std::move(options), std::move(handlers));
    wires_ = wires.get();
    return wires;
  }
  void call(const std::string& address, const Credentials& shown = {}) {
    call_for_data(
        loop_, address, {4, 0, kCluster, "pass 4", 2}, kLongNs,
        [this](auto socket) {
          ++told_;
          socket.ok() ? void(called_ = std::move(*socket)) : void(status_ = socket.status());
        },
        shown);
    ASSERT_TRUE(run([this] { return told_ == 1; }));
  }
  /// `bytes` go from one end to the other, as far as the system lets them.
  static void carry(DataSocket& from, DataSocket& to, std::size_t bytes) {
    const std::vector<std::byte> said = make_value(3, bytes);
    std::vector<std::byte> heard(bytes);
    std::size_t sent = 0, got = 0;
    while (got < bytes) {
      // In several pieces, which begin anew after each call.
      const std::span<const std::byte> rest = std::span(said).subspan(sent);
      const std::array<DataSocket::ConstPiece, 2> pieces = {rest.first(rest.size() / 3),
                                                            rest.subspan(rest.size() / 3)};
      const auto wrote = from.write(pieces);
      ASSERT_FALSE(wrote.has_ended);
      sent += wrote.bytes;
      const DataSocket::Piece room = std::span(heard).subspan(got);
      const auto read = to.read(std::span(&room, 1));
      ASSERT_FALSE(read.has_ended);
      got += read.bytes;
    }
    EXPECT_EQ(said, heard);
  }

  SocketWires* wires_ = nullptr;
  std::unique_ptr<DataSocket> accepted_, called_;
  ProcessId peer_ = 0;
  std::string shown_;
  Status status_;
  int told_ = 0;
};

TEST_F(DataCallTest, BytesGoBothWays) {
  const auto wires = listen(options());
  call("unix:" + path_);
  ASSERT_TRUE(status_.ok()) << status_.to_string();
  ASSERT_TRUE(run([this] { return accepted_ != nullptr; }));
  EXPECT_EQ(peer_, 4u);
  EXPECT_EQ(shown_, "pass 4");
  carry(*called_, *accepted_, 1 << 20);
  carry(*accepted_, *called_, 1 << 20);
  called_.reset();
  std::byte one;
  const DataSocket::Piece room(&one, 1);
  EXPECT_TRUE(accepted_->read(std::span(&room, 1)).has_ended);
}

TEST_F(DataCallTest, TheyGoWithinTls) {
  SocketOptions wanted = options();
  wanted.listen = "tls:127.0.0.1:0";
  wanted.credentials.tls = make_tls("host/1");
  const auto wires = listen(std::move(wanted));
  call(wires->address(), {make_caller_tls(), ""});
  ASSERT_TRUE(status_.ok()) << status_.to_string();
  ASSERT_TRUE(run([this] { return accepted_ != nullptr; }));
  carry(*called_, *accepted_, 3 << 20);
  carry(*accepted_, *called_, 3 << 20);
}

TEST_F(DataCallTest, AChangedBitEndsTls) {
  SocketOptions wanted = options();
  wanted.listen = "tls:127.0.0.1:0";
  wanted.credentials.tls = make_tls("host/1");
  const auto wires = listen(std::move(wanted));
  call(wires->address(), {make_caller_tls(), ""});
  ASSERT_TRUE(run([this] { return accepted_ != nullptr; }));
  const std::array<char, 40> nonsense = {0x17, 3, 3, 0, 35};
  ASSERT_EQ(::send(called_->descriptor(), nonsense.data(), nonsense.size(), 0), 40);
  std::byte one;
  const DataSocket::Piece room(&one, 1);
  DataSocket::Step step;
  while (!(step = accepted_->read(std::span(&room, 1))).has_ended) ASSERT_EQ(step.bytes, 0u);
}

TEST_F(DataCallTest, WhoMayNotTalkIsToldWhy) {
  const auto wires = listen(options(), {StatusCode::kUnauthenticated, "that is no pass"});
  call("unix:" + path_);
  EXPECT_EQ(status_.to_string(), "UNAUTHENTICATED: that is no pass");
  EXPECT_EQ(accepted_, nullptr);
}

TEST_F(DataCallTest, AProcessWithoutADataPlaneSaysSo) {
  SocketHandlers handlers;
  handlers.admit = [this](ProcessId peer, const Caller&) {
    wires_->attach(0, peer, port());
    return Status();
  };
  const auto wires = make(options(), std::move(handlers));
  wires_ = wires.get();
  call("unix:" + path_);
  EXPECT_FALSE(status_.ok());
  EXPECT_NE(status_.message().find("no data connections"), std::string::npos);
}

TEST_F(DataCallTest, WhereNobodyListensIsNobody) {
  call("unix:" + path_);
  EXPECT_EQ(status_.code(), StatusCode::kHostLost);
}

}  // namespace
}  // namespace seaway::transport
