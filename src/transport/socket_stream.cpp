// Reading and writing a socket that does not block.

#include "transport/socket_stream.hpp"

#include <kj/debug.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "transport/io_loop_state.hpp"

namespace seaway::transport {
namespace {

using Observer = kj::UnixEventPort::FdObserver;
using Pieces = kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>>;

kj::Exception failure(const char* what, int error) {
  return KJ_EXCEPTION(DISCONNECTED, what, std::strerror(error));
}

class SocketStream final : public kj::AsyncIoStream {
 public:
  SocketStream(kj::UnixEventPort& port, kj::AutoCloseFd&& descriptor)
      : port_(port),
        descriptor_(kj::mv(descriptor)),
        observer_(port, descriptor_.get(), Observer::OBSERVE_READ) {}

  kj::Promise<std::size_t> tryRead(void* target, std::size_t least, std::size_t most) override {
    return read(static_cast<kj::byte*>(target), least, most, 0);
  }

  kj::Promise<void> write(const void* source, std::size_t size) override {
    return write(kj::arrayPtr(static_cast<const kj::byte*>(source), size), {});
  }
  kj::Promise<void> write(Pieces pieces) override { return write(nullptr, pieces); }

  kj::Promise<void> whenWriteDisconnected() override { return observer_.whenWriteDisconnected(); }
  void shutdownWrite() override { ::shutdown(descriptor_.get(), SHUT_WR); }
  void abortRead() override { ::shutdown(descriptor_.get(), SHUT_RD); }
  kj::Maybe<int> getFd() const override { return descriptor_.get(); }

 private:
  kj::Promise<std::size_t> read(kj::byte* target, std::size_t least, std::size_t most,
                                std::size_t got) {
    KJ_IF_MAYBE (readable, readable_) {
      auto waits = kj::mv(*readable);
      readable_ = nullptr;
      return waits.then([=, this]() { return read(target, least, most, got); });
    }
    while (got < least) {
      const ssize_t count = ::read(descriptor_.get(), target + got, most - got);
      if (count == 0) break;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) return failure("a connection broke", errno);
      const std::size_t came = count < 0 ? 0 : static_cast<std::size_t>(count);
      const bool is_drained = count < 0 || (got + came < most && !is_at_end());
      got += came;
      // Listens from now on, whoever reads next and whenever: what comes is told but once.
      if (is_drained) readable_ = observer_.whenBecomesReadable();
      if (is_drained && got < least) return read(target, least, most, got);
    }
    return got;
  }
  /// Or perhaps: then the system is asked once more.
  bool is_at_end() {
    KJ_IF_MAYBE (at_end, observer_.atEndHint()) {
      return *at_end;
    }
    return true;
  }

  /// `first`, which may be empty, and `rest`.
  kj::Promise<void> write(kj::ArrayPtr<const kj::byte> first, Pieces rest) {
    constexpr std::size_t kAtOnce = 64;
    for (;;) {
      while (first.size() == 0 && rest.size() > 0) {
        first = rest[0];
        rest = rest.slice(1, rest.size());
      }
      if (first.size() == 0) return kj::READY_NOW;
      std::array<iovec, kAtOnce> parts;
      std::size_t used = 0;
      const auto add = [&parts, &used](kj::ArrayPtr<const kj::byte> part) {
        parts[used++] = {const_cast<kj::byte*>(part.begin()), part.size()};
      };
      add(first);
      for (std::size_t i = 0; i < rest.size() && used < kAtOnce; ++i) add(rest[i]);
      msghdr message = {};
      message.msg_iov = parts.data();
      message.msg_iovlen = used;
      const ssize_t count = ::sendmsg(descriptor_.get(), &message, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) return failure("a connection broke", errno);
      if (count < 0) {
        return has_room().then([this, first, rest]() { return write(first, rest); });
      }
      for (auto left = static_cast<std::size_t>(count); left > 0;) {
        const std::size_t part = std::min(left, first.size());
        first = first.slice(part, first.size());
        left -= part;
        if (left == 0) break;
        first = rest[0];
        rest = rest.slice(1, rest.size());
      }
    }
  }

  /// Watches a second descriptor of the same socket for as long as that takes.
  kj::Promise<void> has_room() {
    kj::AutoCloseFd twin(::dup(descriptor_.get()));
    if (twin.get() < 0) return failure("no descriptor to wait for room with", errno);
    auto wait = kj::heap<RoomWait>(port_, kj::mv(twin));
    auto room = wait->observer.whenBecomesWritable();
    return room.attach(kj::mv(wait));
  }
  struct RoomWait {
    RoomWait(kj::UnixEventPort& port, kj::AutoCloseFd&& twin)
        : descriptor(kj::mv(twin)), observer(port, descriptor.get(), Observer::OBSERVE_WRITE) {}
    const kj::AutoCloseFd descriptor;
    Observer observer;  // Ends before what it observes.
  };

  kj::UnixEventPort& port_;
  const kj::AutoCloseFd descriptor_;
  Observer observer_;
  kj::Maybe<kj::Promise<void>> readable_;  // There is nothing to read until then.
};

}  // namespace

kj::Own<kj::AsyncIoStream> wrap_socket(IoLoop& loop, kj::AutoCloseFd&& descriptor) {
  return kj::heap<SocketStream>(loop.state().io.unixEventPort, kj::mv(descriptor));
}

}  // namespace seaway::transport
