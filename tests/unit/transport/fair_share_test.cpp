// Who sends next.

#include "transport/fair_share.hpp"

#include <gtest/gtest.h>

#include <map>

namespace seaway::transport {
namespace {

/// Bytes of each tenant after `turns` chunks of drawn lengths.
std::map<std::uint32_t, std::uint64_t> send(FairShare& share, int turns) {
  std::map<std::uint32_t, std::uint64_t> sent;
  for (int turn = 0; turn < turns; ++turn) {
    const std::uint32_t tenant = *share.next();
    const std::uint64_t bytes = 1000 + 977 * static_cast<std::uint64_t>(turn) % 4000;
    share.charge(tenant, bytes);
    sent[tenant] += bytes;
  }
  return sent;
}

TEST(FairShare, NobodySendsWhoHasNothing) {
  FairShare share;
  EXPECT_EQ(share.next(), std::nullopt);
  share.begin(3);
  share.begin(3);
  share.end(3);
  EXPECT_EQ(share.next(), 3u);
  share.end(3);
  EXPECT_EQ(share.next(), std::nullopt);
}

TEST(FairShare, BytesGoByWeight) {
  FairShare share;
  share.set_weight(1, 3);
  share.begin(1);
  share.begin(2);
  const auto sent = send(share, 4000);
  const double ratio = static_cast<double>(sent.at(1)) / static_cast<double>(sent.at(2));
  EXPECT_NEAR(ratio, 3.0, 0.02);
}

TEST(FairShare, WhoComesLaterNeitherOwesNorIsOwedAnything) {
  FairShare share;
  share.begin(1);
  send(share, 1000);
  share.begin(2);
  const auto sent = send(share, 1000);
  EXPECT_NEAR(static_cast<double>(sent.at(1)), static_cast<double>(sent.at(2)), 10'000);
}

TEST(FairShare, AWeightOfNothingIsOne) {
  FairShare share;
  share.set_weight(1, 0);
  share.begin(1);
  share.begin(2);
  const auto sent = send(share, 1000);
  EXPECT_NEAR(static_cast<double>(sent.at(1)), static_cast<double>(sent.at(2)), 10'000);
}

}  // namespace
}  // namespace seaway::transport
