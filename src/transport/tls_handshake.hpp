// How a stream becomes one end of a TLS connection.

#pragma once

#include <kj/async-io.h>

#include <string>

#include "seaway/status.hpp"
#include "transport/certificates.hpp"
#include "transport/data_socket.hpp"
#include "transport/tls.hpp"

namespace seaway::transport {

/// One end of a connection after its handshake.
struct TlsOutcome {
  kj::Maybe<kj::Own<kj::AsyncIoStream>> stream;
  Status status;  // Why there is none.
  /// What the other end's certificate says. Of a caller who has shown none: empty.
  CertificateFacts peer;
  /// 32 bytes that only the two ends know, and that no other connection has (RFC 5705).
  std::string channel;
};

/// Shakes hands over `stream`. `host` is a name or an address that the certificate of the other end
/// has to bear; empty: this end is the one that was called. Never fails: kUnauthenticated for a
/// certificate that is missing, foreign, expired or of another host; kProtocolError for what is no
/// TLS 1.3; kHostLost when the other end hangs up. Sets no deadline.
///
/// The stream's end without the farewell of TLS fails a read, as a cut by somebody else would be.
/// Its descriptor is that of `stream`.
kj::Promise<TlsOutcome> shake_hands(const Tls& tls, kj::Own<kj::AsyncIoStream> stream,
                                    std::string host);

/// Whether it comes from shake_hands().
bool is_tls(kj::AsyncIoStream& stream);
/// Goes on with what `stream` was, which does nothing more, over `socket`; see take_socket().
Result<std::unique_ptr<DataSocket>> take_tls(kj::AsyncIoStream& stream, Descriptor socket);

}  // namespace seaway::transport
