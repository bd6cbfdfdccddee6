// SocketAddress: "unix:PATH" and "tcp:HOST:PORT": sockets that listen there, and streams to it.

#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>
#include <kj/io.h>

#include <cstdint>
#include <string>

#include "seaway/status.hpp"
#include "transport/caller.hpp"
#include "transport/io_loop.hpp"

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
  };
  /// The next one. Fails when the process may have no more descriptors.
  kj::Promise<Accepted> accept();

 private:
  Listener(IoLoop& loop, std::string address, kj::AutoCloseFd&& descriptor, std::string path);

  IoLoop& loop_;
  std::string address_;
  kj::AutoCloseFd descriptor_;
  kj::Own<kj::UnixEventPort::FdObserver> observer_;  // Ends before what it observes.
  std::string path_;  // Of a Unix socket's file, and which file that is.
  std::uint64_t device_ = 0;
  std::uint64_t file_ = 0;
};

/// What came of an attempt to reach somebody.
struct Dialed {
  kj::Maybe<kj::Own<kj::AsyncIoStream>> stream;
  Status status;            // Why there is none.
  bool is_refused = false;  // The machine says that nobody is there.
};

/// Never fails; the loop outlives it. Names of hosts are looked up beside the loop.
kj::Promise<Dialed> dial(IoLoop& loop, std::string address);

}  // namespace seaway::transport
