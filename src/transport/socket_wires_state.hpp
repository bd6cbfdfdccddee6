// SocketWires::State: all connections of a process; socket_callers.cpp has those that others make,
// socket_wires.cpp its own ones and those that are open.

#pragma once

#include <kj/async.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "transport/caller_places.hpp"
#include "transport/introduction.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_line.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::transport {

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
        local_callers(options.strangers_max),
        remote_callers(options.strangers_max),
        leaving(options.strangers_max),
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
  kj::Promise<void> drain(Line line, std::size_t left);
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
  // Have not said who they are. A caller on a network takes no place of one on a Unix socket.
  CallerPlaces local_callers, remote_callers;
  CallerPlaces leaving;  // Are told why they are refused.
  std::uint64_t last_attempt = 0;
  std::list<Listener> listeners;
  std::map<ProcessId, Peer> peers;
  kj::TaskSet tasks;  // Ends first.
};

}  // namespace seaway::transport
