// One question and its answer, on a connection of their own.

#include <memory>
#include <utility>

#include "transport/introduction.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/pass.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::transport {
namespace {

using Stream = kj::Own<kj::AsyncIoStream>;

Result<Frame> answer_of(const Result<Frame>& frame) {
  if (!frame.ok()) return frame.status();
  const Result<Welcome> welcome = read_welcome(*frame);
  if (!welcome.ok()) return welcome.status();
  if (welcome->kind == Welcome::Kind::kRefused) return welcome->refusal;
  if (welcome->kind == Welcome::Kind::kAnswer) return welcome->answer;
  return protocol_error("a question was answered with the beginning of a talk");
}

kj::Promise<Result<Frame>> exchange(Stream stream, Frame introduction) {
  kj::AsyncIoStream& line = *stream;
  // Who refuses at once may have hung up before he heard it, but not before he said why.
  return send_frame(line, std::move(introduction))
      .catch_([](kj::Exception&&) {})
      .then([&line]() { return receive_frame(line, kAnswerBytesMax + kWelcomeBytesMax); })
      .then([](Result<Frame>&& frame) { return answer_of(frame); })
      .attach(kj::mv(stream));
}

}  // namespace

void ask(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
         std::uint64_t most_ns, std::function<void(Result<Frame>)> done, const Credentials& shown) {
  IoLoop::State& state = loop.state();
  Introduction introduction{cluster, std::move(question)};
  introduction.token = shown.token;
  auto answer =
      kj::evalLater([&loop, address, tls = shown.tls]() { return dial(loop, address, tls); })
          .then([introduction = std::move(introduction)](
                    Dialed&& dialed) mutable -> kj::Promise<Result<Frame>> {
            KJ_IF_MAYBE (stream, dialed.stream) {
              if (!dialed.channel.empty() && !introduction.token.empty()) {
                introduction.binding = bind_token(introduction.token, dialed.channel);
              }
              return exchange(kj::mv(*stream), introduction_frame(introduction));
            }
            return Result<Frame>(dialed.status);
          });
  auto late = state.after(most_ns).then([address, most_ns]() -> Result<Frame> {
    return deadline_exceeded(address + " has not answered within " +
                             std::to_string(most_ns / 1'000'000) + " ms");
  });
  state.tasks.add(answer.exclusiveJoin(kj::mv(late))
                      .then([&state, done = std::move(done)](Result<Frame>&& found) {
                        done(std::move(found));
                        state.notice();
                      }));
}

}  // namespace seaway::transport
