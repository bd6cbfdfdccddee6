// An authority for one directory.

#include "auto_tls.hpp"

#include <arpa/inet.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <span>

#include "private_files.hpp"
#include "transport/certificates.hpp"
#include "transport/token.hpp"

namespace seaway::tools {
namespace {

using transport::CertifiedKey;

bool is_there(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0;
}

Status write_pair(const std::string& path, const CertifiedKey& made) {
  if (Status status = write_private(path + ".key", made.key); !status.ok()) return status;
  return write_private(path + ".pem", made.certificate);
}

Status make_certificate(const std::string& place, const std::vector<std::string>& hosts) {
  constexpr std::size_t kMax = transport::CertificateLimits::kPemBytesMax;
  const auto certificate = read_whole(place + "/ca.pem", kMax);
  if (!certificate.ok()) return certificate.status();
  const auto key = read_whole(place + "/ca.key", kMax);
  if (!key.ok()) return key.status();
  transport::CertificateOptions options{.role = "worker/up",
                                        .dns_names = {"localhost"},
                                        .ip_addresses = {"127.0.0.1"},
                                        .now_s = now_seconds()};
  for (const std::string& host : hosts) {
    std::array<unsigned char, sizeof(in6_addr)> bytes;
    const bool is_number = ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
                           ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
    if (is_number && host != "127.0.0.1") options.ip_addresses.push_back(host);
    if (!is_number && host != "localhost") options.dns_names.push_back(host);
  }
  const auto made = transport::issue_certificate({*certificate, *key}, options);
  return made.ok() ? write_pair(place + "/worker", *made) : made.status();
}

Status make_token(const std::string& directory, const std::string& path) {
  std::array<std::byte, transport::kTokenBytes> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return resource_exhausted("the system gives no random bytes");
  }
  const auto place = place_of(directory + "/tokens");
  if (!place.ok()) return place.status();
  return transport::change_token_store(
      *place->disk, place->name, [&](transport::TokenStore& store) {
        const auto token = store.issue({.tenant = "default"}, random);
        return token.ok() ? write_private(path, *token + "\n") : token.status();
      });
}

}  // namespace

Result<AutoTls> make_auto_tls(const std::string& directory, const std::vector<std::string>& hosts) {
  const std::string place = directory + "/tls";
  if (Status status = claim_directory(place); !status.ok()) return status;
  if (!is_there(place + "/ca.pem")) {
    const auto made = transport::make_authority({.cluster = "up", .now_s = now_seconds()});
    if (!made.ok()) return made.status();
    if (Status status = write_pair(place + "/ca", *made); !status.ok()) return status;
  }
  if (!is_there(place + "/worker.pem")) {
    if (Status status = make_certificate(place, hosts); !status.ok()) return status;
  }
  const AutoTls files{place + "/ca.pem", place + "/worker.pem", place + "/worker.key",
                      place + "/client.token"};
  if (is_there(files.token)) return files;
  if (Status status = make_token(directory, files.token); !status.ok()) return status;
  return files;
}

}  // namespace seaway::tools
