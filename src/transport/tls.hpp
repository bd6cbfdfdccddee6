// Tls: connections that nobody else reads or changes, whose ends show certificates of one cluster.

#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "seaway/status.hpp"
#include "transport/certificates.hpp"

namespace seaway::transport {

/// PEM texts. A certificate and its key come together; without them a process can only call, and is
/// known by something else.
struct TlsFiles {
  std::string authority;  // Who alone is trusted to sign the certificates of others.
  CertifiedKey own;
};

/// What one process needs for all its TLS connections: TLS 1.3 and nothing older, no tickets, no
/// other authority than its cluster's. Thread-safe.
class Tls {
 public:
  /// Errors: kInvalidArgument for what is no PEM, or for a key that is another certificate's.
  static Result<std::shared_ptr<Tls>> make(const TlsFiles& files);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  /// Connections that begin from now on use these. After an error they use what they did.
  Status reload(const TlsFiles& files);
  /// Whether it has a certificate to show, without which nobody can be answered.
  bool can_listen() const;

  struct Context;
  std::shared_ptr<const Context> context() const;

 private:
  explicit Tls(std::shared_ptr<const Context> context);
  mutable std::mutex mutex_;
  std::shared_ptr<const Context> context_;
};

}  // namespace seaway::transport
