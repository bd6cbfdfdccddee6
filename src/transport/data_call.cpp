// A talk that is introduced by the loop and goes on without it.

#include "transport/data_call.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/introduction.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::transport {
namespace {

using Stream = kj::Own<kj::AsyncIoStream>;
using Socket = Result<std::unique_ptr<DataSocket>>;

kj::Promise<Socket> introduce(Stream stream, Frame introduction) {
  kj::AsyncIoStream& line = *stream;
  // Who refuses at once may have hung up before he heard it, but not before he said why.
  return send_frame(line, std::move(introduction))
      .catch_([](kj::Exception&&) {})
      .then([&line]() { return receive_frame(line, kWelcomeBytesMax); })
      .then([stream = kj::mv(stream)](Result<Frame>&& frame) mutable -> Socket {
        if (!frame.ok()) return frame.status();
        const Result<Welcome> welcome = read_welcome(*frame);
        if (!welcome.ok()) return welcome.status();
        if (welcome->kind == Welcome::Kind::kRefused) return welcome->refusal;
        if (welcome->kind == Welcome::Kind::kTalk) return take_socket(kj::mv(stream));
        return protocol_error("a connection for data was answered with something else");
      });
}

}  // namespace

Socket take_socket(Stream stream) {
  int own = -1;
  KJ_IF_MAYBE (number, stream->getFd()) {
    own = *number;
  }
  // The loop closes its own one; this one is of the same connection.
  Descriptor socket(own < 0 ? -1 : ::fcntl(own, F_DUPFD_CLOEXEC, 0));
  if (!socket.has_value()) {
    return resource_exhausted(std::string("no descriptor for a connection: ") +
                              std::strerror(errno));
  }
  if (is_tls(*stream)) return take_tls(*stream, std::move(socket));
  return make_data_socket(std::move(socket));
}

kj::Promise<Socket> welcome_data(Stream stream) {
  kj::AsyncIoStream& line = *stream;
  return send_frame(line, welcome_frame({Welcome::Kind::kTalk, {}, {}}))
      .then([stream = kj::mv(stream)]() mutable { return take_socket(kj::mv(stream)); });
}

void call_for_data(IoLoop& loop, const std::string& address, const DataCall& call,
                   std::uint64_t most_ns, std::function<void(Socket)> done,
                   const Credentials& shown) {
  IoLoop::State& state = loop.state();
  Introduction introduction{call.cluster, Talk{call.from, call.to, true}};
  introduction.pass = call.pass;
  introduction.life = call.life;
  auto socket =
      kj::evalLater([&loop, address, tls = shown.tls]() { return dial(loop, address, tls); })
          .then([frame = introduction_frame(introduction)](
                    Dialed&& dialed) mutable -> kj::Promise<Socket> {
            KJ_IF_MAYBE (stream, dialed.stream) {
              return introduce(kj::mv(*stream), std::move(frame));
            }
            return Socket(dialed.status);
          });
  auto late = state.after(most_ns).then([address, most_ns]() -> Socket {
    return deadline_exceeded(address + " has not answered within " +
                             std::to_string(most_ns / 1'000'000) + " ms");
  });
  state.tasks.add(
      socket.exclusiveJoin(kj::mv(late)).then([&state, done = std::move(done)](Socket&& found) {
        done(std::move(found));
        state.notice();
      }));
}

}  // namespace seaway::transport
