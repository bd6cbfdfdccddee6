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
  SocketStream(IoLoop::State& loop, kj::AutoCloseFd&& descriptor,
               std::shared_ptr<ReadScheduler::Reader> reader)
      : loop_(loop),
        descriptor_(kj::mv(descriptor)),
        observer_(loop.port, descriptor_.get(), Observer::OBSERVE_READ),
        reader_(std::move(reader)) {}

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

  bool hand_over(std::shared_ptr<const Descriptor> handed) {
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    const bool is_local =
        ::getsockname(descriptor_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        address.ss_family == AF_UNIX;
    if (is_local) handed_ = std::move(handed);
    return is_local;
  }
  void expect_descriptor() { is_descriptor_expected_ = true; }
  Descriptor take_descriptor() {
    is_descriptor_expected_ = false;
    return std::exchange(taken_, Descriptor());
  }

 private:
  kj::Promise<std::size_t> read(kj::byte* target, std::size_t least, std::size_t most,
                                std::size_t got) {
    KJ_IF_MAYBE (readable, readable_) {
      auto waits = kj::mv(*readable);
      readable_ = nullptr;
      return waits.then([=, this]() { return read(target, least, most, got); });
    }
    while (got < least) {
      if (!loop_.scheduler.may_read(*reader_)) {
        return loop_.next_turn(*reader_).then(
            [=, this]() { return read(target, least, most, got); });
      }
      const ssize_t count = is_descriptor_expected_
                                ? receive(target + got, most - got)
                                : ::read(descriptor_.get(), target + got, most - got);
      if (count == 0) break;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) return failure("a connection broke", errno);
      const std::size_t came = count < 0 ? 0 : static_cast<std::size_t>(count);
      const bool is_drained = count < 0 || (got + came < most && !is_at_end());
      got += came;
      loop_.scheduler.count(*reader_, came);
      // Listens from now on, whoever reads next and whenever: what comes is told but once.
      if (is_drained) readable_ = observer_.whenBecomesReadable();
      if (is_drained && got < least) return read(target, least, most, got);
    }
    return got;
  }
  /// As read(2), and with what was handed over.
  ssize_t receive(kj::byte* target, std::size_t most) {
    iovec part = {target, most};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> beside = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = beside.data();
    message.msg_controllen = beside.size();
    const ssize_t count = ::recvmsg(descriptor_.get(), &message, MSG_CMSG_CLOEXEC);
    const cmsghdr* const header = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int))) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header), sizeof(number));
      taken_ = Descriptor(number);
      is_descriptor_expected_ = false;
    }
    return count;
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
      alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> beside = {};
      if (handed_) {
        message.msg_control = beside.data();
        message.msg_controllen = beside.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int number = handed_->number();
        std::memcpy(CMSG_DATA(header), &number, sizeof(number));
      }
      const ssize_t count = ::sendmsg(descriptor_.get(), &message, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) return failure("a connection broke", errno);
      if (count < 0) {
        return has_room().then([this, first, rest]() { return write(first, rest); });
      }
      handed_ = nullptr;
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
    auto wait = kj::heap<RoomWait>(loop_.port, kj::mv(twin));
    auto room = wait->observer.whenBecomesWritable();
    return room.attach(kj::mv(wait));
  }
  struct RoomWait {
    RoomWait(kj::UnixEventPort& port, kj::AutoCloseFd&& twin)
        : descriptor(kj::mv(twin)), observer(port, descriptor.get(), Observer::OBSERVE_WRITE) {}
    const kj::AutoCloseFd descriptor;
    Observer observer;  // Ends before what it observes.
  };

  IoLoop::State& loop_;
  const kj::AutoCloseFd descriptor_;
  Observer observer_;
  const std::shared_ptr<ReadScheduler::Reader> reader_;
  kj::Maybe<kj::Promise<void>> readable_;  // There is nothing to read until then.
  std::shared_ptr<const Descriptor> handed_;
  Descriptor taken_;
  bool is_descriptor_expected_ = false;
};

SocketStream* socket_of(kj::AsyncIoStream& stream) { return dynamic_cast<SocketStream*>(&stream); }

}  // namespace

bool hand_over(kj::AsyncIoStream& stream, std::shared_ptr<const Descriptor> handed) {
  SocketStream* const socket = socket_of(stream);
  return socket && socket->hand_over(std::move(handed));
}

void expect_descriptor(kj::AsyncIoStream& stream) {
  if (SocketStream* const socket = socket_of(stream)) socket->expect_descriptor();
}

Descriptor take_descriptor(kj::AsyncIoStream& stream) {
  SocketStream* const socket = socket_of(stream);
  return socket ? socket->take_descriptor() : Descriptor();
}

std::shared_ptr<const Descriptor> take_shared_descriptor(kj::AsyncIoStream& stream) {
  Descriptor one = take_descriptor(stream);
  return one.has_value() ? std::make_shared<const Descriptor>(std::move(one)) : nullptr;
}

kj::Own<kj::AsyncIoStream> wrap_socket(IoLoop& loop, kj::AutoCloseFd&& descriptor,
                                       std::shared_ptr<ReadScheduler::Reader> reader) {
  if (!reader) reader = std::make_shared<ReadScheduler::Reader>();
  return kj::heap<SocketStream>(loop.state(), kj::mv(descriptor), std::move(reader));
}

}  // namespace seaway::transport
