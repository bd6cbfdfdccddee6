// Certificates: a cluster's own authority, and what its processes show each other over TLS.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::transport {

/// A certificate and its private key, both PEM.
struct CertifiedKey {
  std::string certificate;
  std::string key;  // Secret.
};

struct CertificateLimits {
  static constexpr std::size_t kClusterLettersMax = 63;
  static constexpr std::size_t kRoleLettersMax = 128;
  static constexpr std::size_t kNamesMax = 64;  // DNS names and IP addresses together.
  static constexpr std::size_t kNameLettersMax = 253;
  static constexpr std::size_t kPemBytesMax = std::size_t{64} << 10;
  /// Clocks of machines that meet differ: what is issued counts from so long ago.
  static constexpr std::uint64_t kSkewSeconds = 300;
};

constexpr std::uint64_t kDaySeconds = 86'400;

struct AuthorityOptions {
  std::string cluster;                         // a..z, 0..9 and '-'.
  std::uint64_t now_s = 0;                     // Seconds of UTC.
  std::uint64_t lasts_s = 3652 * kDaySeconds;  // Ten years.
};

struct CertificateOptions {
  /// What the holder is in the cluster: "controller", "worker/17", "client/ann". Of a..z, 0..9,
  /// '_',
  /// '-' and '.', in parts with '/' between them.
  std::string role;
  std::vector<std::string> dns_names =
      {};  // Where it is reached; "*.example.org" for a first part.
  std::vector<std::string> ip_addresses = {};  // "10.0.0.7", "fe80::1".
  std::uint64_t now_s = 0;
  std::uint64_t lasts_s = 365 * kDaySeconds;
};

/// What a certificate says.
struct CertificateFacts {
  std::string cluster;
  std::string role;  // Empty: of the authority.
  std::vector<std::string> dns_names, ip_addresses;
  std::uint64_t first_s = 0, end_s = 0;  // Valid from the one on, and until just before the other.
};

/// A private authority (EC P-256) that signs certificates of one cluster and nothing else, with a
/// key from OpenSSL's generator. Errors: kInvalidArgument for a name or times that cannot be.
Result<CertifiedKey> make_authority(const AuthorityOptions& options);

/// A new key, and a certificate of it for both ends of TLS, with the URI seaway://CLUSTER/ROLE
/// among its names. Errors: kInvalidArgument for options that cannot be, for an authority that is
/// none or whose key is another one, and when it would outlive the authority.
Result<CertifiedKey> issue_certificate(const CertifiedKey& authority,
                                       const CertificateOptions& options);

/// Whether `authority`, a certificate in PEM, has signed `certificate`, which is valid at `now_s`;
/// and what it says. Errors: kInvalidArgument for what is no PEM; kUnauthenticated with the reason.
Result<CertificateFacts> check_certificate(std::string_view certificate, std::string_view authority,
                                           std::uint64_t now_s);

/// What a certificate says, whoever signed it. kInvalidArgument for what is no certificate, or one
/// that names no cluster.
Result<CertificateFacts> read_certificate(std::string_view certificate);

}  // namespace seaway::transport
