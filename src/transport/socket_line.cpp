// The ends of a connection.

#include "transport/socket_line.hpp"

#include <sys/socket.h>

#include <utility>

namespace seaway::transport {
namespace {

/// To the system, a piece costs as much as a few hundred bytes of one.
constexpr std::size_t kSmallBytes = 512;
constexpr std::size_t kGatheredBytes = std::size_t{8} << 10;

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

void SocketLine::push(std::vector<std::byte> bytes) {
  unwritten_bytes += bytes.size();
  if (unwritten.empty() || bytes.size() > kSmallBytes) {
    unwritten.push_back(std::move(bytes));
    return;
  }
  std::vector<std::byte>* last = &unwritten.back();
  if (last->capacity() - last->size() < bytes.size()) {
    last = &unwritten.emplace_back();
    last->reserve(kGatheredBytes);
  }
  last->insert(last->end(), bytes.begin(), bytes.end());
}

}  // namespace seaway::transport
