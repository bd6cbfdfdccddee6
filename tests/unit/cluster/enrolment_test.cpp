// Who is in a cluster: lives, numbers of clients, addresses, and what is refused.

#include "cluster/enrolment.hpp"

#include <gtest/gtest.h>

#include "cluster/enrolment_messages.hpp"
#include "cluster/shape.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;

const RoleName kHost1{Role::kHost, 1};

TEST(EnrolmentMessages, SayWhatIsLeftOnAnIsland) {
  const auto left = read_left(left_frame({.slices = 1, .arrays = 2, .parts = 3, .reads = 4}));

  ASSERT_TRUE(left.ok()) << left.status().to_string();
  EXPECT_EQ(left->slices, 1u);
  EXPECT_EQ(left->arrays, 2u);
  EXPECT_EQ(left->parts, 3u);
  EXPECT_EQ(left->reads, 4u);
}

TEST(Enrolment, CountsTheLivesOfARole) {
  Enrolment enrolment(2);

  const auto first = enrolment.enrol(kHost1);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->process, process_of(kHost1, 2));
  EXPECT_EQ(first->life, 1u);
  EXPECT_EQ(enrolment.enrol(kHost1)->life, 2u);
}

TEST(Enrolment, GivesLivesThatAreLaterThanThoseOfTheControllerBefore) {
  Enrolment before(2, 1), after(2, 2);
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < Enrolment::kLivesMax; ++i) {
    const auto place = before.enrol(kHost1);
    ASSERT_TRUE(place.ok()) << i;
    ASSERT_GT(place->life, last);
    last = place->life;
  }

  EXPECT_EQ(before.enrol(kHost1).status().code(), StatusCode::kResourceExhausted);
  EXPECT_GT(after.enrol(kHost1)->life, last);
  // The last life of all has a number, too.
  Enrolment latest(2, Enrolment::kControllerLivesMax);
  EXPECT_EQ(std::uint64_t{latest.enrol(kHost1)->life} + Enrolment::kLivesMax - 1, 0xfffe'ffffu);
}

TEST(Enrolment, TakesNobodyInThePlaceOfWhoIsThere) {
  Enrolment enrolment(2);
  const auto host = enrolment.enrol(kHost1);
  enrolment.came(host->process);

  const Status refused = enrolment.enrol(kHost1).status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("the host of island 1 is there already, in its life 1"),
            std::string::npos)
      << refused.message();

  enrolment.went(host->process);
  EXPECT_EQ(enrolment.enrol(kHost1)->life, 2u);
}

TEST(Enrolment, RefusesIslandsThatAreNotThereAndSecondControllers) {
  Enrolment enrolment(2);

  const Status island = enrolment.enrol({Role::kIsland, 2}).status();
  EXPECT_EQ(island.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(island.message().find("no island 2; the cluster has islands 0 to 1"),
            std::string::npos);
  EXPECT_EQ(enrolment.enrol({Role::kController, 0}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Enrolment, HasTheAnnexesOfEachIsland) {
  Enrolment enrolment(Shape(2, 3));
  const RoleName last{Role::kAnnex, actor::annex_of(1, 2)};

  const auto place = enrolment.enrol(last);

  ASSERT_TRUE(place.ok()) << place.status().to_string();
  EXPECT_EQ(place->process, process_of(last, Shape(2, 3)));
  EXPECT_EQ(enrolment.enrol({Role::kClient, 0})->process, place->process + 1);
  const auto told = [](const Result<Enrolment::Place>& refused) {
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    return refused.status().message();
  };
  EXPECT_EQ(told(enrolment.enrol({Role::kAnnex, actor::annex_of(1, 3)})),
            "there is no host 3 of island 1; an island of this cluster has 3 hosts, 0 to 2; give "
            "the controller more with hosts");
  EXPECT_EQ(told(enrolment.enrol({Role::kAnnex, actor::annex_of(2, 1)})),
            "there is no island 2; the cluster has islands 0 to 1");
  EXPECT_EQ(told(enrolment.enrol({Role::kAnnex, actor::annex_of(1, 0)})),
            "host 0 of island 1 is no annex; an island of this cluster has 3 hosts, 0 to 2; join "
            "as the island's host");
  EXPECT_EQ(told(Enrolment(2).enrol({Role::kAnnex, actor::annex_of(1, 1)})),
            "there is no host 1 of island 1; an island of this cluster has 1 host, number 0; give "
            "the controller more with hosts");
}

TEST(Enrolment, AsksAnnexesForNativeFunctionsAsWell) {
  Enrolment enrolment(Shape(1, 2));
  const NativeName scale{"scale", 5};
  const auto host = enrolment.enrol({Role::kHost, 0});
  const auto annex = enrolment.enrol({Role::kAnnex, actor::annex_of(0, 1)});
  ASSERT_TRUE(enrolment.announce(host->process, 1, "unix:/a", {scale}).ok());
  ASSERT_TRUE(enrolment.check_native(scale).ok()) << "the annex has not said where it listens";

  ASSERT_TRUE(enrolment.announce(annex->process, 1, "unix:/b").ok());
  const Status missing = enrolment.check_native(scale);
  ASSERT_TRUE(enrolment.announce(annex->process, 1, "unix:/b", {{"scale", 6}}).ok());
  const Status other = enrolment.check_native(scale);
  ASSERT_TRUE(enrolment.announce(annex->process, 1, "unix:/b", {scale}).ok());

  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("the program of host 1 of island 0"), std::string::npos)
      << missing.message();
  EXPECT_EQ(other.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(enrolment.check_native(scale).ok());
}

TEST(Enrolment, GivesEachClientANumberThatNoOtherHasHad) {
  Enrolment enrolment(2);
  const auto one = enrolment.enrol({Role::kClient, 0});
  enrolment.came(one->process);
  enrolment.went(one->process);
  const auto two = enrolment.enrol({Role::kClient, 0});

  EXPECT_EQ(one->name.index, 1u);
  EXPECT_EQ(two->name.index, 2u);
  EXPECT_EQ(two->life, 1u);
  EXPECT_EQ(enrolment.places().size(), 1u);
  EXPECT_EQ(enrolment.admit(one->process).status().code(), StatusCode::kPermissionDenied);
  EXPECT_TRUE(enrolment.admit(two->process).ok());
}

TEST(Enrolment, HasSoManyClientsAtOnceAndNoMore) {
  Enrolment enrolment(1);
  transport::ProcessId last = 0;
  for (std::size_t i = 0; i < Enrolment::kClientsAtOnce; ++i) {
    const auto client = enrolment.enrol({Role::kClient, 0});
    ASSERT_TRUE(client.ok()) << i;
    enrolment.came(client->process);
    last = client->process;
  }

  EXPECT_EQ(enrolment.enrol({Role::kClient, 0}).status().code(), StatusCode::kResourceExhausted);
  enrolment.went(last);
  EXPECT_TRUE(enrolment.enrol({Role::kClient, 0}).ok());
}

TEST(Enrolment, FindsWhoHasSaidWhereItListensInThisLife) {
  Enrolment enrolment(2);
  const auto host = enrolment.enrol(kHost1);
  EXPECT_EQ(enrolment.find(host->process).status().code(), StatusCode::kNotFound);

  EXPECT_TRUE(enrolment.announce(host->process, 1, "unix:/run/host1.sock").ok());
  EXPECT_EQ(enrolment.find(host->process).value(), "unix:/run/host1.sock");

  EXPECT_TRUE(enrolment.enrol(kHost1).ok());
  EXPECT_FALSE(enrolment.find(host->process).ok());
  EXPECT_FALSE(enrolment.announce(host->process, 1, "unix:/run/host1.sock").ok());
  EXPECT_TRUE(enrolment.announce(host->process, 2, std::string(256, 'x')).ok());
  EXPECT_FALSE(enrolment.announce(host->process, 2, std::string(257, 'x')).ok());
  EXPECT_FALSE(enrolment.announce(host->process, 2, "").ok());
  EXPECT_FALSE(enrolment.announce(99, 1, "unix:/run/host1.sock").ok());
}

TEST(EnrolmentMessages, AreReadAsTheyWereWritten) {
  const auto enrol = read_question(to_frame(EnrolQuestion{kHost1}));
  EXPECT_EQ(std::get<EnrolQuestion>(*enrol).name, kHost1);
  const RoleName annex{Role::kAnnex, actor::annex_of(1, 1)};
  const auto of_annex = read_question(to_frame(EnrolQuestion{annex}));
  ASSERT_TRUE(of_annex.ok()) << of_annex.status().to_string();
  EXPECT_EQ(std::get<EnrolQuestion>(*of_annex).name, annex);
  const auto announce = read_question(to_frame(AnnounceQuestion{4, 7, "unix:/a"}));
  EXPECT_EQ(std::get<AnnounceQuestion>(*announce).process, 4u);
  EXPECT_EQ(std::get<AnnounceQuestion>(*announce).life, 7u);
  EXPECT_EQ(std::get<AnnounceQuestion>(*announce).address, "unix:/a");
  EXPECT_EQ(std::get<FindQuestion>(*read_question(to_frame(FindQuestion{9}))).process, 9u);
  EXPECT_TRUE(std::holds_alternative<StatusQuestion>(*read_question(to_frame(StatusQuestion{}))));
  EXPECT_TRUE(std::holds_alternative<StopQuestion>(*read_question(to_frame(StopQuestion{}))));

  const auto enrolled =
      read_enrolled(enrolled_frame({4, 1, 7, 0x123456789abcdef0, "embedded", 5, 6}));
  EXPECT_EQ(enrolled->process, 4u);
  EXPECT_EQ(enrolled->index, 1u);
  EXPECT_EQ(enrolled->life, 7u);
  EXPECT_EQ(enrolled->cluster, 0x123456789abcdef0u);
  EXPECT_EQ(enrolled->spec, "embedded");
  EXPECT_EQ(enrolled->heartbeat_ns, 5u);
  EXPECT_EQ(enrolled->silence_ns, 6u);
  EXPECT_EQ(read_address(address_frame("unix:/a")).value(), "unix:/a");
  EXPECT_EQ(read_status(status_frame("{}")).value(), "{}");
  EXPECT_TRUE(read_done(done_frame()).ok());
}

TEST(EnrolmentMessages, OfAnotherKindAreProtocolErrors) {
  EXPECT_EQ(read_enrolled(done_frame()).status().code(), StatusCode::kProtocolError);
  EXPECT_EQ(read_address(done_frame()).status().code(), StatusCode::kProtocolError);
  EXPECT_EQ(read_status(address_frame("a")).status().code(), StatusCode::kProtocolError);
  EXPECT_EQ(read_done(address_frame("a")).code(), StatusCode::kProtocolError);
  const Frame nonsense =
      Frame::make(2, [](std::span<std::uint64_t> words) { words[0] = words[1] = ~0ull; });
  EXPECT_EQ(read_question(nonsense).status().code(), StatusCode::kProtocolError);
  EXPECT_EQ(
      read_question(to_frame(EnrolQuestion{{static_cast<Role>(actor::kRoles), 0}})).status().code(),
      StatusCode::kProtocolError);
}

}  // namespace
}  // namespace seaway::cluster
