// Bare sockets; those of TLS are in tls.cpp.

#include "transport/data_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace seaway::transport {
namespace {

constexpr std::size_t kPiecesMax = 64;  // At once.

class BareSocket final : public DataSocket {
 public:
  explicit BareSocket(Descriptor socket) : socket_(std::move(socket)) {}

  Step read(std::span<const Piece> pieces) override {
    return move(pieces, [this](msghdr& message) {
      return ::recvmsg(socket_.number(), &message, MSG_DONTWAIT);
    });
  }
  Step write(std::span<const ConstPiece> pieces) override {
    return move(pieces, [this](msghdr& message) {
      return ::sendmsg(socket_.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    });
  }
  int descriptor() const override { return socket_.number(); }

 private:
  template <class Pieces, class Call>
  static Step move(const Pieces& pieces, const Call& call) {
    std::array<iovec, kPiecesMax> parts;
    std::size_t used = 0, wanted = 0;
    for (const auto& piece : pieces) {
      if (used == parts.size()) break;
      parts[used++] = {const_cast<std::byte*>(piece.data()), piece.size()};
      wanted += piece.size();
    }
    if (wanted == 0) return {};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = used;
    for (;;) {
      const ssize_t count = call(message);
      if (count > 0) return {static_cast<std::size_t>(count), false, false};
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {0, true, false};
      return {0, false, true};
    }
  }

  const Descriptor socket_;
};

}  // namespace

std::unique_ptr<DataSocket> make_data_socket(Descriptor socket) {
  return std::make_unique<BareSocket>(std::move(socket));
}

}  // namespace seaway::transport
