// Small files of people's.

#include "cluster/credentials.hpp"

#include <filesystem>

#include "base/real_disk.hpp"
#include "transport/token.hpp"

namespace seaway::cluster {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_small(const std::string& path) {
  const fs::path whole = fs::absolute(path);
  RealDisk disk(whole.parent_path());
  const auto file = disk.open(whole.filename().string(), OpenMode::kExisting);
  if (!file.ok()) {
    return Status(StatusCode::kNotFound, "cannot read " + path + ": " + file.status().message());
  }
  constexpr std::size_t kMax = transport::CertificateLimits::kPemBytesMax;
  const auto bytes = (*file)->read(0, kMax + 1);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() > kMax) {
    return invalid_argument(path + " has more than " + std::to_string(kMax) +
                            " bytes, which neither a token nor a certificate has");
  }
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

/// What nobody else is to know.
Result<std::string> read_secret(const std::string& path) {
  std::error_code error;
  const fs::perms rights = fs::status(path, error).permissions();
  if (!error && (rights & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none) {
    return Status(StatusCode::kPermissionDenied,
                  "other users may open " + path + ", which is a secret: chmod 600 it");
  }
  return read_small(path);
}

}  // namespace

Result<transport::TlsFiles> load_tls_files(const CredentialFiles& files) {
  transport::TlsFiles read;
  if (files.certificate.empty() != files.key.empty()) {
    return invalid_argument("cert_file and key_file come together: name both or neither");
  }
  auto authority = read_small(files.authority);
  if (!authority.ok()) return authority.status();
  read.authority = std::move(*authority);
  if (files.certificate.empty()) return read;
  auto certificate = read_small(files.certificate);
  if (!certificate.ok()) return certificate.status();
  auto key = read_secret(files.key);
  if (!key.ok()) return key.status();
  read.own = {std::move(*certificate), std::move(*key)};
  return read;
}

Result<transport::Credentials> load_credentials(const CredentialFiles& files) {
  transport::Credentials credentials;
  if (!files.token.empty()) {
    auto text = read_secret(files.token);
    if (!text.ok()) return text.status();
    credentials.token = text->substr(0, text->find_first_of(" \t\r\n"));
    if (credentials.token.size() != transport::kTokenLetters) {
      return invalid_argument(files.token + " begins with a word of " +
                              std::to_string(credentials.token.size()) + " letters; a token has " +
                              std::to_string(transport::kTokenLetters));
    }
  }
  if (files.authority.empty()) {
    if (files.certificate.empty() && files.key.empty()) return credentials;
    return invalid_argument(
        "a certificate is of use to those who know its authority: name the "
        "authority's, too, by ca_file");
  }
  const auto read = load_tls_files(files);
  if (!read.ok()) return read.status();
  auto tls = transport::Tls::make(*read);
  if (!tls.ok()) return tls.status();
  credentials.tls = std::move(*tls);
  return credentials;
}

}  // namespace seaway::cluster
