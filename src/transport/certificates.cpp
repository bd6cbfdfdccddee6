// X.509 over OpenSSL's C interface: every object has an owner, and every failure a sentence.

#include "transport/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>

namespace seaway::transport {
namespace {

using Limits = CertificateLimits;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bytes = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using Store = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;
using Time = std::unique_ptr<ASN1_TIME, Freed<ASN1_TIME_free>>;

constexpr std::string_view kScheme = "seaway://";
/// The last second of the year 9999, after which X.509 has no times.
constexpr std::uint64_t kLastSecond = 253'402'300'799;

/// What OpenSSL says about the last failure; its list of them is empty afterwards.
std::string why() {
  std::array<char, 256> text{};
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "OpenSSL gives no reason";
  ERR_error_string_n(error, text.data(), text.size());
  return text.data();
}

/// Memory, or a system without a generator: nothing that the caller has said is wrong.
Status failed(std::string_view what) {
  return resource_exhausted("cannot " + std::string(what) + ": " + why());
}

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_cluster(std::string_view text) {
  return !text.empty() && text.size() <= Limits::kClusterLettersMax &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_role(std::string_view text) {
  if (text.empty() || text.size() > Limits::kRoleLettersMax) return false;
  if (text.front() == '/' || text.back() == '/' || text.find("//") != text.npos) return false;
  return std::ranges::all_of(text, [](char c) {
    return is_lower_or_digit(c) || c == '/' || c == '_' || c == '-' || c == '.';
  });
}

bool is_dns_name(std::string_view text) {
  if (text.size() > Limits::kNameLettersMax) return false;
  if (text.starts_with("*.")) text.remove_prefix(2);
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  if (text.find("..") != text.npos) return false;
  return std::ranges::all_of(text, [](char c) {
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
  });
}

std::string quoted(std::string_view text) {
  std::string result(text.substr(0, 80));
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return "'" + result + "'";
}

Status check_times(std::uint64_t now_s, std::uint64_t lasts_s) {
  if (lasts_s > 0 && now_s <= kLastSecond && lasts_s <= kLastSecond - now_s) return {};
  return invalid_argument(
      "a certificate lasts for at least a second and until the year 9999 at most");
}

// -- PEM
// -------------------------------------------------------------------------------------------

Bytes bytes_of(std::string_view text) {
  if (text.size() > Limits::kPemBytesMax) return nullptr;
  return Bytes(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}
static_assert(Limits::kPemBytesMax <= INT_MAX);

std::string text_of(BIO* bytes) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bytes, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

/// A key with a passphrase is no key here: nobody is asked for it.
int no_passphrase(char*, int, int, void*) { return -1; }

Result<Certificate> read_pem_certificate(std::string_view text, std::string_view what) {
  const Bytes bytes = bytes_of(text);
  Certificate certificate(bytes ? PEM_read_bio_X509(bytes.get(), nullptr, no_passphrase, nullptr)
                                : nullptr);
  if (certificate) return certificate;
  ERR_clear_error();
  return invalid_argument(std::string(what) + " is no certificate in PEM of at most " +
                          std::to_string(Limits::kPemBytesMax) + " bytes");
}

Result<Key> read_pem_key(std::string_view text) {
  const Bytes bytes = bytes_of(text);
  Key key(bytes ? PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_passphrase, nullptr) : nullptr);
  if (key) return key;
  ERR_clear_error();
  return invalid_argument("the authority's key is no key in PEM without a passphrase, of at most " +
                          std::to_string(Limits::kPemBytesMax) + " bytes");
}

Result<CertifiedKey> to_pem(X509* certificate, EVP_PKEY* key) {
  const Bytes first(BIO_new(BIO_s_mem())), second(BIO_new(BIO_s_mem()));
  if (!first || !second || PEM_write_bio_X509(first.get(), certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(second.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return failed("write a certificate");
  }
  return CertifiedKey{text_of(first.get()), text_of(second.get())};
}

// -- What is signed
// --------------------------------------------------------------------------------

bool set_time(ASN1_TIME* target, std::uint64_t seconds) {
  return ASN1_TIME_set(target, static_cast<time_t>(seconds)) != nullptr;
}

/// 127 random bits: nobody can foresee a number, and no two are alike.
bool set_serial(X509* certificate) {
  std::array<unsigned char, 16> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return false;
  random[0] &= 0x7f;
  random[0] |= 0x40;  // Of a fixed length, and never zero.
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(
      BN_bin2bn(random.data(), static_cast<int>(random.size()), nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_subject(X509* certificate, const std::string& name) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  // A common name has at most 64 letters; who is meant is said by the URI.
  const std::string common = name.substr(0, 64);
  return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common.data()),
                                    static_cast<int>(common.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

/// Not by way of OpenSSL's configuration language, in which a comma begins another name.
bool add_name(GENERAL_NAMES* names, int kind, const std::string& text) {
  GENERAL_NAME* const name = GENERAL_NAME_new();
  if (name == nullptr) return false;
  ASN1_STRING* const value = kind == GEN_IPADD ? a2i_IPADDRESS(text.c_str()) : ASN1_IA5STRING_new();
  const bool is_set =
      value != nullptr && (kind == GEN_IPADD ||
                           ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) == 1);
  if (!is_set) {
    ASN1_STRING_free(value);
    GENERAL_NAME_free(name);
    return false;
  }
  GENERAL_NAME_set0_value(name, kind, value);
  if (sk_GENERAL_NAME_push(names, name) > 0) return true;
  GENERAL_NAME_free(name);
  return false;
}

struct Unsigned {
  std::string subject, uri;
  std::vector<std::string> dns_names, ip_addresses;
  std::uint64_t first_s = 0, end_s = 0;
  bool is_authority = false;
};

bool fill(X509* certificate, X509* issuer, EVP_PKEY* key, const Unsigned& options) {
  const Names names(GENERAL_NAMES_new());
  bool is_named = names && add_name(names.get(), GEN_URI, options.uri);
  for (const std::string& name : options.dns_names) {
    is_named = is_named && add_name(names.get(), GEN_DNS, name);
  }
  for (const std::string& address : options.ip_addresses) {
    is_named = is_named && add_name(names.get(), GEN_IPADD, address);
  }
  return is_named && X509_set_version(certificate, X509_VERSION_3) == 1 &&
         set_serial(certificate) && set_subject(certificate, options.subject) &&
         X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
         set_time(X509_getm_notBefore(certificate), options.first_s) &&
         set_time(X509_getm_notAfter(certificate), options.end_s) &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1 &&
         add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
         add_extension(certificate, issuer, NID_basic_constraints,
                       options.is_authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") &&
         add_extension(
             certificate, issuer, NID_key_usage,
             options.is_authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
         // After that of the subject, from which the authority takes its own.
         add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always") &&
         (options.is_authority ||
          add_extension(certificate, issuer, NID_ext_key_usage, "serverAuth,clientAuth"));
}

/// Signed by `issuer` and its key; by itself when there is none.
Result<CertifiedKey> sign(const Unsigned& options, X509* issuer, EVP_PKEY* issuer_key) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return failed("make a key");
  if (issuer == nullptr) issuer = certificate.get();
  if (issuer_key == nullptr) issuer_key = key.get();
  if (!fill(certificate.get(), issuer, key.get(), options) ||
      X509_sign(certificate.get(), issuer_key, EVP_sha256()) == 0) {
    return failed("make a certificate");
  }
  return to_pem(certificate.get(), key.get());
}

// -- What is read
// ----------------------------------------------------------------------------------

Result<std::uint64_t> seconds_of(const ASN1_TIME* time) {
  const Time start(ASN1_TIME_set(nullptr, 0));
  int days = 0, seconds = 0;
  if (!start || ASN1_TIME_diff(&days, &seconds, start.get(), time) != 1 || days < 0 ||
      seconds < 0) {
    ERR_clear_error();
    return invalid_argument("the certificate has a time before 1970, or none");
  }
  return static_cast<std::uint64_t>(days) * kDaySeconds + static_cast<std::uint64_t>(seconds);
}

std::string address_text(const ASN1_OCTET_STRING* address) {
  const unsigned char* const bytes = ASN1_STRING_get0_data(address);
  const int size = ASN1_STRING_length(address);
  std::array<char, 8> part{};
  std::string text;
  if (size == 4) {
    for (int index = 0; index < size; ++index) {
      text += (index > 0 ? "." : "") + std::to_string(bytes[index]);
    }
    return text;
  }
  for (int index = 0; index + 1 < size; index += 2) {
    std::snprintf(part.data(), part.size(), "%x", bytes[index] << 8 | bytes[index + 1]);
    text += (index > 0 ? ":" : "") + std::string(part.data());
  }
  return text;
}

/// "seaway://CLUSTER/ROLE", or "seaway://CLUSTER" of an authority. False: it is something else.
bool read_uri(std::string_view uri, CertificateFacts& facts) {
  if (!uri.starts_with(kScheme)) return false;
  uri.remove_prefix(kScheme.size());
  const std::string_view cluster = uri.substr(0, uri.find('/'));
  if (!is_cluster(cluster)) return false;
  const bool has_role = cluster.size() < uri.size();
  const std::string_view role = has_role ? uri.substr(cluster.size() + 1) : std::string_view();
  if (has_role && !is_role(role)) return false;
  facts.cluster = cluster;
  facts.role = role;
  return true;
}

Result<CertificateFacts> facts_of(X509* certificate) {
  CertificateFacts facts;
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  int uris = 0;
  for (int index = 0; names && index < sk_GENERAL_NAME_num(names.get()); ++index) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), index);
    int kind = 0;
    const auto* const value = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(name, &kind));
    const auto text = [value] {
      return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                         static_cast<std::size_t>(ASN1_STRING_length(value)));
    };
    if (kind == GEN_URI && read_uri(text(), facts)) ++uris;
    if (kind == GEN_DNS) facts.dns_names.push_back(text());
    if (kind == GEN_IPADD) facts.ip_addresses.push_back(address_text(value));
  }
  ERR_clear_error();
  if (uris != 1) {
    return invalid_argument("the certificate does not name one seaway://CLUSTER/ROLE");
  }
  const auto first = seconds_of(X509_get0_notBefore(certificate));
  if (!first.ok()) return first.status();
  const auto last = seconds_of(X509_get0_notAfter(certificate));
  if (!last.ok()) return last.status();
  facts.first_s = *first;
  facts.end_s = *last;
  return facts;
}

Status check_options(const CertificateOptions& options) {
  if (!is_role(options.role)) {
    return invalid_argument(quoted(options.role) +
                            " is no role: 1 to 128 of a..z, 0..9, '_', '-' and '.', in parts with "
                            "'/' between them, as in worker/17");
  }
  if (options.dns_names.size() + options.ip_addresses.size() > Limits::kNamesMax) {
    return invalid_argument("a certificate has at most " + std::to_string(Limits::kNamesMax) +
                            " names and addresses, not " +
                            std::to_string(options.dns_names.size() + options.ip_addresses.size()));
  }
  for (const std::string& name : options.dns_names) {
    if (!is_dns_name(name)) return invalid_argument(quoted(name) + " is no DNS name");
  }
  for (const std::string& address : options.ip_addresses) {
    const std::unique_ptr<ASN1_OCTET_STRING, Freed<ASN1_OCTET_STRING_free>> parsed(
        address.find('\0') == address.npos ? a2i_IPADDRESS(address.c_str()) : nullptr);
    ERR_clear_error();
    if (!parsed) return invalid_argument(quoted(address) + " is no IP address");
  }
  return check_times(options.now_s, options.lasts_s);
}

std::uint64_t first_second(std::uint64_t now_s) {
  return now_s - std::min(now_s, Limits::kSkewSeconds);
}

}  // namespace

Result<CertifiedKey> make_authority(const AuthorityOptions& options) {
  if (!is_cluster(options.cluster)) {
    return invalid_argument(quoted(options.cluster) +
                            " is no name of a cluster: 1 to 63 of a..z, 0..9 and '-'");
  }
  if (Status status = check_times(options.now_s, options.lasts_s); !status.ok()) return status;
  const Unsigned authority = {.subject = "Seaway " + options.cluster,
                              .uri = std::string(kScheme) + options.cluster,
                              .dns_names = {},
                              .ip_addresses = {},
                              .first_s = first_second(options.now_s),
                              .end_s = options.now_s + options.lasts_s,
                              .is_authority = true};
  return sign(authority, nullptr, nullptr);
}

Result<CertifiedKey> issue_certificate(const CertifiedKey& authority,
                                       const CertificateOptions& options) {
  if (Status status = check_options(options); !status.ok()) return status;
  const auto issuer = read_pem_certificate(authority.certificate, "the authority");
  if (!issuer.ok()) return issuer.status();
  const auto key = read_pem_key(authority.key);
  if (!key.ok()) return key.status();
  const auto facts = facts_of(issuer->get());
  if (!facts.ok()) return facts.status();
  if (X509_check_ca(issuer->get()) == 0 || !facts->role.empty()) {
    return invalid_argument("this is no authority but the certificate of " + facts->role);
  }
  if (X509_check_private_key(issuer->get(), key->get()) != 1) {
    ERR_clear_error();
    return invalid_argument("the authority's certificate and key do not belong together");
  }
  const std::uint64_t end_s = options.now_s + options.lasts_s;
  if (end_s > facts->end_s || options.now_s < facts->first_s) {
    return invalid_argument(
        "the certificate would be valid when its authority is not, which has " +
        std::to_string((facts->end_s - std::min(facts->end_s, options.now_s)) / kDaySeconds) +
        " days left; ask for fewer, or make another authority");
  }
  const Unsigned certificate = {.subject = options.role,
                                .uri = std::string(kScheme) + facts->cluster + "/" + options.role,
                                .dns_names = options.dns_names,
                                .ip_addresses = options.ip_addresses,
                                .first_s = std::max(first_second(options.now_s), facts->first_s),
                                .end_s = end_s,
                                .is_authority = false};
  return sign(certificate, issuer->get(), key->get());
}

Result<CertificateFacts> read_certificate(std::string_view certificate) {
  const auto read = read_pem_certificate(certificate, "what was given");
  if (!read.ok()) return read.status();
  return facts_of(read->get());
}

Result<CertificateFacts> check_certificate(std::string_view certificate, std::string_view authority,
                                           std::uint64_t now_s) {
  const auto leaf = read_pem_certificate(certificate, "what was given");
  if (!leaf.ok()) return leaf.status();
  const auto root = read_pem_certificate(authority, "the authority");
  if (!root.ok()) return root.status();
  const auto of_root = facts_of(root->get());
  if (!of_root.ok()) return of_root.status();
  const Store store(X509_STORE_new());
  const StoreContext context(X509_STORE_CTX_new());
  if (!store || !context || X509_STORE_add_cert(store.get(), root->get()) != 1 ||
      X509_STORE_CTX_init(context.get(), store.get(), leaf->get(), nullptr) != 1) {
    return failed("check a certificate");
  }
  X509_VERIFY_PARAM* const parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(parameters, static_cast<time_t>(std::min(now_s, kLastSecond)));
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT);
  if (X509_verify_cert(context.get()) != 1) {
    const int error = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return Status{
        StatusCode::kUnauthenticated,
        "the certificate is not accepted: " + std::string(X509_verify_cert_error_string(error))};
  }
  auto facts = facts_of(leaf->get());
  if (facts.ok() && facts->cluster != of_root->cluster) {
    return Status{StatusCode::kUnauthenticated, "the certificate is of cluster " +
                                                    quoted(facts->cluster) + ", and not of " +
                                                    quoted(of_root->cluster)};
  }
  return facts;
}

}  // namespace seaway::transport
