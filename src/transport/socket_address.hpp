// SocketAddress: "unix:PATH", "tls:HOST:PORT" and "tcp:HOST:PORT": sockets that listen there, and
// streams to it. What is not encrypted does not leave the machine: "tcp:" is of loopback alone.

#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>
#include <kj/io.h>

#include <cstdint>
#include <memory>
#include <string>

#include "seaway/status.hpp"
#include "transport/caller.hpp"
#include "transport/io_loop.hpp"
#include "transport/read_scheduler.hpp"
#include "transport/tls_handshake.hpp"

namespace seaway::transport {

/// A socket that listens. A Unix socket's file is its owner's alone (0600), and goes with it unless
/// somebody has put another one in its place.
class Listener {
 public:
  /// A file that nobody listens on any more is replaced. Errors: see SocketWires::make.
  static Result<Listener> make(IoLoop& loop, const std::string& address);
  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;

  /// With the port that it has.
  const std::string& address() const { return address_; }
  struct Accepted {
    kj::Own<kj::AsyncIoStream> stream;
    Caller caller;
    /// Of `stream`, until its owner has authenticated the caller.
    std::shared_ptr<ReadScheduler::Reader> reader;
  };
  /// The next one, once the loop has a turn for it: see ReadScheduler. Fails when the process may
  /// have no more descriptors.
  kj::Promise<Accepted> accept();
  /// Whoever comes is to shake hands first.
  bool is_tls() const { return address_.starts_with("tls:"); }

 private:
  Listener(IoLoop& loop, std::string address, kj::AutoCloseFd&& descriptor, std::string path);

  IoLoop& loop_;
  std::string address_;
  kj::AutoCloseFd descriptor_;
  kj::Own<kj::UnixEventPort::FdObserver> observer_;  // Ends before what it observes.
  std::string path_;  // Of a Unix socket's file, and which file that is.
  ReadScheduler::Reader reader_;
  bool is_ready_ = false;  // A connection may wait to be accepted.
  unsigned left_ = 0;      // So many more are accepted in the present turn.
  std::uint64_t device_ = 0;
  std::uint64_t file_ = 0;
};

/// What came of an attempt to reach somebody.
struct Dialed {
  kj::Maybe<kj::Own<kj::AsyncIoStream>> stream;
  Status status;             // Why there is none.
  bool is_refused = false;   // The machine says that nobody is there.
  std::string channel = {};  // Of TLS: see TlsOutcome.
};

/// Never fails; the loop outlives it. Names of hosts are looked up beside the loop. `tls` is for
/// addresses that begin so; whoever answers there shows a certificate with the address's host in
/// it, and which is not a client's.
kj::Promise<Dialed> dial(IoLoop& loop, std::string address, std::shared_ptr<const Tls> tls);

}  // namespace seaway::transport
