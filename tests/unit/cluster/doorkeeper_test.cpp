// Who is let in, as whom, and what he may.

#include "cluster/doorkeeper.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace seaway::cluster {
namespace {

using actor::Role;
using transport::Caller;
using transport::TokenRole;
using transport::TokenStore;
using Kind = Identity::Kind;

class DoorkeeperTest : public testing::Test {
 protected:
  std::string issue(const TokenStore::Terms& terms) {
    std::array<std::byte, transport::kTokenBytes> random{};
    random[0] = std::byte(++issued_);
    const std::string token = store_.issue(terms, random).value();
    doorkeeper_.use(store_);
    return token;
  }
  static Caller from(const std::string& host) {
    Caller caller;
    caller.host = host;
    caller.name = host + ":40000";
    caller.is_encrypted = true;
    return caller;
  }
  static Caller with_token(const std::string& token, const std::string& host = "10.0.0.7") {
    Caller caller = from(host);
    caller.token = token;
    return caller;
  }
  static Caller with_certificate(const std::string& role) {
    Caller caller = from("10.0.0.7");
    caller.certificate = role;
    caller.certificate_end_s = 2000;
    return caller;
  }
  StatusCode code_of(const Caller& caller) { return doorkeeper_.enter(caller).status().code(); }

  ManualClock clock_;
  std::uint64_t now_s_ = 1000;
  TokenStore store_;
  Doorkeeper doorkeeper_{clock_, [this] { return now_s_; }};
  int issued_ = 0;
};

TEST_F(DoorkeeperTest, TheOwnUserOfAUnixSocketMayAllAndAnotherOneNothing) {
  Caller own;
  own.is_local = own.is_own_user = true;
  own.user = 1000;
  Caller other = own;
  other.is_own_user = false;

  const auto identity = doorkeeper_.enter(own);

  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->kind, Kind::kOwner);
  EXPECT_EQ(identity->tenant, "");
  EXPECT_TRUE(Doorkeeper::may_enrol(*identity, {Role::kHost, 1}).ok());
  EXPECT_TRUE(Doorkeeper::may_stop(*identity).ok());
  EXPECT_EQ(code_of(other), StatusCode::kPermissionDenied);
}

TEST_F(DoorkeeperTest, ATokenSaysWhoItsHolderIs) {
  const auto client = doorkeeper_.enter(with_token(issue({.tenant = "ann"})));
  const auto worker =
      doorkeeper_.enter(with_token(issue({.tenant = "ops", .role = TokenRole::kWorker})));
  const auto admin =
      doorkeeper_.enter(with_token(issue({.tenant = "ops", .role = TokenRole::kAdmin})));

  ASSERT_TRUE(client.ok() && worker.ok() && admin.ok());
  EXPECT_EQ(client->kind, Kind::kClient);
  EXPECT_EQ(client->tenant, "ann");
  EXPECT_TRUE(Doorkeeper::may_enrol(*client, {Role::kClient, 0}).ok());
  for (const RoleName& role : {RoleName{Role::kHost, 0}, RoleName{Role::kIsland, 0},
                               RoleName{Role::kAnnex, actor::annex_of(0, 1)}}) {
    EXPECT_EQ(Doorkeeper::may_enrol(*client, role).code(), StatusCode::kPermissionDenied);
    EXPECT_EQ(Doorkeeper::may_enrol(*admin, role).code(), StatusCode::kPermissionDenied);
    EXPECT_TRUE(Doorkeeper::may_enrol(*worker, role).ok());
  }
  EXPECT_FALSE(Doorkeeper::may_enrol(*worker, {Role::kClient, 0}).ok());
  EXPECT_FALSE(Doorkeeper::may_stop(*client).ok() || Doorkeeper::may_stop(*worker).ok());
  EXPECT_TRUE(Doorkeeper::may_stop(*admin).ok());
  EXPECT_FALSE(Doorkeeper::may_work(*client).ok() || Doorkeeper::may_work(*admin).ok());
  EXPECT_TRUE(Doorkeeper::may_work(*worker).ok());
}

TEST_F(DoorkeeperTest, ACertificateSaysWhoItsHolderIs) {
  EXPECT_EQ(doorkeeper_.enter(with_certificate("controller"))->kind, Kind::kWorker);
  EXPECT_EQ(doorkeeper_.enter(with_certificate("worker/17"))->kind, Kind::kWorker);
  EXPECT_EQ(doorkeeper_.enter(with_certificate("admin/root"))->kind, Kind::kAdmin);
  const auto client = doorkeeper_.enter(with_certificate("client/ann/laptop"));
  EXPECT_EQ(client->kind, Kind::kClient);
  EXPECT_EQ(client->tenant, "ann");
  const auto host = doorkeeper_.enter(with_certificate("host/1"));
  ASSERT_TRUE(host.ok());
  EXPECT_TRUE(Doorkeeper::may_enrol(*host, {Role::kHost, 1}).ok());
  EXPECT_FALSE(Doorkeeper::may_enrol(*host, {Role::kHost, 2}).ok());
  EXPECT_FALSE(Doorkeeper::may_enrol(*host, {Role::kIsland, 1}).ok());
  EXPECT_TRUE(Doorkeeper::may_enrol(*host, {Role::kAnnex, actor::annex_of(1, 2)}).ok());
  EXPECT_FALSE(Doorkeeper::may_enrol(*host, {Role::kAnnex, actor::annex_of(2, 1)}).ok());
  for (const char* unknown : {"host/", "host/x", "host/1/2", "workers", "controller/1", "king"}) {
    EXPECT_EQ(code_of(with_certificate(unknown)), StatusCode::kPermissionDenied) << unknown;
  }
}

TEST_F(DoorkeeperTest, WhoShowsNothingOrAnotherTokenIsNotKnown) {
  issue({.tenant = "ann"});

  EXPECT_EQ(code_of(from("10.0.0.7")), StatusCode::kUnauthenticated);
  EXPECT_EQ(code_of(with_token("swt_" + std::string(43, 'A'))), StatusCode::kUnauthenticated);
}

TEST_F(DoorkeeperTest, WhoIsRefusedDoesNotLearnWhyAndTheLogDoes) {
  const std::string revoked = issue({.tenant = "ann"});
  ASSERT_TRUE(store_.revoke(store_.records()[0].id).ok());
  const std::string expired = issue({.tenant = "ann", .expiry_s = 1000});

  const Status one = doorkeeper_.enter(with_token(revoked)).status();
  const std::string why = doorkeeper_.take_why();
  const Status other = doorkeeper_.enter(with_token(expired)).status();

  EXPECT_EQ(one, other);
  EXPECT_NE(why.find("revoked"), std::string::npos) << why;
  EXPECT_NE(doorkeeper_.take_why().find("expired"), std::string::npos);
  EXPECT_EQ(doorkeeper_.take_why(), "");
}

TEST_F(DoorkeeperTest, AnAddressHasSoManyTriesAndWhatIsRightCountsAllTheSame) {
  const std::string token = issue({.tenant = "ann"});
  const auto message_of = [this](const Caller& caller) {
    return doorkeeper_.enter(caller).status().message();
  };
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(message_of(with_token("swt_x")).find("try again in"), std::string::npos) << i;
    EXPECT_NE(doorkeeper_.take_why(), "");
  }

  EXPECT_NE(message_of(with_token("swt_x")).find("try again in"), std::string::npos);
  EXPECT_EQ(doorkeeper_.take_why(), "");
  EXPECT_EQ(message_of(with_token("swt_x", "10.0.0.8")).find("try again in"), std::string::npos);
  EXPECT_TRUE(doorkeeper_.enter(with_token(token)).ok());
}

TEST_F(DoorkeeperTest, ASessionEndsWithItsTokenOrItsCertificate) {
  const auto revoked = doorkeeper_.enter(with_token(issue({.tenant = "ann"})));
  const auto timed = doorkeeper_.enter(with_token(issue({.tenant = "ann", .expiry_s = 1010})));
  const auto certificate = doorkeeper_.enter(with_certificate("client/ann"));
  ASSERT_TRUE(doorkeeper_.check(*revoked).ok() && doorkeeper_.check(*timed).ok());
  ASSERT_TRUE(doorkeeper_.check(*certificate).ok());

  ASSERT_TRUE(store_.revoke(store_.records()[0].id).ok());
  doorkeeper_.use(store_);
  now_s_ = 1009;
  EXPECT_EQ(doorkeeper_.check(*revoked).code(), StatusCode::kUnauthenticated);
  EXPECT_TRUE(doorkeeper_.check(*timed).ok());
  now_s_ = 1010;
  EXPECT_NE(doorkeeper_.check(*timed).message().find("has expired"), std::string::npos);
  now_s_ = 1999;
  EXPECT_TRUE(doorkeeper_.check(*certificate).ok());
  now_s_ = 2000;
  EXPECT_FALSE(doorkeeper_.check(*certificate).ok());
  doorkeeper_.use({});
  EXPECT_FALSE(doorkeeper_.check(*timed).ok());
}

TEST_F(DoorkeeperTest, AQuotaIsTheSmallestOfActiveTokens) {
  issue({.tenant = "ann", .quota_bytes = 300});
  issue({.tenant = "ann", .quota_bytes = 200});
  issue({.tenant = "ann"});
  issue({.tenant = "bob", .quota_bytes = 100});

  EXPECT_EQ(doorkeeper_.quota_of("ann"), 200u);
  EXPECT_EQ(doorkeeper_.quota_of("carl"), 0u);
  ASSERT_TRUE(store_.revoke(store_.records()[1].id).ok());
  doorkeeper_.use(store_);
  EXPECT_EQ(doorkeeper_.quota_of("ann"), 300u);
}

}  // namespace
}  // namespace seaway::cluster
