// SocketWires: the connections of a real process: Unix sockets on one machine, TLS between
// machines.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "seaway/status.hpp"
#include "transport/caller.hpp"
#include "transport/io_loop.hpp"
#include "transport/memory_file.hpp"
#include "transport/wires.hpp"

namespace seaway::transport {

class DataSocket;

/// Of ask(): who answers more is not heard.
constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;

struct SocketOptions {
  ProcessId self = 0;
  /// A process talks with those of its own cluster only. 0: it only asks.
  std::uint64_t cluster = 0;
  /// "unix:PATH", "tls:HOST:PORT", "tcp:HOST:PORT" of this machine (port 0: the system chooses
  /// one), or several with commas between them; empty: nobody can connect.
  std::string listen;
  /// What it shows to whom it calls, and for "tls:" to whom it listens to.
  Credentials credentials = {};
  /// What it shows to peers.
  std::string pass = {};
  std::uint32_t life = 0;
  std::uint64_t introduction_ns = 5'000'000'000;  // A connection says so soon who it is.
  std::uint64_t guess_ns = 100'000'000;           // Before who is not known is told so.
  std::uint64_t again_ns = 100'000'000;           // Before it tries to reach an absent peer again.
  /// Connections that have not said who they are, over Unix sockets, and as many over networks; so
  /// many that are told why they are refused. Each shared out by address: see CallerPlaces.
  std::size_t strangers_max = 64;
  std::size_t connections_max = 4096;
  std::size_t introduction_bytes_max = std::size_t{64} << 10;
  /// What a caller sends after his introduction and before he is let in; with more, his connection
  /// ends.
  std::size_t dropped_bytes_max = 4096;
  std::size_t answer_bytes_max = kAnswerBytesMax;
  /// What waits to be written to one connection; with more, it ends.
  std::size_t unwritten_bytes_max = std::size_t{256} << 20;
};

/// By which a question is answered: once, with words and, within one machine, with memory that is
/// handed over with them.
class Answering {
 public:
  using Take = std::function<void(Result<Frame>, std::shared_ptr<const MemoryFile>)>;
  explicit Answering(Take take) : take_(std::move(take)) {}

  void operator()(Result<Frame> words, std::shared_ptr<const MemoryFile> memory = nullptr) const {
    take_(std::move(words), std::move(memory));
  }

 private:
  Take take_;
};

/// What the process decides about its connections. Called from the loop.
struct SocketHandlers {
  /// May `caller` talk as `peer`? An error is told him, and the connection ends. A peer that was
  /// never attached is attached within this call, or it is refused.
  std::function<Status(ProcessId peer, const Caller& caller)> admit;
  /// Answers a question that came on a connection of its own; once, now or later.
  std::function<void(const Caller& caller, Frame question, Answering done)> answer;
  /// Of a connection that somebody else has made: it is told `why` it ends, or, before TLS, it just
  /// ends. May be empty.
  std::function<void(const Caller& caller, const Status& why)> refused = {};
  /// A connection of `peer`, which may talk, that is for data alone. Empty: such are refused.
  std::function<void(ProcessId peer, std::unique_ptr<DataSocket> socket)> data = {};
  /// Where `peer` listens now; an error: nobody knows. Called before each attempt to connect.
  std::function<void(ProcessId peer, std::function<void(Result<std::string>)>)> find;
};

/// One process's connections. See Wires; `self` is always this process.
///
/// Either end may connect. When both do at once, the attempt of the larger id stays: it does not
/// admit another one meanwhile, and the smaller one drops its own for it. A peer where nobody of
/// that id listens, or who refuses this process, is refused (on_refused, once for each connect()),
/// and then tried again after 2 ms, 4 ms and so on, at last each `again_ns`, until it is there or
/// is closed. A peer that nobody finds, or whose limits are reached, is waited for in silence; the
/// former is looked for more rarely by who listens himself, as it will look for that one.
///
/// On each connection whoever made it says first who it is: a frame of schema Introduction, no
/// longer than `introduction_bytes_max`, within `introduction_ns` (with the handshake of TLS), and
/// is answered with a Welcome. Then bytes go both ways as they are, or, after a question, the
/// connection ends.
///
/// What was written before close() still leaves, for at most `introduction_ns`.
///
/// All from the loop's thread; loop and handlers outlive it. It does not end within a call of a
/// port or of a handler.
class SocketWires final : public Wires {
 public:
  /// Listens at once. The file of a Unix socket is its user's alone (0600), and one that nobody
  /// listens on any more is replaced. Errors: kInvalidArgument for an address that is none, or
  /// which is not to be had on this machine, or for TLS without a certificate; kResourceExhausted
  /// where somebody listens already, or the system has no more to give; kPermissionDenied. Each
  /// names the address.
  static Result<std::unique_ptr<SocketWires>> make(IoLoop& loop, SocketOptions options,
                                                   SocketHandlers handlers);
  ~SocketWires() override;

  /// Where it listens, with the ports that it has: "tcp:127.0.0.1:4711"; several as in
  /// SocketOptions::listen. Empty: nowhere.
  std::string address() const;

  void attach(ProcessId self, ProcessId peer, WirePort port) override;
  void connect(ProcessId self, ProcessId peer) override;
  void write(ProcessId self, ProcessId peer, std::vector<std::byte> bytes) override;
  void close(ProcessId self, ProcessId peer) override;
  void forget(ProcessId self, ProcessId peer) override;
  bool goes_on_looking() const override { return true; }

  /// Why the last attempt to reach `peer` came to nothing; ok: none did.
  Status failure(ProcessId peer) const;
  bool is_barred(ProcessId self, ProcessId peer) const override;

  struct Counts {
    std::uint64_t accepted = 0, refused = 0, answered = 0;  // Of those that others made.
    std::uint64_t dropped = 0;  // Bytes that those sent after their introduction, of no use.
    std::uint64_t connected = 0, failed = 0;  // Of own attempts.
    std::uint64_t written = 0, read = 0;      // Bytes.
    std::uint64_t writes = 0;                 // To the system, of all write() calls.
  };
  const Counts& counts() const;

  struct State;

 private:
  explicit SocketWires(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Asks whoever listens at `address` one question, on a connection of its own. `done` is called
/// once from the loop, unless that ends first: with the answer, or with an error: kHostLost where
/// nobody listens, kDeadlineExceeded after `most_ns`, kResourceExhausted for an answer above
/// kAnswerBytesMax, kUnauthenticated for certificates that do not go together, or what was
/// answered.
void ask(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
         std::uint64_t most_ns, std::function<void(Result<Frame>)> done,
         const Credentials& shown = {});

/// The same of a process of this machine, which hands its memory over with the answer. Errors too:
/// kNotFound when it has not; kProtocolError and kResourceExhausted as map_memory().
void ask_memory(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
                std::uint64_t most_ns, std::function<void(Result<SharedRegion>)> done);

/// The same of a process of this machine, which is handed `given` with the question.
void ask_with(IoLoop& loop, const std::string& address, std::uint64_t cluster, Frame question,
              std::shared_ptr<const Descriptor> given, std::uint64_t most_ns,
              std::function<void(Result<Frame>)> done);

/// Connects to `address` as `talk.from`, which shows `pass`, for data alone. `done` is called once
/// from the loop, unless that ends first. Errors as ask(), and what was answered.
struct DataCall {
  ProcessId from = 0, to = 0;
  std::uint64_t cluster = 0;
  std::string pass = {};
  std::uint32_t life = 0;
};
void call_for_data(IoLoop& loop, const std::string& address, const DataCall& call,
                   std::uint64_t most_ns,
                   std::function<void(Result<std::unique_ptr<DataSocket>>)> done,
                   const Credentials& shown = {});

}  // namespace seaway::transport
