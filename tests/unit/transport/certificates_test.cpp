// Certificates: chain, names, times, and what is refused.

#include "transport/certificates.hpp"

#include <gtest/gtest.h>

namespace seaway::transport {
namespace {

constexpr std::uint64_t kNow = 1'800'000'000;  // In 2027.

/// One for all tests that do not change it: keys take time.
const CertifiedKey& authority() {
  static const CertifiedKey made = make_authority({.cluster = "blue", .now_s = kNow}).value();
  return made;
}

CertificateOptions worker() { return {.role = "worker/17", .now_s = kNow}; }

std::string told(const CertificateOptions& options) {
  return issue_certificate(authority(), options).to_string();
}

TEST(Certificates, NameTheirHolderAndWhereItIsReached) {
  CertificateOptions options = worker();
  options.dns_names = {"host.example.org", "*.example.org"};
  options.ip_addresses = {"10.0.0.7", "fe80::1"};

  const auto issued = issue_certificate(authority(), options);
  ASSERT_TRUE(issued.ok()) << issued.to_string();
  const auto facts = check_certificate(issued.value().certificate, authority().certificate, kNow);

  ASSERT_TRUE(facts.ok()) << facts.to_string();
  EXPECT_EQ(facts.value().cluster, "blue");
  EXPECT_EQ(facts.value().role, "worker/17");
  EXPECT_EQ(facts.value().dns_names, options.dns_names);
  EXPECT_EQ(facts.value().ip_addresses,
            (std::vector<std::string>{"10.0.0.7", "fe80:0:0:0:0:0:0:1"}));
  EXPECT_NE(issued.value().key.find("-----BEGIN PRIVATE KEY-----"), std::string::npos);
}

TEST(Certificates, TwoOfOneHolderHaveTheirOwnKeys) {
  const auto first = issue_certificate(authority(), worker()).value();
  const auto second = issue_certificate(authority(), worker()).value();

  EXPECT_NE(first.key, second.key);
  EXPECT_NE(first.certificate, second.certificate);
}

TEST(Certificates, OfAnotherAuthorityAreRefused) {
  // Of the same name: only the key is another one.
  const auto other = make_authority({.cluster = "blue", .now_s = kNow}).value();
  const auto issued = issue_certificate(other, worker()).value();

  const auto facts = check_certificate(issued.certificate, authority().certificate, kNow);

  EXPECT_EQ(facts.status().code(), StatusCode::kUnauthenticated);
  EXPECT_TRUE(check_certificate(issued.certificate, other.certificate, kNow).ok());
}

TEST(Certificates, ThatWereChangedAreRefused) {
  std::string certificate = issue_certificate(authority(), worker()).value().certificate;
  // In the middle of the signature, which comes last.
  char& letter = certificate[certificate.size() - 60];
  letter = letter == 'A' ? 'B' : 'A';

  EXPECT_FALSE(check_certificate(certificate, authority().certificate, kNow).ok());
}

TEST(Certificates, AreValidFromFiveMinutesAgoToTheirEnd) {
  CertificateOptions options = worker();
  options.lasts_s = 1000;
  // A day after the authority was made, so that it does not begin later.
  options.now_s = kNow + kDaySeconds;
  const std::string certificate = issue_certificate(authority(), options).value().certificate;
  const auto valid = [&](std::uint64_t now_s) {
    return check_certificate(certificate, authority().certificate, now_s).to_string();
  };

  EXPECT_EQ(valid(options.now_s - 300), "OK");
  EXPECT_EQ(valid(options.now_s + 999), "OK");
  EXPECT_EQ(valid(options.now_s - 301),
            "UNAUTHENTICATED: the certificate is not accepted: certificate is not yet valid");
  EXPECT_EQ(valid(options.now_s + 1000),
            "UNAUTHENTICATED: the certificate is not accepted: certificate has expired");
  const auto facts = read_certificate(certificate).value();
  EXPECT_EQ(facts.first_s, options.now_s - 300);
  EXPECT_EQ(facts.end_s, options.now_s + 1000);
}

TEST(Certificates, OfAnAuthorityLastTenYearsAndNoLongerThanIt) {
  const auto facts = read_certificate(authority().certificate).value();
  EXPECT_EQ(facts.end_s, kNow + 3652 * kDaySeconds);
  EXPECT_EQ(facts.role, "");
  CertificateOptions options = worker();

  options.lasts_s = 3652 * kDaySeconds;
  EXPECT_EQ(told(options), "OK");
  options.lasts_s += 1;

  EXPECT_EQ(told(options),
            "INVALID_ARGUMENT: the certificate would be valid when its authority is not, which has "
            "3652 days left; ask for fewer, or make another authority");
}

TEST(Certificates, AreNoAuthorities) {
  const auto leaf = issue_certificate(authority(), worker()).value();

  EXPECT_EQ(issue_certificate(leaf, worker()).to_string(),
            "INVALID_ARGUMENT: this is no authority but the certificate of worker/17");
}

TEST(Certificates, ComeFromAnAuthorityWithItsOwnKey) {
  const auto other = make_authority({.cluster = "blue", .now_s = kNow}).value();

  EXPECT_EQ(issue_certificate({authority().certificate, other.key}, worker()).to_string(),
            "INVALID_ARGUMENT: the authority's certificate and key do not belong together");
  EXPECT_EQ(issue_certificate({"no PEM", other.key}, worker()).to_string(),
            "INVALID_ARGUMENT: the authority is no certificate in PEM of at most 65536 bytes");
  EXPECT_EQ(issue_certificate({authority().certificate, "no PEM"}, worker()).to_string(),
            "INVALID_ARGUMENT: the authority's key is no key in PEM without a passphrase, of at "
            "most 65536 bytes");
}

TEST(Certificates, AreReadToALimit) {
  // What follows the end of the first certificate is not looked at.
  std::string text = authority().certificate;
  text.resize(CertificateLimits::kPemBytesMax, '\n');

  EXPECT_TRUE(read_certificate(text).ok());
  EXPECT_FALSE(read_certificate(text + "\n").ok());
}

TEST(Certificates, ARoleIsAPathOfSmallLetters) {
  for (const char* right : {"controller", "worker/17", "client/ann.b_c-d"}) {
    EXPECT_EQ(told({.role = right, .now_s = kNow}), "OK") << right;
  }
  for (const char* wrong : {"", "/a", "a/", "a//b", "Worker", "a b", "a\n"}) {
    EXPECT_EQ(told({.role = wrong, .now_s = kNow}).substr(0, 17), "INVALID_ARGUMENT:") << wrong;
  }
  EXPECT_EQ(told({.role = std::string(128, 'a'), .now_s = kNow}), "OK");
  EXPECT_EQ(told({.role = std::string(129, 'a'), .now_s = kNow}),
            "INVALID_ARGUMENT: '" + std::string(80, 'a') +
                "' is no role: 1 to 128 of a..z, 0..9, '_', '-' and '.', in parts with '/' between "
                "them, as in worker/17");
}

TEST(Certificates, NamesAreNames) {
  const auto dns = [](std::string name) {
    return told({.role = "a", .dns_names = {std::move(name)}, .now_s = kNow});
  };
  EXPECT_EQ(dns("localhost"), "OK");
  EXPECT_EQ(dns(std::string(253, 'a')), "OK");
  EXPECT_NE(dns(std::string(254, 'a')), "OK");
  EXPECT_EQ(dns("a,URI:seaway://blue/admin"),
            "INVALID_ARGUMENT: 'a,URI:seaway://blue/admin' is no DNS name");
  for (const char* wrong : {"", "*.", "a..b", ".a", "a.", "a*b"}) EXPECT_NE(dns(wrong), "OK");
  EXPECT_EQ(told({.role = "a", .dns_names = {}, .ip_addresses = {"10.0.0"}, .now_s = kNow}),
            "INVALID_ARGUMENT: '10.0.0' is no IP address");
}

TEST(Certificates, HaveSoManyNames) {
  CertificateOptions options = worker();
  options.dns_names.assign(60, "localhost");
  options.ip_addresses.assign(4, "127.0.0.1");
  EXPECT_EQ(told(options), "OK");

  options.ip_addresses.emplace_back("127.0.0.1");

  EXPECT_EQ(told(options),
            "INVALID_ARGUMENT: a certificate has at most 64 names and addresses, not 65");
}

TEST(Certificates, AClusterHasANameOfSmallLetters) {
  EXPECT_TRUE(make_authority({.cluster = std::string(63, 'a'), .now_s = kNow}).ok());
  EXPECT_FALSE(make_authority({.cluster = std::string(64, 'a'), .now_s = kNow}).ok());
  EXPECT_EQ(make_authority({.cluster = "Blue/1", .now_s = kNow}).to_string(),
            "INVALID_ARGUMENT: 'Blue/1' is no name of a cluster: 1 to 63 of a..z, 0..9 and '-'");
  EXPECT_FALSE(make_authority({.cluster = "", .now_s = kNow}).ok());
}

TEST(Certificates, LastForASecondAtLeastAndUntilTheYear9999) {
  constexpr std::uint64_t kLast = 253'402'300'799;
  const auto lasts = [](std::uint64_t seconds) {
    return make_authority({.cluster = "a", .now_s = kNow, .lasts_s = seconds}).ok();
  };
  EXPECT_TRUE(lasts(1));
  EXPECT_FALSE(lasts(0));
  EXPECT_TRUE(lasts(kLast - kNow));
  EXPECT_FALSE(lasts(kLast - kNow + 1));
  EXPECT_FALSE(lasts(~std::uint64_t{0}));
}

}  // namespace
}  // namespace seaway::transport
