// What a client may send to silos of other processes, kind by kind.

#include "app/client_envelopes.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace seaway::app {
namespace {

constexpr std::uint32_t kHosts = 4;
constexpr ClientPeer kPeer{.client = 3, .silo = kHosts + 3, .tenant = 77};
constexpr std::uint64_t kOwn = std::uint64_t{kPeer.silo} << kSiloShift | 1;
constexpr std::uint64_t kForeign = std::uint64_t{kPeer.silo + 1} << kSiloShift | 1;

std::shared_ptr<const internal::MeshInfo> mesh(std::uint64_t id = kOwn) {
  auto mesh = std::make_shared<internal::MeshInfo>();
  mesh->id = id;
  mesh->owner_silo = static_cast<SiloId>(id >> kSiloShift);
  mesh->client = kPeer.client;
  mesh->tenant = kPeer.tenant;
  return mesh;
}

/// One of each kind as an honest client sends it.
Envelope honest(Kind kind) {
  Envelope envelope;
  envelope.kind = kind;
  envelope.from = kPeer.silo;
  envelope.member = {kOwn, 0};
  envelope.parcel = std::make_shared<Parcel>();
  envelope.parcel->mesh = mesh();
  auto death = std::make_shared<Death>();
  death->member = {kOwn, 0};
  envelope.parcel->death = death;
  envelope.parcel->is_root = true;
  if (kind == Kind::kForward) envelope.number = 1;
  return envelope;
}

Status authorize(Envelope envelope) {
  Batch batch;
  batch.from = kPeer.silo;
  batch.envelopes.push_back(std::move(envelope));
  return authorize_client_batch(batch, kPeer, kHosts);
}

bool may(const Envelope& envelope) { return authorize(envelope).ok(); }

/// The kinds by which members answer, hosts report and the hub replies.
const std::set<Kind> kOfOthers = {Kind::kReply,    Kind::kItem,      Kind::kCredit,
                                  Kind::kPartial,  Kind::kStarted,   Kind::kDeath,
                                  Kind::kSnapshot, Kind::kPublished, Kind::kFound};

TEST(ClientEnvelopes, KindsOfMembersAndHostsAreRefused) {
  for (int number = 0; number <= static_cast<int>(Kind::kFound); ++number) {
    const auto kind = static_cast<Kind>(number);

    EXPECT_EQ(may(honest(kind)), !kOfOthers.contains(kind)) << to_string(kind);
  }
  EXPECT_EQ(authorize(honest(Kind::kReply)).message(),
            "client 3 may not send envelopes of kind reply");
}

TEST(ClientEnvelopes, EveryEnvelopeActsForTheTenant) {
  Batch batch;
  batch.from = kPeer.silo;
  Envelope forged = honest(Kind::kCall);
  forged.tenant = 78;
  batch.envelopes = {forged, honest(Kind::kFind)};

  ASSERT_TRUE(authorize_client_batch(batch, kPeer, kHosts).ok());

  for (const Envelope& one : batch.envelopes) EXPECT_EQ(one.tenant, kPeer.tenant);
}

TEST(ClientEnvelopes, NoCallIsMadeInAnothersName) {
  Envelope call = honest(Kind::kCall), once = call;
  call.sender = {kForeign, 1};
  once.is_once = true;
  once.request_id = kForeign;

  EXPECT_FALSE(may(call));
  EXPECT_FALSE(may(once));
  once.request_id = kOwn;
  EXPECT_TRUE(may(once));
}

TEST(ClientEnvelopes, ArgumentsAreOfOwnCalls) {
  Envelope argument = honest(Kind::kArgument);
  argument.from = kPeer.silo + 1;

  EXPECT_EQ(authorize(argument).message(),
            "client 3 may not name origin 8 in an envelope of kind argument");
}

TEST(ClientEnvelopes, ForwardsAndTreesEndAtHosts) {
  for (const std::uint64_t silo : {std::uint64_t{0}, std::uint64_t{kHosts} + 1, UINT64_MAX}) {
    Envelope forward = honest(Kind::kForward);
    forward.number = silo;
    Envelope child = honest(Kind::kCombine), parent = child;
    child.parcel = std::make_shared<Parcel>(*child.parcel);
    child.parcel->children = {static_cast<SiloId>(silo)};
    parent.parcel = std::make_shared<Parcel>(*parent.parcel);
    parent.parcel->is_root = false;
    parent.parcel->parent = static_cast<SiloId>(silo);

    EXPECT_FALSE(may(forward)) << silo;
    EXPECT_FALSE(may(child)) << silo;
    EXPECT_FALSE(may(parent)) << silo;
  }
}

TEST(ClientEnvelopes, OwnersSpeakForTheirMeshesAlone) {
  for (const Kind kind : {Kind::kKept, Kind::kMoved, Kind::kUnpublish}) {
    Envelope envelope = honest(kind);
    envelope.member.mesh = kForeign;

    EXPECT_FALSE(may(envelope)) << to_string(kind);
  }
  Envelope over = honest(Kind::kStop), one = over;
  over.member = {kForeign, UINT32_MAX};
  one.member = {kForeign, 0};
  EXPECT_FALSE(may(over));
  EXPECT_TRUE(may(one));  // Its silo looks at the tenant.
}

TEST(ClientEnvelopes, MeshesToStartAreTheClientsOwn) {
  const auto changed = [](auto change) {
    internal::MeshInfo other = *mesh();
    change(other);
    return std::make_shared<const internal::MeshInfo>(other);
  };
  for (const Kind kind : {Kind::kStart, Kind::kPublish}) {
    for (const auto& wrong :
         {changed([](auto& m) { m.id = kForeign; }), changed([](auto& m) { m.owner_silo = 1; }),
          changed([](auto& m) {
            m.owner = {kForeign, 0};
          }),
          changed([](auto& m) { m.client = 4; }), changed([](auto& m) { m.tenant = 78; })}) {
      Envelope envelope = honest(kind);
      envelope.parcel->mesh = wrong;
      EXPECT_FALSE(may(envelope)) << to_string(kind);
    }
    Envelope foreign = honest(kind);
    foreign.member.mesh = kForeign;
    foreign.parcel->mesh = mesh(kForeign);
    EXPECT_FALSE(may(foreign)) << to_string(kind);
  }
}

TEST(ClientEnvelopes, DeathsAreOfOwnMeshes) {
  Envelope notice = honest(Kind::kNotice);
  auto death = std::make_shared<Death>();
  death->member = {kForeign, 0};
  notice.parcel->death = death;

  EXPECT_FALSE(may(notice));
}

}  // namespace
}  // namespace seaway::app
