// Certificates for tests of real connections, valid today: OpenSSL looks at the clock of the
// system.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "transport/certificates.hpp"
#include "transport/tls.hpp"

namespace seaway::transport {

inline std::uint64_t today_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}
/// One for all tests that do not change it: keys take time.
inline const CertifiedKey& test_authority() {
  static const CertifiedKey made = make_authority({.cluster = "blue", .now_s = today_s()}).value();
  return made;
}

/// Reached at 127.0.0.1, and by the name "localhost".
inline CertificateOptions certificate_of(const std::string& role) {
  return {
      .role = role, .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}, .now_s = today_s()};
}
inline std::shared_ptr<Tls> make_tls(const CertificateOptions& options,
                                     const CertifiedKey& issuer = test_authority(),
                                     const CertifiedKey& trusted = test_authority()) {
  return Tls::make({trusted.certificate, issue_certificate(issuer, options).value()}).value();
}
inline std::shared_ptr<Tls> make_tls(const std::string& role) {
  return make_tls(certificate_of(role));
}
/// That only calls, and shows nothing.
inline std::shared_ptr<Tls> make_caller_tls(const CertifiedKey& trusted = test_authority()) {
  return Tls::make({trusted.certificate, {}}).value();
}

}  // namespace seaway::transport
