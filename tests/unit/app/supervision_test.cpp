// Deaths: who is started anew, who hears of it, who dies too, and that nothing is left over.

#include "cast.hpp"

namespace seaway::app_test {
namespace {

/// Has children, and writes down which deaths it hears of.
template <bool kHears>
class ParentOf {
 public:
  static void describe(ActorType<ParentOf>& type) {
    type.on(&ParentOf::spawn).on(&ParentOf::log).on(&ParentOf::open).on(&ParentOf::hold);
    if (kHears) type.on_death(&ParentOf::died);
  }
  explicit ParentOf(Self self) : self_(std::move(self)) {
    log_ = std::to_string(self_.incarnation());
  }

  /// Text: the mesh's name. Number: of how many members.
  Task<Reply<Answer>> spawn(Request<Ask> request) {
    auto mesh =
        co_await self_.spawn<Counter>(SpawnOptions(self_.here().each("child", request->getNumber()))
                                          .named(request->getText().cStr())
                                          .intensity({.restarts_max = 1}),
                                      std::int64_t{0});
    if (!mesh.ok()) co_return mesh.status();
    children_ = mesh.value();
    co_return make<Answer>([&](Answer::Builder m) { m.setText(children_.to_string()); });
  }
  void died(const Death& death) { log_ += "; " + to_string(death); }
  /// Kills all children at once.
  void open(Request<Open>) { children_.kill(user_function_error("on purpose")); }
  /// Stops somebody else's actors.
  Task<Status> hold(Request<Hold> request) {
    auto mesh = co_await self_.find<Counter>(request->getText().cStr());
    if (!mesh.ok()) co_return mesh.status();
    const auto stopped = co_await mesh.value().stop();
    co_return stopped.status();
  }
  Reply<Answer> log(Request<Log>) {
    return make<Answer>([&](Answer::Builder m) { m.setText(log_); });
  }

 private:
  Self self_;
  ActorMesh<Counter> children_;
  std::string log_;
};
using Parent = ParentOf<true>;
using Careless = ParentOf<false>;

/// Monitors a mesh from its beginning.
class Watcher {
 public:
  static void describe(ActorType<Watcher>& type) {
    type.on(&Watcher::log).on_death(&Watcher::died);
  }
  Watcher(Self self, ActorMesh<Counter> mesh) {
    log_ = std::to_string(self.incarnation());
    self.monitor(mesh);
  }
  void died(const Death& death) { log_ += "; " + to_string(death); }
  Reply<Answer> log(Request<Log>) {
    return make<Answer>([&](Answer::Builder m) { m.setText(log_); });
  }

 private:
  std::string log_;
};

class Supervision : public OnACluster {
 protected:
  static auto named(std::string name, std::uint32_t members) {
    return [=](Ask::Builder m) {
      m.setText(name);
      m.setNumber(members);
    };
  }
  static std::int64_t total(const ActorRef<Counter>& counter) {
    const auto total = counter.call(&Counter::add, CallOptions{.retries = 2}).get();
    return total.ok() ? total.value()->getTotal() : -1;
  }
  static Status cause() { return user_function_error("on purpose"); }
};

TEST_F(Supervision, StartsTheMemberAnewOrTheGangOrNobody) {
  std::vector<ActorMesh<Counter>> meshes;
  for (const Restart restart : {Restart::kMember, Restart::kGang, Restart::kNever}) {
    meshes.push_back(client.spawn<Counter>(SpawnOptions(client.hosts()).restart(restart)).value());
    static_cast<void>(meshes.back().call(&Counter::add, amount(7)).get());
  }

  for (const auto& mesh : meshes) mesh.at(1).kill(cause());
  settle();

  const auto totals = [&](std::size_t mesh) {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < 4; ++i) all.push_back(total(meshes[mesh].at(i)));
    return all;
  };
  EXPECT_EQ(totals(0), (std::vector<std::int64_t>{7, 0, 7, 7}));
  EXPECT_EQ(totals(1), (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(totals(2), (std::vector<std::int64_t>{7, -1, 7, 7}));
}

TEST_F(Supervision, GivesAMeshUpAfterMoreDeathsThanAllowed) {
  auto counters = client.spawn<Counter>(SpawnOptions(client.hosts()).named("counters")).value();
  std::vector<std::string> deaths;
  counters.on_death(inline_executor(),
                    [&](const Death& death) { deaths.push_back(to_string(death)); });

  for (int i = 0; i < 4; ++i) {
    counters.at(1).kill(cause());
    settle();
  }

  const std::string once = "Counter[1] died: USER_FUNCTION_ERROR: on purpose; it restarts";
  ASSERT_EQ(deaths.size(), 4u);
  EXPECT_EQ(deaths[0], once);
  EXPECT_EQ(deaths[2], once);
  EXPECT_EQ(deaths[3],
            "Counter mesh was given up: ACTOR_LOST: Counter mesh: the mesh of 4 is given up: "
            "member 1 died in incarnation 4, after 3 restarts in 10000 ms, and no more are "
            "allowed; see why it died, or raise Intensity::restarts_max; the last death: "
            "USER_FUNCTION_ERROR: on purpose");
  EXPECT_EQ(total(counters.at(0)), -1);
  EXPECT_EQ(client.find<Counter>("counters").status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(is_clean());
}

/// Cannot be made a second time.
struct Fragile {
  static void describe(ActorType<Fragile>& type) { type.on(&Fragile::nothing); }
  explicit Fragile(const Self& self) {
    if (self.incarnation() > 1) throw std::runtime_error("not twice");
  }
  void nothing(Request<Nothing>) {}
};

TEST_F(Supervision, CountsConstructorsThatFailAsDeaths) {
  auto fragile = client.spawn<Fragile>(client.hosts()).value();
  std::vector<std::string> deaths;
  fragile.on_death(inline_executor(),
                   [&](const Death& death) { deaths.push_back(to_string(death)); });

  fragile.at(2).kill(cause());
  settle();

  ASSERT_EQ(deaths.size(), 4u);
  EXPECT_EQ(deaths[1], "Fragile[2] died: USER_FUNCTION_ERROR: it threw: not twice; it restarts");
  EXPECT_TRUE(is_clean());
}

TEST_F(Supervision, LeavesThoseAloneThatHaveStopped) {
  auto counters =
      client.spawn<Counter>(SpawnOptions(client.hosts()).restart(Restart::kGang)).value();
  ASSERT_TRUE(counters.at(3).stop().get().ok());

  counters.at(0).kill(cause());
  settle();

  EXPECT_EQ(total(counters.at(0)), 0);
  EXPECT_EQ(total(counters.at(3)), -1);
  ASSERT_TRUE(counters.stop().get().ok());
  EXPECT_TRUE(is_clean());
}

TEST_F(Supervision, TellsParentsOfTheirChildrenInOrder) {
  auto parent = client.spawn<Parent>(client.hosts()).value().at(1);
  ASSERT_TRUE(parent.call(&Parent::spawn, named("children", 2)).get().ok());

  ASSERT_TRUE(parent.call(&Parent::open).get().ok());
  settle();

  const std::string log = said(parent, &Parent::log);
  EXPECT_EQ(log.find("1; Counter[0] died: USER_FUNCTION_ERROR: on purpose; it restarts; Counter "
                     "mesh was given up: ACTOR_LOST: "),
            0u)
      << log;
  EXPECT_EQ(client.find<Counter>("children").status().code(), StatusCode::kNotFound);
}

TEST_F(Supervision, EndsParentsWhoDoNotCare) {
  auto parents = client.spawn<Careless>(client.hosts()).value();
  std::vector<Death> deaths;
  parents.on_death(inline_executor(), [&](const Death& death) { deaths.push_back(death); });
  ASSERT_TRUE(parents.at(1).call(&Careless::spawn, named("children", 2)).get().ok());

  static_cast<void>(parents.at(1).call(&Careless::open).get());
  settle();

  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_EQ(deaths[0].name, parents.at(1).to_string());
  EXPECT_EQ(deaths[0].incarnation, 1u);
  EXPECT_TRUE(deaths[0].restarts);
  EXPECT_NE(deaths[0].cause.message().find("USER_FUNCTION_ERROR: on purpose"), std::string::npos);
  EXPECT_EQ(said(parents.at(1), &Careless::log), "2");
}

TEST_F(Supervision, EndsChildrenWithTheirParentAndTellsTheirWatchers) {
  auto parent = client.spawn<Parent>(client.hosts()).value().at(1);
  ASSERT_TRUE(parent.call(&Parent::spawn, named("children", 2)).get().ok());
  auto children = client.find<Counter>("children").value();
  auto watcher = client.spawn<Watcher>(client.hosts(), children).value().at(3);
  settle();

  parent.kill(cause());
  settle();

  EXPECT_EQ(total(children.at(0)), -1);
  EXPECT_EQ(client.find<Counter>("children").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(said(watcher, &Watcher::log),
            "1; Counter[0] died: ACTOR_LOST: ParentOf<true>[1], its parent, has died: "
            "USER_FUNCTION_ERROR: on purpose; Counter[1] died: ACTOR_LOST: ParentOf<true>[1], its "
            "parent, has died: USER_FUNCTION_ERROR: on purpose");
}

TEST_F(Supervision, TellsAWatcherOnceHoweverOftenItWasRestarted) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  auto watcher = client.spawn<Watcher>(client.hosts(), counters).value().at(3);
  settle();
  watcher.kill(cause());
  settle();

  counters.at(2).kill(cause());
  settle();

  EXPECT_EQ(said(watcher, &Watcher::log),
            "2; Counter[2] died: USER_FUNCTION_ERROR: on purpose; it restarts");
}

TEST_F(Supervision, TellsWatchersThatCameTooLate) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  ASSERT_TRUE(counters.stop().get().ok());
  std::vector<Death> deaths;

  counters.on_death(inline_executor(), [&](const Death& death) { deaths.push_back(death); });
  settle();

  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_EQ(deaths[0].cause, actor_lost("it had ended before it was watched"));
  EXPECT_TRUE(is_clean());
}

TEST_F(Supervision, TellsWatchersWhichMembersHadEndedBefore) {
  auto counters = client.spawn<Counter>(client.hosts()).value();
  ASSERT_TRUE(counters.at(2).stop().get().ok());
  std::vector<Death> deaths;

  counters.on_death(inline_executor(), [&](const Death& death) { deaths.push_back(death); });
  counters.sub("host", {0, 2}).on_death(inline_executor(), [&](const Death& death) {
    deaths.push_back(death);
  });
  settle();

  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_EQ(deaths[0].name, "Counter[2]");
  EXPECT_EQ(deaths[0].member, counters.at(2).name());
  EXPECT_EQ(deaths[0].cause, actor_lost("it had ended before it was watched"));
}

TEST_F(Supervision, StopsWhoeverSpawnedThemOnly) {
  auto counters = client.spawn<Counter>(SpawnOptions(client.hosts()).named("counters")).value();
  auto parent = client.spawn<Parent>(client.hosts()).value().at(1);

  const auto refused =
      parent.call(&Parent::hold, [](Hold::Builder m) { m.setText("counters"); }).get();

  EXPECT_EQ(refused.status().code(), StatusCode::kPermissionDenied) << refused.status().to_string();
  EXPECT_EQ(total(counters.at(0)), 0);
}

TEST_F(Supervision, StopAnswersWhatWasAskedAndRefusesWhatIsNew) {
  auto gates = client.spawn<Gate>(client.hosts()).value();
  auto pupils = client.spawn<Pupil>(client.hosts(), gates.at(0)).value();
  auto running = pupils.at(1).call(&Pupil::wait, hold("a"));
  auto queued = pupils.at(1).call(&Pupil::add, amount(1));
  settle();

  auto stopped = pupils.stop(std::chrono::seconds(20));
  const auto refused = pupils.at(1).call(&Pupil::add, amount(2)).get();
  EXPECT_FALSE(stopped.ready());
  static_cast<void>(gates.call(&Gate::open).get());

  EXPECT_TRUE(stopped.get().ok()) << stopped.get().status().to_string();
  EXPECT_TRUE(running.get().ok());
  EXPECT_EQ(queued.get().value()->getTotal(), 1);
  EXPECT_EQ(refused.status().to_string(),
            "ACTOR_LOST: Pupil[1] is stopping and takes nothing new; nothing was handled");
}

TEST_F(Supervision, StopKillsAtItsDeadlineAndSaysHowMany) {
  auto gates = client.spawn<Gate>(client.hosts()).value();
  auto first = gates.at(1).call(&Gate::hold);
  auto second = gates.at(2).call(&Gate::hold);
  settle();

  const auto stopped = gates.stop(std::chrono::milliseconds(5)).get();

  EXPECT_EQ(stopped.status().to_string(),
            "DEADLINE_EXCEEDED: 2 of Gate's members were still busy at the deadline, and were "
            "killed");
  EXPECT_EQ(first.get().status().code(), StatusCode::kActorLost);
  EXPECT_EQ(second.get().status().code(), StatusCode::kActorLost);
  EXPECT_TRUE(is_clean());
}

/// Asks, sleeps and spawns when there is nobody left who could be answered.
struct Ghost {
  static void describe(ActorType<Ghost>& type) { type.on(&Ghost::nothing); }
  Ghost(Self own, ActorRef<Gate> held) : self(std::move(own)), gate(std::move(held)) {}
  ~Ghost() {
    const ActorRef<Gate> mine(ActorMesh<Gate>(self.mesh<Ghost>().caller(), gate.members(), {}));
    called = mine.call(&Gate::hold);
    static_cast<void>(self.sleep(std::chrono::hours(1)));
    static_cast<void>(self.spawn<Counter>(self.here(), std::int64_t{0}));
  }
  void nothing(Request<Nothing>) {}
  Self self;
  ActorRef<Gate> gate;
  Future<Reply<Answer>> called;
};

TEST_F(Supervision, LeavesNothingOfActorsThatAskInTheirDestructors) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(0);
  auto ghosts = client.spawn<Ghost>(client.hosts(), gate).value();

  ghosts.at(1).kill(cause());
  settle();
  ASSERT_TRUE(ghosts.stop().get().ok());
  settle();

  EXPECT_EQ(gate.call(&Gate::held).get().value()->getNumber(), 0u);
  gate.kill();
  settle();
  for (const app::Silo::Stock& stock : stocks()) {
    EXPECT_EQ(stock.calls, 0u);
    EXPECT_EQ(stock.timers, 0u);
    EXPECT_EQ(stock.deliveries, 0u);
  }
}

TEST_F(Supervision, LeavesNothingOfAClientThatGoes) {
  {
    Client other = cluster.connect().value();
    auto gates = other.spawn<Gate>(SpawnOptions(other.hosts()).named("gates")).value();
    auto parents = other.spawn<Parent>(other.hosts()).value();
    auto pupils = other.spawn<Pupil>(other.hosts(), gates.at(1)).value();
    ASSERT_TRUE(parents.at(1).call(&Parent::spawn, named("children", 3)).get().ok());
    gates.on_death(inline_executor(), [](const Death&) {});
    static_cast<void>(pupils.call(&Pupil::wait, hold("a")));
    static_cast<void>(gates.stream(&Gate::hold));
    static_cast<void>(gates.broadcast(&Gate::hold));
    settle();
    EXPECT_FALSE(is_clean());
  }

  EXPECT_TRUE(is_clean());
}

}  // namespace
}  // namespace seaway::app_test
