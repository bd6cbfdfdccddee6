// One question and its answer, on a connection of their own.

#include <memory>
#include <utility>

#include "transport/introduction.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/pass.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_stream.hpp"
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

/// An answer, and what was handed over with it.
struct Handed {
  Result<Frame> answer;
  Descriptor descriptor = Descriptor();
};

/// What goes and comes beside words.
struct Beside {
  bool takes_memory = false;
  std::shared_ptr<const Descriptor> given = {};
};

kj::Promise<Handed> exchange(Stream stream, Frame introduction, Beside beside) {
  kj::AsyncIoStream& line = *stream;
  if (beside.takes_memory) expect_descriptor(line);
  if (beside.given && !hand_over(line, std::move(beside.given))) {
    return Handed{invalid_argument("descriptors are handed over Unix sockets alone")};
  }
  // Who refuses at once may have hung up before he heard it, but not before he said why.
  return send_frame(line, std::move(introduction))
      .catch_([](kj::Exception&&) {})
      .then([&line]() { return receive_frame(line, kAnswerBytesMax + kWelcomeBytesMax); })
      .then([&line](Result<Frame>&& frame) {
        return Handed{answer_of(frame), take_descriptor(line)};
      })
      .attach(kj::mv(stream));
}

void ask(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
         std::uint64_t most_ns, Beside beside, const Credentials& shown,
         std::function<void(Handed)> done) {
  IoLoop::State& state = loop.state();
  Introduction introduction{cluster, std::move(question)};
  introduction.token = shown.token;
  auto answer =
      kj::evalLater([&loop, address, tls = shown.tls]() { return dial(loop, address, tls); })
          .then([introduction = std::move(introduction),
                 beside = std::move(beside)](Dialed&& dialed) mutable -> kj::Promise<Handed> {
            KJ_IF_MAYBE (stream, dialed.stream) {
              if (!dialed.channel.empty() && !introduction.token.empty()) {
                introduction.binding = bind_token(introduction.token, dialed.channel);
              }
              return exchange(kj::mv(*stream), introduction_frame(introduction), std::move(beside));
            }
            return Handed{dialed.status};
          });
  auto late = state.after(most_ns).then([address, most_ns]() {
    return Handed{deadline_exceeded(address + " has not answered within " +
                                    std::to_string(most_ns / 1'000'000) + " ms")};
  });
  state.tasks.add(
      answer.exclusiveJoin(kj::mv(late)).then([&state, done = std::move(done)](Handed&& found) {
        done(std::move(found));
        state.notice();
      }));
}

}  // namespace

void ask(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
         std::uint64_t most_ns, std::function<void(Result<Frame>)> done, const Credentials& shown) {
  ask(loop, address, cluster, std::move(question), most_ns, {}, shown,
      [done = std::move(done)](Handed handed) { done(std::move(handed.answer)); });
}

void ask_memory(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
                std::uint64_t most_ns, std::function<void(Result<SharedRegion>)> done) {
  ask(loop, address, cluster, std::move(question), most_ns, {.takes_memory = true}, {},
      [address, done = std::move(done)](Handed handed) {
        if (!handed.answer.ok()) return done(handed.answer.status());
        if (!handed.descriptor.has_value()) {
          return done(not_found(address + " has handed no memory over with its answer"));
        }
        done(map_memory(std::move(handed.descriptor)));
      });
}

void ask_with(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
              std::shared_ptr<const Descriptor> given, std::uint64_t most_ns,
              std::function<void(Result<Frame>)> done) {
  ask(loop, address, cluster, std::move(question), most_ns, {.given = std::move(given)}, {},
      [done = std::move(done)](Handed handed) { done(std::move(handed.answer)); });
}

}  // namespace seaway::transport
