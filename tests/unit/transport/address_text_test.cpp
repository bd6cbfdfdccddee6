// Addresses as text.

#include "transport/address_text.hpp"

#include <gtest/gtest.h>

namespace seaway::transport {
namespace {

TEST(Addresses, OfAListAreToldApart) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_addresses(""), Words{});
  EXPECT_EQ(split_addresses("unix:/a,b"), Words{"unix:/a,b"});
  EXPECT_EQ(split_addresses("unix:/a,tls:0.0.0.0:7000,tcp:[::1]:1"),
            (Words{"unix:/a", "tls:0.0.0.0:7000", "tcp:[::1]:1"}));
}

TEST(Addresses, HaveHosts) {
  EXPECT_EQ(host_of("tls:[::1]:7"), "::1");
  EXPECT_EQ(host_of("tcp:localhost:7"), "localhost");
  EXPECT_EQ(host_of("unix:/a"), "");
  EXPECT_EQ(with_host("tls:0.0.0.0:7", "example.org"), "tls:example.org:7");
  EXPECT_EQ(with_host("tls:0.0.0.0:7", "fe80::1"), "tls:[fe80::1]:7");
}

TEST(Addresses, MayHaveSlashesAsPeopleWriteThem) {
  EXPECT_EQ(plain_address("tls://example.org:7"), "tls:example.org:7");
  EXPECT_EQ(plain_address("tcp://[::1]:7"), "tcp:[::1]:7");
  EXPECT_EQ(plain_address("unix://run/a"), "unix://run/a");
  EXPECT_EQ(plain_address("tls:a:7"), "tls:a:7");
}

}  // namespace
}  // namespace seaway::transport
