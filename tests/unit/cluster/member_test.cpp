// An island of several hosts: who waits for whom, and who begins anew when somebody is lost.

#include "cluster/member.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "actor/seeded_engine.hpp"
#include "actor/seeded_process.hpp"
#include "cluster/actors.hpp"
#include "device/cpu_backend.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;

constexpr std::uint64_t kMs = 1'000'000;
const RoleName kController{Role::kController, 0};
const RoleName kScheduler{Role::kIsland, 0};
const RoleName kHost{Role::kHost, 0};
const RoleName kClient{Role::kClient, 1};
const RoleName kAnnex1{Role::kAnnex, actor::annex_of(0, 1)};
const RoleName kAnnex2{Role::kAnnex, actor::annex_of(0, 2)};

/// Connections to peers that never say a word.
class MuteWires final : public transport::Wires {
 public:
  explicit MuteWires(actor::SeededEngine& engine) : engine_(engine) {}
  void attach(transport::ProcessId, transport::ProcessId peer, transport::WirePort port) override {
    ports_[peer] = std::make_shared<transport::WirePort>(std::move(port));
  }
  void connect(transport::ProcessId, transport::ProcessId peer) override {
    engine_.schedule(engine_.now_ns() + kMs, [port = ports_[peer]] { port->on_connected(); });
  }
  void write(transport::ProcessId, transport::ProcessId, std::vector<std::byte>) override {}
  void close(transport::ProcessId, transport::ProcessId) override {}
  void forget(transport::ProcessId, transport::ProcessId) override {}
  bool is_barred(transport::ProcessId, transport::ProcessId) const override { return is_barring; }

  bool is_barring = false;

 private:
  actor::SeededEngine& engine_;
  std::map<transport::ProcessId, std::shared_ptr<transport::WirePort>> ports_;
};

/// One island of three hosts, with one device each.
class MemberTest : public testing::Test {
 protected:
  struct Node {
    std::unique_ptr<actor::SeededProcess> process;
    std::unique_ptr<Member> member;
    std::uint32_t life = 0;
    int orphaned = 0;  // In this life.
  };

  MemberTest()
      : engine_(actor::make_seeded_engine(7)),
        wires_(1 + process_of({Role::kClient, 1}, Shape(options())), wire_options(),
               engine_->clock(), [this](std::uint64_t at_ns, std::function<void()> work) {
                 engine_->schedule(at_ns, std::move(work));
               }) {}
  ~MemberTest() override {
    for (auto& [name, node] : nodes_) end(node);
  }

  static transport::WireOptions wire_options() {
    transport::WireOptions options;
    options.seed = 7;
    return options;
  }
  static EmbeddedOptions options() {
    EmbeddedOptions options;
    options.hosts = options.devices = 3;
    return options;
  }
  void start(const RoleName& name) { start(name, wires_); }
  void start(const RoleName& name, transport::Wires& wires) {
    Node& node = nodes_[name];
    ++node.life;
    node.orphaned = 0;
    node.process = engine_->make_process(to_string(name));
    MemberOptions wanted;
    wanted.cluster = options();
    wanted.name = name;
    wanted.life = node.life;
    wanted.has_actors = has_actors_;
    wanted.on_orphaned = [&node] { ++node.orphaned; };
    if (name == kController) {
      wanted.end_session = [this](transport::ProcessId process, const Status& why) {
        ended_[process] = why;
      };
    }
    node.member = std::make_unique<Member>(
        std::move(wanted), MemberWiring{*node.process, wires, events_, natives_},
        [this, &node](IslandId, std::function<void()> on_progress) {
          return std::make_unique<device::CpuBackend>(*node.process, arena_,
                                                      std::move(on_progress));
        });
  }
  void start_all() {
    for (const RoleName& name : {kController, kScheduler, kHost, kAnnex1, kAnnex2}) start(name);
    pass();
  }
  static void end(Node& node) {
    if (!node.process) return;
    node.process->kill();
    node.member.reset();
    node.process.reset();
  }
  void kill(const RoleName& name) {
    wires_.detach(process_of(name, Shape(options())), false);
    end(nodes_[name]);
    pass();
  }
  void pass() {
    const std::uint64_t until_ns = engine_->now_ns() + 300 * kMs;
    engine_->wait([] { return false; }, until_ns);
  }
  bool has_joined() { return nodes_[kController].member->controller()->has_host(0); }
  bool is_orphaned(const RoleName& name) { return nodes_[name].orphaned > 0; }

  std::unique_ptr<actor::SeededEngine> engine_;
  transport::SimulatedWires wires_;
  events::EventStream events_{16};
  function::NativeRegistry natives_;
  function::TbbParallelism arena_{1};
  std::map<RoleName, Node> nodes_;
  bool has_actors_ = false;
  std::map<transport::ProcessId, Status> ended_;  // Sessions, by the controller.
};

TEST_F(MemberTest, AHostJoinsWhenAllItsAnnexesAreThere) {
  for (const RoleName& name : {kController, kScheduler, kHost, kAnnex2}) start(name);
  pass();
  const bool joined_early = has_joined();

  start(kAnnex1);
  pass();

  EXPECT_FALSE(joined_early);
  EXPECT_TRUE(has_joined());
  for (auto& [name, node] : nodes_) {
    EXPECT_EQ(node.orphaned, 0) << to_string(name);
    EXPECT_EQ(node.member->counts().malformed, 0u) << to_string(name);
  }
}

TEST_F(MemberTest, AHostWaitsForItsControllerAsWell) {
  for (const RoleName& name : {kHost, kAnnex1, kAnnex2}) start(name);
  pass();

  start(kController);
  pass();

  EXPECT_TRUE(has_joined());
}

TEST_F(MemberTest, AHostWhoseControllerIsGoneBeforeTheyHaveTalkedBeginsAnew) {
  // It has enrolled with one that the next one knows nothing of.
  MuteWires mute(*engine_);
  start(kHost, mute);
  nodes_[kHost].member->router().send(Role::kController, 0, Frame::make(1, [](auto) {}));
  for (int i = 0; i < 10; ++i) pass();

  EXPECT_EQ(nodes_[kHost].member->controller_life(), 0u);
  EXPECT_EQ(nodes_[kHost].orphaned, 1);
  end(nodes_[kHost]);
}

TEST_F(MemberTest, AHostThatItsControllerDoesNotKnowBeginsAnew) {
  MuteWires mute(*engine_);
  start(kHost, mute);
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(nodes_[kHost].orphaned, 0) << "it may still come";

  mute.is_barring = true;
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(nodes_[kHost].orphaned, 1);
  end(nodes_[kHost]);
}

TEST_F(MemberTest, AHostThatHasLostAnAnnexBeginsAnewAndNobodyElseDoes) {
  start_all();
  ASSERT_TRUE(has_joined());

  kill(kAnnex2);

  EXPECT_EQ(nodes_[kHost].orphaned, 1);
  EXPECT_FALSE(is_orphaned(kAnnex1) || is_orphaned(kScheduler) || is_orphaned(kController));

  kill(kHost);
  start(kHost);
  pass();
  EXPECT_FALSE(has_joined());
  start(kAnnex2);
  pass();
  EXPECT_TRUE(has_joined());
  EXPECT_FALSE(is_orphaned(kHost) || is_orphaned(kAnnex1));
}

TEST_F(MemberTest, AHostThatHearsOfAnAnnexesNextLifeBeginsAnew) {
  start_all();

  wires_.detach(process_of(kAnnex1, Shape(options())), false);
  end(nodes_[kAnnex1]);
  start(kAnnex1);
  pass();

  EXPECT_EQ(nodes_[kHost].orphaned, 1);
}

TEST_F(MemberTest, AnAnnexServesTheNextLifeOfItsHost) {
  start_all();

  kill(kHost);
  EXPECT_FALSE(has_joined());
  start(kHost);
  pass();

  EXPECT_TRUE(has_joined());
  EXPECT_FALSE(is_orphaned(kAnnex1) || is_orphaned(kAnnex2) || is_orphaned(kHost));
}

TEST_F(MemberTest, AnAnnexThatHasLostItsControllerBeginsAnew) {
  start_all();

  kill(kController);

  for (const RoleName& name : {kScheduler, kHost, kAnnex1, kAnnex2}) {
    EXPECT_EQ(nodes_[name].orphaned, 1) << to_string(name);
  }
}

TEST_F(MemberTest, EndsTheSessionOfAClientThatBreaksTheProtocol) {
  start_all();
  start(kClient);
  pass();

  nodes_[kClient].member->router().send(Role::kController, 0,
                                        Frame::make(1, [](auto words) { words[0] = UINT64_MAX; }));
  pass();

  const auto ended = ended_.find(process_of(kClient, Shape(options())));
  ASSERT_NE(ended, ended_.end());
  EXPECT_EQ(ended->second.code(), StatusCode::kProtocolError) << ended->second.to_string();
  EXPECT_FALSE(is_orphaned(kHost));
}

TEST_F(MemberTest, CompletesWhatAClientWaitsForWhenItsControllerIsLost) {
  has_actors_ = true;
  start_all();
  start(kClient);
  pass();
  const auto caller = nodes_[kClient].member->actors()->open().value();
  auto type = std::make_shared<internal::ActorTypeInfo>();
  type->name = "Quiet";
  internal::SpawnOrder order;
  order.type = std::move(type);
  order.placement.hosts = {0};
  order.name = "named";

  // The hub never answers.
  wires_.detach(process_of(kController, Shape(options())), false);
  end(nodes_[kController]);
  const auto spawned = caller->spawn(std::move(order));
  const auto found = caller->find("other");
  for (int i = 0; i < 10; ++i) pass();

  for (const auto* future : {&spawned, &found}) {
    ASSERT_TRUE(future->ready());
    const Status status = future->get().status();
    EXPECT_EQ(status.code(), StatusCode::kControllerRestarted) << status.to_string();
    EXPECT_NE(status.message().find("client 1 has lost its controller: the controller"),
              std::string::npos)
        << status.to_string();
  }
  const Status later = caller->find("late").get().status();
  EXPECT_EQ(later.code(), StatusCode::kControllerRestarted) << later.to_string();
}

}  // namespace
}  // namespace seaway::cluster
