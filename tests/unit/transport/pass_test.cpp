// Passes: who has one, and what it is for.

#include "transport/pass.hpp"

#include <gtest/gtest.h>

namespace seaway::transport {
namespace {

const std::string kKey(kPassBytes, 'k');
constexpr PassHolder kHolder{.cluster = 7, .process = 3, .life = 2};

TEST(Pass, IsForOneLifeOfOneProcessOfOneCluster) {
  const std::string pass = make_pass(kKey, kHolder);

  EXPECT_EQ(pass.size(), kPassBytes);
  EXPECT_TRUE(check_pass(kKey, kHolder, pass));
  EXPECT_FALSE(check_pass(kKey, {.cluster = 8, .process = 3, .life = 2}, pass));
  EXPECT_FALSE(check_pass(kKey, {.cluster = 7, .process = 4, .life = 2}, pass));
  EXPECT_FALSE(check_pass(kKey, {.cluster = 7, .process = 3, .life = 1}, pass));
}

TEST(Pass, IsOfOneKey) {
  const std::string pass = make_pass(kKey, kHolder);

  EXPECT_FALSE(check_pass(std::string(kPassBytes, 'l'), kHolder, pass));
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
