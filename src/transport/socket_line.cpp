// The ends of a connection.

#include "transport/socket_line.hpp"

#include <sys/socket.h>

namespace seaway::transport {
namespace {

int descriptor_of(const kj::AsyncIoStream& stream) {
  KJ_IF_MAYBE (descriptor, stream.getFd()) {
    return *descriptor;
  }
  return -1;
}

}  // namespace

// An error says that the other end has been faster.
void SocketLine::cut() { static_cast<void>(::shutdown(descriptor_of(*stream), SHUT_RDWR)); }
void SocketLine::end_writing() { stream->shutdownWrite(); }

bool SocketLine::has_gone() const {
  std::byte next;
  return ::recv(descriptor_of(*stream), &next, sizeof(next), MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace seaway::transport
