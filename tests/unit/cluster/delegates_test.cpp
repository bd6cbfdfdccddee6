// What a host's process bears of its clients' words about arrays.

#include "cluster/delegates.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "actor/seeded_engine.hpp"
#include "cluster/relay_frames.hpp"
#include "no_wires.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;

/// Host 0 of two, which has heard of host 1 in its life 1.
class DelegatesTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kOther = 2;  // The silo of host 1.

  DelegatesTest() { actors_.on_news({{Role::kHost, 1}, 1, false, ""}); }
  ~DelegatesTest() override { delegates_.close(); }

  Status ask_for_lives(ClientId client, std::uint32_t first, std::uint32_t count) {
    ClientWords words;
    for (std::uint32_t i = 0; i < count; ++i) words.are_gone.push_back({kOther, first + i});
    return delegates_.on_words(client, to_frame(words));
  }

  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1);
  NoWires wires_;
  Peers peers_{*engine_, wires_, PeersOptions(),
               [](const RoleName&, const RoleName&, const Frame&) {}, [](const PeerNews&) {}};
  Actors actors_{*engine_, peers_, {.name = {Role::kHost, 0}, .shape = 2}};
  Delegates delegates_{*engine_, peers_, actors_, {.shape = 2}};
};

TEST_F(DelegatesTest, EachClientAsksForTheEndOfSoManyLivesAndNotOneMore) {
  EXPECT_EQ(ask_for_lives(1, 1, 4096), Status());
  EXPECT_EQ(ask_for_lives(1, 1, 4096), Status());  // The same.
  EXPECT_EQ(ask_for_lives(1, 4097, 1).code(), StatusCode::kProtocolError);
  EXPECT_EQ(ask_for_lives(2, 4097, 1), Status());

  // Those that are over are asked for no more.
  delegates_.on_silo_lost(kOther, 1);
  EXPECT_EQ(ask_for_lives(1, 4097, 1), Status());
}

TEST_F(DelegatesTest, AsksOnlyForTheEndOfHosts) {
  ClientWords words;
  words.are_gone.push_back({app::kHub, 1});
  EXPECT_EQ(delegates_.on_words(1, to_frame(words)).code(), StatusCode::kProtocolError);
  words.are_gone = {{actors_.silo_of({Role::kClient, 1}), 1}};
  EXPECT_EQ(delegates_.on_words(1, to_frame(words)).code(), StatusCode::kProtocolError);
}

}  // namespace
}  // namespace seaway::cluster
