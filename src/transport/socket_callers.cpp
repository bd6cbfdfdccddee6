// Connections that others make: who is heard, who is let in, and who is refused.

#include <algorithm>
#include <optional>
#include <utility>

#include "transport/data_call.hpp"
#include "transport/introduction.hpp"
#include "transport/pass.hpp"
#include "transport/socket_stream.hpp"
#include "transport/socket_wires_state.hpp"

namespace seaway::transport {
namespace {
constexpr std::size_t kDroppedBytes = 1024;  // At a time.
}  // namespace

kj::Promise<void> SocketWires::State::accept_all(Listener& listener) {
  return kj::evalNow([&listener]() { return listener.accept(); })
      .then([this, &listener](Listener::Accepted&& stranger) {
        accept(kj::mv(stranger), listener.is_tls());
      })
      // No more descriptors, perhaps: others have to end first.
      .catch_([this](kj::Exception&&) { return after(options.again_ns); })
      .then([this, &listener]() { return accept_all(listener); });
}

void SocketWires::State::accept(Listener::Accepted&& stranger, bool is_tls) {
  CallerPlaces& places = stranger.caller.is_local ? local_callers : remote_callers;
  const std::string group = caller_group(stranger.caller);
  auto displaced = kj::newPromiseAndFulfiller<Result<Frame>>();
  const auto displace = [group, &places,
                         tell = std::make_shared<kj::Own<kj::PromiseFulfiller<Result<Frame>>>>(
                             kj::mv(displaced.fulfiller))] {
    (*tell)->fulfill(
        resource_exhausted("unauthenticated connection dropped for one of another address: all " +
                           std::to_string(places.places_max()) + " places are taken, " +
                           std::to_string(places.taken(group) + 1) + " of them by " + group +
                           "; try again, or raise SocketOptions::strangers_max"));
  };
  auto place = places.enter(group, displace);
  if (!place) {
    const Status full = resource_exhausted(
        std::to_string(places.taken()) + " of " + std::to_string(options.strangers_max) +
        " connections have not said who they are; try again, or raise "
        "SocketOptions::strangers_max");
    // Over TLS nothing can be said before hands are shaken.
    if (!is_tls) return refuse(make_line(kj::mv(stranger.stream), stranger.caller), full);
    ++counts.refused;
    if (handlers.refused) handlers.refused(stranger.caller, full);
    return;
  }
  const auto caller = stranger.caller;
  const auto line = std::make_shared<Line>();
  auto frame =
      hear_stranger(kj::mv(stranger), is_tls, line)
          .exclusiveJoin(after(options.introduction_ns).then([this]() -> Result<Frame> {
            return deadline_exceeded("nobody was introduced within " +
                                     std::to_string(options.introduction_ns / 1'000'000) + " ms");
          }))
          .exclusiveJoin(kj::mv(displaced.promise));
  tasks.add(frame.then([this, line, caller, place = kj::mv(place)](Result<Frame>&& heard) mutable {
    place = nullptr;
    if (*line) return hear_introduction(*line, heard);
    ++counts.refused;
    if (handlers.refused) handlers.refused(caller, heard.status());
  }));
}

/// `line` is made when there are ears for what is said over it.
kj::Promise<Result<Frame>> SocketWires::State::hear_stranger(Listener::Accepted&& stranger,
                                                             bool is_tls,
                                                             std::shared_ptr<Line> line) {
  if (!is_tls) {
    *line = make_line(kj::mv(stranger.stream), std::move(stranger.caller));
    (*line)->reader = std::move(stranger.reader);
    expect_descriptor(*(*line)->stream);
    return receive_frame(*(*line)->stream, options.introduction_bytes_max);
  }
  auto shaken = shake_hands(*options.credentials.tls, kj::mv(stranger.stream), "");
  return shaken.then(
      [this, line, caller = std::move(stranger.caller), reader = std::move(stranger.reader)](
          TlsOutcome&& outcome) mutable -> kj::Promise<Result<Frame>> {
        KJ_IF_MAYBE (stream, outcome.stream) {
          caller.is_encrypted = true;
          caller.certificate = outcome.peer.role;
          caller.certificate_end_s = outcome.peer.end_s;
          *line = make_line(kj::mv(*stream), std::move(caller));
          (*line)->reader = std::move(reader);
          (*line)->channel = std::move(outcome.channel);
          return receive_frame(*(*line)->stream, options.introduction_bytes_max);
        }
        return Result<Frame>(outcome.status);
      });
}

void SocketWires::State::hear_introduction(const Line& line, const Result<Frame>& frame) {
  line->caller.handed = take_shared_descriptor(*line->stream);
  if (!frame.ok()) return refuse(line, frame.status());
  const Result<Introduction> introduction = read_introduction(*frame);
  if (!introduction.ok()) return refuse(line, introduction.status());
  line->caller.token = introduction->token;
  line->caller.pass = introduction->pass;
  line->caller.life = introduction->life;
  if (line->caller.is_encrypted && !introduction->token.empty() &&
      !is_bound(introduction->token, line->channel, introduction->binding)) {
    return refuse(line,
                  {StatusCode::kUnauthenticated, "that token is bound to another connection"});
  }
  const std::uint64_t cluster = introduction->cluster;
  const bool asks = std::holds_alternative<Frame>(introduction->what);
  if (cluster != options.cluster && !(asks && cluster == 0)) {
    return refuse(
        line, {StatusCode::kPermissionDenied, "this is cluster " + std::to_string(options.cluster) +
                                                  ", and not cluster " + std::to_string(cluster) +
                                                  ": look the address up again"});
  }
  if (lines > options.connections_max) {
    return refuse(line, resource_exhausted(std::to_string(lines - 1) + " of " +
                                           std::to_string(options.connections_max) +
                                           " connections are open; try again, or raise "
                                           "SocketOptions::connections_max"));
  }
  if (asks) return answer(line, std::get<Frame>(introduction->what));
  admit(line, *introduction);
}

void SocketWires::State::answer(const Line& line, Frame question) {
  if (!handlers.answer) return refuse(line, unimplemented("this process answers no questions"));
  drop_what_comes(line);
  handlers.answer(line->caller, std::move(question),
                  Answering([here = weak_from_this(), waiting = std::weak_ptr(line)](
                                Result<Frame> found, std::shared_ptr<const MemoryFile> memory) {
                    const auto state = here.lock();
                    const Line asking = waiting.lock();
                    if (!state || !asking || std::exchange(asking->is_over, true)) return;
                    if (!found.ok()) return state->refuse(asking, found.status());
                    const Status fits = check_answer(*found, state->options.answer_bytes_max);
                    if (!fits.ok()) return state->refuse(asking, fits);
                    ++state->counts.answered;
                    if (memory) hand_over(*asking->stream, {memory, &memory->descriptor()});
                    state->say_last(asking, {Welcome::Kind::kAnswer, {}, std::move(*found)});
                  }));
  loop.state().notice();
}

/// Whether it may talk as whom it says; asks the owner.
Status SocketWires::State::check_talk(const Line& line, const Introduction& introduction) {
  const auto& talk = std::get<Talk>(introduction.what);
  if (Status fits = check_names(talk, options.self, options.cluster); !fits.ok()) return fits;
  if (handlers.admit) {
    Status admitted = handlers.admit(talk.from, line->caller);
    if (!admitted.ok()) return admitted;
  }
  const auto found = peers.find(talk.from);
  if (found != peers.end() && found->second.port) return {};
  return not_found("process " + std::to_string(talk.from) + " is no peer of process " +
                   std::to_string(options.self));
}

void SocketWires::State::admit(const Line& line, const Introduction& introduction) {
  // Who has dropped his attempt for another connection has hung up before that one was made.
  if (line->has_gone()) return;
  Status checked = check_talk(line, introduction);
  loop.state().notice();
  if (!checked.ok()) return refuse(line, std::move(checked));
  const ProcessId process = std::get<Talk>(introduction.what).from;
  if (std::get<Talk>(introduction.what).is_of_data) return admit_data(line, process);
  Peer& peer = peer_of(process);
  if (peer.introduced && options.self > process) {
    return say_last(line, {Welcome::Kind::kCrossed, {}, {}});
  }
  drop_attempt(peer);
  if (peer.line) {
    leave(peer);
    const auto port = peer.port;
    port->on_closed();
    drop_attempt(peer);
  }
  ++counts.accepted;
  // Goes out before anything that the port writes.
  line->is_writing = true;
  tasks.add(send_frame(*line->stream, welcome_frame({Welcome::Kind::kTalk, {}, {}}))
                .then([this, line]() { write(line); }, [line](kj::Exception&&) { line->cut(); }));
  open(process, peer, line);
}

/// Once it is welcomed it is not of this loop any more.
void SocketWires::State::admit_data(const Line& line, ProcessId process) {
  if (!handlers.data) return refuse(line, unimplemented("this process has no data connections"));
  ++counts.accepted;
  line->is_over = true;
  tasks.add(welcome_data(kj::mv(line->stream)).then([this, process](auto&& socket) {
    if (socket.ok()) handlers.data(process, std::move(*socket));
    loop.state().notice();
  }));
}

void SocketWires::State::refuse(const Line& line, Status why) {
  ++counts.refused;
  if (handlers.refused) handlers.refused(line->caller, why);
  // Whoever does not listen to why must not keep others from hearing it.
  line->leaves = leaving.enter(caller_group(line->caller), [late = std::weak_ptr(line)] {
    if (const Line still_here = late.lock()) still_here->cut();
  });
  if (!line->leaves) return line->cut();
  const Welcome welcome{Welcome::Kind::kRefused, std::move(why), {}};
  if (welcome.refusal.code() != StatusCode::kUnauthenticated) return say_last(line, welcome);
  // Who guesses is not to guess fast.
  line->is_over = true;
  drop_what_comes(line);
  tasks.add(after(options.guess_ns).then([this, line, welcome]() { say_last(line, welcome); }));
}

/// A word more, and then the end; whoever does not hear it in time does not hear it.
void SocketWires::State::say_last(const Line& line, const Welcome& welcome) {
  line->is_over = true;
  // What was not read when a connection ends may take with it what was said.
  drop_what_comes(line);
  tasks.add(send_frame(*line->stream, welcome_frame(welcome))
                .then([line]() { line->end_writing(); }, [line](kj::Exception&&) { line->cut(); }));
  cut_later(line);
}

void SocketWires::State::drop_what_comes(const Line& line) {
  if (std::exchange(line->is_drained, true)) return;
  line->read_bytes = std::make_unique<std::byte[]>(kDroppedBytes);
  tasks.add(drain(line, options.dropped_bytes_max));
}

/// When more than `left` bytes come, nothing more is read: the connection ends.
kj::Promise<void> SocketWires::State::drain(Line line, std::size_t left) {
  auto count = read_some(*line->stream, line->read_bytes.get(), 1, std::min(left, kDroppedBytes));
  return count.catch_([](kj::Exception&&) { return std::size_t{0}; })
      .then([this, line, left](std::size_t bytes) -> kj::Promise<void> {
        counts.dropped += bytes;
        if (bytes > 0 && bytes < left) return drain(line, left - bytes);
        if (bytes > 0) line->cut();
        line->is_over = true;
        return kj::READY_NOW;
      });
}

void SocketWires::State::cut_later(const Line& line) {
  tasks.add(after(options.introduction_ns).then([late = std::weak_ptr(line)]() {
    if (const Line still_here = late.lock()) still_here->cut();
  }));
}

}  // namespace seaway::transport
