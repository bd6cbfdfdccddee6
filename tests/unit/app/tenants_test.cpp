// Actors of one tenant do not exist for another one, whatever handle it has made up.

#include <memory>
#include <string>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "app/apps.hpp"
#include "cast.hpp"

namespace seaway::app_test {
namespace {

constexpr std::uint64_t kOwner = 11, kIntruder = 12;
using MeshInfo = std::shared_ptr<const internal::MeshInfo>;

struct Tenants : testing::Test {
  Tenants()
      : engine(actor::make_seeded_engine(1)),
        apps({.hosts = 2, .client_of = {}, .tuning = {}}, {engine.get()}),
        owner(apps.open(1, kOwner)),
        friendly(apps.open(2, kOwner)),
        intruder(apps.open(3, kIntruder)) {}
  ~Tenants() override {
    apps.detach();
    engine->stop();
    engine.reset();
  }

  MeshInfo spawn(const std::shared_ptr<app::ClientCaller>& by, const std::string& name = "") {
    const auto options = SpawnOptions(Placement{{{"host", 2}}, {0, 1}}).named(name);
    const auto made =
        by->spawn(options.order(internal::actor_type<Counter>(), internal::factory_of<Counter>()));
    engine->run_until_idle(kSteps);
    return made.get().value();
  }
  static ActorMesh<Counter> mesh(const std::shared_ptr<app::ClientCaller>& by, MeshInfo info) {
    return internal::whole_mesh<Counter>(by, std::move(info));
  }
  std::string total(const std::shared_ptr<app::ClientCaller>& by, const MeshInfo& info) {
    const auto answer = mesh(by, info).at(0).call(&Counter::add, amount(1));
    engine->run_until_idle(kSteps);
    const auto outcome = answer.get();
    return outcome.ok() ? std::to_string(outcome.value()->getTotal())
                        : outcome.status().to_string();
  }
  void settle() { engine->run_until_idle(kSteps); }

  static constexpr std::uint64_t kSteps = 100'000;
  std::unique_ptr<actor::SeededEngine> engine;
  app::Apps apps;
  std::shared_ptr<app::ClientCaller> owner, friendly, intruder;
};

TEST_F(Tenants, CallsReachOwnTenantAlone) {
  const MeshInfo counters = spawn(owner);

  EXPECT_EQ(total(owner, counters), "1");
  EXPECT_EQ(total(friendly, counters), "2");
  EXPECT_NE(total(intruder, counters).find("ACTOR_LOST"), std::string::npos);
  EXPECT_EQ(total(owner, counters), "3");
}

TEST_F(Tenants, ForeignMeshLooksLikeNone) {
  const MeshInfo counters = spawn(owner);
  auto made_up = std::make_shared<internal::MeshInfo>(*counters);
  made_up->id += 1000;

  std::string foreign = total(intruder, counters), none = total(intruder, made_up);
  const auto without_id = [](std::string text, std::uint64_t id) {
    const auto at = text.find(std::to_string(id));
    return at == std::string::npos ? text : text.replace(at, std::to_string(id).size(), "ID");
  };

  EXPECT_EQ(without_id(foreign, counters->id), without_id(none, made_up->id));
}

TEST_F(Tenants, OneWayMessagesAreDroppedAndCredited) {
  const MeshInfo counters = spawn(owner);

  for (int i = 0; i < 5000; ++i) {  // More than a mailbox takes without credit.
    ASSERT_TRUE(mesh(intruder, counters).at(0).send(&Counter::add, amount(100)).ok()) << i;
    settle();
  }

  EXPECT_EQ(total(owner, counters), "1");
}

TEST_F(Tenants, NamesBelongToATenant) {
  const MeshInfo counters = spawn(owner, "counters");
  const auto found = friendly->find("counters"), hidden = intruder->find("counters");
  settle();

  EXPECT_EQ(found.get().value()->id, counters->id);
  EXPECT_EQ(hidden.get().status().message(), "no actors are named \"counters\"; 0 names are known");

  const MeshInfo others = spawn(intruder, "counters");  // The name is free there.
  const auto own = intruder->find("counters"), still = owner->find("counters");
  settle();
  EXPECT_EQ(own.get().value()->id, others->id);
  EXPECT_EQ(still.get().value()->id, counters->id);
}

TEST_F(Tenants, NobodyStopsOrKillsForeignActors) {
  const MeshInfo counters = spawn(owner);

  intruder->kill(mesh(intruder, counters).members(), actor_lost("by force"));
  const auto stopped = intruder->stop(mesh(intruder, counters).members(), std::chrono::seconds(1));
  settle();

  EXPECT_TRUE(stopped.get().ok());  // As of actors that have ended.
  EXPECT_EQ(total(owner, counters), "1");
  friendly->kill(mesh(friendly, counters).members(), actor_lost("by agreement"));
  EXPECT_NE(total(owner, counters).find("by agreement"), std::string::npos);
}

TEST_F(Tenants, WatchesOfForeignActorsEnd) {
  const MeshInfo counters = spawn(owner);
  std::vector<std::string> heard;

  intruder->watch(mesh(intruder, counters).members(), inline_executor(),
                  [&heard](const Death& death) { heard.push_back(to_string(death)); });
  settle();
  ASSERT_EQ(heard.size(), 1u);
  owner->kill(mesh(owner, counters).members(), actor_lost("later"));
  settle();

  EXPECT_EQ(heard.size(), 1u);
  EXPECT_NE(heard.front().find("had ended before it was watched"), std::string::npos);
}

TEST_F(Tenants, ReductionsSkipForeignActors) {
  const MeshInfo counters = spawn(owner);
  const auto join = [](Total::Reader left, Total::Reader right, Total::Builder out) {
    out.setTotal(left.getTotal() + right.getTotal());
  };

  const auto own = mesh(friendly, counters).reduce(&Counter::add, join, amount(1));
  const auto foreign = mesh(intruder, counters).reduce(&Counter::add, join, amount(1));
  settle();

  EXPECT_EQ(own.get().value()->getTotal(), 2);
  EXPECT_EQ(foreign.get().status().code(), StatusCode::kActorLost);
  EXPECT_EQ(total(owner, counters), "2");
}

/// What a child of an actor may do, its tenant decides, too.
TEST_F(Tenants, AnswersCountFromWhoWasAskedAlone) {
  const MeshInfo counters = spawn(owner);
  app::Silo& hub = *apps.silo(app::kHub);
  auto waiting = mesh(owner, counters).at(0).call(&Counter::add, amount(1));
  // The call leaves the hub, and its answer is not there yet.
  while (hub.stock().calls == 0) ASSERT_TRUE(engine->step());

  app::Envelope forged;
  forged.kind = app::Kind::kReply;
  forged.from = app::silo_of_host(1);  // Host 0 was asked.
  forged.call = std::uint64_t{hub.wiring().epoch} << 52 | 0;
  for (std::uint64_t uses = 0; uses < 4096; ++uses) {
    for (std::uint64_t place = 0; place < 4; ++place) {
      app::Envelope one = forged;
      one.call = uses << 32 | place;
      hub.accept(std::move(one));
      app::Envelope other = forged;
      other.call = (std::uint64_t{hub.wiring().epoch} << 20 | uses) << 32 | place;
      hub.accept(std::move(other));
    }
  }
  settle();

  EXPECT_EQ(waiting.get().value()->getTotal(), 1);
}

}  // namespace
}  // namespace seaway::app_test
