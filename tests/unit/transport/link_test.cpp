// Arrival times over modelled links.

#include "transport/link.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace seaway::transport {
namespace {

TEST(LinkModel, AddsLatencyToTheTimeThatTheBytesTake) {
  LinkModel link({.latency_ns = 50'000, .bytes_per_second = 1'000'000'000});

  EXPECT_EQ(link.depart(100, 1000), 100u + 1000 + 50'000);
}

TEST(LinkModel, SendsLaterBytesBehindEarlierOnes) {
  LinkModel link({.latency_ns = 10, .bytes_per_second = 1'000'000'000});

  EXPECT_EQ(link.depart(0, 1000), 1010u);
  EXPECT_EQ(link.depart(500, 1000), 2010u);
  EXPECT_EQ(link.depart(5000, 1000), 6010u);
  EXPECT_EQ(link.bytes_sent(), 3000u);
}

TEST(LinkModel, WithoutABandwidthIsNeverBusy) {
  LinkModel link({.latency_ns = 7});

  EXPECT_EQ(link.depart(1, ~std::uint64_t{0}), 8u);
  EXPECT_EQ(link.depart(1, 1), 8u);
}

TEST(LinkModel, SaturatesInsteadOfWrappingAround) {
  LinkModel link({.latency_ns = ~std::uint64_t{0}, .bytes_per_second = 1});

  EXPECT_EQ(link.depart(1, ~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(link.depart(1, 1), ~std::uint64_t{0});
}

/// TR-1 and TR-2.
TEST(LinkModel, KeepsTheOrderAndNeverExceedsItsBandwidth) {
  LinkModel link({.latency_ns = 100, .bytes_per_second = 3'000'000});
  RandomStream random(1, 1);
  std::uint64_t now_ns = 0, last_ns = 0, bytes_total = 0;

  for (int i = 0; i < 1000; ++i) {
    now_ns += random.below(1'000'000);
    const std::uint64_t bytes = random.below(3000);
    bytes_total += bytes;
    const std::uint64_t arrival_ns = link.depart(now_ns, bytes);
    ASSERT_GE(arrival_ns, last_ns);
    ASSERT_GE(arrival_ns, now_ns + 100);
    ASSERT_GE((arrival_ns - 100) * 3, bytes_total * 1000);
    last_ns = arrival_ns;
  }
}

TEST(ClusterLinks, SharesALinkAndKeepsDirectionsApart) {
  ClusterLinks links = ClusterLinks::make(3, {.bytes_per_second = 1'000'000'000}).value();

  EXPECT_EQ(links.depart(0, 1, 0, 100), 100u);
  EXPECT_EQ(links.depart(0, 1, 0, 100), 200u);
  EXPECT_EQ(links.depart(1, 0, 0, 100), 100u);
  EXPECT_EQ(links.depart(0, 2, 0, 100), 100u);
  EXPECT_EQ(links.depart(1, 1, 5, 100), 5u);
  EXPECT_EQ(links.link(0, 1).bytes_sent(), 200u);
  EXPECT_DEATH(links.depart(3, 0, 0, 0), "from < islands_");
}

TEST(ClusterLinks, RefusesMoreIslandsThanItsLimit) {
  EXPECT_EQ(ClusterLinks::make(1025, {}).status(),
            invalid_argument("links between 1025 islands refused: at most 1024 may be in one "
                             "cluster; use fewer, larger islands"));
}

TEST(LinkOptions, AreReadFromText) {
  LinkOptions options;

  EXPECT_TRUE(set_link_option(options, "link_latency", "50us").ok());
  EXPECT_TRUE(set_link_option(options, "link_bandwidth", "1GB").ok());

  EXPECT_EQ(options, (LinkOptions{.latency_ns = 50'000, .bytes_per_second = 1'000'000'000}));
}

TEST(LinkOptions, SayWhichOptionIsWrong) {
  LinkOptions options;

  EXPECT_EQ(set_link_option(options, "link_speed", "1"),
            invalid_argument(
                "link option \"link_speed\" is unknown; known: link_latency, link_bandwidth"));
  EXPECT_EQ(set_link_option(options, "link_latency", "50"),
            invalid_argument("link_latency: duration \"50\" has no unit (known: ns, us, ms, s, "
                             "min, h, d); write for example 50us or 1.5ms"));
  EXPECT_EQ(set_link_option(options, "link_bandwidth", "").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(options, LinkOptions{});
}

}  // namespace
}  // namespace seaway::transport
