// Connections to peers: who makes them, who keeps them, and what goes over them.

#include "transport/socket_wires.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "transport/address_text.hpp"
#include "transport/data_call.hpp"
#include "transport/introduction.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/pass.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_line.hpp"
#include "transport/socket_stream.hpp"

namespace seaway::transport {
namespace {
constexpr std::size_t kDroppedBytes = 1024;  // At a time.
constexpr std::size_t kGatheredBytesMax = std::size_t{64} << 10;
constexpr std::uint64_t kSoonNs = 2'000'000;  // Doubled from try to try, up to again_ns.
constexpr std::uint64_t kUnknownTimes = 5;    // So many again_ns, of peers that listen nowhere yet.
}  // namespace

using Line = std::shared_ptr<SocketLine>;

struct SocketWires::State final : kj::TaskSet::ErrorHandler,
                                  std::enable_shared_from_this<SocketWires::State> {
  struct Peer {
    std::shared_ptr<const WirePort> port;  // None: never attached.
    Line line;                             // Bytes go over it.
    Line introduced;                       // An own attempt that waits for its welcome.
    std::uint64_t attempt = 0;             // Of own ones; 0: it does not try.
    unsigned failures = 0;                 // Of this attempt.
    bool is_refusal_told = false;
    Status failure;
  };

  State(IoLoop& io_loop, SocketOptions socket_options, SocketHandlers socket_handlers)
      : loop(io_loop),
        options(std::move(socket_options)),
        handlers(std::move(socket_handlers)),
        tasks(*this) {}

  void taskFailed(kj::Exception&&) override {}  // Whom it concerns has been told.

  Peer& peer_of(ProcessId process) {
    const auto found = peers.find(process);
    SEAWAY_CHECK(found != peers.end() && found->second.port, process, options.self);
    return found->second;
  }
  kj::Promise<void> after(std::uint64_t pause_ns) { return loop.state().after(pause_ns); }
  Line make_line(kj::Own<kj::AsyncIoStream> stream, Caller caller) {
    return std::make_shared<SocketLine>(kj::mv(stream), std::move(caller), lines);
  }

  // Those that others make.
  kj::Promise<void> accept_all(Listener& listener);
  void accept(Listener::Accepted&& stranger, bool is_tls);
  kj::Promise<Result<Frame>> hear_stranger(Listener::Accepted&& stranger, bool is_tls,
                                           std::shared_ptr<Line> line);
  void hear_introduction(const Line& line, const Result<Frame>& frame);
  void answer(const Line& line, Frame question);
  void admit(const Line& line, const Introduction& introduction);
  void admit_data(const Line& line, ProcessId process);
  Status check_talk(const Line& line, const Introduction& introduction);
  void refuse(const Line& line, Status why);
  void say_last(const Line& line, const Welcome& welcome);
  void drop_what_comes(const Line& line);
  kj::Promise<void> drain(Line line);
  void cut_later(const Line& line);

  // Those that this process makes.
  bool is_current(ProcessId process, std::uint64_t attempt) {
    const auto found = peers.find(process);  // None: it was forgotten.
    return found != peers.end() && found->second.attempt == attempt;
  }
  void begin(ProcessId process);
  void drop_attempt(Peer& peer);
  void look_for(ProcessId process, std::uint64_t attempt);
  kj::Promise<void> reach(ProcessId process, std::uint64_t attempt, std::string address);
  kj::Promise<void> introduce(ProcessId process, std::uint64_t attempt, Line line);
  void hear_welcome(ProcessId process, std::uint64_t attempt, const Line& line,
                    const Result<Frame>& frame);
  void fail(ProcessId process, std::uint64_t attempt, Status why, bool is_refusal);
  void try_again(ProcessId process, std::uint64_t attempt, std::uint64_t pause_ns);

  // Open ones.
  void open(ProcessId process, Peer& peer, const Line& line);
  void leave(Peer& peer);
  kj::Promise<void> read(Line line);
  void ended(const Line& line);
  void write(Line line);
  void write_soon(const Line& line);

  IoLoop& loop;
  const SocketOptions options;
  const SocketHandlers handlers;
  Counts counts;
  std::size_t lines = 0;
  // Have not said who they are. Whoever is on a network takes no place of this machine's files.
  std::size_t local_strangers = 0, far_strangers = 0;
  std::size_t leaving = 0;  // Are told why they are refused.
  std::uint64_t last_attempt = 0;
  std::list<Listener> listeners;
  std::map<ProcessId, Peer> peers;
  kj::TaskSet tasks;  // Ends first.
};

// ---- Those that others make ----

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
  std::size_t& strangers = stranger.caller.is_local ? local_strangers : far_strangers;
  if (strangers >= options.strangers_max) {
    const Status full = resource_exhausted(
        std::to_string(strangers) + " of " + std::to_string(options.strangers_max) +
        " connections have not said who they are; try again, or raise "
        "SocketOptions::strangers_max");
    // Over TLS nothing can be said before hands are shaken.
    if (!is_tls) return refuse(make_line(kj::mv(stranger.stream), stranger.caller), full);
    ++counts.refused;
    if (handlers.refused) handlers.refused(stranger.caller, full);
    return;
  }
  ++strangers;
  const auto caller = stranger.caller;
  const auto line = std::make_shared<Line>();
  auto frame =
      hear_stranger(kj::mv(stranger), is_tls, line)
          .exclusiveJoin(after(options.introduction_ns).then([this]() -> Result<Frame> {
            return deadline_exceeded("nobody was introduced within " +
                                     std::to_string(options.introduction_ns / 1'000'000) + " ms");
          }));
  tasks.add(frame.then([this, line, caller, &strangers](Result<Frame>&& heard) {
    --strangers;
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
    expect_descriptor(*(*line)->stream);
    return receive_frame(*(*line)->stream, options.introduction_bytes_max);
  }
  auto shaken = shake_hands(*options.credentials.tls, kj::mv(stranger.stream), "");
  return shaken.then([this, line, caller = std::move(stranger.caller)](
                         TlsOutcome&& outcome) mutable -> kj::Promise<Result<Frame>> {
    KJ_IF_MAYBE (stream, outcome.stream) {
      caller.is_encrypted = true;
      caller.certificate = outcome.peer.role;
      caller.certificate_end_s = outcome.peer.end_s;
      *line = make_line(kj::mv(*stream), std::move(caller));
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
  if (leaving >= options.strangers_max) return line->cut();
  line->leaves.emplace(leaving);
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
  tasks.add(drain(line));
}

kj::Promise<void> SocketWires::State::drain(Line line) {
  auto count = read_some(*line->stream, line->read_bytes.get(), 1, kDroppedBytes);
  return count.catch_([](kj::Exception&&) { return std::size_t{0}; })
      .then([this, line](std::size_t bytes) -> kj::Promise<void> {
        if (bytes > 0) return drain(line);
        line->is_over = true;
        return kj::READY_NOW;
      });
}

void SocketWires::State::cut_later(const Line& line) {
  tasks.add(after(options.introduction_ns).then([late = std::weak_ptr(line)]() {
    if (const Line still_here = late.lock()) still_here->cut();
  }));
}

// ---- Those that this process makes ----

void SocketWires::State::begin(ProcessId process) {
  Peer& peer = peer_of(process);
  if (peer.line) leave(peer);
  drop_attempt(peer);
  peer.is_refusal_told = false;
  peer.attempt = ++last_attempt;
  peer.failures = 0;
  tasks.add(
      kj::evalLater([this, process, attempt = peer.attempt]() { look_for(process, attempt); }));
}

/// Before anything else is agreed on: the other end may look whether it is still there.
void SocketWires::State::drop_attempt(Peer& peer) {
  peer.attempt = 0;
  if (const Line line = std::exchange(peer.introduced, nullptr)) line->cut();
}

void SocketWires::State::look_for(ProcessId process, std::uint64_t attempt) {
  if (!is_current(process, attempt)) return;
  const auto found = [here = weak_from_this(), process, attempt](Result<std::string> address) {
    const auto state = here.lock();
    if (!state || !state->is_current(process, attempt)) return;
    if (!address.ok()) return state->fail(process, attempt, address.status(), false);
    state->tasks.add(state->reach(process, attempt, std::move(*address)));
  };
  if (!handlers.find) return found(not_found("nobody looks for addresses here"));
  handlers.find(process, found);
  loop.state().notice();
}

kj::Promise<void> SocketWires::State::reach(ProcessId process, std::uint64_t attempt,
                                            std::string address) {
  auto reached =
      dial(loop, address, options.credentials.tls).then([this, process, attempt](Dialed&& dialed) {
        if (!is_current(process, attempt)) return kj::Promise<void>(kj::READY_NOW);
        KJ_IF_MAYBE (stream, dialed.stream) {
          return introduce(process, attempt, make_line(kj::mv(*stream), {}));
        }
        fail(process, attempt, std::move(dialed.status), dialed.is_refused);
        return kj::Promise<void>(kj::READY_NOW);
      });
  auto late = after(options.introduction_ns).then([this, process, attempt, address]() {
    if (is_current(process, attempt)) {
      fail(process, attempt, deadline_exceeded(address + " says nothing"), false);
    }
  });
  return reached.exclusiveJoin(kj::mv(late))
      .catch_([this, process, attempt](kj::Exception&& exception) {
        if (!is_current(process, attempt)) return;
        fail(process, attempt, {StatusCode::kHostLost, exception.getDescription().cStr()}, false);
      });
}

kj::Promise<void> SocketWires::State::introduce(ProcessId process, std::uint64_t attempt,
                                                Line line) {
  peer_of(process).introduced = line;
  Introduction introduction{options.cluster, Talk{options.self, process}};
  introduction.pass = options.pass;
  introduction.life = options.life;
  // Who refuses at once may have hung up before he heard it, but not before he said why.
  return send_frame(*line->stream, introduction_frame(introduction))
      .catch_([](kj::Exception&&) {})
      .then([line]() { return receive_frame(*line->stream, kWelcomeBytesMax); })
      .then([this, process, attempt, line](Result<Frame>&& frame) {
        if (is_current(process, attempt)) hear_welcome(process, attempt, line, frame);
      });
}

void SocketWires::State::hear_welcome(ProcessId process, std::uint64_t attempt, const Line& line,
                                      const Result<Frame>& frame) {
  if (!frame.ok()) return fail(process, attempt, frame.status(), false);
  const Result<Welcome> welcome = read_welcome(*frame);
  if (!welcome.ok()) return fail(process, attempt, welcome.status(), true);
  switch (welcome->kind) {
    case Welcome::Kind::kTalk:
      ++counts.connected;
      peer_of(process).introduced = nullptr;
      return open(process, peer_of(process), line);
    case Welcome::Kind::kCrossed:
      peer_of(process).introduced = nullptr;
      return try_again(process, attempt, options.again_ns);
    case Welcome::Kind::kAnswer:
      return fail(process, attempt, protocol_error("an answer to what was no question"), true);
    case Welcome::Kind::kRefused:
      break;
  }
  const bool is_full = welcome->refusal.code() == StatusCode::kResourceExhausted;
  fail(process, attempt, welcome->refusal, !is_full);
}

void SocketWires::State::fail(ProcessId process, std::uint64_t attempt, Status why,
                              bool is_refusal) {
  Peer& peer = peer_of(process);
  ++counts.failed;
  peer.failure = std::move(why);
  if (const Line line = std::exchange(peer.introduced, nullptr)) line->cut();
  // One that is dying may take a connection that it never answers, and refuses the next.
  const std::uint64_t soon_ns = kSoonNs << std::min(peer.failures++, 16u);
  // Who listens nowhere yet looks for this one himself as soon as he does, if he can find it.
  const bool is_sought = !options.listen.empty() && peer.failure.code() == StatusCode::kNotFound;
  const auto later_ns = is_refusal ? options.again_ns : std::min(soon_ns, options.again_ns);
  try_again(process, attempt, is_sought ? kUnknownTimes * options.again_ns : later_ns);
  if (!is_refusal || std::exchange(peer.is_refusal_told, true)) return;
  const auto port = peer.port;
  port->on_refused();
  loop.state().notice();
}

void SocketWires::State::try_again(ProcessId process, std::uint64_t attempt,
                                   std::uint64_t pause_ns) {
  tasks.add(after(pause_ns).then([this, process, attempt]() { look_for(process, attempt); }));
}

// ---- Open ones ----

void SocketWires::State::open(ProcessId process, Peer& peer, const Line& line) {
  peer.attempt = 0;
  peer.failure = {};
  peer.line = line;
  line->peer = process;
  line->read_bytes = std::make_unique<std::byte[]>(SocketLine::kReadBytes);
  tasks.add(kj::evalLater([this, line]() { return read(line); }));
  const auto port = peer.port;
  port->on_connected();
  loop.state().notice();
}

/// This end is closed; what waits still leaves, and the other end then hangs up.
void SocketWires::State::leave(Peer& peer) {
  const Line line = std::exchange(peer.line, nullptr);
  if (!line) return;
  line->is_over = true;
  // These wires may end before the turn does.
  if (line->is_gathering) write(line);
  if (!line->is_writing) line->end_writing();
  cut_later(line);
}

kj::Promise<void> SocketWires::State::read(Line line) {
  auto count = read_some(*line->stream, line->read_bytes.get(), 1, SocketLine::kReadBytes);
  return count.then(
      [this, line](std::size_t bytes) -> kj::Promise<void> {
        if (bytes == 0) {
          ended(line);
          return kj::READY_NOW;
        }
        if (!line->is_over) {
          counts.read += bytes;
          const auto port = peer_of(line->peer).port;
          port->on_bytes({line->read_bytes.get(), bytes});
          loop.state().notice();
        }
        return read(line);
      },
      [this, line](kj::Exception&&) -> kj::Promise<void> {
        ended(line);
        return kj::READY_NOW;
      });
}

void SocketWires::State::ended(const Line& line) {
  line->cut();
  if (std::exchange(line->is_over, true)) return;
  Peer& peer = peer_of(line->peer);
  peer.line = nullptr;
  const auto port = peer.port;
  port->on_closed();
  loop.state().notice();
}

/// All that waits, at once.
void SocketWires::State::write(Line line) {
  line->is_gathering = false;
  line->is_writing = !line->unwritten.empty();
  if (!line->is_writing) {
    if (line->is_over) line->end_writing();
    return;
  }
  auto bytes = std::exchange(line->unwritten, {});
  ++counts.writes;
  counts.written += std::exchange(line->unwritten_bytes, 0);
  auto pieces = kj::heapArray<kj::ArrayPtr<const kj::byte>>(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    pieces[i] = {reinterpret_cast<const kj::byte*>(bytes[i].data()), bytes[i].size()};
  }
  auto written = kj::evalNow([&line, &pieces]() { return line->stream->write(pieces); });
  // The reader sees that it is cut, and tells.
  tasks.add(written.attach(kj::mv(pieces), kj::mv(bytes))
                .then([this, line]() { write(line); }, [line](kj::Exception&&) { line->cut(); }));
}

/// Once the owner has had his turn: what he says in one go leaves in one go, and wakes its reader
/// once.
void SocketWires::State::write_soon(const Line& line) {
  if (line->is_writing) return;
  line->is_writing = line->is_gathering = true;
  tasks.add(kj::evalLater([this, line]() {
    if (line->is_gathering) write(line);
  }));
}

// ---- What owners call ----

SocketWires::SocketWires(std::shared_ptr<State> state) : state_(std::move(state)) {}
SocketWires::~SocketWires() = default;

Result<std::unique_ptr<SocketWires>> SocketWires::make(IoLoop& loop, SocketOptions options,
                                                       SocketHandlers handlers) {
  auto state = std::make_shared<State>(loop, std::move(options), std::move(handlers));
  const auto& tls = state->options.credentials.tls;
  for (const std::string& address : split_addresses(state->options.listen)) {
    auto listener = Listener::make(loop, address);
    if (!listener.ok()) return listener.status();
    if (listener->is_tls() && (!tls || !tls->can_listen())) {
      return invalid_argument("to listen at " + address +
                              " this process needs the certificate of the cluster's authority and "
                              "one of its own, with its key: ca_file, cert_file, key_file");
    }
    state->listeners.push_back(std::move(*listener));
    state->tasks.add(state->accept_all(state->listeners.back()));
  }
  return std::unique_ptr<SocketWires>(new SocketWires(std::move(state)));
}

std::string SocketWires::address() const {
  std::vector<std::string> all;
  for (const Listener& listener : state_->listeners) all.push_back(listener.address());
  return join_addresses(all);
}

void SocketWires::attach(ProcessId self, ProcessId peer, WirePort port) {
  SEAWAY_CHECK(self == state_->options.self && peer != self, self, peer);
  State::Peer& found = state_->peers[peer];
  if (found.line) state_->leave(found);
  found.port = std::make_shared<const WirePort>(std::move(port));
}

void SocketWires::connect(ProcessId, ProcessId peer) { state_->begin(peer); }

void SocketWires::write(ProcessId, ProcessId peer, std::vector<std::byte> bytes) {
  const Line line = state_->peer_of(peer).line;
  if (!line || bytes.empty()) return;
  line->push(std::move(bytes));
  // Too much waits for who does not read.
  if (line->unwritten_bytes > state_->options.unwritten_bytes_max) return line->cut();
  state_->write_soon(line);
  if (line->is_gathering && line->unwritten_bytes >= kGatheredBytesMax) state_->write(line);
}

void SocketWires::close(ProcessId, ProcessId peer) {
  State::Peer& found = state_->peer_of(peer);
  state_->drop_attempt(found);
  state_->leave(found);
}

void SocketWires::forget(ProcessId, ProcessId peer) {
  const auto found = state_->peers.find(peer);
  if (found == state_->peers.end()) return;
  state_->drop_attempt(found->second);
  state_->leave(found->second);
  state_->peers.erase(found);
}

Status SocketWires::failure(ProcessId peer) const { return state_->peer_of(peer).failure; }
/// What it may not do now it may do later; but whoever is nobody here stays nobody.
bool SocketWires::is_barred(ProcessId, ProcessId peer) const {
  return failure(peer).code() == StatusCode::kUnauthenticated;
}
const SocketWires::Counts& SocketWires::counts() const { return state_->counts; }

}  // namespace seaway::transport
