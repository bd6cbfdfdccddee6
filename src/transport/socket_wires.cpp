// Connections to peers: who makes them, who keeps them, and what goes over them.

#include "transport/socket_wires.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "transport/address_text.hpp"
#include "transport/introduction.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_wires_state.hpp"

namespace seaway::transport {
namespace {
constexpr std::size_t kGatheredBytesMax = std::size_t{64} << 10;
constexpr std::uint64_t kSoonNs = 2'000'000;  // Doubled from try to try, up to again_ns.
constexpr std::uint64_t kUnknownTimes = 5;    // So many again_ns, of peers that listen nowhere yet.
}  // namespace

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
  if (line->reader) line->reader->is_authenticated = true;
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
