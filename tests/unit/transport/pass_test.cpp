// Passes: who has one, and what it is for.

#include "transport/pass.hpp"

#include <gtest/gtest.h>

namespace seaway::transport {
namespace {

const std::string kKey(kPassKeyBytes, 'k');
constexpr PassHolder kHolder{.cluster = 7, .process = 3, .life = 2};

TEST(Pass, IsForOneLifeOfOneProcessOfOneCluster) {
  const std::string pass = make_pass(kKey, kHolder);

  EXPECT_EQ(pass.size(), kPassBytes);
  EXPECT_TRUE(check_pass(kKey, kHolder, pass));
  EXPECT_FALSE(check_pass(kKey, {.cluster = 8, .process = 3, .life = 2}, pass));
  EXPECT_FALSE(check_pass(kKey, {.cluster = 7, .process = 4, .life = 2}, pass));
  EXPECT_FALSE(check_pass(kKey, {.cluster = 7, .process = 3, .life = 1}, pass));
}

TEST(Pass, NamesOneTenant) {
  PassHolder holder = kHolder;
  holder.tenant = tenant_key("ann");
  const std::string pass = make_pass(kKey, holder);
  PassHolder other = kHolder;
  other.tenant = tenant_key("bob");
  std::string forged = pass;
  forged.replace(0, sizeof(TenantKey), make_pass(kKey, other), 0, sizeof(TenantKey));

  EXPECT_TRUE(check_pass(kKey, kHolder, pass)) << "who checks it does not know the tenant";
  EXPECT_EQ(tenant_of_pass(pass), tenant_key("ann"));
  EXPECT_EQ(tenant_of_pass(forged), tenant_key("bob"));
  EXPECT_FALSE(check_pass(kKey, kHolder, forged));
  EXPECT_NE(tenant_key("ann"), tenant_key("bob"));
  EXPECT_NE(tenant_key(""), kNoTenant);
}

TEST(Pass, IsOfOneKey) {
  const std::string pass = make_pass(kKey, kHolder);

  EXPECT_FALSE(check_pass(std::string(kPassKeyBytes, 'l'), kHolder, pass));
}

TEST(Pass, OfAnotherLengthOrWithAChangedBitIsNone) {
  const std::string pass = make_pass(kKey, kHolder);
  std::string changed = pass;
  changed.back() ^= 1;

  for (const std::string& wrong : {std::string(), pass.substr(1), pass + "x", changed}) {
    EXPECT_FALSE(check_pass(kKey, kHolder, wrong)) << wrong.size();
  }
}

TEST(Pass, WithoutAKeyThereIsNone) {
  EXPECT_FALSE(check_pass("", kHolder, make_pass("", kHolder)));
}

TEST(Pass, KeysDiffer) { EXPECT_NE(make_pass_key(), make_pass_key()); }

TEST(TokenBinding, IsOfOneTokenAndOneConnection) {
  const std::string binding = bind_token("token", "channel");

  EXPECT_TRUE(is_bound("token", "channel", binding));
  EXPECT_FALSE(is_bound("token", "another channel", binding));
  EXPECT_FALSE(is_bound("another token", "channel", binding));
  EXPECT_FALSE(is_bound("token", "channel", ""));
}

}  // namespace
}  // namespace seaway::transport
